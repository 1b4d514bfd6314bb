"""Module on top of a kernel, with the memories of its arguments and results and of what stays from call to call."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ....ir.names import unique_name
from ..netlist.builder import ModuleBuilder
from ..netlist.design import Direction, Signal
from .arrays import BankedArray
from .function import FunctionHardware
from .memories import place_cell, place_memory
from .ports import ArrayPorts


@dataclass(frozen=True, slots=True)
class HostArray:
    """An array that the host fills or reads: its banks by number, with the names of their memories."""

    array: BankedArray
    banks: dict[int, str]


@dataclass(frozen=True, slots=True)
class KeptArray:
    """An array or a number that stays from call to call, with the bits of its elements at first."""

    place: HostArray
    contents: tuple[int, ...]


class TopModule:
    """The kernel with a memory for each bank of its arguments and results, and `start`, `done` and `stuck` of it.

    `taken` are names of other modules.
    """

    def __init__(self, kernel: FunctionHardware, taken: Collection[str], suffix: str = "top") -> None:
        self.kernel = kernel
        builder = self.builder = ModuleBuilder(unique_name(f"{kernel.name}_{suffix}", set(taken)))
        self.control()
        en = Signal("en", 1)
        builder.module.signals.append(en)
        builder.drive(en, "1'b1")
        self.sockets = {"clk": "clk", "rst": "rst", "en": "en", **self.pulses()}
        stuck = Signal("stuck", 1)
        if kernel.waiting is None:
            builder.drive(stuck, "1'b0")
        else:
            self.sockets[kernel.waiting.name] = stuck.name
        self.arguments: list[HostArray | str | None] = []
        for number, value in enumerate(kernel.tree.entry.arguments):
            if number in kernel.scalars:
                self.arguments.append(self.argument(number, kernel.scalars[number]))
            elif value in kernel.arrays:
                self.arguments.append(self.array(kernel.arrays[value], number))
            else:
                self.arguments.append(None)
        count = len(self.arguments)
        self.results: list[HostArray | str] = [
            self.array(one, count + number) if isinstance(one, ArrayPorts) else self.result(number, one)
            for number, one in enumerate(kernel.results)
        ]
        self.states = tuple(self.kept(symbol, ports) for symbol, ports in kernel.states.items())
        builder.instance(kernel.name, "kernel", {}, self.sockets)
        self.finish()

    def control(self) -> None:
        """The ports that control the module."""
        for name in ("clk", "rst", "start"):
            self.builder.port(name, 1, Direction.INPUT)
        for name in ("done", "stuck"):
            self.builder.port(name, 1, Direction.OUTPUT)

    def pulses(self) -> dict[str, str]:
        """What `start` and `done` of the kernel are connected to."""
        return {"start": "start", "done": "done"}

    def argument(self, _number: int, port: Signal) -> str:
        """A number that goes into the kernel: the register of it."""
        value = self.socket(port)
        return self.cell(port.name, port.width, value.name, "1'b0", f"{port.width}'d0")

    def result(self, _number: int, port: Signal) -> str:
        """A number that comes out of the kernel: the port of it."""
        out = self.builder.port(port.name, port.width, Direction.OUTPUT)
        self.sockets[port.name] = out.name
        return out.name

    def array(self, ports: ArrayPorts, _number: int) -> HostArray:
        """An array of the host; results are numbered behind arguments."""
        return self.placed(ports)

    def finish(self) -> None:
        """What is left to do when all is connected."""

    def socket(self, port: Signal) -> Signal:
        """A signal that is connected to a port of the kernel."""
        made = self.builder.signal(port.name, port.width)
        self.sockets[port.name] = made.name
        return made

    def kept(self, symbol: str, ports: ArrayPorts) -> KeptArray:
        """What stays from call to call, in memories that begin with its first values."""
        contents = tuple(self.kernel.initial(symbol))
        return KeptArray(self.placed(ports, contents), contents)

    def cell(
        self, name: str, width: int, value: str, write: str, data: str, contents: Sequence[int] | None = None
    ) -> str:
        """A register of an array or of a number; the name of its instance."""
        written = write if contents is None else f"{write} && !rst"
        return place_cell(self.builder, name, width, value, written, data, contents)

    def memory(
        self, name: str, array: BankedArray, drivers: Mapping[int, tuple[Signal, ...]], words: Mapping[int, Signal],
        writing: set[int], contents: Sequence[int] | None = None,
    ) -> str:  # fmt: skip
        """The memory of one bank; the name of the instance. What it holds at first stays while the kernel is reset."""
        enable = "en" if contents is None else "!rst"
        return place_memory(self.builder, name, array, drivers, words, writing, enable, contents)

    def placed(self, ports: ArrayPorts, contents: Sequence[int] | None = None) -> HostArray:
        """The memories of an array, which the kernel alone uses; `contents` are the bits of its elements at first."""
        banks = {}
        array, width = ports.array, ports.array.memory.width
        first = array.divided(contents) if contents is not None else {}
        for bank, (enable, word) in ports.cell_drivers.items():
            q, we, d = (self.socket(one) for one in (ports.cells[bank], enable, word))
            banks[bank] = self.cell(ports.bank_name(bank), width, q.name, we.name, d.name, first.get(bank))
        for bank in sorted({bank for bank, _ in ports.words}):
            drivers, words, writing = self.bank(ports, bank)
            banks[bank] = self.memory(ports.bank_name(bank), array, drivers, words, writing, first.get(bank))
        return HostArray(array, banks)

    def bank(self, ports: ArrayPorts, bank: int) -> tuple[dict[int, tuple[Signal, ...]], dict[int, Signal], set[int]]:
        """By port: what drives the memory of a bank, and what it reads; and the ports that write."""
        numbers = [port for of, port in ports.words if of == bank]
        drivers = {port: tuple(map(self.socket, ports.drivers[bank, port])) for port in numbers}
        words = {port: self.socket(ports.words[bank, port]) for port in numbers}
        return drivers, words, {port for of, port in ports.writing if of == bank}
