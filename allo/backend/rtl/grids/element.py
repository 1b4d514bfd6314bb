"""Elements of a grid: what one of them does, in loops over arrays of what they keep and pass on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter

from ....errors import InternalError
from ....ir.names import unique_name
from ..library import MODULES
from ..netlist.design import Direction, HardwareModule, ModuleInstance, Signal
from ..netlist.printer import printed_table
from .alike import Likeness
from .expressions import Expression, expression
from .places import GridPlace, PartPlaces, Unit
from .text import GridText, declared, instance, size_of

# Inputs that outputs follow from in the same cycle if there is no latency; of other modules, all.
_AT_ONCE: Mapping[str, tuple[str, ...]] = {
    "allo_fifo": (), "allo_monitor": (), "allo_settle": ("d",), "allo_lutram": ("raddr",), "allo_regs": ("raddr",),
}  # fmt: skip
_CLOCKS = ("clk", "rst")


@dataclass(frozen=True, slots=True)
class Held:
    """What a name of an element is: a signal that all share, or an element of an array at a place in a loop.

    `is_own`: the array has the elements in their order, and nothing else.
    """

    name: str
    place: str | None = None
    is_own: bool = False

    @property
    def text(self) -> str:
        """The signal in a loop."""
        return self.name if self.place is None else f"{self.name}[{self.place}]"


@dataclass(frozen=True, slots=True)
class Socket:
    """A port of a module of which there is an instance for each element."""

    name: str
    width: int
    signed: bool
    is_input: bool

    def is_like(self, signal: Signal) -> bool:
        """Whether a signal has the bits of the port, and its sign."""
        return signal.width == self.width and signal.signed == self.signed


def sockets_of(module: HardwareModule) -> list[Socket]:
    """The ports of a module."""
    return [
        Socket(port.signal.name, port.signal.width, port.signal.signed, port.direction is Direction.INPUT)
        for port in module.ports
    ]


def library_sockets(one: ModuleInstance) -> list[Socket]:
    """The ports of an instance of a module of the library."""
    given = {name: value.strip('"') if isinstance(value, str) else value for name, value in one.parameters.items()}
    ports = MODULES[one.module].ports(given)
    return [Socket(port.name, port.width, False, port.is_input) for port in ports if port.name in one.ports]


def is_clock(one: ModuleInstance, port: str) -> bool:
    """Whether all instances of the library in a grid share a port."""
    return port in _CLOCKS and MODULES[one.module].has_grid


def at_once(one: ModuleInstance) -> list[str]:
    """The inputs of an instance of the library from which its outputs follow in the same cycle."""
    module = MODULES[one.module]
    if module.latency_of is not None and {**module.defaults, **one.parameters}[module.latency_of] != 0:
        return []
    return [port.name for port in library_sockets(one) if port.is_input and port.name in
            _AT_ONCE.get(one.module, (port.name,))]  # fmt: skip


@dataclass(slots=True)
class ElementWriter:
    """Writes the elements of grids; `wanted` are the names of modules that a simulation shows.

    `shown` are the arrays that these have become, `library` the modules that are used, and whether as grids.
    """

    text: GridText
    modules: Mapping[str, HardwareModule]
    likeness: Mapping[str, Likeness]
    wanted: frozenset[tuple[str, str]]
    shown: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    library: dict[tuple[str, bool], None] = field(default_factory=dict)

    def write(
        self, module: HardwareModule, prefix: str, bound: Mapping[str, Held], count: int, split: bool
    ) -> PartPlaces:
        """Write what is in `count` instances of a module whose ports are `bound`; where its parts are.

        All of an element is one body of a loop, or, if it is `split`, a loop for each signal.
        """
        return _Body(self, module, prefix, bound, count, split).write()

    def unit(self, one: ModuleInstance, name: str, bound: Mapping[str, Held], count: int) -> Unit:
        """Write instances of a module of the library, as one with arrays if there is such a module."""
        module, text = MODULES[one.module], self.text
        self.note(one, {port: [held.name] for port, held in bound.items()})
        self.library[module.name, module.has_grid] = None
        parameters = list(one.parameters.items())
        if module.has_grid:
            ports = [f".{port}({held.name})" for port, held in bound.items()]
            text.lines.append(instance(f"{module.name}_grid", [("GRID", count), *parameters], name, ports))
            return Unit(name, size_of(count))
        ports = [f".{port}({held.name}{'' if held.place is None else '[g]'})" for port, held in bound.items()]
        text.lines.append(f"  for (genvar g = 0; g < {count}; g++) begin : {name}")
        text.lines += ["  " + instance(module.name, parameters, "one", ports), "  end"]
        return Unit(f"{name}[{{}}].one", count)

    def note(self, one: ModuleInstance, connected: Mapping[str, list[str]]) -> None:
        """Note what the outputs of an instance of the library follow from at once."""
        inputs = [name for port in at_once(one) for name in connected[port]]
        for port in library_sockets(one):
            for name in () if port.is_input else connected[port.name]:
                self.text.depends(name, inputs)


class _Body:
    """The instances of one module."""

    def __init__(
        self,
        writer: ElementWriter,
        module: HardwareModule,
        prefix: str,
        bound: Mapping[str, Held],
        count: int,
        split: bool,
    ) -> None:
        self.writer, self.module, self.prefix, self.count, self.split = writer, module, prefix, count, split
        self.text = writer.text
        self.held = dict(bound)
        self.types = {signal.name: (signal.width, signal.signed) for signal in module.signals}
        self.types |= {port.signal.name: (port.signal.width, port.signal.signed) for port in module.ports}
        self.statements: list[tuple[str, Expression]] = []  # by what is known in the body
        self.last: list[tuple[Held, str, Expression]] = []  # which nothing in the body reads: after a condition
        self.locals: dict[str, str] = {}  # of signals in the body: their declarations
        self.parts: dict[str, tuple[PartPlaces | Unit, int | None]] = {}

    def write(self) -> PartPlaces:
        """Write all; where it is."""
        module = self.module
        self._declare()
        self.statements += [(one.signal.name, expression(one.expression)) for one in module.assigns]
        for one in module.instances:
            self._instance(one)
        registers = []
        for register in module.registers:
            width, signed = self.types[register.signal.name]
            held = self.held[register.signal.name]
            following = self._array(f"{held.name}_next", width, signed)
            if register.enable is not None:
                self.last.append((following, "", expression(register.signal.name)))
                self.last.append((following, register.enable, expression(register.next)))
            else:
                self.last.append((following, "", expression(register.next)))
            registers.append((held.name, following.name, register.reset))
        self._flow()
        self.text.registers(registers)
        places = {}
        for name, held in self.held.items():
            if held.is_own:
                places[name] = GridPlace(held.name, None, self.text.sizes[held.name])
                self.writer.shown.setdefault((module.name, name), []).append(held.name)
        return PartPlaces(places, self.parts)

    def _declare(self) -> None:
        """Make the signals: arrays of those that are kept, passed on or shown, others in the body."""
        module = self.module
        kept = {register.signal.name for register in module.registers}
        kept |= {name for one in module.instances for text in one.ports.values()
                 for name in (expression(text).name,) if name is not None}  # fmt: skip
        taken = set(self.text.taken)
        for signal in module.signals:
            if self.split or signal.name in kept or (module.name, signal.name) in self.writer.wanted:
                self.held[signal.name] = self._array(f"{self.prefix}{signal.name}", signal.width, signal.signed)
            else:
                name = unique_name(signal.name, taken)
                self.locals[signal.name] = f"{declared(name, signal.width, signal.signed)};"
                self.held[signal.name] = Held(name)
        for table in module.tables:
            self.held[table.name] = Held(self.text.name(f"{self.prefix}{table.name}"))
            self.text.declared += printed_table(replace(table, name=self.held[table.name].name))

    def _array(self, hint: str, width: int, signed: bool) -> Held:
        return Held(self.text.array(hint, width, signed, self.count), self.text.p, True)

    def _text(self, own: str) -> str:
        return self.held[own].text if own in self.held else own

    # -- statements -------------------------------------------------------------------------------------

    def _flow(self) -> None:
        """Write the statements: in one loop, or in one for each signal."""
        text = self.text
        lines: dict[Held, list[str]] = {}
        inputs: dict[Held, set[str]] = {}
        for held, condition, source in [*((self.held[own], "", one) for own, one in self._ordered()), *self.last]:
            test = expression(condition)
            inputs.setdefault(held, set()).update(
                self.held[own].name for own in (*source.names, *test.names) if own in self.held
            )
            only = f"if ({test.filled(self._text)}) " if condition else ""
            lines.setdefault(held, []).append(f"{only}{held.text} = {source.filled(self._text)};")
        if self.split:
            for held, some in lines.items():
                text.depends(held.name, inputs[held])
                body = some[0] if len(some) == 1 else f"begin {' '.join(some)} end"
                text.lines.append(f"  always_comb {text.loop(self.count)} {body}")
        elif lines:
            body = text.name(f"{self.prefix}body")
            text.depends(body, set().union(*inputs.values()) - {held.name for held in lines})
            for held in lines:
                text.depends(held.name, [body])
            text.lines.append(f"  always_comb {text.loop(self.count)} begin")
            text.lines += [f"    {line}" for line in self.locals.values()]
            text.lines += [f"    {line}" for some in lines.values() for line in some]
            text.lines.append("  end")

    def _ordered(self) -> list[tuple[str, Expression]]:
        """The statements, each behind those that it reads."""
        by_name = dict(self.statements)
        graph = {name: [own for own in source.names if own in by_name] for name, source in self.statements}
        return [(name, by_name[name]) for name in TopologicalSorter(graph).static_order()]

    # -- instances --------------------------------------------------------------------------------------

    def _instance(self, one: ModuleInstance) -> None:
        like = self.writer.likeness.get(one.module)
        prefix = f"{self.prefix}{one.name}"
        sources = {port: expression(text) for port, text in one.ports.items()}
        if like is None:
            bound = {
                port.name: self.held[sources[port.name].name or ""]
                if is_clock(one, port.name)
                else self._bound(port, sources[port.name], f"{prefix}__")
                for port in library_sockets(one)
            }
            self.parts[one.name] = self.writer.unit(one, self.text.name(prefix), bound, self.count), None
            return
        bound = {}
        for port in sockets_of(self.writer.modules[one.module]):
            own, source = replace(port, name=like.names[port.name]), sources[port.name]
            bound[own.name] = self._shared(own, source) or self._bound(own, source, f"{prefix}__")
        made = self.writer.write(like.module, f"{prefix}__", bound, self.count, self.split)
        self.parts[one.name] = made, None

    def _shared(self, port: Socket, source: Expression) -> Held | None:
        """The signal of all elements that a port is connected to, if it is one."""
        own = source.name
        if own is None or own not in self.types or own in self.locals:
            return None
        held = self.held[own]
        return held if held.place is None and self.types[own] == (port.width, port.signed) else None

    def _bound(self, port: Socket, source: Expression, prefix: str) -> Held:
        """An array that is what a port is connected to."""
        held = self.held.get(source.name or "")
        if held is not None and held.is_own and self.types[source.name or ""] == (port.width, port.signed):
            return held
        made = self._array(f"{prefix}{port.name}", port.width, port.signed)
        if port.is_input:
            self.last.append((made, "", source))
        elif source.name is None:
            raise InternalError(f"an output of '{self.module.name}' goes nowhere")
        else:
            self.held[f"{prefix}{port.name} of an instance"] = made
            self.statements.append((source.name, Expression(("", ""), (f"{prefix}{port.name} of an instance",))))
        return made
