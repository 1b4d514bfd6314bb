"""The type of every operation: the table of the language, row by row."""

from __future__ import annotations

import itertools

import pytest

from allo.frontend.typing_rules import BIT_OPERATORS, as_integer, compute_type, literal_type, result_type
from allo.ir.types import (
    AlloType,
    Float,
    Int,
    UInt,
    bfloat16,
    float16,
    float32,
    float64,
    index,
    int8,
    int16,
    int32,
    uint8,
    uint16,
)
from allo.ir.types import bool as bool_type

TABLE = {
    "+": (Int(17), Int(18), Int(17), UInt(17)),
    "-": (Int(17), Int(18), Int(17), Int(17)),
    "*": (Int(24), Int(24), Int(24), UInt(24)),
    "/": (Int(9), Int(8), Int(9), UInt(8)),
    "//": (Int(9), Int(8), Int(9), UInt(8)),
    "%": (Int(16), UInt(16), Int(16), UInt(8)),
    "<<": (Int(8), Int(8), UInt(8), UInt(8)),
    ">>": (Int(8), Int(8), UInt(8), UInt(8)),
    "&": (Int(16), Int(17), Int(16), UInt(16)),
    "|": (Int(16), Int(17), Int(16), UInt(16)),
    "^": (Int(16), Int(17), Int(16), UInt(16)),
    "min": (Int(16), Int(17), Int(16), UInt(16)),
    "max": (Int(16), Int(17), Int(16), UInt(16)),
    "compare": (Int(16), Int(17), Int(16), UInt(16)),
}


@pytest.mark.parametrize("op", TABLE)
def test_integers(op: str) -> None:
    kinds = itertools.product((int8, uint8), (int16, uint16))
    assert tuple(result_type(op, lhs, rhs) for lhs, rhs in kinds) == TABLE[op]


RANGES = {
    "+": lambda x, y: [x + y],
    "-": lambda x, y: [x - y],
    "*": lambda x, y: [x * y],
    "//": lambda x, y: [x // y] if y else [],
    "%": lambda x, y: [x % y] if y else [],
    "&": lambda x, y: [x & y],
    "|": lambda x, y: [x | y],
    "^": lambda x, y: [x ^ y],
    "min": lambda x, y: [min(x, y)],
    "max": lambda x, y: [max(x, y)],
    "compare": lambda x, y: [x, y],
    ">>": lambda x, y: [x >> y] if y >= 0 else [],
}


def values(kind: Int | UInt) -> range:
    half = 1 << kind.width - 1
    return range(2 * half) if isinstance(kind, UInt) else range(-half, half)


@pytest.mark.parametrize("op", RANGES)
def test_every_result_fits_its_type(op: str) -> None:
    kinds = [kind(width) for kind in (Int, UInt) for width in (1, 2, 3, 5)]
    for lhs, rhs in itertools.product(kinds, kinds):
        result = result_type(op, lhs, rhs)
        assert isinstance(result, Int | UInt)
        found = {v for x in values(lhs) for y in values(rhs) for v in RANGES[op](x, y)}
        assert found <= set(values(result)), (op, lhs, rhs, result)


@pytest.mark.parametrize("op", ["/", "//", "%"])
def test_divisions_compute_in_a_type_that_holds_both_operands(op: str) -> None:
    for lhs, rhs in itertools.product((Int(5), UInt(5), Int(9), UInt(9)), repeat=2):
        result = result_type(op, lhs, rhs)
        assert result is not None
        computed = compute_type(op, lhs, rhs, result)
        assert isinstance(computed, Int | UInt)
        assert {*values(lhs), *values(rhs)} <= set(values(computed))


FLOATS = [
    (float16, float32, float32),
    (float64, float32, float64),
    (bfloat16, bfloat16, bfloat16),
    (bfloat16, float16, float32),
    (bfloat16, float64, float64),
    (float16, Int(64), float16),
    (UInt(8), float64, float64),
    (index, float32, float32),
    (bool_type, float32, float32),
]


@pytest.mark.parametrize(("lhs", "rhs", "result"), FLOATS)
@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", "min", "max", "compare"])
def test_floats(op: str, lhs: AlloType, rhs: AlloType, result: Float) -> None:
    assert result_type(op, lhs, rhs) == result_type(op, rhs, lhs) == result


@pytest.mark.parametrize("op", sorted(BIT_OPERATORS))
def test_floats_have_no_bits(op: str) -> None:
    assert result_type(op, float32, int32) is None


def test_index_and_bool_count_as_integers() -> None:
    assert as_integer(index) == Int(32) and as_integer(bool_type) == UInt(1)
    assert result_type("+", index, bool_type) == Int(33)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (0, UInt(1)),
        (1, UInt(1)),
        (2, UInt(2)),
        (255, UInt(8)),
        (256, UInt(9)),
        (-1, Int(1)),
        (-2, Int(2)),
        (-128, Int(8)),
        (-129, Int(9)),
        (1.5, float32),
        (True, bool_type),
    ],
)
def test_literals_have_the_least_type(value: int | float | bool, kind: AlloType) -> None:
    assert literal_type(value) == kind


def test_no_type_is_wider_than_1024_bits() -> None:
    with pytest.raises(TypeError, match="1 to 1024 bits, got 1025"):
        result_type("+", Int(1024), Int(8))
