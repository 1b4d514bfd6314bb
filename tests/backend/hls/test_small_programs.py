"""Small programs of every kind of expression: the simulation of their C++ gives what the CPU gives, bit for bit.

All kernels are one design, so that the simulation is compiled once.
"""



import shutil
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import allo
from allo.ir.types import (
    Fixed,
    Int,
    TensorType,
    UInt,
    bool,
    float32,
    float64,
    index,
    int8,
    int16,
    int32,
    int64,
    uint1,
    uint5,
    uint8,
    uint32,
)  # fmt: skip

from .test_csim import same

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++")

N = 12
WRITTEN = ("of_floats", "of_integers", "of_unsigned", "of_widths", "wide", "of_bits", "whole", "real", "B", "keep")
DTYPES = {
    "int8": np.int8, "uint8": np.uint8, "int32": np.int32, "uint32": np.uint32, "int64": np.int64,
    "float32": np.float32, "float64": np.float64,
}  # fmt: skip
int1 = Int(1)
int7 = Int(7)
int70 = Int(70)
uint70 = UInt(70)
Number = Fixed(12, 5)


def floats(x: float32[N], y: float32[N], z: float32[N], out: float32[11, N]):
    for i in range(N):
        out[0, i] = x[i] - (y[i] - z[i])
        out[1, i] = x[i] / (y[i] / z[i])
        out[2, i] = x[i] - (y[i] + z[i])
        out[3, i] = x[i] / (y[i] * z[i])
        out[4, i] = (x[i] - y[i]) * (y[i] - z[i])
        out[5, i] = -(x[i] - y[i])
        out[6, i] = x[i] * (y[i] / z[i])
        out[7, i] = x[i] if x[i] < y[i] or not z[i] > y[i] else z[i]
        out[8, i] = max(x[i], y[i]) - min(y[i], z[i])
        out[9, i] = float32(float64(x[i]) * (y[i] - z[i]))
        out[10, i] = abs(x[i]) - (x[i] - (y[i] - (z[i] - x[i])))


def integers(x: int32[N], y: int32[N], out: int32[16, N]):
    for i in range(N):
        out[0, i] = x[i] - (y[i] - x[i] * 3)
        out[1, i] = x[i] // (y[i] | 1)
        out[2, i] = x[i] % (y[i] | 1)
        out[3, i] = x[i] >> (y[i] & 7)
        out[4, i] = x[i] << (y[i] & 3)
        out[5, i] = (x[i] & y[i]) | (x[i] ^ (y[i] << 1))
        out[6, i] = x[i] & (y[i] ^ x[i] | 5)
        out[7, i] = x[i] - (y[i] & 255) - (x[i] >> 4)
        out[8, i] = 1 if x[i] < y[i] else 0
        out[9, i] = 1 if (x[i] <= y[i] and y[i] != 7) or x[i] == -1 else 0
        out[10, i] = min(x[i], y[i]) - max(y[i], -x[i])
        out[11, i] = ~x[i] - (-y[i])
        out[12, i] = (x[i] + y[i]) >> 1
        out[13, i] = x[i] * y[i] - (x[i] - 1) * (y[i] + 1)
        out[14, i] = (x[i] - y[i] if x[i] > y[i] else y[i] - x[i]) % 1000
        out[15, i] = abs(x[i])


def unsigned(x: uint32[N], y: uint32[N], out: uint32[9, N]):
    for i in range(N):
        out[0, i] = x[i] // (y[i] | 1)
        out[1, i] = x[i] % (y[i] | 1)
        out[2, i] = x[i] >> (y[i] & 31)
        out[3, i] = 1 if x[i] < y[i] else 0
        out[4, i] = min(x[i], y[i])
        out[5, i] = max(x[i], y[i])
        out[6, i] = x[i] * y[i]
        out[7, i] = 1 if x[i] > 2147483648 else 0
        out[8, i] = uint32(int64(x[i]) - int64(y[i]) >> 3)


def widths(a: int8[N], b: uint8[N], out: int32[12, N], wide: int64[3, N]):
    for i in range(N):
        bit: int1 = a[i]
        flag: uint1 = b[i]
        few: int7 = a[i]
        some: uint5 = b[i]
        out[0, i] = bit
        out[1, i] = flag
        out[2, i] = few
        out[3, i] = some
        out[4, i] = a[i] * b[i]
        out[5, i] = a[i] + b[i]
        out[6, i] = a[i] - b[i]
        out[7, i] = int8(b[i])
        out[8, i] = uint8(a[i])
        out[9, i] = int16(few * some) + int16(bit)
        out[10, i] = bit * a[i]
        out[11, i] = 1 if a[i] < b[i] else 0
        big: int70 = a[i]
        huge: uint70 = b[i]
        wide[0, i] = (big << 60) >> 58
        wide[1, i] = (big * 1000000007 - huge) // 5
        wide[2, i] = (huge << 61) >> 59


def bits(x: uint32[N], n: int32[N], out: uint32[7, N]):
    for i in range(N):
        v: uint32 = x[i]
        out[0, i] = v[n[i] & 31]
        out[1, i] = v[4:11]
        v[3] = 1
        v[8:16] = 165
        out[2, i] = v
        v[n[i] & 31] = 0
        out[3, i] = v
        out[4, i] = x[i].reverse()
        flag: bool = x[i] > 5 and n[i] < 7
        out[5, i] = flag
        s: int32 = n[i]
        out[6, i] = (int32(s[3]) ^ -1) + s  # a bit at the begin of parentheses is no type of a function


