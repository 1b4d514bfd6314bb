"""Advice to overlap what a function runs one after the other, as stages."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from mlir import ir

from ...customize.fifo.accesses import gets_of, obstacle
from ...customize.fifo.stages import read_stages
from ...customize.step.handles import Buffer
from ...customize.step.region_stages import refusal_of_stages
from ...errors import ScheduleError
from ...ir.module import Module
from ...ir.streams import is_stream_type
from ...ir.walk import statements, string_of
from ...poly import Model
from ...timing.control.span import Span
from ...timing.control.spans import Spans
from ...timing.control.stages import Overlap
from ...timing.control.tree import FunctionTree, Invocation, Pipeline, Repeat, Spatial
from .question import Proposal

_LONG = 20  # cycles of a stage that is worth its FIFO
_START = 20  # cycles until the first element comes out of a stage, at most as a rule
_GAIN = Fraction(9, 10)


def overlap(module: Module, spans: Spans) -> Proposal | None:
    """`dataflow`, behind `relay` of arrays whose elements pass in order; None if that gains little or is refused.

    Arrays that are no FIFOs are passed on when they are complete.
    """
    tree, body = spans.tree, statements(spans.tree.entry)[:-1]
    if "allo.dataflow" in tree.function.operation.attributes:
        return None
    stages = [spans.of(part) for part in tree.root.parts if isinstance(part, Repeat | Pipeline | Spatial | Invocation)]
    long = [stage for stage in stages if (stage.latency or 0) >= _LONG]
    if len(long) < 2 or any(stage.latency is None for stage in stages) or _has_two_readers(stages):
        return None
    steps, relayed = _relays(module, tree, body, long)
    latency = _overlapped(stages, relayed)
    if latency >= _GAIN * sum(stage.latency or 0 for stage in stages):
        return None
    if refusal_of_stages(module, tree.around.model, body, "") is not None:
        return None
    return Proposal("; ".join([*steps, f's.dataflow("{tree.name}")']), latency)


def deeper(found: Overlap) -> Proposal | None:
    """The depths that keep stages from waiting for one another, as a remark: they are said where FIFOs are made."""
    if found.lost < 1 or found.span.latency is None:
        return None
    short = [link for link in found.links if link.depth is not None and link.depth < (link.needed or 0)]
    listed = ", ".join(f"'{link.name}' with a depth of {link.needed} in place of {link.depth}" for link in short)
    return Proposal(f"# {listed}", found.span.latency - found.lost, small=True)


def _has_two_readers(stages: Sequence[Span]) -> bool:
    """Whether an array has several readers: vendors' tools connect one producer and one consumer (UG1399, dataflow)."""
    only_read = [stage.ends.reads - stage.ends.writes for stage in stages]
    return any(one & other for one, other in combinations(only_read, 2))


def _relays(
    module: Module, tree: FunctionTree, body: Sequence[ir.Operation], stages: Sequence[Span]
) -> tuple[list[str], set[ir.Value]]:
    """Steps that make FIFOs of local arrays between two stages, and these arrays."""
    steps: list[str] = []
    arrays: set[ir.Value] = set()
    for op in body:
        name = string_of(op, "allo.name")
        if op.name != "memref.alloc" or name is None or is_stream_type(op.results[0].type):
            continue
        array = op.results[0]
        ends = [stage.ends for stage in stages if array in stage.ends.reads | stage.ends.writes]
        if len(ends) != 2 or array not in ends[0].writes or array not in ends[1].reads:
            continue
        if any(array in end.reads & end.writes for end in ends):
            continue
        target = _fifo_end(module, Buffer(tree.name, name), array, tree.around.model)
        if target:
            steps.append(f's.relay("{tree.name}:{name}", "{target}")')
            arrays.add(array)
    return steps, arrays


def _fifo_end(module: Module, buffer: Buffer, array: ir.Value, model: Model) -> str:
    """What `relay` calls the consumer of an array, if all elements can pass in order through a FIFO; else empty."""
    ends = read_stages(module, buffer, array, model)
    if isinstance(ends, ScheduleError) or len(ends) != 2 or ends[0].reads or ends[1].writes:
        return ""
    if obstacle(ends[0], ends[1], gets_of(ends[1])) is not None:
        return ""
    if ends[1].function is not None:
        return ends[1].function
    nest = string_of(ends[1].op, "allo.nest")
    return f"{buffer.function}:{nest}" if nest else ""


def _overlapped(stages: Sequence[Span], relayed: set[ir.Value]) -> Fraction:
    """The cycles of all stages if each starts as soon as what it uses is there."""
    starts: list[Fraction] = []
    ends: list[Fraction] = []
    for number, stage in enumerate(stages):
        start, end = Fraction(0), Fraction(0)
        for before in range(number):
            shared = stages[before].ends.writes & (stage.ends.reads | stage.ends.writes)
            if shared - relayed:
                start = max(start, ends[before])
            elif shared:
                start = max(start, starts[before] + _START)
                end = max(end, ends[before] + _START)
        starts.append(start)
        ends.append(max(end, start + (stage.latency or 0)))
    return max(ends)
