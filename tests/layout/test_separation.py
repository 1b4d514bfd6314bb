"""Banks of words and of other shapes: what could be reached at once still can, with no bank too many."""

from itertools import product
from math import prod

import numpy as np
import pytest

from allo.layout import COMPLETE, NONE, PartitionLayout, block, cyclic, packed, separated

from .test_partition_lattice import SHAPES, bank_of, divisions, layouts


@pytest.mark.parametrize(("extent", "factor"), [(8, 2), (8, 4), (12, 2), (12, 3), (12, 4), (12, 6), (16, 4)])
def test_words_of_runs_that_were_apart_are_apart(extent, factor):
    for banks in divisions(extent):
        words = packed(banks, extent, factor)
        apart = banks.count(extent) if banks.kind is not block(2).kind else 1
        for start in range(0, extent, apart):
            run = {e // factor for e in range(start, min(start + apart, extent))}
            assert len({bank_of(words, word, extent // factor) for word in run}) == len(run)
        if banks.kind is block(2).kind:
            for one, other in product(range(extent), repeat=2):
                if abs(one - other) == banks.run(extent) and one // factor != other // factor:
                    ends = [bank_of(words, e // factor, extent // factor) for e in (one, other)]
                    assert ends[0] != ends[1]


def test_banks_of_words():
    assert packed(cyclic(8), 32, 4) == cyclic(2)
    assert packed(cyclic(4), 32, 4) == packed(cyclic(2), 32, 4) == packed(NONE, 32, 4) == NONE
    assert packed(cyclic(6), 24, 4) == cyclic(3)
    assert packed(COMPLETE, 16, 4) == COMPLETE
    assert packed(block(4), 32, 4) == block(4)
    assert packed(block(5), 30, 4 - 1) == block(5)


@pytest.mark.parametrize("shape", SHAPES)
def test_elements_of_different_banks_stay_apart(shape):
    size = prod(shape)
    for new in [(size,), (2, size // 2), (size // 2, 2)]:
        for layout in layouts(shape)[::3]:
            made = separated(layout, new)
            numbers = np.arange(size)
            old_banks, new_banks = (
                np.ravel_multi_index(
                    [
                        np.vectorize(lambda e, b=b, n=n: bank_of(b, e, n))(index)
                        for b, n, index in zip(of.dims, of.shape, np.unravel_index(numbers, of.shape), strict=True)
                    ],
                    of.shape,
                )
                for of in (layout, made)
            )
            pairs = set(zip(new_banks.tolist(), old_banks.tolist(), strict=True))
            assert len(pairs) == len(set(new_banks.tolist()))


def test_fewest_banks_of_other_shapes():
    assert separated(PartitionLayout.of((16,), (cyclic(3),)), (4, 4)).dims == (cyclic(3), cyclic(3))
    assert separated(PartitionLayout.of((4, 12), (NONE, cyclic(5))), (48,)).dims == (cyclic(12),)
    assert separated(PartitionLayout.of((32,), (cyclic(4),)), (8, 4)).dims == (NONE, COMPLETE)
    assert separated(PartitionLayout.of((24,), (block(4),)), (4, 6)).dims == (COMPLETE, NONE)
    assert separated(PartitionLayout.of((24,), (block(2),)), (6, 4)).dims == (block(2), NONE)