def conversions(x: float32[N], n: int32[N], whole: int32[4, N], real: float64[3, N]):
    for i in range(N):
        whole[0, i] = int32(x[i])
        whole[1, i] = int8(x[i] * 0.1)
        whole[2, i] = uint8(abs(x[i]))
        fixed: Number = x[i] * 0.01
        whole[3, i] = int32(fixed * 8)
        real[0, i] = n[i]
        real[1, i] = uint32(n[i])
        real[2, i] = fixed - Number(0.25)


def at_index(n: index, scale: float32, wide: int70, B: int32[N]) -> int32:
    B[n] += int32(n) * 3
    return int32(int64(n) * -5) + int32(scale * 2.0) + int32(wide)


def digits(n: int32) -> int32:
    total: int32 = 0
    for k in range(8):
        total += (n >> (4 * k)) & 15
    return total


def loops(A: int32[N, N], B: int32[N], count: int32):
    for i in range(N - 1, -1, -2):
        for j in range(i, N):
            B[i] += A[i, j] * (j - i)
    k: int32 = 0
    while k * k < count:
        B[k % N] -= k
        k += 1
    for m in range(count % 5, count % 7 + 3):
        if m % 2 == 0:
            B[m] = B[m] - (A[m, 1] - A[1, m])
        elif m > 4:
            B[m] = -1
        else:
            B[m] += 100
    for n in range(N):
        B[n] += digits(A[n, 2]) if A[n, 3] > 0 else A[2, n] // 3
        if n % 3 == 1:
            B[N - 1 - n] -= at_index(n, 0.75 * n, n * n - 7, B)


def everything(
    x: float32[N], y: float32[N], z: float32[N], of_floats: float32[11, N],
    i: int32[N], j: int32[N], of_integers: int32[16, N],
    u: uint32[N], v: uint32[N], of_unsigned: uint32[9, N],
    a: int8[N], b: uint8[N], of_widths: int32[12, N], wide: int64[3, N],
    of_bits: uint32[7, N], whole: int32[4, N], real: float64[3, N],
    A: int32[N, N], B: int32[N], keep: int32[N], count: int32,
):  # fmt: skip
    floats(x, y, z, of_floats)
    integers(i, j, of_integers)
    unsigned(u, v, of_unsigned)
    widths(a, b, of_widths, wide)
    bits(u, i, of_bits)
    conversions(x, i, whole, real)
    loops(A, B, count)
    for e in range(0, N, 3):  # here, where the design decides whether `keep` is brought on chip
        keep[e] = A[e, 0]


def arguments(seed: int) -> dict[str, Any]:
    """Small and large values, and the edges of each type; what is written holds numbers already."""
    random = np.random.default_rng(seed)
    found: dict[str, Any] = {}
    for name, declared in everything.__annotations__.items():
        if not isinstance(declared, TensorType):
            found[name] = int(random.integers(1, 40))
            continue
        dtype, shape = DTYPES[str(declared.element)], declared.shape
        if np.issubdtype(dtype, np.floating):
            found[name] = (random.standard_normal(shape) * 100).astype(dtype)
            continue
        limits = np.iinfo(dtype)
        values = random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
        few = random.integers(max(limits.min, -20), 20, shape).astype(dtype)
        found[name] = np.where(random.random(shape) < 0.5, values, few)
        found[name].flat[:2] = limits.min, limits.max
    return found


@cache
def built() -> tuple[Callable[..., None], Callable[..., None]]:
    s = allo.customize(everything)
    return s.build(target="vitis_hls", mode="csim"), s.build(contract=False)


@cache
def both(seed: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The arguments before the call, after the simulation, and after the call on the CPU."""
    before, simulated, computed = arguments(seed), arguments(seed), arguments(seed)
    simulation, cpu = built()
    simulation(*simulated.values())
    cpu(*computed.values())
    return before, simulated, computed


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", WRITTEN)
def test_as_on_the_cpu(name: str, seed: int) -> None:
    _, simulated, computed = both(seed)
    assert same(simulated[name], computed[name])


@pytest.mark.parametrize("seed", range(4))
def test_as_numpy(seed: int) -> None:
    """What both could have wrong in the same way."""
    given, found, _ = both(seed)
    x, y, z = (given[name] for name in "xyz")
    differences = [x - (y - z), x / (y / z), x - (y + z), x / (y * z), (x - y) * (y - z), -(x - y), x * (y / z)]
    np.testing.assert_array_equal(found["of_floats"][:7], np.stack(differences))
    i, j = given["i"].astype(object), given["j"].astype(object)
    wanted = [i - (j - i * 3), i // (j | 1), i % (j | 1), i >> (j & 7), i << (j & 3)]
    np.testing.assert_array_equal(found["of_integers"][:5], np.stack(wanted).astype(np.int64).astype(np.int32))
    u, v = given["u"].astype(object), given["v"].astype(object)
    wanted = [u // (v | 1), u % (v | 1), u >> (v & 31), (u < v) * 1, np.minimum(u, v), np.maximum(u, v)]
    np.testing.assert_array_equal(found["of_unsigned"][:6], np.stack(wanted).astype(np.int64).astype(np.uint32))
    a, b = given["a"].astype(np.int32), given["b"].astype(np.int32)
    wanted = [-(a & 1), b & 1, (a + 64) % 128 - 64, b & 31, a * b, a + b, a - b]
    np.testing.assert_array_equal(found["of_widths"][:7], np.stack(wanted))


@pytest.mark.parametrize("seed", range(4))
def test_elements_between_strides_stay(seed: int) -> None:
    given, found, _ = both(seed)
    wanted = given["keep"].copy()
    wanted[::3] = given["A"][::3, 0]
    np.testing.assert_array_equal(found["keep"], wanted)
