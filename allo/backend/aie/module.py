"""Programs on arrays of processors: their plan, their MLIR-AIE text, and calls on the model of the array."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from ...dataflow.timed.table import headline
from ...errors import Note, TargetError
from ...ir.hang import Hang
from ...ir.module import Module
from ...ir.walk import string_of
from ...mapping import (
    ArrayPlan,
    CapacityReport,
    MappingSearch,
    PlacementGap,
    RuntimeSequence,
    VirtualGraph,
    apart,
    drawn,
    mapped,
    placement_gap,
    plan_of,
    sequence_of,
)
from ...picture.drawing import DrawnText
from ...poly import hang_of
from ...poly.hangs import Untold
from ...target import ProcessorArray
from ..arguments.conversion import converted_arguments
from ..arguments.parameters import parameters_of
from ..cpu import LLVMModule
from .check import check_plan
from .circles import with_circles, with_own_order
from .kernels import KernelRegion, has_product, with_kernels
from .localize import external_functions, implementations
from .model import model_of_array
from .project import write_project
from .reading import read_region
from .text import RELEASES, AieRelease, aie_text
from .timed import ArrayRun, CoreCycles, Kernels, fastest_mappings, given_cycles, timed_run

_SHOWN = 4  # steps that an error names
_LOG = logging.getLogger("allo")


class AIEModule:
    """The result of `df.build(top, target="aie")`: a program on an array of processors.

    `.graph` is the virtual mapping graph, `.plan` where its nodes run and how data move, `.capacity` what is used of
    the array, `.mlir` the module that MLIR-AIE compiles. A call with NumPy arrays runs on the model of the array: cores
    with their tasks, DMA channels with their descriptors, locks, the queues of shim tiles. `.timed()` is a call with
    clocks.
    """

    def __init__(
        self,
        module: Module,
        array: ProcessorArray,
        primitives: Any = (),
        dialect: AieRelease = RELEASES["current"],
        project: str | None = None,
        profile: bool = False,
        cycles: Mapping[str, int] | None = None,
        kernels: Kernels = Kernels.SCALAR,
        layouts_by_dma: bool = True,
    ) -> None:
        self._rebuild = partial(
            AIEModule, module, array, primitives, dialect, project, profile, cycles, kernels, layouts_by_dma
        )
        self.top_func_name = module.top
        self.array = array
        self._source = module
        self._dialect = dialect
        self._profile = profile
        self._cycles = cycles
        self._kernels = kernels
        self._layouts_by_dma = layouts_by_dma
        self._region = read_region(module, has_product if kernels is Kernels.VECTOR else None)
        self.graph: VirtualGraph = self._region.graph
        self._bodies = self._region.bodies
        self.carried = self._region.carried
        self.kernels: KernelRegion | None = None
        self.search: MappingSearch | None = None
        if isinstance(primitives, str) and primitives == "search":
            self._search()
        else:
            self._take(primitives)
        self.project = None if project is None else write_project(Path(project), self)

    def _take(self, steps: Any) -> None:
        """Plan the mapping of steps. Raises TargetError for one that does not fit, or that would not end."""
        hang = self._hang_in(self._planned(steps))
        if hang is None:
            return
        hang = self._without_waits(hang)
        if hang is not None:
            raise self._told(hang)

    def _hang_in(self, plan: ArrayPlan) -> Hang | None:
        """Take a plan, with an order of transfers in which it ends; why cores wait for ever if there is none."""
        self._use(plan, sequence_of(plan))
        hang = self._hang()
        other = sequence_of(plan, inputs_first=True)
        if hang is None or other == self.sequence:
            return hang
        self._use(plan, other)
        return hang if self._hang() else None

    def _use(self, plan: ArrayPlan, sequence: RuntimeSequence) -> None:
        self.plan: ArrayPlan = plan
        self.sequence: RuntimeSequence = sequence
        check_plan(plan, sequence)
        vars(self).pop("model", None)  # that of a mapping that was refused

    def _without_waits(self, hang: Hang) -> Hang | None:
        """Give FIFOs the room that cores need which share one, or take turns; why they wait with that, too.

        Raises TargetError if they wait because streams are joined, and there is too little of something otherwise.
        """
        mapping = self.plan.mapping
        joined = [fifo.names for fifo in self.plan.fifos.streams if len(fifo.names) > 1]
        with suppress(TargetError):
            plan = plan_of(mapping, self.array, roomy=True)
            if not plan.refused and plan.fifos != self.plan.fifos:
                return self._hang_in(plan) and hang
        if not joined:
            return hang
        alone = apart(self.plan)
        if _hang_of(model_of_array(self._source, self._bodies, alone, sequence_of(alone), self.carried)):
            return hang
        try:
            plan_of(mapping, self.array, joined=False)
        except TargetError as error:
            names = "; ".join(f"{len(own)} streams from {own[0]!r} on" for own in joined)
            note = Note(f"cores wait for one another for ever where streams share a FIFO: {names}", None)
            (told,) = error.diagnostics
            raise TargetError(told.message, notes=[note], hint=told.hint) from None
        return hang

    def _planned(self, steps: Any) -> ArrayPlan:
        """The plan of steps; with vector kernels, layouts that DMA engines cannot make are left to cores."""
        refused: dict[tuple[str, int], str] = {}
        if not self._layouts_by_dma:
            places = [(node.function, use.parameter) for node in self._region.graph.nodes for use in node.parts]
            refused = dict.fromkeys(places, "cores are asked to do it, by layouts='cores'")
        while True:
            if self._kernels is Kernels.VECTOR:
                bodies = self._region.bodies
                costs = CoreCycles.of_bodies(self.array, Kernels.VECTOR, bodies, given_cycles(self._cycles))
                self.kernels = with_kernels(self._region.graph, bodies, self.array, refused, costs.of_kernel)
                self._bodies = self.kernels.bodies
                self.graph = with_own_order(with_circles(self.kernels.graph, self._bodies), self._source)
            mapping = mapped(self.graph, steps)
            try:
                plan = plan_of(mapping, self.array)
            except TargetError:
                orders = self.graph.orders() - refused.keys()
                if not orders:
                    raise
                refused |= dict.fromkeys(orders, "objects of this order alone need a DMA channel of their own")
                continue
            if not plan.refused:
                return plan
            refused |= {(own.function, own.parameter): own.reason for own in plan.refused}

    def _search(self) -> None:
        """Take the fastest mapping that a search finds."""
        self.search = fastest_mappings(self.graph, self.array, self._bodies, self._cycles)
        for candidate in self.search.candidates:
            try:
                self._take(candidate.mapping.steps)
                return
            except TargetError:  # its cores would wait for one another for ever
                continue
        raise TargetError(
            f"none of the {self.search.seen} mappings that were looked at fits '{self.array.name}'",
            hint="make parts of arrays smaller, or say how to map it: mapping_primitives=[...]",
        )

    def placement_gap(self, seconds: float = 10.0) -> PlacementGap:
        """How many streams need DMA engines of cores, and how many do at least, by `allo[exact]`."""
        return placement_gap(self.plan.placement, self.array.core_tiles, seconds)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._rebuild, ()

    @property
    def capacity(self) -> CapacityReport:
        """What the program uses of the array."""
        return self.plan.capacity

    def draw(self) -> DrawnText:
        """The array as text: tiles with what they run, FIFOs with the bytes they move; notebooks show a picture."""
        return drawn(self.plan)

    @property
    def externals(self) -> list[tuple[str, Path]]:
        """The functions of C++ that cores link, with their files."""
        found = external_functions(self._bodies)
        return [(string_of(external, "sym_name") or "", Path(implementations(external)[0])) for external in found]

    @cached_property
    def mlir(self) -> str:
        """The module that MLIR-AIE compiles."""
        return aie_text(self.plan, self.sequence, self._bodies, self._dialect)

    @cached_property
    def model(self) -> Module:
        """The array with the program as a module of processes, which the CPU runs."""
        return model_of_array(self._source, self._bodies, self.plan, self.sequence, self.carried)

    @property
    def comparable(self) -> Module:
        """The model, which `allo.verify` compares with a kernel.

        Raises TargetError if an argument is moved in another form, which is what the model takes.
        """
        for number, own in self.carried.items():
            raise TargetError(
                f"argument '{self.graph.arguments[number].name}' is {own.was} and moved as {own.memref}, which is "
                "what the model takes: it has not the interface of a kernel to compare it with",
                hint="run it beside the region, or declare arguments as they are moved",
            )
        return self.model

    @cached_property
    def _runs(self) -> LLVMModule:
        return LLVMModule(self.model)

    def timed(
        self, power_mode: str | None = None, kernels: str | None = None, cycles: Mapping[str, int] | None = None
    ) -> ArrayRun:
        """A call with clocks, *simulated*: DMA engines, memory tiles, object FIFOs, and the loops of cores.

        Streams move four bytes a cycle. Cycles are those of the clock of `power_mode`, or of the target's frequency.
        With `kernels="scalar"` loops take the time of the code that is emitted, an operation a cycle; with `"vector"`
        products of matrices take that of a kernel of the library for the vector unit, and loops without branches that
        of its lanes; without it, those that the program was built with. `cycles` has those of functions of C++, by
        name. docs/npu.md has what it is calibrated on.
        Raises TargetError where the time depends on data, or is not known.
        """
        return timed_run(
            self.plan, self.sequence, self._bodies, self.top_func_name,
            power_mode=power_mode, kernels=self._kernels if kernels is None else kernels,
            cycles=self._cycles if cycles is None else cycles,
        )  # fmt: skip

    @property
    def runs_on(self) -> str:
        """What a call runs on."""
        return f"the model of {self.array.part} (simulated)"

    def __call__(self, *arguments: Any, **named: Any) -> None:
        _LOG.info("'%s' runs on %s", self.top_func_name, self.runs_on)
        self._run(arguments, named)
        if self._profile:
            print(self._time)

    def _run(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        if not self.carried:
            self._runs(*arguments, **named)
            return
        parameters = parameters_of(self._source)
        _, holders, afterwards = converted_arguments(self.top_func_name, parameters, arguments, named)
        passed = [self.carried[k].given(held) if k in self.carried else held for k, held in enumerate(holders)]
        self._runs(*passed)
        for number, own in self.carried.items():
            if parameters[number].written:
                own.take_back(passed[number], holders[number])
        for bring_back in afterwards:
            bring_back()

    @cached_property
    def _time(self) -> str:
        """What `profile=True` prints of a call."""
        try:
            run = self.timed()
        except TargetError as error:
            return f"{self.top_func_name}: the time of a call is not known: {error.diagnostics[0].message}"
        return f"{headline(run)}, {run.kernels} code on {run.cores} cores; nothing is measured"

    def __repr__(self) -> str:
        return f"<AIEModule {self.top_func_name}: {len(self.plan.mapping.cores)} cores, runs on {self.runs_on}>"

    def _hang(self) -> Hang | None:
        return _hang_of(self.model) if self.graph.streams else None

    def _told(self, hang: Hang) -> TargetError:
        """That cores wait for one another for ever, such as after a chain."""
        taken = self.plan.mapping.steps
        steps = ", ".join(f"{kind} {list(names)}" for kind, names in taken[:_SHOWN]) or "no step"
        steps += f" and {len(taken) - _SHOWN} more" if len(taken) > _SHOWN else ""
        return TargetError(
            f"mapped like this ({steps}), cores wait for one another for ever",
            notes=[note for own in hang.error().diagnostics for note in own.notes if " waits " in note.message],
            hint="let streams be deeper, or chain in the order in which data flow",
        )


def _hang_of(model: Module) -> Hang | None:
    found = hang_of(model)
    return None if isinstance(found, Untold) else found
