"""Design of a module: the hardware of its functions, and a top with the memories of the arguments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ....errors import TargetError
from ....estimate.traces.static import exact_cycles
from ....ir.module import Module
from ....ir.walk import location_of
from ....target import Fpga
from ....timing.control.build import TreeOptions
from ....timing.control.loop_spans import loop_spans
from ....timing.control.tree import FunctionTree
from ....timing.control.trees import Trees
from ...unrolled import unrolled
from ..netlist.builder import ModuleBuilder
from ..netlist.design import Direction, HardwareModule, Signal
from .arrays import BankedArray
from .function import FunctionHardware
from .memories import place_cell, place_memory
from .operations import demand_hardware
from .ports import ArrayPorts
from .waits import PlacedWait, placed_waits, shown_signals
from .watched import WatchedLoop, watched_loops


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


@dataclass(frozen=True, eq=False)
class HardwareDesign:
    """All modules, callees first; `top` has `clk`, `rst`, `start`, `done` and `stuck`.

    `loops` are those that a simulation watches, in the order of the text, those of called functions last.
    `arguments` and `results` are arrays, or the registers and ports that hold scalars (None: it is not used), `states`
    what stays from call to call.
    `waits` are the places at which something may wait for a FIFO, by signals that are `shown`: pairs of a module and a
    name. `unrolled` and `trees` are what was built, and its schedules.
    """

    modules: tuple[HardwareModule, ...]
    top: str
    arguments: tuple[HostArray | str | None, ...]
    results: tuple[HostArray | str, ...]
    states: tuple[KeptArray, ...]
    loops: tuple[WatchedLoop, ...]
    waits: tuple[PlacedWait, ...]
    shown: tuple[tuple[str, str], ...]
    unrolled: Module
    trees: Trees

    @cached_property
    def cycles(self) -> int | None:
        """The cycles that a call takes; None where data decide."""
        return exact_cycles(self.unrolled, self.trees)


def design(module: Module, target: Fpga) -> HardwareDesign:
    """The design of a module under the profile of a target."""
    made = unrolled(module, target)
    demand_hardware(made)
    trees = Trees(made, TreeOptions(target, assumes=False))
    functions: dict[str, FunctionHardware] = {}

    def function(name: str) -> FunctionHardware:
        if name not in functions:
            tree = trees.built(name)  # how long it takes is not asked where FIFOs decide
            if tree is None:
                raise TargetError(
                    f"'{name}' is an external kernel, of which there is no SystemVerilog",
                    at=location_of(made.function(name).operation),
                    hint="build for 'vitis_hls', which takes its C++",
                )
            functions[name] = FunctionHardware(made, tree, trees.builders[name], function).make()
        return functions[name]

    def tree_of(name: str) -> FunctionTree | None:
        return functions[name].tree if name in functions else None

    kernel = function(made.top)
    top = _Top(kernel)
    loops = watched_loops(kernel, loop_spans(kernel.tree, tree_of))
    modules = (*(one.builder.module for one in functions.values()), top.builder.module)
    name, arguments, results = top.builder.module.name, tuple(top.arguments), tuple(top.results)
    waits, shown = tuple(placed_waits(kernel, "kernel")), tuple(shown_signals(list(functions.values())))
    return HardwareDesign(modules, name, arguments, results, top.states, loops, waits, shown, made, trees)


class _Top:
    """The top module: the kernel with a memory for each bank of its arguments and results."""

    def __init__(self, kernel: FunctionHardware) -> None:
        self.kernel = kernel
        builder = self.builder = ModuleBuilder(f"{kernel.name}_top")
        for name in ("clk", "rst", "start"):
            builder.port(name, 1, Direction.INPUT)
        for name in ("done", "stuck"):
            builder.port(name, 1, Direction.OUTPUT)
        en = Signal("en", 1)
        builder.module.signals.append(en)
        builder.drive(en, "1'b1")
        self.sockets = {"clk": "clk", "rst": "rst", "en": "en", "start": "start", "done": "done"}
        stuck = Signal("stuck", 1)
        if kernel.waiting is None:
            builder.drive(stuck, "1'b0")
        else:
            self.sockets[kernel.waiting.name] = stuck.name
        self.arguments: list[HostArray | str | None] = []
        for number, value in enumerate(kernel.tree.entry.arguments):
            if number in kernel.scalars:
                self.arguments.append(self._scalar(kernel.scalars[number], is_input=True))
            elif value in kernel.arrays:
                self.arguments.append(self._array(kernel.arrays[value]))
            else:
                self.arguments.append(None)
        self.results: list[HostArray | str] = [
            self._array(one) if isinstance(one, ArrayPorts) else self._scalar(one, is_input=False)
            for one in kernel.results
        ]
        self.states = tuple(
            KeptArray(self._array(ports), tuple(kernel.initial(symbol))) for symbol, ports in kernel.states.items()
        )
        builder.instance(kernel.name, "kernel", {}, self.sockets)

    def _scalar(self, port: Signal, *, is_input: bool) -> str:
        if not is_input:
            out = self.builder.port(port.name, port.width, Direction.OUTPUT)
            self.sockets[port.name] = out.name
            return out.name
        value = self._socket(port)
        return place_cell(self.builder, port.name, port.width, value.name, "1'b0", f"{port.width}'d0")

    def _socket(self, port: Signal) -> Signal:
        """A signal that is connected to a port of the kernel."""
        made = self.builder.signal(port.name, port.width)
        self.sockets[port.name] = made.name
        return made

    def _array(self, ports: ArrayPorts) -> HostArray:
        builder, banks = self.builder, {}
        width = ports.array.memory.width
        for bank, (enable, word) in ports.cell_drivers.items():
            q, we, d = (self._socket(one) for one in (ports.cells[bank], enable, word))
            banks[bank] = place_cell(builder, ports.bank_name(bank), width, q.name, we.name, d.name)
        for bank in sorted({bank for bank, _ in ports.words}):
            numbers = [port for of, port in ports.words if of == bank]
            drivers = {port: tuple(map(self._socket, ports.drivers[bank, port])) for port in numbers}
            words = {port: self._socket(ports.words[bank, port]) for port in numbers}
            writing = {port for of, port in ports.writing if of == bank}
            banks[bank] = place_memory(builder, ports.bank_name(bank), ports.array, drivers, words, writing)
        return HostArray(ports.array, banks)
