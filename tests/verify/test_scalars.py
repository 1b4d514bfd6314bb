"""Equality of scalar expressions bit by bit, and inputs for which they differ."""

from __future__ import annotations

from allo.verify.concrete.operators import (
    F32,
    OpKind,
    ScalarOperator,
    ScalarType,
    comparison,
    extension,
    integer_operator,
    select_of,
)
from allo.verify.concrete.scalars import Differ, Same, Scalar, SolverUndecided, equal
from tests.seeds import sweep

from .concrete.random_expressions import RandomExpressions

I8 = ScalarType(0, 8)
x, y, z = (Scalar(I8, name=name) for name in "xyz")


def number(value: int, width: int = 8) -> Scalar:
    return Scalar(ScalarType(0, width), bits=value & ((1 << width) - 1))


def apply(name: str, a: Scalar, b: Scalar) -> Scalar:
    return Scalar(a.type, integer_operator(f"arith.{name}", a.type.width), (a, b))


def resize(a: Scalar, width: int, signed: bool = True) -> Scalar:
    result = ScalarType(0, width)
    return Scalar(result, extension(a.type, result, signed), (a,))


def select(condition: Scalar, yes: Scalar, no: Scalar) -> Scalar:
    return Scalar(yes.type, select_of(yes.type), (condition, yes, no))


def compare(predicate: int, a: Scalar, b: Scalar) -> Scalar:
    return Scalar(ScalarType(0, 1), comparison(predicate, a.type.width), (a, b))


def real(name: str, *operands: Scalar, commutative: bool = False) -> Scalar:
    return Scalar(F32, ScalarOperator(name, OpKind.OPAQUE, len(operands), F32, "f32", commutative), operands)


def test_a_product_as_shift_and_sum() -> None:
    shifted = apply("addi", apply("shli", x, number(2)), x)
    assert isinstance(equal(apply("muli", x, number(5)), shifted), Same)


def test_a_wrong_shift_has_an_input() -> None:
    found = equal(apply("muli", x, number(5)), apply("addi", apply("shli", x, number(1)), x))
    assert isinstance(found, Differ) and found.is_sure
    value = found.inputs["x"]
    assert value * 5 % 256 != value * 3 % 256


def test_the_average_without_overflow() -> None:
    wide = resize(apply("shrui", apply("addi", resize(x, 9, False), resize(y, 9, False)), number(1, 9)), 8)
    trick = apply("addi", apply("andi", x, y), apply("shrui", apply("xori", x, y), number(1)))
    assert isinstance(equal(wide, trick), Same)
    narrow = apply("shrui", apply("addi", x, y), number(1))
    assert isinstance(equal(wide, narrow), Differ)


def test_quotients_round_as_their_names_say() -> None:
    quotient, rest = apply("divsi", x, number(4)), apply("remsi", x, number(4))
    floor = apply("floordivsi", x, number(4))
    assert isinstance(equal(floor, apply("shrsi", x, number(2))), Same)
    assert isinstance(equal(floor, quotient), Differ)
    whole = apply("addi", apply("muli", quotient, number(4)), rest)
    assert isinstance(equal(whole, x), Same)
    raised = apply("addi", resize(x, 10), number(3, 10))
    ceiling = resize(apply("shrsi", raised, number(2, 10)), 8)
    assert isinstance(equal(apply("ceildivsi", x, number(4)), ceiling), Same)


def test_the_absolute_value() -> None:
    sign = apply("shrsi", x, number(7))
    trick = apply("subi", apply("xori", x, sign), sign)
    assert isinstance(equal(select(compare(2, x, number(0)), apply("subi", number(0), x), x), trick), Same)


def test_what_a_module_leaves_undefined_is_not_assumed_to_be_equal() -> None:
    assert isinstance(equal(apply("divui", x, y), apply("divui", x, y)), Same)
    zero = select(compare(0, y, number(0)), number(255), apply("divui", x, y))
    assert isinstance(equal(apply("divui", x, y), zero), Differ)  # the solver's own x / 0 is 255
    assert isinstance(equal(apply("shli", x, number(8)), number(0)), Differ)


def test_floats_are_functions_of_their_operands() -> None:
    a, b = (Scalar(F32, name=name) for name in "ab")
    total = real("arith.addf", a, b, commutative=True)
    assert isinstance(equal(total, real("arith.addf", b, a, commutative=True)), Same)
    found = equal(real("arith.subf", a, b), real("arith.subf", b, a))
    assert isinstance(found, Differ) and not found.is_sure
    chosen = select(compare(2, x, y), total, a)
    assert isinstance(equal(chosen, select(compare(5, x, y), a, total)), Same)


def test_a_float_of_an_integer_does_not_depend_on_its_width() -> None:
    def made(kind: OpKind, operand: Scalar) -> Scalar:
        return Scalar(F32, ScalarOperator(f"{kind}", kind, 1, F32, str(operand.type)), (operand,))

    narrow, wide = made(OpKind.FROM_SIGNED, x), made(OpKind.FROM_SIGNED, resize(x, 40))
    assert isinstance(equal(narrow, wide), Same)
    assert isinstance(equal(narrow, made(OpKind.FROM_UNSIGNED, x)), Differ)


def test_the_time_is_bounded() -> None:
    a, b = (Scalar(ScalarType(0, 64), name=name) for name in "ab")
    ones = number(-1, 64)
    common = apply("muli", apply("andi", a, b), apply("ori", a, b))
    only_a, only_b = apply("andi", a, apply("xori", b, ones)), apply("andi", b, apply("xori", a, ones))
    found = equal(apply("muli", a, b), apply("addi", common, apply("muli", only_a, only_b)), seconds=0.2)
    assert isinstance(found, SolverUndecided) and found.reason == "no answer of the solver within 0.2 s"


@sweep(30, quick=1)
def test_answers_are_those_of_all_inputs(seed: int) -> None:
    expressions = RandomExpressions(seed, leaves=(3, 2))
    answers = set()
    for _ in range(25):
        left, right = (expressions.integer(2, 2) for _ in range(2))
        found = equal(expressions.scalar(left), expressions.scalar(right))
        sides = list(zip(expressions.values(left), expressions.values(right), strict=True))
        defined = [a == b for a, b in sides if a is not None and b is not None]
        if isinstance(found, Same):
            assert all(defined), (expressions.told(left), expressions.told(right))
        elif isinstance(found, Differ) and found.is_sure:
            place = (found.inputs.get("x0", 0) << 2) + found.inputs.get("x1", 0)
            assert sides[place][0] != sides[place][1]
        answers.add(type(found))
    assert Differ in answers


def test_many_products_are_not_given_to_the_solver() -> None:
    a, b = (Scalar(ScalarType(0, 64), name=name) for name in "ab")
    left = right = a
    for k in range(20):
        left = apply("muli", left, apply("addi", b, number(k, 64)))
        right = apply("muli", right, apply("addi", b, number(k + 1, 64)))
    found = equal(left, right)
    assert isinstance(found, SolverUndecided) and found.reason == "too many products and quotients for the solver"
