"""The type of every operation: the table of the language, row by row."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from allo.errors import ScheduleError
from allo.frontend.typing.rules import BIT_OPERATORS, TypingRules, as_integer, fixed_parts, literal_type
from allo.frontend.typing.tables import CPP, DEFAULT, RULE_SETS, rule_set
from allo.ir.types import (
    AlloType,
    Fixed,
    Float,
    Int,
    UFixed,
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
    assert tuple(DEFAULT.result(op, lhs, rhs) for lhs, rhs in kinds) == TABLE[op]


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
        result = DEFAULT.result(op, lhs, rhs)
        assert isinstance(result, Int | UInt)
        found = {v for x in values(lhs) for y in values(rhs) for v in RANGES[op](x, y)}
        assert found <= set(values(result)), (op, lhs, rhs, result)


@pytest.mark.parametrize("op", ["/", "//", "%"])
def test_divisions_compute_in_a_type_that_holds_both_operands(op: str) -> None:
    for lhs, rhs in itertools.product((Int(5), UInt(5), Int(9), UInt(9)), repeat=2):
        result = DEFAULT.result(op, lhs, rhs)
        assert result is not None
        computed = DEFAULT.compute_type(op, lhs, rhs, result)
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
    assert DEFAULT.result(op, lhs, rhs) == DEFAULT.result(op, rhs, lhs) == result


@pytest.mark.parametrize("op", sorted(BIT_OPERATORS))
def test_floats_have_no_bits(op: str) -> None:
    assert DEFAULT.result(op, float32, int32) is None


def test_index_and_bool_count_as_integers() -> None:
    assert as_integer(index) == Int(32) and as_integer(bool_type) == UInt(1)
    assert DEFAULT.result("+", index, bool_type) == Int(33)


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
        DEFAULT.result("+", Int(1024), Int(8))


def test_no_type_is_too_narrow_for_a_unary_operation() -> None:
    for kind in (Int(1), Int(5), UInt(1), UInt(5)):
        for op, value in (("neg", lambda x: -x), ("abs", abs)):
            result = DEFAULT.unary_result(op, kind)
            assert isinstance(result, Int | UInt)
            assert {value(x) for x in values(kind)} <= set(values(result))


COMMUTATIVE = ("+", "*", "&", "|", "^", "min", "max", "compare")
KINDS = [
    Int(1),
    UInt(1),
    Int(8),
    UInt(8),
    Int(33),
    UInt(64),
    bool_type,
    index,
    Fixed(8, 3),
    UFixed(9, 9),
    float16,
    float64,
]


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
@pytest.mark.parametrize("op", COMMUTATIVE)
def test_operators_are_symmetrical(rules: TypingRules, op: str) -> None:
    for lhs, rhs in itertools.product(KINDS, KINDS):
        assert rules.result(op, lhs, rhs) == rules.result(op, rhs, lhs), (lhs, rhs)


FIXED = [Fixed(4, 2), UFixed(4, 1), Fixed(3, 3), UFixed(3, 3), Fixed(3, 0), Int(3), UInt(2)]
FIXED_RESULTS = {
    "+": lambda x, y, _: [x + y],
    "-": lambda x, y, _: [x - y],
    "*": lambda x, y, _: [x * y],
    "/": lambda x, y, fracs: [Fraction(math.floor(x / y * 2**fracs), 2**fracs)] if y else [],
    "//": lambda x, y, _: [Fraction(x // y)] if y else [],
    "%": lambda x, y, _: [x % y] if y else [],
    "min": lambda x, y, _: [min(x, y)],
    "compare": lambda x, y, _: [x, y],
}


def numbers(kind: AlloType) -> set[Fraction]:
    before, behind, signed = fixed_parts(kind)
    return {Fraction(m, 2**behind) for m in values((Int if signed else UInt)(before + behind))}


@pytest.mark.parametrize("op", FIXED_RESULTS)
def test_every_fixed_point_result_fits_its_type(op: str) -> None:
    for lhs, rhs in itertools.product(FIXED, FIXED):
        result = DEFAULT.result(op, lhs, rhs)
        if as_integer(lhs) is None or as_integer(rhs) is None:
            fracs = fixed_parts(result)[1]
            pairs = itertools.product(numbers(lhs), numbers(rhs))
            found = {value for x, y in pairs for value in FIXED_RESULTS[op](x, y, fracs)}
            assert found <= numbers(result), (lhs, rhs, result)


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", "min", "compare"])
def test_results_have_no_rounding_mode(op: str) -> None:
    odd = Fixed(8, 4, "rnd", "sat")
    assert DEFAULT.result(op, odd, odd) in (DEFAULT.result(op, Fixed(8, 4), Fixed(8, 4)), Int(13))


def test_cpp_keeps_standard_types_and_widens_others() -> None:
    promoted = {Int(7): Int(32), UInt(31): Int(32), UInt(32): UInt(32), UInt(33): Int(64), Int(65): Int(65)}
    assert {kind: CPP.promoted(kind) for kind in promoted} == promoted
    assert CPP.result("%", Fixed(8, 4), Fixed(8, 4)) is None


def test_unknown_rule_set() -> None:
    with pytest.raises(ScheduleError) as error:
        rule_set("c")
    assert (
        str(error.value) == 'there is no typing rule set \'c\'\n  hint: the rule sets are "default" and "cpp"'
    )
