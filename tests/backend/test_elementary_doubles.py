"""Elementary functions of double floats: how far from the exact values, and the same bits behind every door."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import allo
from allo.ir.elementary.numbers import evaluate_double
from allo.ir.types import float64
from tests.backend.rtl.library.vectors import special_floats
from tests.backend.test_elementary import same_bits
from tests.seeds import first_seed

N = 1 << 13
MANY = 1 << 20
REFERENCES: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "log": np.log, "log2": np.log2, "log10": np.log10, "tanh": np.tanh, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "power": np.power,
}  # fmt: skip
INTERNAL = {"power": "powf"}
MOST = {"tan": 0.511}  # units in the last place; of all others 0.508
Floats = npt.NDArray[np.float64]

needs_long = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="long double is no longer than double here")


def everything(x: float64[N], y: float64[N], z: float64[9, N]):
    for i in range(N):
        z[0, i] = allo.exp(x[i])
        z[1, i] = allo.log(x[i])
        z[2, i] = allo.log2(x[i])
        z[3, i] = allo.log10(x[i])
        z[4, i] = allo.tanh(x[i])
        z[5, i] = allo.sin(x[i])
        z[6, i] = allo.cos(x[i])
        z[7, i] = allo.tan(x[i])
        z[8, i] = allo.power(x[i], y[i])


def special() -> Floats:
    return np.asarray(special_floats(11, 52).astype(np.uint64).view(np.float64))


@cache
def vectors(count: int = N) -> tuple[Floats, Floats]:
    """A quarter any bits and special values; a quarter of every day; one around 1, with large powers; one of all sizes
    that functions have numbers for."""
    random, part = np.random.default_rng(first_seed()), count // 4
    words = [random.integers(0, 1 << 64, part, np.uint64).view(np.float64) for _ in "xy"]
    words[0][: special().size] = special()
    daily = [random.normal(0, 4, part) for _ in "xy"]
    near = 1 + random.normal(0, 1, part) * 2.0 ** -random.integers(1, 53, part)
    with np.errstate(all="ignore"):
        large = random.uniform(-1080, 1030, part) / np.log2(np.abs(near))
    sizes = random.normal(0, 1, part) * 2.0 ** random.integers(-60, 60, part)
    xs, ys = [words[0], daily[0], near, sizes], [words[1], daily[1], large, random.normal(0, 9, part)]
    return np.concatenate(xs), np.concatenate(ys)


@cache
def on_cpu() -> Floats:
    z = np.zeros((9, N))
    allo.customize(everything).build()(*vectors(), z)
    return z


def error(name: str, found: Floats, x: Floats, y: Floats) -> float:
    """The greatest distance from numbers of 64 digits, in units in the last place."""
    with np.errstate(all="ignore"):
        operands = [x.astype(np.longdouble), y.astype(np.longdouble)] if name == "power" else [x.astype(np.longdouble)]
        exact = REFERENCES[name](*operands)
        nearest = exact.astype(np.float64)
        assert (np.isnan(found) == np.isnan(nearest)).all()
        inside = np.isfinite(nearest) & np.isfinite(found)
        assert same_bits(found[~inside & ~np.isnan(found)], nearest[~inside & ~np.isnan(found)])
        unit = np.spacing(np.abs(nearest[inside]))
        return float(np.max(np.abs(found[inside].astype(np.longdouble) - exact[inside]) / unit))


@needs_long
@pytest.mark.parametrize("name", REFERENCES)
def test_results_are_the_nearest_floats_or_almost(name: str) -> None:
    assert error(name, on_cpu()[list(REFERENCES).index(name)], *vectors()) < MOST.get(name, 0.508)


@needs_long
@pytest.mark.slow
def test_so_are_those_of_many_more() -> None:
    z, built = np.zeros((9, N)), allo.customize(everything).build()
    for x, y in zip(*(np.split(vector, MANY // N) for vector in vectors(MANY)), strict=True):
        built(x, y, z)
        for row, name in zip(z, REFERENCES, strict=True):
            assert error(name, row, x, y) < MOST.get(name, 0.508)


def test_angles_next_to_whole_quarter_turns() -> None:
    """The double float nearest to a multiple of pi / 2 (Muller et al., Handbook of Floating-Point Arithmetic)."""
    angle = 6381956970095103 * 2.0**797
    assert evaluate_double("cos", angle) == -4.68716592425462761112e-19
    assert evaluate_double("sin", angle) == 1
    assert math.isclose(evaluate_double("tan", angle), 1 / -4.68716592425462761112e-19, rel_tol=2.0**-52)


@pytest.mark.parametrize("name", REFERENCES)
def test_special_values_are_those_of_c(name: str) -> None:
    numbers = [float(v) for v in special() if not math.isnan(v)]
    values = [*numbers, math.nan, 3.0, -3.0, -2.5, 9007199254740992.0, 9007199254740993.0 - 2, -0.5]
    library = getattr(ctypes.CDLL(ctypes.util.find_library("m")), {"power": "pow"}.get(name, name))
    library.restype = ctypes.c_double
    library.argtypes = [ctypes.c_double] * (2 if name == "power" else 1)
    for operands in product(values, repeat=2 if name == "power" else 1):
        wanted, found = float(library(*operands)), evaluate_double(INTERNAL.get(name, name), *operands)
        if math.isnan(wanted) or math.isinf(wanted) or wanted == 0:
            assert math.isnan(found) if math.isnan(wanted) else same_bits(found, wanted), (operands, found, wanted)


def test_the_reference_has_the_bits_of_the_machine() -> None:
    x, y = vectors()
    for row, name in zip(on_cpu(), REFERENCES, strict=True):
        for k in range(0, N, 37):
            operands = (float(x[k]), float(y[k])) if name == "power" else (float(x[k]),)
            assert same_bits(evaluate_double(INTERNAL.get(name, name), *operands), row[k]), (name, operands)


def test_simulated_code_has_the_same_bits() -> None:
    z = np.zeros((9, N))
    allo.customize(everything).build(target="vitis_hls", mode="csim")(*vectors(), z)
    assert same_bits(z, on_cpu())


def test_hardware_has_the_same_bits() -> None:
    def logarithms(x: float64[1024], y: float64[1024]):
        for i in range(1024):
            y[i] = allo.log2(x[i])

    s = allo.customize(logarithms)
    s.pipeline("i")
    built = s.build(target="rtl", random_state=1)
    x = np.concatenate([vectors()[0][:512], np.abs(vectors()[0][-512:])])
    y, wanted = np.zeros(1024), np.zeros(1024)
    built(x, y)
    s.build()(x, wanted)
    assert same_bits(y, wanted) and built.cycles == built.predicted_cycles < 1024 + 60


@pytest.mark.slow
def test_hardware_has_the_same_bits_for_many_more() -> None:
    s = allo.customize(everything)
    s.pipeline("i")
    s.partition("z", dim=1)
    built, reference = s.build(target="rtl", random_state=1), allo.customize(everything).build()
    for x, y in zip(*(np.split(vector, MANY // N) for vector in vectors(MANY)), strict=True):
        z, wanted = np.zeros((9, N)), np.zeros((9, N))
        built(x, y, z)
        reference(x, y, wanted)
        assert same_bits(z, wanted) and built.cycles == built.predicted_cycles


def test_constants_and_operators_on_arrays_have_the_bits_of_all_others() -> None:
    """A pass that computes functions of constants would take those of the C library."""
    library = ctypes.CDLL(ctypes.util.find_library("m")).tanh
    library.restype, library.argtypes = ctypes.c_double, [ctypes.c_double]
    values = map(float, np.linspace(0.1, 3, 400))
    given = next(v for v in values if library(v) != evaluate_double("tanh", v))

    def constants(x: float64[4], y: float64[4]):
        y[:] = allo.tanh(x)
        t: float64 = given
        y[0] = allo.tanh(t)

    for built in (allo.customize(constants).build(), allo.interpret(constants)):
        y = np.zeros(4)
        built(np.full(4, given), y)
        assert same_bits(y, np.full(4, evaluate_double("tanh", given)))


def test_subnormal_numbers_that_are_zeros() -> None:
    def powers(x: float64[4], y: float64[4]):
        for i in range(4):
            y[i] = allo.exp(x[i])

    x, found = np.array([-708.3, -708.5, -745.0, 5e-324]), []
    s = allo.customize(powers)
    for built in (s.build(subnormals="flush"), allo.interpret(powers, subnormals="flush")):
        y = np.zeros(4)
        built(x, y)
        found.append(y.tobytes())
    assert found[0] == found[1] and list(np.frombuffer(found[0]) > 0) == [True, False, False, True]
