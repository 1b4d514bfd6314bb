"""Design of a module: the hardware of its functions, and a top with the memories of the arguments."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from ....errors import TargetError
from ....estimate.traces.static import exact_cycles
from ....ir.access import asks_stream
from ....ir.module import Module
from ....ir.walk import location_of
from ....target import Fpga
from ....timing.control.build import TreeOptions
from ....timing.control.loop_spans import loop_spans
from ....timing.control.tree import FunctionTree
from ....timing.control.trees import Trees
from ...unrolled import unrolled
from ..netlist.design import HardwareModule
from .board import BoardModule
from .function import FunctionHardware
from .operations import demand_hardware
from .top import HostArray, KeptArray, TopModule
from .waits import PlacedWait, placed_waits, shown_signals
from .watched import WatchedLoop, watched_loops


@dataclass(frozen=True, eq=False)
class HardwareDesign:
    """All modules, callees first; `top` has `clk`, `rst`, `start`, `done` and `stuck`, or AXI in place of these three.

    `arguments` and `results` are arrays, or the registers and ports that hold scalars (None: it is not used), `states`
    what stays from call to call.
    `waits` are the places at which something may wait for a FIFO, by signals that are `shown`: pairs of a module and a
    name. `unrolled` and `trees` are what was built, and its schedules; `kernel` is the function on top of `functions`.
    """

    modules: tuple[HardwareModule, ...]
    top: str
    arguments: tuple[HostArray | str | None, ...]
    results: tuple[HostArray | str, ...]
    states: tuple[KeptArray, ...]
    waits: tuple[PlacedWait, ...]
    shown: tuple[tuple[str, str], ...]
    unrolled: Module
    trees: Trees
    kernel: FunctionHardware
    functions: Mapping[str, FunctionHardware]

    @cached_property
    def loops(self) -> tuple[WatchedLoop, ...]:
        """Those that a simulation watches, in the order of the text, those of called functions last; when they run is
        counted iteration by iteration where bounds depend on other loops, which only a run is worth."""

        def tree_of(name: str) -> FunctionTree | None:
            return self.functions[name].tree if name in self.functions else None

        return watched_loops(self.kernel, loop_spans(self.kernel.tree, tree_of))

    @property
    def asks(self) -> bool:
        """Whether what is found in a stream depends on when it is asked."""
        return any(asks_stream(place.op) for place in self.waits)

    @cached_property
    def board(self) -> BoardModule:
        """Another module on top, whose few ports are pins of a chip."""
        return BoardModule(self.kernel, [module.name for module in self.modules])

    @cached_property
    def cycles(self) -> int | None:
        """The cycles that a call takes; None where data decide."""
        return exact_cycles(self.unrolled, self.trees)


def design(
    module: Module, target: Fpga, make_top: Callable[[FunctionHardware, Collection[str]], TopModule] = TopModule
) -> HardwareDesign:
    """The design of a module under the profile of a target; `make_top` makes what is around the kernel."""
    made = unrolled(module, target, banks=True)
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

    kernel = function(made.top)
    top = make_top(kernel, [one.name for one in functions.values()])
    modules = (*(one.builder.module for one in functions.values()), top.builder.module)
    name, arguments, results = top.builder.module.name, tuple(top.arguments), tuple(top.results)
    waits, shown = tuple(placed_waits(kernel, "kernel")), tuple(shown_signals(list(functions.values())))
    return HardwareDesign(
        modules, name, arguments, results, top.states, waits, shown, made, trees, kernel, functions
    )
