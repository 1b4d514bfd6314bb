"""Estimate of a module: functions before their callers, then what the whole takes of the device."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from mlir import ir

from ..errors import TargetError, nearest
from ..ir.linalg import is_structured, lower_linalg
from ..ir.module import Module
from ..ir.recursion import reads_programs
from ..ir.walk import argument_names, entry_block, operations
from ..messages import working
from ..target import Fpga, Target, load_target
from ..timing.control.span import Ends, Span
from ..timing.control.timeline import Timeline
from ..timing.rewrites import Rewrite, RewriteOptions, prepared
from ..timing.schedule import StaticSchedule
from .advice.question import Proposal
from .advice.ranking import AdvisedStep, ranked
from .advice.stages import overlap
from .calls import Callee
from .function import EstimateOptions, FunctionEstimator
from .off_chip import DEFAULT_WORD_BITS, off_chip, transfers
from .report.result import Advice, Burst, Estimate, FunctionEstimate, Resources
from .resources import array_name, array_resources, beyond, own_resources, unit_resources
from .rules import as_the_tool_reads
from .rules.divided import as_notes, divisions

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
    module first, by `allo.timing.rewrites`, and nothing is assumed. The time taken does not depend on extents. Raises
    TargetError for a target or a profile that does not exist or lacks an operator, and for memories and arguments that
    do not exist.
    The model and its sources: docs/estimator.md.
    """
    module = design if isinstance(design, Module) else design.ir
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
    module = as_the_tool_reads(_with_loops(module), device.rules)
    place = off_chip(module, device, memory, in_place, word_bits)
    options = EstimateOptions(device, auto_pipeline, dict(trips or {}), place, unsafe_math, not rewritten)
    with working(f"estimating '{module.top}' on {device.name}"):
        done = tuple[Rewrite, ...]()
        if rewritten:
            made = prepared(module, RewriteOptions(auto_pipeline))
            module, done = made.module, made.rewrites
        return replace(_Estimation(module, options).run(), rewrites=done)


def _with_loops(module: Module) -> Module:
    """The module with loops in the place of operations on whole arrays."""
    for function in module.functions():
        entry = entry_block(function)
        if entry is not None and any(is_structured(op) for op in operations(entry)):
            lowered = module.clone()
            lower_linalg(lowered)
            return lowered
    return module


type _Done = tuple[FunctionEstimator | None, Span]


