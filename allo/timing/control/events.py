"""Events of streams: each put and get of a function with its cycle, an affine form of the loops around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

import numpy as np
from mlir import ir

from ...ir.access import callee_name, is_peek, may_put, moves_element
from ...ir.walk import constant_bounds
from ..problem.problem import Table
from .calls import Callee
from .span import Event, Span, Stream, begins, stream_key
from .tree import (
    Branch,
    Dataflow,
    FunctionTree,
    Invocation,
    Node,
    Pipeline,
    Repeat,
    Sequence,
    Spatial,
    Straight,
)

_ONCE: Table = np.zeros((), np.int64)


@dataclass(frozen=True, slots=True)
class PeriodicLoop:
    """A loop around a put or get: iteration `n` of `trips` starts `n * period` cycles after the first; None: not known.

    The variable of the loop, a number of the polyhedral model, is `lower + step * (factor * n + ...)`. `even`: all
    iterations take the same number of cycles, so that the period is exact and no mean. `share`: what happens does so
    in such a part of the iterations, each of `taken` cycles, and all others take `idle` ones (None: not known).
    """

    variable: int
    lower: int | None
    step: int
    trips: Fraction | None
    period: Fraction | None
    factor: int = 1
    even: bool = True
    share: Fraction | None = None
    taken: Fraction = Fraction(0)
    idle: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class StreamSite:
    """A put or get, or a call that does some: it happens in cycle `first + sum(n * period)` of its function.

    `n` are the numbers of iterations of `loops`, the outermost first, of which those that are unrolled into one
    iteration have a period of 0; `copies` are the cycles that their copies come later than the first, a table with one
    axis for each unrolled loop of the innermost schedule. The last of all happens `behind` cycles before the end.
    `exact`: nothing before it, and no iteration, takes a number of cycles that data or other loops decide; else walk
    along the tree and add up what is executed. What waits for a FIFO makes all later by as much. `overlapped`: it is in
    a stage or processing element, which begins when others let it; `first` has no part in that. What a call does, from
    cycle `first` on, is `inner`, in so many `cycles` from the first to the last.
    """

    op: ir.Operation
    stream: Stream
    is_put: bool
    first: Fraction
    behind: Fraction
    loops: tuple[PeriodicLoop, ...]
    copies: Table
    exact: bool
    overlapped: bool
    inner: Event | None = None
    cycles: Fraction = Fraction(0)


class Lengths(Protocol):
    """What is known of the nodes of a tree when their cycles are known."""

    tree: FunctionTree
    callee: Callable[[str], Callee]

    def of(self, node: Node) -> Span: ...

    def is_even(self, node: Node) -> bool: ...


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a node is: cycles before it begins, in the first iteration, and behind its end, in the last one."""

    before: Fraction = Fraction(0)
    behind: Fraction = Fraction(0)
    loops: tuple[PeriodicLoop, ...] = ()
    exact: bool = True
    overlapped: bool = False
    condition: Branch | None = None  # why iterations of the innermost loop take more or fewer cycles


def events(lengths: Lengths, node: Node | None = None) -> Iterator[StreamSite]:
    """The puts and gets of a function, or of one of its nodes from the begin of that, in the order of the text.

    Calls are sites of their own for each stream that the callee uses; its own events are those of its tree.
    """
    return _of_node(lengths, lengths.tree.root if node is None else node, _Place())


def _of_node(lengths: Lengths, node: Node, at: _Place) -> Iterator[StreamSite]:
    match node:
        case Straight() | Pipeline():
            yield from _of_region(lengths, node, at)
        case Repeat():
            yield from _of_node(lengths, node.body, _in_loop(lengths, node, at))
        case Sequence():
            spans = [lengths.of(part) for part in node.parts]
            times, exact = begins(spans), at.exact
            for part, begin, end in zip(node.parts, times, times[1:], strict=False):
                after = at.behind + times[-1] - end
                yield from _of_node(lengths, part, replace(at, before=at.before + begin, behind=after, exact=exact))
                exact = exact and lengths.is_even(part)
        case Branch():
            inside = _in_branch(lengths, node, at) if node is at.condition else at
            for branch in node.branches:
                yield from _of_node(lengths, branch, inside)
        case Dataflow():
            for part in node.parts:
                yield from _of_node(lengths, part, replace(at, overlapped=True))
        case Spatial():
            loop = _loop(lengths, node, 1, Fraction(0), node.trips.mean)
            yield from _of_node(lengths, node.body, replace(at, loops=(*at.loops, loop), overlapped=True))
        case Invocation():
            yield from _of_call(lengths, node.op, node.callee, replace(at, before=at.before + node.control), _ONCE)
        case _:
            pass


