"""Partitions of other shapes of an array, and of words of it, that serve whoever asked for the partition before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .partition import COMPLETE, NONE, Banks, Division, PartitionLayout, block, cyclic

LARGEST = 1 << 22  # elements that are looked at one by one
_LONGEST = 4096  # periods that are tried


def packed(banks: Banks, extent: int, factor: int) -> Banks:
    """The banks of words of `factor` consecutive elements.

    Elements of different runs of a block division stay in different banks, or are in one word; of a cyclic one, as many
    consecutive elements as there were banks, from a multiple of their number on, can still be reached at once.
    """
    banks, words = banks.canonical(extent), extent // factor
    match banks.kind:
        case Division.CYCLIC:
            apart = banks.factor // factor if banks.factor % factor == 0 else -(-(banks.factor - 1) // factor) + 1
            return (NONE if factor % banks.factor == 0 else cyclic(apart)).canonical(words)
        case Division.BLOCK:
            run = max(banks.run(extent) // factor, 1)
            return block(-(-words // run)).canonical(words)
        case _:
            return banks.canonical(words)


def separated(layout: PartitionLayout, shape: Sequence[int]) -> PartitionLayout:
    """The partition of another shape in row-major order with the fewest banks in each dimension such that elements
    which were in different banks still are. The array has at most `LARGEST` elements."""
    bank = np.zeros((1,) * len(layout.shape), np.int64)
    for d, (banks, extent) in enumerate(zip(layout.dims, layout.shape, strict=True)):
        digit = banks.digit(extent)
        own = np.arange(extent) // digit.divisor % digit.extent
        bank = bank * digit.extent + own.reshape([-1 if k == d else 1 for k in range(len(layout.shape))])
    seen = np.broadcast_to(bank, layout.shape).reshape(shape)
    dims = []
    for d, extent in enumerate(shape):
        _, classes = np.unique(np.moveaxis(seen, d, 0).reshape(extent, -1), axis=0, return_inverse=True)
        dims.append(_coarsest(classes.reshape(-1), extent))
    return PartitionLayout.of(tuple(shape), tuple(dims))


def _coarsest(classes: np.ndarray[tuple[int, ...], np.dtype[np.int64]], extent: int) -> Banks:
    """The division with the fewest banks that has elements of different classes in different ones."""
    if not classes.any():
        return NONE
    found = [COMPLETE]
    run = int(np.gcd.reduce(np.flatnonzero(np.diff(classes)) + 1))
    if (runs := block(-(-extent // run))).run(extent) == run:
        found.append(runs)
    for period in range(int(classes.max()) + 1, min(extent, _LONGEST)):
        if (classes[period:] == classes[:-period]).all():
            found.append(cyclic(period))
            break
    return min(found, key=lambda banks: banks.count(extent))
