"""Sums, quotients and rests of subscripts: their text as SystemVerilog counts it, and what is said of their numbers."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from allo.backend.rtl.lowering import linear
from allo.backend.rtl.lowering.linear import SubscriptNumber
from tests.seeds import sweep


@dataclass(frozen=True)
class Wires:
    """A number with the division of SystemVerilog, toward zero."""

    number: int

    def __add__(self, other: Wires) -> Wires:
        return Wires(self.number + other.number)

    def __sub__(self, other: Wires) -> Wires:
        return Wires(self.number - other.number)

    def __mul__(self, other: Wires) -> Wires:
        return Wires(self.number * other.number)

    def __neg__(self) -> Wires:
        return Wires(-self.number)

    def __truediv__(self, other: Wires) -> Wires:
        size = abs(self.number) // abs(other.number)
        return Wires(size if (self.number < 0) == (other.number < 0) else -size)

    def __mod__(self, other: Wires) -> Wires:
        return Wires(self.number - (self / other * other).number)


def counted(text: str, values: dict[str, int]) -> int:
    names = {name: Wires(number) for name, number in values.items()}
    wrapped = "".join(f"W({part})" if part.isdigit() else part for part in _parts(text))
    found = eval(wrapped, {"W": Wires, **names})
    assert isinstance(found, Wires)
    return found.number


def _parts(text: str) -> list[str]:
    found: list[str] = []
    for letter in text:
        if (found and (found[-1] + letter).isidentifier()) or (found and (found[-1] + letter).isdigit()):
            found[-1] += letter
        else:
            found.append(letter)
    return found


def drawn_sum(draw: random.Random, values: dict[str, int]) -> tuple[SubscriptNumber, int]:
    """A sum of loop variables, and its number."""
    parts, number = [linear.constant(offset := draw.randint(-9, 9))], offset
    for name, value in values.items():
        low, high = (value - draw.randint(0, 9)), value + draw.randint(0, 9)
        factor = draw.choice((-8, -4, -3, -1, 0, 1, 2, 4, 8, 12))
        parts.append(linear.multiple(linear.value(name, low, 1, low, high), factor))
        number += factor * value
    return linear.total(parts), number


def assert_says(one: SubscriptNumber, number: int, values: dict[str, int]) -> None:
    assert counted(one.text, values) == counted(one.sum_text, values) == number
    assert one.low <= number <= one.high
    assert (number - one.residue) % one.step == 0 if one.step else number == one.residue


@sweep(9)
def test_text_and_facts(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(300):
        values = {name: draw.randint(-20, 20) for name in "ijk"[: draw.randint(1, 3)]}
        one, number = drawn_sum(draw, values)
        divisor = draw.choice((1, 2, 3, 4, 8))
        assert_says(one, number, values)
        assert_says(linear.quotient(one, divisor), number // divisor, values)
        assert_says(linear.quotient(one, divisor, up=True), -(-number // divisor), values)
        assert_says(linear.remainder(one, divisor), number % divisor, values)
        again = linear.quotient(linear.remainder(one, 8), divisor)
        assert_says(again, number % 8 // divisor, values)
        if number >= 0:
            for found, wanted in (
                (linear.quotient(one, divisor, in_bounds=True), number // divisor),
                (linear.remainder(one, divisor, in_bounds=True), number % divisor),
            ):
                assert counted(found.text, values) == wanted


def test_what_divides_is_not_divided() -> None:
    io, lane = linear.value("io", 0, 1, 0, 9), linear.value("lane", 0, 1, 0, 7)
    row = linear.total((linear.multiple(io, 8), lane))
    assert (linear.quotient(row, 8).text, linear.remainder(row, 8).text) == ("io", "lane")
    beside = linear.total((linear.multiple(io, 8), linear.constant(-1)))
    assert (linear.quotient(beside, 8).text, linear.remainder(beside, 8).text) == ("(io - 1)", "7")
    with pytest.raises(Exception, match="not affine"):
        linear.product(io, lane)


@pytest.mark.parametrize(("low", "high", "bits"), [
    (0, 7, 4), (0, 8, 5), (-8, 7, 4), (-9, 7, 5), (-1, 0, 1), (-4, -3, 3),
])  # fmt: skip
def test_bits_hold_all_sums(low: int, high: int, bits: int) -> None:
    assert linear.value("i", low, 1, low, high).bits == bits
    both = linear.total((linear.value("i", 0, 1, 0, 7), linear.multiple(linear.value("j", 0, 1, 0, 2), -4)))
    assert both.bits == 4  # from -8 to 7


def test_what_an_index_has_no_room_for_is_divided_in_more_bits() -> None:
    i = linear.value("i", 0, 1, 0, (1 << 31) - 1)
    wide = linear.total((linear.multiple(i, 2), linear.constant(1)))
    assert linear.quotient(wide, 3).text == "((33'(i) * 2 + 1) / 3)"
    assert linear.remainder(wide, 3).text == "((33'(i) * 2 + 1) % 3)"
    assert linear.remainder(i, 3).text == "(i % 3)"