def _in_loop(lengths: Lengths, node: Repeat, at: _Place) -> _Place:
    body = lengths.of(node.body)
    time = node.body.region.graph.region.time if isinstance(node.body, Straight) else ()
    period = None if body.latency is None else body.latency + node.each
    if isinstance(node.body, Dataflow):
        period = body.interval
    loop = _loop(lengths, node, time[0].factor if time else 1, period, node.count)
    loop = replace(loop, even=lengths.is_even(node.body))
    before, behind = at.before + node.enter + node.each, at.behind + node.leave
    condition = None if loop.even else _deciding(lengths, node.body)
    return replace(at, before=before, behind=behind, loops=(*at.loops, loop), condition=condition)


def _deciding(lengths: Lengths, body: Node) -> Branch | None:
    """The condition that alone decides how many cycles a body takes, which else runs part by part."""
    parts = body.parts if isinstance(body, Sequence) else (body,)
    uneven = [part for part in parts if not lengths.is_even(part)]
    cycles = [lengths.of(part).latency for part in parts]
    in_turn = None not in cycles and sum(filter(None, cycles)) == lengths.of(body).latency
    found = uneven[0] if in_turn and len(uneven) == 1 else None
    if not isinstance(found, Branch):
        return None
    is_single = len(found.branches) == 1 and found.shares is not None and found.shares[0] > 0
    return found if is_single and lengths.is_even(found.branches[0]) else None


def _in_branch(lengths: Lengths, node: Branch, at: _Place) -> _Place:
    *outer, loop = at.loops
    cycles, mean = lengths.of(node.branches[0]).latency, lengths.of(node).latency
    if loop.period is None or cycles is None or mean is None or node.shares is None:
        return at
    idle = loop.period - mean
    loop = replace(loop, share=node.shares[0], taken=idle + cycles, idle=idle)
    return replace(at, loops=(*outer, loop), condition=None)


def _loop(
    lengths: Lengths, node: Repeat | Spatial, factor: int, period: Fraction | None, count: Fraction | None
) -> PeriodicLoop:
    bounds = None if node.view.op.name == "scf.while" else constant_bounds(node.view.op)
    variable = -1 if node.view.op.name == "scf.while" else lengths.tree.around.model.loop(node.view.op).variable
    lower, step = (None, 1) if bounds is None else (bounds[0], bounds[2])
    return PeriodicLoop(variable, lower, step, count, period, factor)


def _of_region(lengths: Lengths, node: Straight | Pipeline, at: _Place) -> Iterator[StreamSite]:
    region, schedule = node.region.graph.region, node.region.schedule
    enter, leave, loops = 0, 0, list(at.loops)
    if isinstance(node, Pipeline):
        enter, leave, interval = node.enter, node.leave, schedule.interval or 0
        loops += [
            PeriodicLoop(
                loop.variable, loop.lower, loop.step, None if loop.trip is None else Fraction(loop.trip),
                Fraction(loop.stride * interval), loop.factor,
            )
            for loop in region.time
        ]  # fmt: skip
    loops += [
        PeriodicLoop(copy.variable, copy.lower, copy.step, Fraction(copy.trip), Fraction(0))
        for copy in region.copy_loops
        if copy.variable >= 0
    ]
    for use in region.nodes:
        first, last = schedule.first(use.index), schedule.last(use.index)
        each = [copy.trip if number in use.around else 1 for number, copy in enumerate(region.copy_loops)]
        table = np.broadcast_to(schedule.cycles[use.index] - first, each)
        place = replace(
            at, before=at.before + enter + first, behind=at.behind + schedule.depth - last + leave, loops=tuple(loops)
        )
        if moves_element(use.op) and not is_peek(use.op):
            stream = stream_key(use.op.operands[0])
            yield _site(use.op, stream, may_put(use.op), place, table)
        elif use.op.name == "func.call":
            yield from _of_call(lengths, use.op, callee_name(use.op), place, table)


def _of_call(lengths: Lengths, op: ir.Operation, name: str, at: _Place, copies: Table) -> Iterator[StreamSite]:
    callee = lengths.callee(name)
    ends = callee.seen_by(op)
    for found, puts in ((ends.puts, True), (ends.gets, False)):
        for stream, event in found.items():
            before, behind = at.before + event.first, at.behind + event.tail
            cycles = (callee.latency or Fraction(0)) - event.first - event.tail
            site = _site(op, stream, puts, replace(at, before=before, behind=behind), copies)
            yield replace(site, inner=event, cycles=cycles)


def _site(op: ir.Operation, stream: Stream, puts: bool, at: _Place, copies: Table) -> StreamSite:
    exact = at.exact and all(loop.even and loop.period is not None for loop in at.loops)
    return StreamSite(op, stream, puts, at.before, at.behind, at.loops, copies, exact, at.overlapped)
