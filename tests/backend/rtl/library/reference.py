"""Results of the CPU backend for the operations that library units do, as bits."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import allo
from allo.ir.types import Int, UInt, bfloat16, float16, float32, float64, index, int32

Words = npt.NDArray[np.uint64]

FORMATS: dict[str, tuple[int, int, Any, Any]] = {
    "f32": (8, 23, float32, np.float32),
    "f16": (5, 10, float16, np.float16),
    "bf16": (8, 7, bfloat16, ml_dtypes.bfloat16),
    "f64": (11, 52, float64, np.float64),
}


def arithmetic[T, N: index](
    a: T[N], b: T[N], add: T[N], sub: T[N], mul: T[N], div: T[N], root: T[N]
):  # fmt: skip
    for i in range(N):
        add[i] = a[i] + b[i]
        sub[i] = a[i] - b[i]
        mul[i] = a[i] * b[i]
        div[i] = a[i] / b[i]
        root[i] = allo.sqrt(a[i])


def comparisons[T, N: index](
    a: T[N], b: T[N], eq: int32[N], ne: int32[N],
    lt: int32[N], le: int32[N], gt: int32[N], ge: int32[N],
):  # fmt: skip
    for i in range(N):
        eq[i] = a[i] == b[i]
        ne[i] = a[i] != b[i]
        lt[i] = a[i] < b[i]
        le[i] = a[i] <= b[i]
        gt[i] = a[i] > b[i]
        ge[i] = a[i] >= b[i]


def conversion[T, U, N: index](a: T[N], y: U[N]):
    for i in range(N):
        y[i] = a[i]


def division[T, N: index](a: T[N], b: T[N], div: T[N], floor: T[N], mod: T[N]):
    for i in range(N):
        div[i] = a[i] / b[i]
        floor[i] = a[i] // b[i]
        mod[i] = a[i] % b[i]


def shifts[T, U, N: index](a: T[N], b: U[N], left: T[N], right: T[N]):
    for i in range(N):
        left[i] = a[i] << b[i]
        right[i] = a[i] >> b[i]


def ran(kernel: Any, types: list[Any], given: list[Any], made: list[Any]) -> list[Any]:
    """The arrays that a kernel fills; `made` are their NumPy types."""
    count = len(given[0])
    outputs = [np.zeros(count, kind) for kind in made]
    allo.customize(kernel, instantiate=[*types, count]).build()(*given, *outputs)
    return outputs


def floats(words: Words, name: str) -> Any:
    kind = np.dtype(FORMATS[name][3])
    return words.astype(f"u{kind.itemsize}").view(kind)


def words(values: Any) -> Words:
    return values.view(f"u{values.dtype.itemsize}").astype(np.uint64)


def one_nan(bits: Words, name: str) -> Words:
    """All NaN as one: kernels do not tell them apart."""
    exponent, fraction, _, _ = FORMATS[name]
    infinity = np.uint64(((1 << exponent) - 1) << fraction)
    size = bits & np.uint64((1 << exponent + fraction) - 1)
    return np.where(size > infinity, infinity | np.uint64(1 << fraction - 1), bits)


def integer(width: int, signed: bool) -> tuple[Any, Any]:
    """The type of kernels and that of NumPy."""
    size = next(size for size in (8, 16, 32, 64) if size >= width)
    return (Int(width) if signed else UInt(width)), np.dtype(f"{'i' if signed else 'u'}{size // 8}")


def integers(bits: Words, width: int, signed: bool) -> Any:
    """The numbers that words of `width` bits are."""
    kind = integer(width, signed)[1]
    if not signed:
        return bits.astype(kind)
    shift = np.int64(64 - width)
    return (bits.view(np.int64) << shift >> shift).astype(kind)


def last_bits(values: Any, width: int) -> Words:
    wide = values.astype(np.int64 if values.dtype.kind == "i" else np.uint64)
    return wide.view(np.uint64) & np.uint64((1 << width) - 1)
