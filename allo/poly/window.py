"""Window of a buffer that one iteration of a loop reads: how it moves to the next iteration, and whether both
overlap."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from .footprint import Footprint, footprint
from .linear import variable
from .model import Access, Model, ModelLoop
from .pairs import Signs, pair_of
from .systems import feasible, least


@dataclass(frozen=True, slots=True)
class Window:
    """The box that one iteration of a loop touches, as a window that moves over the buffer.

    `shift`: per dimension, how many elements the box moves from an iteration to the next (0 where it has no box);
    `reused`: some element is read in two iterations of one run of the loop; `slack`: so many iterations of each
    run surely pass before the first one that touches the buffer.
    """

    touched: Footprint
    shift: tuple[int, ...]
    reused: bool
    slack: int

    @property
    def moving(self) -> tuple[int, ...]:
        """The dimensions along which the window moves."""
        return tuple(dimension for dimension, distance in enumerate(self.shift) if distance)


def window(
    model: Model, buffer_value: ir.Value, loop_op: ir.Operation | ir.OpView, first: int | None
) -> Window | None:
    """The window of a buffer in a loop, None if the loop does not touch it.

    `first` is the constant value of the loop variable in the first iteration, if it has one.
    """
    touched = footprint(model, buffer_value, loop_op)
    if touched is None:
        return None
    loop = touched.loop
    step = ir.IntegerAttr(loop.op.attributes["step"]).value
    shift = tuple(
        0 if extent.lower is None else dict(extent.lower.terms).get(loop.name, 0) * step
        for extent in touched.extents
    )
    accesses = [access for access in model.inside(loop) if access.buffer.label == touched.buffer.label]
    reads = [access for access in accesses if not access.is_write]
    return Window(touched, shift, _reused(reads, loop), _slack(accesses, loop, first, step))


def _reused(reads: list[Access], loop: ModelLoop) -> bool:
    """Does an iteration read what an earlier one has read, in the same iteration of the loops around?"""
    for source in reads:
        for sink in reads:
            pair = pair_of(source, sink)
            if pair is None:
                continue
            signs: Signs = {outer.variable: 0 for outer in pair.common[: loop.depth]} | {loop.variable: 1}
            if pair.possible(signs):
                return True
    return False


def _slack(accesses: list[Access], loop: ModelLoop, first: int | None, step: int) -> int:
    if first is None:
        return 0
    earliest: int | None = None
    for access in accesses:
        for piece in access.pieces:
            if not feasible(piece):
                continue
            value = least(variable(loop.variable), piece)
            if value is None:
                return 0
            earliest = value if earliest is None else min(earliest, value)
    return 0 if earliest is None else max(0, (earliest - first) // step)
