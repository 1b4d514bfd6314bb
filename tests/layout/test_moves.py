"""Moves of arrays: what they move, composition, inverses, normal forms, walks in any order of their digits."""

from __future__ import annotations

from itertools import permutations
from math import prod
from random import Random
from typing import Any

import numpy as np

from allo.layout import ArrayMove
from tests.seeds import sweep

type Numbers = np.ndarray[Any, Any]


def moved(move: ArrayMove, array: Numbers) -> Numbers:
    made = np.full(len(array), -1)
    source, target = move.in_order(range(len(move.digits)))
    made[list(target.addresses())] = array[list(source.addresses())]
    return made


def shuffled(random: Random, radices: tuple[int, ...]) -> ArrayMove:
    """A move of an array with these digits, the slowest first, to one with them in another order."""
    order = random.sample(range(len(radices)), len(radices))
    source = [prod(radices[k + 1 :]) for k in range(len(radices))]
    target = {k: prod(radices[j] for j in order[place + 1 :]) for place, k in enumerate(order)}
    return ArrayMove.of(radices, source, [target[k] for k in range(len(radices))])


@sweep(20)
def test_two_moves_are_one(seed: int) -> None:
    random = Random(seed)
    radices = tuple(random.choice([1, 2, 3, 4]) for _ in range(4))
    first, second = shuffled(random, radices), shuffled(random, radices[::-1])
    array = np.arange(prod(radices))
    both = first.then(second)
    if both is not None:
        np.testing.assert_array_equal(moved(both, array), moved(second, moved(first, array)))
        assert both.normal.is_whole
        np.testing.assert_array_equal(moved(both.normal, array), moved(both, array))
    back = first.then(first.inverse)
    assert back is not None and back.is_identity and back.normal == ArrayMove.of([len(array)], [1], [1]).normal
    for digits in permutations(range(len(first.digits))):
        source, target = first.in_order(digits)
        made = np.empty_like(array)
        made[list(target.addresses())] = array[list(source.addresses())]
        np.testing.assert_array_equal(made, moved(first, array))


def test_packing_of_a_transposed_matrix() -> None:
    turn = ArrayMove.of((6, 4), (4, 1), (1, 6))
    pack = ArrayMove.of((2, 2, 2, 3), (12, 3, 6, 1), (12, 6, 3, 1))  # 4 x 6 in blocks of 2 x 3
    both = turn.then(pack)
    assert both is not None
    array = np.arange(24)
    expected = array.reshape(6, 4).T.reshape(2, 2, 2, 3).transpose(0, 2, 1, 3).reshape(-1)
    np.testing.assert_array_equal(moved(both, array), expected)


def test_digits_that_cross_have_no_common_move() -> None:
    assert ArrayMove.of((2, 3), (3, 1), (3, 1)).then(ArrayMove.of((3, 2), (2, 1), (1, 3))) is None
    assert not ArrayMove.of((4,), (2,), (1,)).is_whole