class _Estimation:
    """One module."""

    def __init__(self, module: Module, options: EstimateOptions) -> None:
        self.module = module
        self.options = options
        self.functions = {function.name.value: function for function in module.functions()}
        self.done: dict[str, _Done] = {}
        self.resources: dict[str, Resources] = {}
        self.notes: list[str] = []

    def run(self) -> Estimate:
        top = self.module.top
        self.span(top)
        counts = self._instances(top)
        self._check_trips()
        advice = self._advice(counts)
        functions = tuple(self._function(name, counts[name]) for name in self.functions if name in counts)
        device = self.options.target.device
        available = Resources(device.dsp, device.bram18, device.uram, device.lut, device.ff)
        notes = [*self.notes]
        for name in counts:
            estimator = self.done[name][0]
            notes += estimator.notes if estimator is not None else []
        target = self.options.target
        found = transfers(self.module, target, self.options.off_chip)
        copies = self._copies(found)
        notes += beyond(self._resources(top) + copies, available, target)
        notes += self._many_banks(counts)
        return Estimate(
            top, target.name, target.frequency, functions, available, tuple(dict.fromkeys(notes)), found, copies,
            advice, "" if target.profile is None else target.profile.name, schedules=self._schedules(counts),
        )  # fmt: skip

    def _schedules(self, names: Iterable[str]) -> dict[tuple[str, str, str], StaticSchedule]:
        """The schedules of the bodies of innermost loops."""
        found: dict[tuple[str, str, str], StaticSchedule] = {}
        for name in names:
            estimator = self.done[name][0]
            if estimator is not None:
                views = {op: estimator.views[op] for op in estimator.of_loops}
                found |= {(name, views[op].nest, views[op].name): s for op, s in estimator.of_loops.items()}
        return found

    def _many_banks(self, names: Iterable[str]) -> list[str]:
        """Notes on arrays of more banks than the tool makes."""
        most = self.options.target.limits.banks
        found = []
        for name in names:
            estimator = self.done[name][0]
            for memory in estimator.memories.values() if estimator is not None and most else ():
                if memory.banks > most and memory.kind.name != "FIFO":
                    found.append(
                        f"{name}: '{memory.name}' has {memory.banks:,} banks, and the tool makes {most:,} of an array "
                        "at most: partition it less"
                    )
        return found

    def _copies(self, found: tuple[Burst, ...]) -> Resources:
        """What the copies of the arguments on the chip take."""
        function = self.functions[self.module.top]
        estimator, entry = self.done[self.module.top][0], entry_block(function)
        total = Resources()
        if estimator is not None and entry is not None:
            names = {transfer.array for transfer in found}
            for name, value in zip(argument_names(function), entry.arguments, strict=True):
                if name in names:
                    total += array_resources(estimator.memory_of(value, name))
        return total

    def span(self, name: str) -> Span:
        """The time of one call of a function."""
        if name not in self.done:
            self.done[name] = (None, Span(None))  # what a recursive call is
            if entry_block(self.functions[name]) is None:
                self.notes.append(f"{name}: an external kernel; how long it takes is not known")
            else:
                self.done[name] = self._estimated(name)
        return self.done[name][1]

    def _estimated(self, name: str) -> tuple[FunctionEstimator, Span]:
        """A function, with arrays in other banks where the tool divides them unasked."""
        estimator = FunctionEstimator(self.module, name, self.options, self.callee)
        span = estimator.run()
        notes: list[str] = []
        target = self.options.target
        while target.rules.automatic_partitions is not None:
            found = divisions([d for (_, pipelined), d in estimator.schedules.items() if pipelined], target, name)
            if not found:
                break
            notes += as_notes(name, found)
            memories = {**estimator.memories, **{array: division.memory for array, division in found.items()}}
            estimator = FunctionEstimator(self.module, name, self.options, self.callee)
            estimator.memories.update(memories)
            span = estimator.run()
        estimator.notes += notes
        return estimator, span

    def callee(self, name: str) -> Callee:
        """What callers of a function see."""
        span = self.span(name)
        estimator = self.done[name][0]
        return Callee(None, None, Ends(), ()) if estimator is None else estimator.seen(span)

    def _instances(self, top: str) -> dict[str, int]:
        """How many instances of each function there are."""
        counts: Counter[str] = Counter()

        def visit(name: str, times: int) -> None:
            counts[name] += times
            for callee, number in self.done[name][1].callees.items():
                visit(callee, times * number)

        visit(top, 1)
        return dict(counts)

    def _function(self, name: str, instances: int) -> FunctionEstimate:
        estimator, span = self.done[name]
        if estimator is None:
            return FunctionEstimate(name, None, None, Resources(), Resources(), (), instances, False)
        latency = None if span.latency is None else math.ceil(span.latency)
        interval = latency if span.interval is None else math.ceil(span.interval)
        stages = estimator.proposals.get(estimator.function.operation)
        return FunctionEstimate(
            name, latency, interval, self._resources(name), self._own(name), estimator.rows.loops, instances,
            estimator.is_dataflow, "" if stages is None else stages.step, self._timelines(estimator),
        )  # fmt: skip

    def _timelines(self, estimator: FunctionEstimator) -> tuple[Timeline, ...]:
        """Those of the function and its loops with several parts, in the order of the text."""
        owners = [estimator.function.operation, *estimator.views]
        found = (estimator.timelines.get(owner) for owner in owners)
        return tuple(timeline for timeline in found if timeline is not None and len(timeline.parts) > 1)

    def _advice(self, names: Iterable[str]) -> tuple[Advice, ...]:
        """All that is advised; the rows of loops get what is about them."""
        steps: list[AdvisedStep] = []
        for name in names:
            estimator = self.done[name][0]
            if estimator is not None:
                self._propose_stages(estimator)
                called = {op: estimator.rows.name(view) for op, view in estimator.views.items()}
                steps += [AdvisedStep(name, op, called.get(op, name), p) for op, p in estimator.proposals.items()]
        advice, kept = ranked(steps, self._latency_with)
        for step in steps:
            estimator = self.done[step.function][0]
            assert estimator is not None
            if step not in kept:
                del estimator.proposals[step.op]
            elif step.op in estimator.rows.made:
                estimator.rows.advise(step.op, step.proposal.step)
        return advice

    def _propose_stages(self, estimator: FunctionEstimator) -> None:
        """Overlap what a function runs one after the other, if the device has units enough for that."""
        apart = Resources()
        for part in estimator.parts:
            apart += unit_resources(part.units)
            for callee, number in part.callees.items():
                apart += self._resources(callee).times(number)
        target = self.options.target
        device = target.device
        if not beyond(apart, Resources(device.dsp, device.bram18, device.uram, device.lut, device.ff), target):
            proposal = overlap(self.module, estimator.function, estimator.model, estimator.latency_of)
            if proposal is not None:
                estimator.proposals[estimator.function.operation] = proposal

    def _latency_with(self, steps: Sequence[AdvisedStep]) -> Fraction | None:
        """The latency of the kernel if some steps are taken."""
        taken: dict[str, dict[ir.Operation, Proposal]] = {}
        for step in steps:
            taken.setdefault(step.function, {})[step.op] = step.proposal
        return _Folded(self.done, taken).span(self.module.top).latency

    def _resources(self, name: str) -> Resources:
        """What one instance of a function takes, with its callees."""
        if name not in self.resources:
            found = self._own(name)
            for callee, number in self.done[name][1].callees.items():
                found += self._resources(callee).times(number)
            self.resources[name] = found
        return self.resources[name]

    def _own(self, name: str) -> Resources:
        """What one instance of a function takes without its callees."""
        estimator, span = self.done[name]
        if estimator is None:
            return Resources()
        for op in operations(estimator.entry):
            if op.name in ("memref.alloc", "memref.get_global"):
                estimator.memory_of(op.results[0], array_name(op))
        loops = len(estimator.rows.made)
        return own_resources(estimator.function, span, estimator.memories, self.options.target, loops)

    def _check_trips(self) -> None:
        """Refuse a trip count for a loop that does not exist."""
        used = {n for e, _ in self.done.values() if e is not None for n in e.trip_counts.used}
        for name in self.options.trips:
            if name not in used:
                loops = [
                    text
                    for function, (e, _) in self.done.items()
                    if e is not None
                    for view in e.views.values()
                    for text in (view.name, f"{function}:{view.name}")
                ]
                hint = nearest(name, loops) or "give the name of a loop"
                raise TargetError(f"trips names no loop of the kernel: '{name}'", hint=hint)


class _Folded:
    """The time of functions if some steps are taken, each found once."""

    def __init__(self, done: Mapping[str, _Done], taken: Mapping[str, Mapping[ir.Operation, Proposal]]) -> None:
        self.done = done
        self.taken = taken
        self.spans: dict[str, Span] = {}

    def span(self, name: str) -> Span:
        """The time of one call of a function."""
        if name not in self.spans:
            estimator, span = self.done[name]
            if estimator is not None and (name in self.taken or any(map(self._changes, span.callees))):
                found = estimator.assuming(self.taken.get(name, {}), self._callee)
                seen = [(s.latency, s.interval, s.ends) for s in (span, found)]
                span = span if seen[0] == seen[1] else found  # callers need no other look then
            self.spans[name] = span
        return self.spans[name]

    def _callee(self, name: str) -> Callee:
        span, estimator = self.span(name), self.done[name][0]
        return Callee(None, None, Ends(), ()) if estimator is None else estimator.seen(span)

    def _changes(self, name: str) -> bool:
        return self.span(name) is not self.done[name][1]
