"""Rates of loops that streams join: how many iterations of each move as much into every stream as out of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import lcm

type Moves = tuple[Counter[str], Counter[str]]  # what an iteration gets and puts, by stream


def repetitions(loops: Sequence[Moves]) -> list[int] | None:
    """The fewest iterations of each loop, at least one, that leave streams between them as they were; None if none do.

    These are the repetitions of synchronous dataflow (Lee and Messerschmitt, 1987). Loops that no streams join have
    rates of their own; streams with one end at other loops are left out.
    """
    rates: list[Fraction | None] = [None] * len(loops)
    for start in range(len(loops)):
        if rates[start] is not None:
            continue
        rates[start] = Fraction(1)
        ahead, joined = [start], [start]
        while ahead:
            one = ahead.pop()
            own = rates[one]
            assert own is not None
            for other in range(len(loops)):
                for ratio in _ratios(loops[one], loops[other]):
                    if rates[other] is None:
                        rates[other] = own * ratio
                        ahead.append(other)
                        joined.append(other)
                    if rates[other] != own * ratio:
                        return None
        _in_whole_numbers(rates, joined)
    return [int(rate) for rate in rates if rate is not None]


def _ratios(one: Moves, other: Moves) -> list[Fraction]:
    """How many iterations of another loop take what one puts, or put what it takes, by stream."""
    found = [Fraction(n, other[0][name]) for name, n in one[1].items() if n and other[0][name]]
    return found + [Fraction(n, other[1][name]) for name, n in one[0].items() if n and other[1][name]]


def _in_whole_numbers(rates: list[Fraction | None], joined: Sequence[int]) -> None:
    """The least whole numbers that are to one another as some rates are, in their place."""
    own = [rates[number] or Fraction(0) for number in joined]
    scale = lcm(*(rate.denominator for rate in own))  # one of them is 1: no number divides all then
    for number, rate in zip(joined, own, strict=True):
        rates[number] = rate * scale
