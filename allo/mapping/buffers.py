"""Buffers that a call passes to an array: one for each argument, or several arguments in one if there are too many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from .graph import CallArray

_ALIGNED = 64  # bytes: where an argument begins in a buffer with others


@dataclass(frozen=True, slots=True)
class CallBuffer:
    """Memory beside the chip that holds arguments of one width, one behind the other; `length` in elements."""

    name: str
    element: str
    arguments: tuple[tuple[CallArray, int], ...]  # with the element at which each begins
    length: int

    def offset(self, argument: CallArray) -> int | None:
        """The element at which an argument begins; None if it is in another buffer."""
        return next((offset for own, offset in self.arguments if own == argument), None)


def buffers_of(arguments: Sequence[CallArray], limit: int) -> tuple[CallBuffer, ...]:
    """As many buffers as arguments, or, if that is more than `limit`, as few more than it as can be.

    The smallest two of one width share a buffer first, since the host copies what does.
    """
    groups = [[argument] for argument in arguments]
    while len(groups) > limit:
        pairs = [
            (_bytes(one) + _bytes(other), k, m)
            for k, one in enumerate(groups)
            for m, other in enumerate(groups)
            if k < m and one[0].bits == other[0].bits
        ]
        if not pairs:
            break
        _, k, m = min(pairs)
        groups[k] += groups.pop(m)
    return tuple(_buffer(group) for group in groups)


def _bytes(group: Sequence[CallArray]) -> int:
    return sum(prod(argument.shape) * argument.bits // 8 for argument in group)


def _buffer(group: Sequence[CallArray]) -> CallBuffer:
    unit = max(_ALIGNED * 8 // group[0].bits, 1)
    placed, end = [], 0
    for argument in group:
        begin = -(-end // unit) * unit
        placed.append((argument, begin))
        end = begin + prod(argument.shape)
    return CallBuffer("_".join(argument.name for argument in group), group[0].element, tuple(placed), end)
