"""Estimate of a module: functions before their callers, then what the whole takes of the device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlir import ir

from ..errors import TargetError
from ..ir.linalg import with_loops
from ..ir.module import Module
from ..ir.recursion import reads_programs
from ..ir.subnormals import flush_subnormals, flushes
from ..ir.walk import argument_names
from ..messages import working
from ..target import Fpga, Target, load_target
from ..timing.control.build import Assumed, TreeOptions, has_calls
from ..timing.control.tree import FunctionTree, Pipeline, nodes
from ..timing.control.trees import AssumedTrees, Trees
from ..timing.problem.memory import ArrayMemory
from ..timing.rewrites import OF_OWN_HARDWARE, Prepared, Rewrite, RewriteOptions, prepared, prepared_again
from .advice.ranking import AdvisedStep, ranked
from .advice.stages import overlap
from .dies import placed_regions
from .elements import GridElement, GridElements
from .function import FunctionReport
from .hardware import Hardware
from .off_chip import DEFAULT_WORD_BITS, OffChip, off_chip, transfers
from .options import demand_kinds
from .report.result import Advice, Burst, Estimate, FunctionEstimate, Resources
from .report.rows import rounded
from .resources import array_resources, beyond, unit_resources
from .rules import as_the_tool_reads
from .rules.divided import DividedArray, as_notes, divisions, memories_of
from .stated import demand_stated_loops
from .traced import traced_cycles

if TYPE_CHECKING:
    from ..customize import Schedule


@reads_programs
def estimate(
    design: Schedule | Module,
    target: str | Path | Target = "u280",
    *,
    profile: str | None = None,
    frequency: float | None = None,
    auto_pipeline: bool = False,
    unsafe_math: bool = False,
    trips: Mapping[str, int] | None = None,
    operators: Mapping[str, str] | None = None,
    memory: str | Mapping[str, str] | None = None,
    in_place: Sequence[str] = (),
    word_bits: int = DEFAULT_WORD_BITS,
    rewritten: bool = False,
    rewrites: Sequence[str] = (),
    subnormals: str = "keep",
) -> Estimate:
    """What `design` costs on `target`: cycles and resources, *estimated* by static scheduling.

    `design` is a schedule or a module; `target` a name (`u280`, `u55c`, `zynq7020`), the path of a TOML file, or a
    `Target`; `profile` who makes the hardware, `vitis_hls_2023.2` or `rtl`, with the control and the rules of its file
    (None: the control of the target, and nothing unasked); `frequency` a clock in MHz other than that of the target.
    `auto_pipeline` pipelines innermost loops without being asked, whatever the profile. `unsafe_math` adds floats of
    one iteration as a tree, where the profile has that option. `trips` says how often loops run whose extent is known
    at run time only, by names such as `"i"` or `"function:i"`; else their latency is None. `operators` chooses
    implementations other than the tool's own, `{"add": "fabric"}` for sums of floats without DSPs. `memory` says where
    arguments lie, `"HBM"` or `{"A": "DDR"}` (None: on the chip); they are copied in bursts of words of up to
    `word_bits` bits, but for those `in_place`, which the kernel itself accesses. `rewritten`: what is else
    assumed of the tool (elements that stay the same in registers, forwarded stores, trees of sums) is done to the
    module first, by `allo.timing.rewrites`, and nothing is assumed; `rewrites` are done as by a build that names them.
    `subnormals="flush"`, with the profile `rtl`, has units of floats that know no subnormal numbers.
    The time taken does not depend on extents, but for grids of tasks, and tasks that wait for one another in circles
    (`traced.py`). Raises TargetError for a target or a profile that does not exist or lacks an operator, for
    memories, arguments and rewrites that do not exist, and for options of another kind.
    The model and its sources: docs/estimator.md.
    """
    demand_kinds(trips=trips, memory=memory, in_place=in_place, word_bits=word_bits)
    module = design if isinstance(design, Module) else design.ir
    device = _device(target, profile, frequency, operators, subnormals, unsafe_math=unsafe_math)
    module = as_the_tool_reads(with_loops(module), device.rules)
    place = off_chip(module, device, memory, in_place, word_bits)
    options = TreeOptions(device, auto_pipeline, dict(trips or {}), place.stays, unsafe_math, not rewritten)
    with working(f"estimating '{module.top}' on {device.name}"):
        module, done = _rewritten(module, options, rewrites)
        return replace(_Estimation(module, options, place).run(), rewrites=done)


def device_of(options: Mapping[str, Any]) -> Fpga:
    """The device that options of `estimate` mean. Raises TargetError as that does."""
    target, names = options.get("target", "u280"), ("profile", "frequency", "operators")
    given = (*map(options.get, names), options.get("subnormals", "keep"))
    return _device(target, *given, unsafe_math=options.get("unsafe_math", False))


def _device(
    target: str | Path | Target,
    profile: str | None,
    frequency: float | None,
    operators: Mapping[str, str] | None,
    subnormals: str,
    *,
    unsafe_math: bool,
) -> Fpga:
    demand_kinds(frequency=frequency, operators=operators)
    device = load_target(target)
    if not isinstance(device, Fpga):
        raise TargetError(f"estimates are those of FPGAs, and target '{device.name}' is none", hint="take u280")
    if frequency is not None:
        if not frequency > 0:
            raise TargetError(f"the frequency must be a number of MHz above 0, got {frequency!r}")
        device = device.at(frequency)
    if profile is not None:
        device = device.under(profile)
    if unsafe_math and device.rules.unsafe_math is None:
        who = "no profile is chosen" if profile is None else f"profile '{profile}' has it not"
        raise TargetError(
            f"unsafe math is an option of a tool, and {who}", hint='take profile="vitis_hls_2023.2"'
        )
    device = device.using(**operators or {})
    return _flushing(device) if flushes(subnormals) else device


def _flushing(device: Fpga) -> Fpga:
    if device.rules.own_hardware is None:
        raise TargetError(
            "units of floats with and without subnormal numbers are those of hardware of our own",
            hint='take profile="rtl": what other tools have is in their profiles',
        )
    return device.flushing()


def _rewritten(module: Module, options: TreeOptions, names: Sequence[str]) -> tuple[Module, tuple[Rewrite, ...]]:
    """The module that is scheduled, and what was done to it: what is named, and what is not assumed."""
    if options.target.flushes:
        module = module.clone()
        flush_subnormals(module, units=True)
    done, own = [Prepared(module, ())], options.target.rules.own_hardware is not None
    if own:
        done.append(prepared(module, RewriteOptions(own=True), OF_OWN_HARDWARE))
    if names:
        done.append(prepared(done[-1].module, RewriteOptions(target=options.target), names))
    if not options.assumes:
        done.append(prepared(done[-1].module, RewriteOptions(options.auto_pipeline)))
    if own and not options.assumes:
        done.append(prepared_again(done[-1].module, RewriteOptions(options.auto_pipeline)))
    return done[-1].module, tuple(rewrite for one in done for rewrite in one.rewrites)


class _Estimation:
    """One module."""

    def __init__(self, module: Module, options: TreeOptions, place: OffChip) -> None:
        self.module = module
        self.target = options.target
        self.options = options
        self.place = place
        self.trees = Trees(module, options, self._divided)
        self.elements = GridElements(self.trees, lambda tree: memories_of(self._divisions(tree)))
        self.reports: dict[str, FunctionReport] = {}
        self.hardware = Hardware(self.trees, self.elements, self.reports)
        self.divisions: dict[str, list[str]] = {}  # notes on what a tool does to the arrays of functions

    def run(self) -> Estimate:
        top = self.module.top
        self.trees.span(top)
        counts = self._instances(top)
        for name in counts:
            if name in self.trees.spans:
                automatic = self.options.auto_pipeline or self.target.rules.automatic_pipelines is not None
                self.reports[name] = FunctionReport(self.trees.spans[name], automatic, self.divisions.get(name, []))
        demand_stated_loops(self.trees)
        cycles, remark = traced_cycles(self.module, self.trees)
        advice = self._advice()
        names = [function.name.value for function in self.module.functions()]
        functions = tuple(self._function(name, counts[name]) for name in names if name in counts)
        if cycles is not None:
            whole = rounded(cycles)
            functions = tuple(
                replace(f, latency=whole, interval=whole) if f.name == top else f for f in functions
            )
        device = self.target.device
        available = Resources(device.dsp, device.bram18, device.uram, device.lut, device.ff)
        external = [name for name in self.trees.wholes if name in counts and name not in self.trees.spans]
        notes = [f"{name}: an external kernel; how long it takes is not known" for name in external]
        notes += [note for report in self.reports.values() for note in report.notes]
        notes += [remark] if remark else []
        found = transfers(self.module, self.target, self.place)
        copies = self._copies(found)
        notes += beyond(self.hardware.of(top) + copies, available, self.target)
        notes += self._many_banks()
        dies = placed_regions(self.hardware, [name for name in names if name in counts], notes)
        schedules = {key: one for report in self.reports.values() for key, one in report.schedules().items()}
        return Estimate(
            top, self.target.name, self.target.frequency, functions, available, tuple(dict.fromkeys(notes)), found,
            copies, advice, "" if self.target.profile is None else self.target.profile.name, dies=dies,
            schedules=schedules,
        )  # fmt: skip

    def _divisions(self, tree: FunctionTree) -> dict[ir.Value, DividedArray]:
        """Arrays that the tool divides unasked."""
        if self.target.rules.automatic_partitions is None:
            return {}
        regions = [node.region for node in nodes(tree.root) if isinstance(node, Pipeline)]
        return divisions([region for region in regions if not has_calls(region)], self.target, tree.name)

    def _divided(self, tree: FunctionTree) -> dict[ir.Value, ArrayMemory]:
        """What they are made of, with notes on it."""
        found = self._divisions(tree)
        self.divisions.setdefault(tree.name, []).extend(as_notes(tree.name, found))
        return memories_of(found)

    def _many_banks(self) -> list[str]:
        """Notes on arrays of more banks than the tool makes."""
        most = self.target.limits.banks
        found = []
        for name in self.reports:
            for memory in self.trees.builders[name].memories.values() if most else ():
                if memory.banks > most and memory.kind.name != "FIFO":
                    found.append(
                        f"{name}: '{memory.name}' has {memory.banks:,} banks, and the tool makes {most:,} of an array "
                        "at most: partition it less"
                    )
        return found

    def _copies(self, found: tuple[Burst, ...]) -> Resources:
        """What the copies of the arguments on the chip take."""
        total = Resources()
        builder = self.trees.builders.get(self.module.top)
        if builder is not None:
            names = {transfer.array for transfer in found}
            for name, value in zip(argument_names(builder.function), builder.entry.arguments, strict=True):
                if name in names:
                    total += array_resources(builder.memory_of(value, name))
        return total

    def _instances(self, top: str) -> dict[str, int]:
        """How many instances of each function there are."""
        counts: Counter[str] = Counter()

        def visit(element: GridElement, times: int) -> None:
            counts[element.callee] += times * element.count
            for inner in self.elements.inside(element):
                visit(inner, times * element.count)

        visit(GridElement(top, 1, self.trees), 1)
        return dict(counts)

    def _function(self, name: str, instances: int) -> FunctionEstimate:
        report, span = self.reports.get(name), self.trees.span(name)
        if report is None:
            return FunctionEstimate(name, None, None, Resources(), Resources(), (), instances, False)
        latency, interval = rounded(span.latency), rounded(span.interval)
        function = report.tree.function.operation
        stages = report.proposals.get(function)
        own = self.hardware.own(GridElement(name, 1, self.trees))
        return FunctionEstimate(
            name, latency, latency if interval is None else interval, self.hardware.of(name), own, report.loops,
            instances, "allo.dataflow" in function.attributes, "" if stages is None else stages.step,
            report.timelines,
        )  # fmt: skip

    def _advice(self) -> tuple[Advice, ...]:
        """All that is advised; only that is proposed."""
        steps: list[AdvisedStep] = []
        for name, report in self.reports.items():
            self._propose_stages(report)
            called = {op: report.tree.loop_name(view) for op, view in report.tree.views.items()}
            steps += [AdvisedStep(name, op, called.get(op, name), p) for op, p in report.proposals.items()]
        advice, kept = ranked(steps, self._latency_with)
        for step in steps:
            if step not in kept:
                del self.reports[step.function].proposals[step.op]
        return advice

    def _propose_stages(self, report: FunctionReport) -> None:
        """Overlap what a function runs one after the other, if the device has units enough for that."""
        apart = Resources()
        for span in report.spans.parts:
            apart += unit_resources(span.units, self.target)
            for callee, number in span.callees.items():
                apart += self.hardware.of(callee).times(number)
        device = self.target.device
        available = Resources(device.dsp, device.bram18, device.uram, device.lut, device.ff)
        if not beyond(apart, available, self.target):
            proposal = overlap(self.module, report.spans)
            if proposal is not None:
                report.proposals[report.tree.function.operation] = proposal

    def _latency_with(self, steps: Sequence[AdvisedStep]) -> Fraction | None:
        """The latency of the kernel if some steps are taken."""
        taken: dict[str, dict[ir.Operation, Assumed]] = {}
        for step in steps:
            taken.setdefault(step.function, {})[step.op] = step.proposal.assumed
        return AssumedTrees(self.trees, taken).span(self.module.top).latency
