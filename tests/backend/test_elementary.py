"""Elementary functions of single floats: how far from the exact values, and the same bits behind every door."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import re
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import allo
from allo.backend.headers import templates_directory
from allo.backend.hls.csim.elementary import header
from allo.ir.elementary.numbers import evaluate
from allo.ir.types import bfloat16, float16, float32, float64
from tests.backend.rtl.library.vectors import float_pairs, special_floats
from tests.seeds import first_seed

N = 1 << 14
MANY = 1 << 20
REFERENCES: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "log": np.log, "log2": np.log2, "log10": np.log10, "tanh": np.tanh, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "power": np.power,
}  # fmt: skip
INTERNAL = {"power": "powf"}
MOST = {"tanh": 0.508}  # units in the last place; of all others 0.504; the page says what all arguments show
Floats = npt.NDArray[np.float32]


def everything(x: float32[N], y: float32[N], z: float32[9, N]):
    for i in range(N):
        z[0, i] = allo.exp(x[i])
        z[1, i] = allo.log(x[i])
        z[2, i] = allo.log2(x[i])
        z[3, i] = allo.log10(x[i])
        z[4, i] = allo.tanh(x[i])
        z[5, i] = allo.sin(x[i])
        z[6, i] = allo.cos(x[i])
        z[8, i] = allo.power(x[i], y[i])
    for j in range(N):
        z[7, j] = allo.tan(x[j])


@cache
def vectors(count: int = N) -> tuple[Floats, Floats]:
    """A third any bits, ties, edges and special values; a third of every day; a third around 1, with large powers."""
    random = np.random.default_rng(first_seed())
    hard, other = (words.astype(np.uint32).view(np.float32) for words in float_pairs(8, 23, count // 3, first_seed()))
    daily = [random.normal(0, 4, count // 3).astype(np.float32) for _ in "xy"]
    rest = count - 2 * (count // 3)
    near = (1 + random.normal(0, 1, rest) * 2.0 ** -random.integers(1, 24, rest)).astype(np.float32)
    with np.errstate(all="ignore"):
        large = (random.uniform(-150, 130, rest) / np.log2(np.abs(near.astype(np.float64)))).astype(np.float32)
    return np.concatenate([hard, np.abs(daily[0]), near]), np.concatenate([other, daily[1], large])


@cache
def on_cpu() -> Floats:
    z = np.zeros((9, N), np.float32)
    allo.customize(everything).build()(*vectors(), z)
    return z


def same_bits(a: Any, b: Any) -> bool:
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


def errors(found: Floats, exact: npt.NDArray[np.float64]) -> float:
    """The greatest distance from numbers, in units in the last place, where neither is beyond the greatest float."""
    greatest = np.finfo(np.float32).max
    inside = np.abs(exact) < greatest
    assert np.isfinite(found[inside]).all() and (np.isnan(found) == np.isnan(exact)).all()
    beyond = np.abs(exact) > greatest * (1 + 2.0**-24)
    assert (found[beyond] == np.sign(exact[beyond]) * np.inf).all()
    unit = np.spacing(np.abs(exact[inside]).astype(np.float32)).astype(np.float64)
    return float(np.max(np.abs(found[inside].astype(np.float64) - exact[inside]) / unit))


def exact_values(name: str, x: Floats, y: Floats) -> npt.NDArray[np.float64]:
    """By double floats, whose own errors are 2 ** 28 times smaller."""
    with np.errstate(all="ignore"):
        operands = [x.astype(np.float64), y.astype(np.float64)] if name == "power" else [x.astype(np.float64)]
        return np.asarray(REFERENCES[name](*operands))


@pytest.mark.parametrize("name", REFERENCES)
def test_results_are_the_nearest_floats_or_almost(name: str) -> None:
    found = on_cpu()[list(REFERENCES).index(name)]
    assert errors(found, exact_values(name, *vectors())) < MOST.get(name, 0.504)


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCES)
def test_so_are_those_of_many_more(name: str) -> None:
    z = np.zeros((9, N), np.float32)
    built = allo.customize(everything).build()
    for x, y in zip(*(np.split(vector, MANY // N) for vector in vectors(MANY)), strict=True):
        built(x, y, z)
        assert errors(z[list(REFERENCES).index(name)], exact_values(name, x, y)) < MOST.get(name, 0.504)


@pytest.mark.parametrize("name", REFERENCES)
def test_special_values_are_those_of_c(name: str) -> None:
    special = [float(v) for v in special_floats(8, 23).astype(np.uint32).view(np.float32)]
    special += [3.0, -3.0, -2.5, 16777216.0]
    library = getattr(ctypes.CDLL(ctypes.util.find_library("m")), {"power": "pow"}.get(name, name))
    library.restype = ctypes.c_double
    library.argtypes = [ctypes.c_double] * (2 if name == "power" else 1)
    for operands in product(special, repeat=2 if name == "power" else 1):
        with np.errstate(over="ignore"):
            wanted = float(np.float32(library(*operands)))
        found = evaluate(INTERNAL.get(name, name), *operands)
        if math.isnan(wanted) or math.isinf(wanted) or wanted == 0:
            assert math.isnan(found) if math.isnan(wanted) else same_bits(found, wanted), (operands, found, wanted)


def test_the_reference_has_the_bits_of_the_machine() -> None:
    x, y = vectors()
    for row, name in zip(on_cpu(), REFERENCES, strict=True):
        for k in range(0, N, 37):
            operands = (float(x[k]), float(y[k])) if name == "power" else (float(x[k]),)
            assert same_bits(np.float32(evaluate(INTERNAL.get(name, name), *operands)), row[k]), (name, operands)


def test_hardware_has_the_same_bits() -> None:
    s = allo.customize(everything)
    s.pipeline("i")
    s.pipeline("j")
    s.partition("z", dim=1)
    built = s.build(target="rtl", random_state=1)
    z = np.zeros((9, N), np.float32)
    built(*vectors(), z)
    assert same_bits(z, on_cpu())
    assert built.cycles == built.predicted_cycles < (N + 60) + (N + 100)  # of either loop


@pytest.mark.slow
def test_hardware_has_the_same_bits_for_many_more() -> None:
    s = allo.customize(everything)
    s.pipeline("i")
    s.pipeline("j")
    s.partition("z", dim=1)
    built, reference = s.build(target="rtl"), allo.customize(everything).build()
    for x, y in zip(*(np.split(vector, MANY // N) for vector in vectors(MANY)), strict=True):
        z, wanted = np.zeros((9, N), np.float32), np.zeros((9, N), np.float32)
        built(x, y, z)
        reference(x, y, wanted)
        assert same_bits(z, wanted)


@pytest.mark.parametrize("target", ["vitis_hls", "catapult", "ihls"])
def test_simulated_code_has_the_same_bits(target: str) -> None:
    """Some vendors have `hls::exp`, others `std::exp`."""
    z = np.zeros((9, N), np.float32)
    allo.customize(everything).build(target=target, mode="csim")(*vectors(), z)
    assert same_bits(z, on_cpu())


def test_the_header_is_what_is_written_of_the_functions() -> None:
    assert (templates_directory() / "hls/include/allo_sim/elementary.h").read_text() == header()


def test_narrow_floats_are_computed_through_single_ones() -> None:
    def narrow(x: float16[64], y: bfloat16[64], a: float16[64], b: bfloat16[64]):
        for i in range(64):
            a[i] = allo.exp(x[i])
            b[i] = allo.log(y[i])

    x = np.linspace(-9, 9, 64).astype(np.float16)
    y = np.linspace(0.01, 90, 64).astype(ml_dtypes.bfloat16)
    s = allo.customize(narrow)
    found = []
    for run in (s.build(), allo.interpret(narrow), s.build(target="vitis_hls", mode="csim"), s.build(target="rtl")):
        a, b = np.zeros_like(x), np.zeros_like(y)
        run(x, y, a, b)
        found.append((a.tobytes(), b.tobytes()))
    wanted = np.array([evaluate("exp", float(v)) for v in x], np.float32).astype(np.float16)
    assert found == [(wanted.tobytes(), found[0][1])] * 4


def test_constants_have_the_bits_of_all_others() -> None:
    """A pass that computes functions of constants would take those of the C library."""
    library = ctypes.CDLL(ctypes.util.find_library("m")).expf
    library.restype, library.argtypes = ctypes.c_float, [ctypes.c_float]
    values = [float(v) for v in np.linspace(-3, 3, 40_000).astype(np.float32)]
    first, second = [v for v in values if library(v) != evaluate("exp", v)][:2]

    def constants(y: float32[4]):
        y[0] = allo.exp(first)
        t: float32 = second
        y[1] = allo.exp(t)
        for i in range(2):
            u: float32 = first if i == 0 else second
            y[i + 2] = allo.exp(u)

    wanted = np.array([evaluate("exp", v) for v in (first, second, first, second)], np.float32)
    s = allo.customize(constants)
    s.unroll("i")
    simulated = s.build(target="vitis_hls", mode="csim")
    for built in (s.build(), allo.interpret(constants), simulated, s.build(target="rtl")):
        y = np.zeros(4, np.float32)
        built(y)
        assert same_bits(y, wanted)


def test_vectors_and_operators_on_arrays() -> None:
    def arrays(x: float32[4, 16], y: float32[4, 16]):
        y[:] = allo.tanh(allo.exp(x) * 0.5)

    x = np.random.default_rng(0).normal(0, 1, (4, 16)).astype(np.float32)
    half = np.array([[evaluate("exp", float(v)) for v in row] for row in x], np.float32) * np.float32(0.5)
    wanted = np.array([[evaluate("tanh", float(v)) for v in row] for row in half], np.float32)
    s = allo.customize(arrays)
    for built in (s.build(), s.build(target="rtl")):
        y = np.zeros_like(x)
        built(x, y)
        assert same_bits(y, wanted)


def test_what_has_no_hardware() -> None:
    def remainders(x: float64[8]):
        for i in range(8):
            x[i] = x[i] % 3.0

    with pytest.raises(allo.AlloError) as caught:
        allo.customize(remainders).build(target="rtl")
    assert re.sub(r'File "[^"]+", line \d+, column \d+: ', "AT ", str(caught.value)) == (
        "AT target 'rtl' has no hardware for 'remf' of f64 yet\n"
        "    x[i] = x[i] % 3.0\n"
        "           ^\n"
        "  hint: build the kernel for 'vitis_hls', or leave the operation to the host"
    )
