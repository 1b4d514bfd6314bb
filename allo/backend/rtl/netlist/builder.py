"""Builder of a hardware module: new signals under names that are free."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ....errors import Location
from .design import (
    Assign,
    ConstantTable,
    Direction,
    HardwareModule,
    ModuleInstance,
    ModulePort,
    Register,
    Signal,
)

_WORDS = """
alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind bins
bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config const
constraint context continue cover covergroup coverpoint cross deassign default defparam design disable dist
do edge else end endcase enum event expect export extends extern final first_match for force foreach forever
fork function generate genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies
import incdir include initial inout input inside instance int integer interface intersect join large let
liblist library local localparam logic longint macromodule matches medium modport module nand negedge new
nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge
primitive priority program property protected pull0 pull1 pulldown pullup pure rand randc randcase
randsequence rcmos real realtime ref reg release repeat restrict return rnmos rpmos rtran scalared sequence
shortint shortreal signed small soft solve specify specparam static string strong strong0 strong1 struct
super supply0 supply1 table tagged task this throughout time timeprecision timeunit tran tri tri0 tri1
triand trior trireg type typedef union unique unique0 unsigned until untyped use uwire var vectored virtual
void wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor
"""  # of SystemVerilog, which name nothing else
_CONTROL = ("clk", "rst", "en", "start", "done", "stuck")  # the ports that control a module


@lru_cache(1 << 12)  # instances of one module ask for the same names
def identifier(text: str) -> str:
    """A name as SystemVerilog takes it."""
    if text.isascii() and text.isidentifier() and "_" not in (text[0], text[-1]):
        return text
    plain = re.sub(r"\W", "_", text, flags=re.ASCII).strip("_")
    return plain if plain and not plain[0].isdigit() else f"n_{plain}"


def module_name(text: str) -> str:
    """The name of the module of a function: no word of the language, and none of the library."""
    name = identifier(text)
    return f"n_{name}" if name in _WORDS.split() or name.startswith("allo_") else name


class OpenOutput(NamedTuple):
    """An output of an instance that is not connected yet; `port` is that of its module."""

    sockets: dict[str, str]  # of the instance
    port: Signal
    prefix: str

    def joined(self, signal: Signal) -> None:
        """Connect it with a signal that nothing else drives."""
        self.sockets[self.port.name] = signal.name

    def made(self, builder: ModuleBuilder) -> str:
        """Connect it with a new signal; the name of that."""
        signal = builder.signal(self.prefix + self.port.name, self.port.width)
        self.joined(signal)
        return signal.name


class ModuleBuilder:
    """One module while it is made."""

    def __init__(self, name: str) -> None:
        self.module = HardwareModule(name)
        self.taken = {*_WORDS.split(), *_CONTROL}
        self.delays: dict[str, list[Signal]] = {}  # by signal: itself so many cycles later
        self.shared: dict[tuple[int, str], Signal] = {}
        self._counts: dict[str, int] = {}  # of names that were wanted more than once

    def named(self, hint: str) -> str:
        """A free name."""
        made = wanted = identifier(hint)
        taken = self.taken
        if wanted in taken:
            count = self._counts.get(wanted, 0) + 1
            while (made := f"{wanted}_{count}") in taken:
                count += 1
            self._counts[wanted] = count
        taken.add(made)
        return made

    def port(self, hint: str, width: int, direction: Direction, *, signed: bool = False) -> Signal:
        """A new port."""
        name = hint if hint in _CONTROL and hint not in (port.signal.name for port in self.module.ports) else None
        made = Signal(name or self.named(hint), width, signed)
        self.module.ports.append(ModulePort(made, direction))
        return made

    def signal(self, hint: str, width: int, *, signed: bool = False) -> Signal:
        """A new signal, which something has to drive."""
        made = Signal(self.named(hint), width, signed)
        self.module.signals.append(made)
        return made

    def drive(self, signal: Signal, expression: str, at: Location | None = None) -> None:
        """Let a signal follow an expression."""
        self.module.assigns.append(Assign(signal, expression, at))

    def wire(
        self, hint: str, width: int, expression: str, *, signed: bool = False, at: Location | None = None
    ) -> Signal:
        """A new signal that follows an expression."""
        made = self.signal(hint, width, signed=signed)
        self.drive(made, expression, at)
        return made

    def common(self, hint: str, width: int, expression: str, *, at: Location | None = None) -> Signal:
        """A signal that follows an expression; one for all that ask for the same one."""
        if (width, expression) not in self.shared:
            self.shared[width, expression] = self.wire(hint, width, expression, at=at)
        return self.shared[width, expression]

    def table(self, hint: str, width: int, words: Sequence[int]) -> str:
        """A new memory of constant words; its name."""
        made = ConstantTable(self.named(hint), width, tuple(words))
        self.module.tables.append(made)
        return made.name

    def register(
        self, signal: Signal, following: str, *, enable: str | None = None, reset: int | None = None
    ) -> None:
        """Let a signal be a register."""
        self.module.registers.append(Register(signal, following, enable, reset))

    def instance(
        self,
        module: str,
        hint: str,
        parameters: Mapping[str, int | str],
        ports: Mapping[str, str],
        at: Location | None = None,
        *,
        observes: bool = False,
    ) -> str:
        """A new instance of a module; its name."""
        name = self.named(hint)
        self.module.instances.append(ModuleInstance(module, name, parameters, ports, at, observes))
        return name

    def delayed(
        self, signal: Signal, cycles: int, *, reset: int | None = None, enables: Sequence[str] = ()
    ) -> Signal:
        """A signal so many cycles later; `enables` say when each of the registers takes what comes, by default `en`."""
        if signal.literal is not None or not cycles:
            return signal
        line = self.delays.setdefault(signal.name, [signal])
        while len(line) <= cycles:
            made = self.signal(f"{signal.name}_{len(line)}", signal.width, signed=signal.signed)
            enable = enables[len(line) - 1] if enables else "en"
            self.register(made, line[-1].name, enable=enable, reset=reset)
            line.append(made)
        return line[cycles]
