"""Fixed-point operations, lowered and compiled, agree with exact rational arithmetic."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from mlir import ir

from tests.seeds import rotating

from .compiled import Compiled, elementwise
from .reference import Format, expected

SIZE = 200
FORMATS = [
    Format(True, 8, 4),
    Format(False, 8, 4),
    Format(True, 7, 7),
    Format(False, 5, 0),
    Format(True, 16, 3),
    Format(False, 13, 9),
    Format(True, 1, 0),
    Format(True, 31, 16),
]
PAIRS = [(a, b) for a in FORMATS for b in FORMATS if a.width + b.width <= 48]


def run(text: str, target: Format | np.dtype, *inputs: np.ndarray) -> np.ndarray:
    dtype = target.container if isinstance(target, Format) else target
    result = np.zeros(SIZE, dtype)
    Compiled(text)(*inputs, result)
    return result


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@pytest.mark.parametrize("op", ["add", "sub"])
def test_add_sub(context: ir.Context, fmt: Format, op: str) -> None:
    x, y = fmt.samples(SIZE, 1), fmt.samples(SIZE, 2)[::-1].copy()
    body = f"%r = allo.fixed_{op} %x, %y : {fmt.type}"
    got = run(elementwise(fmt.type, fmt.type, body, SIZE, fmt.type), fmt, x, y)
    sign = 1 if op == "add" else -1
    assert np.array_equal(got, expected(lambda a, b: fmt.wrap(a + sign * b), fmt, x, y))


@pytest.mark.parametrize("fmt", [f for f in FORMATS if f.signed], ids=str)
def test_neg_and_constant(context: ir.Context, fmt: Format) -> None:
    x = fmt.samples(SIZE, 1)
    body = f"""%k = allo.fixed_constant {fmt.least} : {fmt.type}
        %n = allo.fixed_neg %x : {fmt.type}
        %r = allo.fixed_add %n, %k : {fmt.type}"""
    got = run(elementwise(fmt.type, fmt.type, body, SIZE), fmt, x)
    assert np.array_equal(got, expected(lambda a: fmt.wrap(fmt.least - a), fmt, x))


@pytest.mark.parametrize(("lhs", "rhs"), PAIRS, ids=str)
def test_mul(context: ir.Context, lhs: Format, rhs: Format) -> None:
    target = Format(lhs.signed or rhs.signed, lhs.width + rhs.width, lhs.frac + rhs.frac)
    x, y = lhs.samples(SIZE, 1), rhs.samples(SIZE, 2)
    body = f"%r = allo.fixed_mul %x, %y : {lhs.type}, {rhs.type}"
    got = run(elementwise(lhs.type, target.type, body, SIZE, rhs.type), target, x, y)
    assert np.array_equal(got, expected(lambda a, b: a * b, target, x, y))


@pytest.mark.parametrize(("lhs", "rhs"), PAIRS, ids=str)
def test_div(context: ir.Context, lhs: Format, rhs: Format) -> None:
    width = lhs.width + rhs.frac + (1 if rhs.signed else 0)
    target = Format(lhs.signed or rhs.signed, width, lhs.frac)
    x, y = lhs.samples(SIZE, 1), rhs.samples(SIZE, 2)[::-1].copy()
    y[y == 0] = rhs.wrap(1)

    def quotient(a: int, b: int) -> int:
        exact = math.floor(lhs.value(a) / rhs.value(b) * (1 << target.frac))
        assert target.wrap(exact) == exact, "the type of the result holds every quotient"
        return exact

    body = f"%r = allo.fixed_div %x, %y : {lhs.type}, {rhs.type}"
    got = run(elementwise(lhs.type, target.type, body, SIZE, rhs.type), target, x, y)
    assert np.array_equal(got, expected(quotient, target, x, y))


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@pytest.mark.parametrize("predicate", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_cmp(context: ir.Context, fmt: Format, predicate: str) -> None:
    x, y = fmt.samples(SIZE, 1), fmt.samples(SIZE, 2)
    y[::3] = x[::3]
    body = f"%r = allo.fixed_cmp {predicate}, %x, %y : {fmt.type}"
    got = run(elementwise(fmt.type, "i1", body, SIZE, fmt.type), np.dtype(np.uint8), x, y)
    compare = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal"}
    compare |= {"gt": "greater", "ge": "greater_equal"}
    assert np.array_equal(got, getattr(np, compare[predicate])(x, y).astype(np.uint8))


MODES = [("trn", "wrap"), ("trn", "sat"), ("rnd", "wrap"), ("rnd", "sat"), ("trn_zero", "sat_zero")]
MODES += [("rnd_zero", "sat_sym"), ("rnd_min_inf", "sat"), ("rnd_inf", "sat_zero"), ("rnd_conv", "sat_sym")]


# a third of the modes for each pair; all of them for each difference of the formats
TARGETS = [
    (source, replace(target, modes=mode))
    for k, (source, target) in enumerate(itertools.product(FORMATS, FORMATS))
    for mode in MODES[k % 3 :: 3]
]


@pytest.mark.parametrize(("source", "target"), rotating(TARGETS), ids=str)
def test_cast(context: ir.Context, source: Format, target: Format) -> None:
    x = source.samples(SIZE, 1)
    body = f"%r = allo.fixed_cast %x : {source.type} to {target.type}"
    got = run(elementwise(source.type, target.type, body, SIZE), target, x)
    assert np.array_equal(got, expected(lambda a: target.convert(source.value(a)), target, x))


INTEGERS = {"i8": Format(True, 8), "ui8": Format(False, 8), "i5": Format(True, 5), "ui3": Format(False, 3)}
INTEGERS |= {"si1": Format(True, 1), "i1": Format(False, 1), "i32": Format(True, 32)}
CASTS = list(itertools.product(INTEGERS, [Format(True, 8, 4), Format(False, 6, 6)], MODES))


@pytest.mark.parametrize(("integer", "fixed", "mode"), rotating(CASTS), ids=str)
def test_cast_integers(context: ir.Context, integer: str, fixed: Format, mode: tuple[str, str]) -> None:
    fixed = replace(fixed, modes=mode)
    for source, target, names in (
        (INTEGERS[integer], fixed, (integer, fixed.type)),
        (fixed, INTEGERS[integer], (fixed.type, integer)),
    ):
        x = source.samples(SIZE, 1)
        body = f"%r = allo.fixed_cast %x : {names[0]} to {names[1]}"
        got = run(elementwise(*names, body, SIZE), target, x)
        wanted = expected(
            lambda a, source=source, target=target: target.convert(source.value(a)), target, x
        )
        assert np.array_equal(got, wanted)


def test_cast_index(context: ir.Context) -> None:
    body = """%q = allo.fixed_cast %i : index to !allo.ufixed<12, 4>
        %d = allo.fixed_add %q, %x : !allo.ufixed<12, 4>
        %j = allo.fixed_cast %d : !allo.ufixed<12, 4> to index
        %r = arith.index_cast %j : index to i32"""
    x = np.full(SIZE, 24, np.uint16)
    got = run(elementwise("!allo.ufixed<12, 4>", "i32", body, SIZE), np.dtype(np.int32), x)
    assert np.array_equal(got, np.arange(SIZE) + 1)


def float_samples(dtype: type[np.floating]) -> np.ndarray:
    special = [0.0, -0.0, 0.5, -0.5, 0.03125, -0.03125, 7.97, -8.0, -8.01, 1e4, -1e4, 3e38, -3e38]
    with np.errstate(over="ignore"):
        values = np.array([*special, np.inf, -np.inf, np.nan, np.finfo(dtype).tiny / 4], dtype)
        random = np.random.default_rng(3).normal(size=SIZE - len(values)) * 4.0 ** np.arange(
            -10, 10
        ).repeat(10)[: SIZE - len(values)]
        return np.concatenate([values, random.astype(dtype)])


FROM_FLOAT = [
    (name, replace(target, modes=mode))
    for k, (target, name) in enumerate(itertools.product(FORMATS, ("f16", "f32", "f64")))
    for mode in MODES[(k + k // 3) % 3 :: 3]
]
FROM_FLOAT += [("f16", replace(Format(True, 40, 4), modes=mode)) for mode in MODES]  # its range is wider than f16's


@pytest.mark.parametrize(("name", "fmt"), rotating(FROM_FLOAT), ids=str)
def test_cast_from_float(context: ir.Context, name: str, fmt: Format) -> None:
    x = float_samples({"f16": np.float16, "f32": np.float32, "f64": np.float64}[name])
    body = f"%r = allo.fixed_cast %x : {name} to {fmt.type}"
    got = run(elementwise(name, fmt.type, body, SIZE), fmt, x)
    assert np.array_equal(got, expected(fmt.convert, fmt, x))


@pytest.mark.parametrize("fmt", [*FORMATS, Format(True, 53, 40)], ids=str)
@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
def test_cast_to_float(context: ir.Context, name: str, fmt: Format) -> None:
    dtype = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[name]
    x = fmt.samples(SIZE, 1)
    body = f"%r = allo.fixed_cast %x : {fmt.type} to {name}"
    got = run(elementwise(fmt.type, name, body, SIZE), np.dtype(dtype), x)
    with np.errstate(over="ignore"):  # of f16
        wanted = (x.astype(np.float64) / (1 << fmt.frac)).astype(dtype)
    assert np.array_equal(got, wanted)


def wide(target: Format, text: str, *inputs: np.ndarray) -> list[int]:
    """Run `text` with results in containers of 128 bits, which NumPy has no name for."""
    result = np.zeros(SIZE, np.complex128)
    Compiled(text)(*inputs, result)
    return [int.from_bytes(element.tobytes(), "little", signed=target.signed) for element in result]


def test_wide_arithmetic(context: ir.Context) -> None:
    narrow = Format(True, 50, 20)
    x, y = narrow.samples(SIZE, 1), narrow.samples(SIZE, 2)
    y[y == 0] = 1
    rows = list(zip(x.tolist(), y.tolist(), strict=True))
    product = Format(True, 100, 40)
    body = f"%r = allo.fixed_mul %x, %y : {narrow.type}, {narrow.type}"
    assert wide(product, elementwise(narrow.type, product.type, body, SIZE, narrow.type), x, y) == [
        a * b for a, b in rows
    ]
    quotient = Format(True, 71, 20)
    body = f"%r = allo.fixed_div %x, %y : {narrow.type}, {narrow.type}"
    assert wide(quotient, elementwise(narrow.type, quotient.type, body, SIZE, narrow.type), x, y) == [
        (a << 20) // b for a, b in rows
    ]


def test_wider_than_any_container_of_numpy(context: ir.Context) -> None:
    """(x * x * x * x) / (x * x * x), in up to 401 bits, is x."""
    narrow = Format(True, 50, 20)
    x = narrow.samples(SIZE, 1)
    x[x == 0] = 3
    body = f"""%2 = allo.fixed_mul %x, %x : {narrow.type}, {narrow.type}
        %3 = allo.fixed_mul %2, %x : !allo.fixed<100, 40>, {narrow.type}
        %4 = allo.fixed_mul %2, %2 : !allo.fixed<100, 40>, !allo.fixed<100, 40>
        %q = allo.fixed_div %4, %3 : !allo.fixed<200, 80>, !allo.fixed<150, 60>
        %r = allo.fixed_cast %q : !allo.fixed<261, 80> to {narrow.type}"""
    assert np.array_equal(run(elementwise(narrow.type, narrow.type, body, SIZE), narrow, x), x)


def test_wide_to_and_from_float(context: ir.Context) -> None:
    x = float_samples(np.float64)
    x = x[np.isfinite(x) & (np.abs(x) < 1e5)].repeat(4)[:SIZE]
    body = """%q = allo.fixed_cast %x : f64 to !allo.fixed<200, 140>
        %r = allo.fixed_cast %q : !allo.fixed<200, 140> to f64"""
    got = run(elementwise("f64", "f64", body, SIZE), np.dtype(np.float64), x)
    tiny = np.abs(x) < 2.0**-80  # these lose digits on the right
    assert np.array_equal(got[~tiny], x[~tiny])


def test_to_bfloat(context: ir.Context) -> None:
    fmt = Format(True, 40, 20)
    x = fmt.samples(SIZE, 1)
    body = f"%b = allo.fixed_cast %x : {fmt.type} to bf16\n %r = arith.extf %b : bf16 to f32"
    got = run(elementwise(fmt.type, "f32", body, SIZE), np.dtype(np.float32), x)
    assert np.array_equal(got, [nearest_bfloat(fmt.value(v)) for v in x.tolist()])


def nearest_bfloat(value: Fraction) -> float:
    """The number of 8 significant bits nearest to `value`, of two the even one."""
    if value == 0:
        return 0.0
    exponent = math.floor(math.log2(abs(value))) - 7
    return float(round(value / Fraction(2) ** exponent) * Fraction(2) ** exponent)
