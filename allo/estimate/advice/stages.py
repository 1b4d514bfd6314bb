"""Advice to overlap what a function runs one after the other, as stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from ...ir.walk import LOOP_OPERATIONS, entry_block, statement_of, statements, string_of
from ...poly import Model
from ...timing.control.stages import Overlap
from .question import Proposal

_LONG = 20  # cycles of a stage that is worth its FIFO
_START = 20  # cycles until the first element comes out of a stage, at most as a rule
_GAIN = Fraction(9, 10)


@dataclass(slots=True)
class _Stage:
    op: ir.Operation
    latency: Fraction
    reads: set[str]
    writes: set[str]


def overlap(
    module: Module, function: ir.OpView, model: Model, latency_of: Callable[[ir.Operation], Fraction | None]
) -> Proposal | None:
    """`dataflow`, behind `relay` of arrays whose elements pass in order; None if that gains little or is refused.

    `latency_of` gives the cycles of a loop or call. Arrays that are no FIFOs are passed on when they are complete.
    """
    entry = entry_block(function)
    if entry is None or "allo.dataflow" in function.operation.attributes:
        return None
    body = statements(entry)[:-1]
    stages = _stages(model, body, latency_of)
    long = [stage for stage in stages if stage.latency >= _LONG]
    if len(long) < 2 or _has_two_readers(stages):
        return None
    steps, relayed = _relays(module, function, model, body, long)
    latency = _overlapped(stages, relayed)
    if latency >= _GAIN * sum(stage.latency for stage in stages):
        return None
    if refusal_of_stages(module, model, body, "") is not None:
        return None
    return Proposal("; ".join([*steps, f's.dataflow("{function.name.value}")']), latency)


def deeper(found: Overlap) -> Proposal | None:
    """The depths that keep stages from waiting for one another, as a remark: they are said where FIFOs are made."""
    if found.lost < 1 or found.span.latency is None:
        return None
    short = [link for link in found.links if link.depth is not None and link.depth < (link.needed or 0)]
    listed = ", ".join(f"'{link.name}' with a depth of {link.needed} in place of {link.depth}" for link in short)
    return Proposal(f"# {listed}", found.span.latency - found.lost, small=True)


def _stages(
    model: Model, body: Sequence[ir.Operation], latency_of: Callable[[ir.Operation], Fraction | None]
) -> list[_Stage]:
    """The loops and calls; none if the time of one is not known."""
    found: dict[ir.Operation, _Stage] = {}
    for op in body:
        if op.name in LOOP_OPERATIONS or op.name == "func.call":
            latency = latency_of(op)
            if latency is None:
                return []
            found[op] = _Stage(op, latency, set(), set())
    for access in model.accesses:
        stage = found.get(statement_of(access.op))
        if stage is not None:
            (stage.writes if access.is_write else stage.reads).add(access.buffer.label)
    return list(found.values())


def _has_two_readers(stages: Sequence[_Stage]) -> bool:
    """Whether an array has several readers: vendors' tools connect one producer and one consumer (UG1399, dataflow)."""
    return any((one.reads - one.writes) & (other.reads - other.writes) for one, other in combinations(stages, 2))


def _relays(
    module: Module, function: ir.OpView, model: Model, body: Sequence[ir.Operation], stages: Sequence[_Stage]
) -> tuple[list[str], set[str]]:
    """Steps that make FIFOs of local arrays between two stages, and the labels of these arrays."""
    steps: list[str] = []
    labels: set[str] = set()
    home = function.name.value
    for op in body:
        name = string_of(op, "allo.name")
        if op.name != "memref.alloc" or name is None or is_stream_type(op.results[0].type):
            continue
        known = model.buffer(op.results[0])
        if known is None or any(known.label in s.writes & s.reads for s in stages):
            continue
        ends = [stage for stage in stages if known.label in stage.reads | stage.writes]
        if len(ends) != 2 or known.label not in ends[0].writes or known.label not in ends[1].reads:
            continue
        target = _fifo_end(module, Buffer(home, name), op.results[0], model)
        if target:
            steps.append(f's.relay("{home}:{name}", "{target}")')
            labels.add(known.label)
    return steps, labels


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


def _overlapped(stages: Sequence[_Stage], relayed: set[str]) -> Fraction:
    """The cycles of all stages if each starts as soon as what it uses is there."""
    starts: list[Fraction] = []
    ends: list[Fraction] = []
    for number, stage in enumerate(stages):
        start, end = Fraction(0), Fraction(0)
        for before in range(number):
            other = stages[before]
            shared = other.writes & (stage.reads | stage.writes)
            if shared - relayed:
                start = max(start, ends[before])
            elif shared:
                start = max(start, starts[before] + _START)
                end = max(end, ends[before] + _START)
        starts.append(start)
        ends.append(max(end, start + stage.latency))
    return max(ends)
