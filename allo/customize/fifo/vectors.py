"""Inner loops that may be unrolled: by any factor, or by as many elements as their streams pass in vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mlir import ir

from ...ir.access import is_end
from ...ir.module import Module
from ...ir.stream_facts import made_streams
from ...ir.walk import LoopView, annotations_of, operations, trip_count
from ...poly import Access, Cut, Model, carried_by, extract, whole_blocks
from ..step.handles import FifoName
from .depths import fifo_name


@dataclass(frozen=True, slots=True)
class InnerLoop:
    """A loop without loops inside, and the FIFOs that it puts into and gets from.

    `widths` are the factors above 1 by which it may be unrolled, powers of two that each divide the next one: its
    FIFOs pass vectors of as many elements. None: any divisor of its trips, since there are no FIFOs.
    """

    view: LoopView
    fifos: tuple[FifoName, ...]
    widths: tuple[int, ...] | None

    def copies(self, factor: int) -> int:
        """How many copies there are of it where those that may be unrolled by anything are by `factor`."""
        if self.widths is None:
            return min(factor, trip_count(self.view.op) or 1)
        return max((width for width in self.widths if factor % width == 0), default=1)


def inner_loops(module: Module, name: str, model: Model) -> list[InnerLoop]:
    """The loops of a function that no other loop is in, without those that are annotated, but for pipelines."""
    function = module.function(name)
    arrays = replace(model, accesses=tuple(access for access in model.accesses if not access.buffer.is_stream))
    streams = _Streams(function, name)
    found = []
    for view in module.loops(name):
        is_inner = not any(op.name in ("affine.for", "scf.for", "scf.while") for op in operations(view.body))
        marks = [mark for loop in view.chain for mark in annotations_of(loop.op)]
        if not is_inner or view.op.name != "affine.for" or marks not in ([], ["pipeline=1"]):
            continue
        ends = [access for access in model.inside(model.loop(view.op)) if access.buffer.is_stream]
        widths = streams.widths(ends, trip_count(view.op) or 1) if ends else None
        found.append(InnerLoop(view, streams.names(ends), widths if _may_run_at_once(arrays, view) else ()))
    return found


def agreed(loops: Iterable[InnerLoop]) -> list[InnerLoop]:
    """The loops with the widths that are the same at both ends of all FIFOs, but for ends that stay at one element."""
    found = list(loops)
    while True:
        common: dict[FifoName, set[int]] = {}
        for loop in found:
            for fifo in loop.fifos if loop.widths else ():
                common[fifo] = common.get(fifo, set(loop.widths or ())) & set(loop.widths or ())
        made = [
            replace(loop, widths=tuple(w for w in loop.widths if all(w in common[fifo] for fifo in loop.fifos)))
            if loop.widths
            else loop
            for loop in found
        ]
        if made == found:
            return made
        found = made


def widened(loops: Sequence[InnerLoop], copies: Sequence[int]) -> tuple[list[int], dict[FifoName, int]]:
    """Copies of loops of which each end of a FIFO has one or as many as the other one, at least those given; the FIFOs
    that pass vectors, with their widths."""
    made = list(copies)
    while True:
        widths: dict[FifoName, int] = {}
        for loop, count in zip(loops, made, strict=True):
            for fifo in loop.fifos if count > 1 else ():
                widths[fifo] = max(widths.get(fifo, 1), count)
        grown = [
            max(widths[fifo] for fifo in loop.fifos) if count > 1 and loop.fifos else count
            for loop, count in zip(loops, made, strict=True)
        ]
        if grown == made:
            return made, widths
        made = grown


class _Streams:
    """The FIFOs of a function, and vectors of which sizes they can pass."""

    def __init__(self, function: ir.OpView, name: str) -> None:
        self.function = function
        self.name = name
        self.named = Counter(fifo_name(op) for op in made_streams(function))
        self.known: dict[tuple[str, int], bool] = {}
        self.models: dict[str, Model] = {}

    def names(self, ends: Sequence[Access]) -> tuple[FifoName, ...]:
        return tuple(dict.fromkeys(FifoName(self.name, access.buffer.name) for access in ends))

    def widths(self, ends: Sequence[Access], trips: int) -> tuple[int, ...]:
        """The powers of two above 1 that divide the trips of a loop, and are sizes of vectors at all of its ends."""
        found: list[int] = []
        width = 2
        while trips % width == 0 and all(self._passes(access, width) for access in ends):
            found.append(width)
            width *= 2
        return tuple(found)

    def _passes(self, access: Access, width: int) -> bool:
        """Whether both sides of the FIFO of a put or get move whole vectors."""
        value, name = access.buffer.value, access.buffer.name
        assert value is not None
        if isinstance(value.owner, ir.Block) or value.owner.operation.name != "allo.stream_create":
            return False
        if self.named[name] > 1 or not all(is_end(use.owner.operation) for use in value.uses):
            return False
        if name not in self.models:
            self.models[name] = extract(self.function, using=value)
        if (name, width) not in self.known:
            model = self.models[name]
            own = [end for end in model.accesses if end.buffer.value == value]
            self.known[name, width] = not any(isinstance(whole_blocks(model, end, width), Cut) for end in own)
        return self.known[name, width]


def _may_run_at_once(model: Model, view: LoopView) -> bool:
    """Whether iterations of a loop do not need one another, and use different elements along one dimension."""
    loop = model.loop(view.op)
    for access in model.inside(loop):
        moving = {loop.variable}
        for quotient in access.quotients:
            if any(variable in moving for variable, _ in quotient.numerator.terms):
                moving.add(quotient.variable)
        along = [dict(form.terms) for form in access.subscripts]
        if any(variable in form for form in along for variable in moving - {loop.variable}):
            return False
        if not access.exact_elements or sum(abs(form.get(loop.variable, 0)) for form in along) > 1:
            return False
    return (trip_count(view.op) or 1) > 1 and carried_by(model, view.op) is None
