"""The names a kernel uses beside plain Python; each also runs as Python, on numbers and NumPy arrays."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .library.operators import (
    abs,
    add,
    bmm,
    concat,
    conv2d,
    copy,
    div,
    gelu,
    layernorm,
    linear,
    matmul,
    maxpool,
    mul,
    named,
    ones,
    relu,
    softmax,
    sub,
    sumpool,
    transpose,
    tril,
    view,
    zeros,
)

__all__ = [
    "abs",
    "add",
    "bmm",
    "concat",
    "conv2d",
    "copy",
    "cos",
    "div",
    "exp",
    "gelu",
    "grid",
    "layernorm",
    "linear",
    "log",
    "log2",
    "log10",
    "matmul",
    "maxpool",
    "meta_elif",
    "meta_else",
    "meta_for",
    "meta_if",
    "mul",
    "ones",
    "power",
    "reduction",
    "relu",
    "sin",
    "softmax",
    "sqrt",
    "sub",
    "sumpool",
    "tan",
    "tanh",
    "transpose",
    "tril",
    "view",
    "zeros",
]

def grid(
    *extents: int,
    name: str | None = None,
    pipeline: builtins.bool | int = False,
    unroll: int | Sequence[int] = 0,
) -> Iterator[tuple[int, ...]]:
    """Nested loops `0 <= i < extent`, the last fastest; `name` names the loop nest.

    With `pipeline`, True or an initiation interval, the last loop is a pipeline; `unroll` gives a factor to the last
    loop, or one to each, where 0 leaves a loop as it is. Both say how hardware runs the loops, not what they compute.
    Raises TypeError if no extent is given.
    """
    if not extents:
        raise TypeError("grid() takes at least one extent")
    return itertools.product(*(range(extent) for extent in extents))


def reduction(*extents: int, name: str | None = None) -> Iterator[Any]:
    """As `grid`, for loops that accumulate; with one extent the loop variable is a plain number."""
    if len(extents) == 1:
        return iter(range(extents[0]))
    return grid(*extents, name=name)


def _only_compiled(name: str) -> TypeError:
    return TypeError(f"{name} chooses what is compiled; it works in kernels given to allo.customize(), not in Python")


def meta_if(condition: Any) -> Any:
    """`with allo.meta_if(c):` compiles its body if the compile-time constant `c` is true."""
    raise _only_compiled("meta_if")


def meta_elif(condition: Any) -> Any:
    """`with allo.meta_elif(c):` behind `meta_if` compiles its body if no branch before was taken and `c` is true."""
    raise _only_compiled("meta_elif")


def meta_else() -> Any:
    """`with allo.meta_else():` compiles its body if no branch before was taken."""
    raise _only_compiled("meta_else")


def meta_for(*bounds: Any, name: str | None = None) -> Any:
    """`with allo.meta_for(n) as i:` compiles its body once for each `i` of `range(n)`, as a compile-time constant.

    The bounds are those of `range`, or one list of the values.
    """
    raise _only_compiled("meta_for")


@named
def exp(x: Any) -> Any:
    """e ** x."""
    return np.exp(x)


@named
def log(x: Any) -> Any:
    """Natural logarithm."""
    return np.log(x)


@named
def log2(x: Any) -> Any:
    """Logarithm to base 2."""
    return np.log2(x)


@named
def log10(x: Any) -> Any:
    """Logarithm to base 10."""
    return np.log10(x)


@named
def sqrt(x: Any) -> Any:
    """Square root."""
    return np.sqrt(x)


@named
def sin(x: Any) -> Any:
    """Sine of radians."""
    return np.sin(x)


@named
def cos(x: Any) -> Any:
    """Cosine of radians."""
    return np.cos(x)


@named
def tan(x: Any) -> Any:
    """Tangent of radians."""
    return np.tan(x)


@named
def tanh(x: Any) -> Any:
    """Hyperbolic tangent."""
    return np.tanh(x)


@named
def power(x: Any, y: Any) -> Any:
    """x ** y of floats."""
    return np.power(x, y)


ELEMENTARY = {
    exp: "math.exp",
    log: "math.log",
    log2: "math.log2",
    log10: "math.log10",
    sqrt: "math.sqrt",
    sin: "math.sin",
    cos: "math.cos",
    tan: "math.tan",
    tanh: "math.tanh",
    power: "math.powf",
}
