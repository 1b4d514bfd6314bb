"""What a benchmark of the suite is: a kernel for each problem size, its inputs, and its meaning in NumPy."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One PolyBench/C 4.2.1 kernel.

    `sizes` maps MINI, SMALL, MEDIUM, LARGE, EXTRALARGE to the extents named by `extents`; `kernel(size)` is the
    Allo kernel of that size, `arguments(size)` fresh inputs (arrays and numbers) in the order of its parameters, with
    the elements float32 (int32 in floyd_warshall and nussinov) or the type given, `kernel(size, float64)` and
    `arguments(size, float64)`; `reference(size, *arguments)` does in NumPy what the kernel does: it changes the arrays
    in place.
    """

    name: str
    extents: tuple[str, ...]
    sizes: Mapping[str, tuple[int, ...]]
    kernel: Callable[..., Callable[..., None]]
    arguments: Callable[..., tuple[Any, ...]]
    reference: Callable[..., None]
