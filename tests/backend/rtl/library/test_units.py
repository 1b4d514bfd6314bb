"""Units of the library against the CPU: the same bits, whatever the latency, with stalls."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

from tests.backend.rtl.library import reference
from tests.backend.rtl.library.bench import Unit, Words, results
from tests.backend.rtl.library.reference import FORMATS
from tests.backend.rtl.library.vectors import float_pairs, integer_pairs

COUNT = 20_000
OPERATIONS = ("add", "sub", "mul", "div", "root")
MODULES = dict(zip(OPERATIONS, ("allo_fadd", "allo_fsub", "allo_fmul", "allo_fdiv", "allo_fsqrt"), strict=True))
PREDICATES = {"eq": 1, "gt": 2, "ge": 3, "lt": 4, "le": 5, "ne": 13}  # those of kernels
LATENCIES = {"add": (7, 0, 2, 4, 10), "sub": (5,), "mul": (4, 0, 1, 6), "div": (14, 0, 3, 40), "root": (14, 0, 4, 35)}


def arithmetic_units(name: str, latencies: Mapping[str, tuple[int, ...]]) -> dict[str, Unit]:
    exponent, fraction, _, _ = FORMATS[name]
    found = {}
    for operation, values in latencies.items():
        for latency in values:
            form = {"EXP": exponent, "MAN": fraction, "LAT": latency}
            unit = f"{name}_{operation}_{latency}"
            found[unit] = Unit(unit, MODULES[operation], name, form)
    return found


@cache
def expected_arithmetic(name: str, count: int, seed: int) -> dict[str, Words]:
    _, _, scalar, kind = FORMATS[name]
    a, b = (reference.floats(side, name) for side in pairs_of(name, count, seed))
    made = reference.ran(reference.arithmetic, [scalar], [a, b], [kind] * 5)
    return {
        operation: reference.one_nan(reference.words(array), name)
        for operation, array in zip(OPERATIONS, made, strict=True)
    }


@cache
def pairs_of(name: str, count: int, seed: int) -> tuple[Words, Words]:
    exponent, fraction, _, _ = FORMATS[name]
    return float_pairs(exponent, fraction, count, seed)


def assert_arithmetic(units: Mapping[str, Unit], found: Mapping[str, Words], count: int, seed: int) -> None:
    for unit in units.values():
        _, operation, _ = unit.name.split("_")
        expected = expected_arithmetic(unit.vectors, count, seed)[operation]
        wrong = np.flatnonzero(found[unit.name] != expected)
        a, b = pairs_of(unit.vectors, count, seed)
        shown = [f"{a[k]:x} {b[k]:x} -> {found[unit.name][k]:x}, not {expected[k]:x}" for k in wrong[:5]]
        assert not shown, f"{unit.name}: {len(wrong)} of {count}: {'; '.join(shown)}"


def all_units(names: tuple[str, ...]) -> dict[str, Unit]:
    units = arithmetic_units(names[0], LATENCIES)
    for name in names[1:]:
        units |= arithmetic_units(name, {operation: values[:1] for operation, values in LATENCIES.items()})
    return units


@pytest.mark.parametrize(
    "fast", [pytest.param(False, id="synthesizable", marks=pytest.mark.slow), pytest.param(True, id="fast")]
)
def test_arithmetic_of_floats(fast: bool) -> None:
    names = ("f16", "f32", "bf16")  # the first with all latencies: the quickest to compile
    units = all_units(names)
    found = results(tuple(units.values()), {name: pairs_of(name, COUNT, 1) for name in names}, fast=fast)
    assert_arithmetic(units, found, COUNT, 1)


@pytest.mark.parametrize(
    ("name", "fast"),
    [
        pytest.param(name, fast, marks=pytest.mark.slow if (name, fast) == ("f32", False) else pytest.mark.exhaustive)
        for name in FORMATS
        for fast in (False, True)
    ],
)
def test_a_million_vectors(name: str, fast: bool) -> None:
    count = 1 << 20
    units = all_units((name,)) if not fast else all_units((name, name))
    found = results(tuple(units.values()), {name: pairs_of(name, count, 7)}, fast=fast)
    assert_arithmetic(units, found, count, 7)


def flushed(bits: Words, name: str) -> Words:
    """Zeros in the places of subnormal numbers."""
    exponent, fraction, _, _ = FORMATS[name]
    normal = bits & np.uint64(((1 << exponent) - 1) << fraction)
    return np.where(normal == 0, bits & np.uint64(1 << exponent + fraction), bits)


@pytest.mark.parametrize(
    ("name", "count", "fast"),
    [
        ("f16", COUNT, True),
        pytest.param("f16", COUNT, False, marks=pytest.mark.slow),
        *(pytest.param(name, COUNT, True, marks=pytest.mark.exhaustive) for name in ("bf16", "f32", "f64")),
        *(pytest.param(name, 1 << 20, False, marks=pytest.mark.exhaustive) for name in FORMATS),
    ],
)
def test_without_subnormal_numbers(name: str, count: int, fast: bool) -> None:
    """What the CPU makes of operands without them, without those that it makes."""
    exponent, fraction, scalar, kind = FORMATS[name]
    pairs = pairs_of(name, count, 9)
    given = [reference.floats(flushed(side, name), name) for side in pairs]
    made = reference.ran(reference.arithmetic, [scalar], given, [kind] * 5)
    expected = dict(zip(OPERATIONS, (reference.words(array) for array in made), strict=True))
    units = {
        operation: Unit(operation, MODULES[operation], name, {
            "EXP": exponent, "MAN": fraction, "LAT": LATENCIES[operation][0], "FLUSH": 1,
        })
        for operation in OPERATIONS
    }  # fmt: skip
    for other, (exponent_y, fraction_y, other_scalar, other_kind) in FORMATS.items():
        if other != name:
            units[other] = Unit(other, "allo_fconv", name, {
                "EXP_A": exponent, "MAN_A": fraction, "EXP_Y": exponent_y, "MAN_Y": fraction_y, "FLUSH": 1,
            })  # fmt: skip
            (array,) = reference.ran(reference.conversion, [scalar, other_scalar], given[:1], [other_kind])
            expected[other] = reference.words(array)
    found = results(tuple(units.values()), {name: pairs}, fast=fast)
    for what, words in expected.items():
        made_in = what if what in FORMATS else name
        wanted = flushed(reference.one_nan(words, made_in), made_in)
        wrong = np.flatnonzero(found[what] != wanted)
        a, b = pairs
        shown = [f"{a[k]:x} {b[k]:x} -> {found[what][k]:x}, not {wanted[k]:x}" for k in wrong[:5]]
        assert not shown, f"{what}: {len(wrong)} of {count}: {'; '.join(shown)}"


def comparison_units(name: str) -> list[Unit]:
    exponent, fraction, _, _ = FORMATS[name]
    form = {"EXP": exponent, "MAN": fraction}
    units = [Unit(f"{name}_cmp_{k}", "allo_fcmp", name, {**form, "PRED": k, "LAT": k % 3}) for k in range(16)]
    for module in ("allo_fmax", "allo_fmin"):
        units += [Unit(f"{name}_{module}_{k}", module, name, {**form, "NUMBER": k}) for k in (0, 1)]
    return [*units, Unit(f"{name}_neg", "allo_fneg", name, form), Unit(f"{name}_abs", "allo_fabs", name, form)]


def extremes(a: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
    """As arith.maximumf and minimumf, maxnumf and minnumf of bits; 0.0 above -0.0 in all of them."""
    nan, lesser = np.isnan(a) | np.isnan(b), (a < b) | ((a == b) & np.signbit(a))
    greatest, least = np.where(lesser, b, a), np.where(lesser, a, b)
    numbers = [np.where(np.isnan(a), b, np.where(np.isnan(b), a, chosen)) for chosen in (greatest, least)]
    found = [np.where(nan, np.float32(np.nan), greatest), numbers[0]]
    found += [np.where(nan, np.float32(np.nan), least), numbers[1]]
    names = [f"allo_f{which}_{k}" for which in ("max", "min") for k in (0, 1)]
    return dict(zip(names, found, strict=True))


def test_comparisons_and_extremes() -> None:
    units = comparison_units("f32")
    pairs = pairs_of("f32", COUNT, 2)
    found = results(units, {"f32": pairs}, fast=True)
    a, b = (reference.floats(side, "f32") for side in pairs)
    for name, array in zip(("eq", "ne", "lt", "le", "gt", "ge"), reference.ran(
        reference.comparisons, [FORMATS["f32"][2]], [a, b], [np.int32] * 6
    ), strict=True):  # fmt: skip
        assert (found[f"f32_cmp_{PREDICATES[name]}"] == array).all(), name
    unordered = np.isnan(a) | np.isnan(b)
    ordered = [np.zeros_like(unordered), a == b, a > b, a >= b, a < b, a <= b, (a < b) | (a > b), ~unordered]
    others = [*(unordered | answer for answer in ordered[1:7]), unordered, ~ordered[0]]
    for predicate, expected in enumerate([*ordered, *others]):
        assert (found[f"f32_cmp_{predicate}"] == expected).all(), predicate
    for name, values in extremes(a, b).items():
        bits = reference.one_nan(reference.words(values), "f32")
        assert (reference.one_nan(found[f"f32_{name}"], "f32") == bits).all(), name
    assert (found["f32_neg"] == pairs[0] ^ np.uint64(1 << 31)).all()
    assert (found["f32_abs"] == pairs[0] & np.uint64((1 << 31) - 1)).all()


def test_whole_numbers() -> None:
    """Against NumPy, which rounds down as the CPU does; in each format, on fractions around all powers of two too."""
    units, expected, vectors = [], {}, {}
    for number, (name, (exponent, fraction, _, _)) in enumerate(FORMATS.items()):
        vectors[name] = float_pairs(exponent, fraction, COUNT, 5)
        units.append(Unit(name, "allo_ffloor", name, {"EXP": exponent, "MAN": fraction, "LAT": number}))
        with np.errstate(invalid="ignore"):  # NaN that signal
            made = np.floor(reference.floats(vectors[name][0], name))
        expected[name] = reference.one_nan(reference.words(made), name)
    found = results(units, vectors, fast=True)
    for name, wanted in expected.items():
        wrong = np.flatnonzero(found[name] != wanted)
        a = vectors[name][0]
        assert not len(wrong), [f"{a[k]:x} -> {found[name][k]:x}, not {wanted[k]:x}" for k in wrong[:5]]


CASTS = [(one, other) for one in FORMATS for other in FORMATS if one != other]
INTEGERS = [(8, True), (13, True), (16, False), (32, True), (32, False), (64, True), (64, False), (1, False)]


@pytest.mark.slow
def test_conversions() -> None:
    """Between formats, and from and to integers of several widths: as the CPU converts."""
    units, expected = [], {}
    vectors = {name: float_pairs(*FORMATS[name][:2], COUNT, 3) for name in FORMATS}
    for number, (one, other) in enumerate(CASTS):
        layouts = zip(("EXP_A", "MAN_A", "EXP_Y", "MAN_Y"), (*FORMATS[one][:2], *FORMATS[other][:2]), strict=True)
        units.append(Unit(f"{one}_{other}", "allo_fconv", one, {**dict(layouts), "LAT": number % 5}))
        kernel_types = [FORMATS[one][2], FORMATS[other][2]]
        given = [reference.floats(vectors[one][0], one)]
        (made,) = reference.ran(reference.conversion, kernel_types, given, [FORMATS[other][3]])
        expected[f"{one}_{other}"] = reference.one_nan(reference.words(made), other)
    for number, (width, signed) in enumerate(INTEGERS):
        letter = "i" if signed else "u"
        scalar, kind = reference.integer(width, signed)
        vectors[f"{letter}{width}"] = pairs = integer_pairs(max(width, 3), COUNT, 4)
        given_bits = pairs[0] & np.uint64((1 << width) - 1)
        for name, (exponent, fraction, real, real_kind) in FORMATS.items():
            form = {"EXP": exponent, "MAN": fraction, "W": width, "SIGNED": int(signed), "LAT": number % 4}
            to, back = f"{letter}{width}_{name}", f"{name}_{letter}{width}"
            units += [Unit(to, "allo_itof", f"{letter}{width}", form), Unit(back, "allo_ftoi", name, form)]
            given = [reference.integers(given_bits, width, signed)]
            (made,) = reference.ran(reference.conversion, [scalar, real], given, [real_kind])
            expected[to] = reference.words(made)
            given = [reference.floats(vectors[name][0], name)]
            (made,) = reference.ran(reference.conversion, [real, scalar], given, [kind])
            expected[back] = reference.last_bits(made, width)
    found = results(units, vectors, fast=True)
    for unit in units:
        a = vectors[unit.vectors][0]
        wrong = np.flatnonzero(found[unit.name] != expected[unit.name])
        shown = [f"{a[k]:x} -> {found[unit.name][k]:x}, not {expected[unit.name][k]:x}" for k in wrong[:5]]
        assert not shown, f"{unit.name}: {len(wrong)}: {'; '.join(shown)}"
