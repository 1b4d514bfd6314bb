"""`allo.einsum`: einsum expressions on NumPy arrays, compiled once for each expression, shapes and types."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ...backend.cpu.host import host_features
from ...errors import ContractionError
from ...mapping.teir import WIDE, DataType, Processor
from .expression import EinsumExpression
from .program import NUMPY, Array, EinsumProgram, einsum_program
from .tree import ContractionPath

_KINDS = {dtype: kind for kind, dtype in NUMPY.items()}


def einsum(subscripts: str, *operands: Any, path: Any = "auto", threads: int | None = None) -> Array:
    """What `numpy.einsum(subscripts, *operands)` is, computed by a program of this package; a new array.

    Operands are arrays of float32, float64 or bfloat16 (what is of other types is converted as NumPy would, and has
    to give one of these). `path` is the order in which more than two operands meet: a strategy of `opt_einsum`
    (`"auto"`), a path of pairs as NumPy has, or a tree of operand numbers, `((0, 1), 2)`. `threads` share the loops of
    large contractions (default: as many as there are cores). Sums are added in another order than NumPy's; those of
    bfloat16 are float32, and rounded after each contraction of two operands. Raises ContractionError for expressions,
    arrays and paths that do not fit. Source: TEIR, see `allo.mapping.teir`.
    """
    if not isinstance(subscripts, str):
        raise ContractionError(f"an einsum expression is a string, got {type(subscripts).__name__}")
    arrays = [_array(number, operand) for number, operand in enumerate(operands)]
    kind = _common_type(arrays)
    cores, given = _cores(threads), ContractionPath.of(path, len(arrays))
    if any(0 in array.shape for array in arrays):
        return _empty(subscripts, arrays, kind)
    shapes = tuple(array.shape for array in arrays)
    return _program(subscripts, shapes, kind, given, cores)(*arrays)


def _array(number: int, operand: Any) -> Array:
    """An operand as an array, in the order of bytes of this machine."""
    try:
        found = np.asarray(operand)
    except (ValueError, TypeError) as error:
        raise ContractionError(f"operand {number} of einsum is no array: {error}") from None
    return found if found.dtype.isnative else found.astype(found.dtype.newbyteorder("="))


def _common_type(arrays: Sequence[Array]) -> DataType:
    if not arrays:
        raise ContractionError("einsum has no arrays", hint='einsum("ij,jk->ik", A, B)')
    types = {array.dtype for array in arrays}
    try:
        found = next(iter(types)) if len(types) == 1 else np.result_type(*types)
    except TypeError:
        found = None
    if found not in _KINDS:
        listed = ", ".join(sorted(map(str, types)))
        raise ContractionError(f"einsum computes float32, float64 and bfloat16, got {listed}", hint="use .astype()")
    return _KINDS[found]


def _cores(threads: int | None) -> int:
    if threads is None:
        return _all_cores()
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ContractionError(f"threads is a positive number, got {threads!r}")
    return threads


@lru_cache(maxsize=1)
def _all_cores() -> int:
    """The threads that the pool of parallel loops has."""
    given = os.environ.get("ALLO_NUM_THREADS", "")
    return max(int(given), 1) if given.isdigit() else os.cpu_count() or 1


def _empty(subscripts: str, arrays: Sequence[Array], kind: DataType) -> Array:
    """Sums of nothing."""
    shapes = [array.shape for array in arrays]
    expression = EinsumExpression.parse(subscripts, [len(shape) for shape in shapes])
    sizes = expression.sizes(shapes)
    return np.zeros(tuple(sizes[label] for label in expression.output), NUMPY[kind])


@lru_cache(maxsize=256)
def _program(
    subscripts: str, shapes: tuple[tuple[int, ...], ...], kind: DataType, path: ContractionPath, cores: int
) -> EinsumProgram:
    return einsum_program(subscripts, *shapes, data_type=kind, path=path, processor=_host(cores))


def _host(cores: int) -> Processor:
    """What plans are chosen for on this machine."""
    return replace(WIDE if {"avx512f", "avx512vl"} <= host_features() else Processor(), cores=cores)
