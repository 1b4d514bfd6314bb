"""Decorators and questions of dataflow regions, as programs write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ..ir.types import AlloType, ChannelType, Stream

__all__ = [
    "all_gather",
    "allreduce",
    "array",
    "gather",
    "get_pid",
    "get_tid",
    "kernel",
    "pipe",
    "reduce_scatter",
    "region",
    "scatter",
    "task",
]

type Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def region() -> Decorator:
    """A function whose statements run at the same time: streams, arrays and tasks, or calls of other regions."""
    return lambda function: function


def kernel(*, mapping: Sequence[int] = (1,), args: Sequence[Any] | None = None) -> Decorator:
    """A task of the region around it, at each position of a grid of these extents (Dato, section 3).

    `args` are the arguments of the region that its parameters stand for, in their order; without them these are the
    arguments, or arrays, of the same names.
    """
    _outside("a task", "define it in a region, and build or customize that")


def pipe(dtype: AlloType, shape: Sequence[int] = (), depth: int = Stream.DEFAULT_DEPTH) -> ChannelType:
    """Another spelling of `Stream[dtype, depth]`; with a shape, of blocks: `x = df.pipe(int32, (4, 4), depth=2)`."""
    element = dtype[tuple(shape)] if tuple(shape) else dtype
    return Stream[element, depth]  # type: ignore[no-any-return]


def array(element: ChannelType, shape: int | Sequence[int]) -> ChannelType:
    """An array of streams: `df.array(df.pipe(int32, depth=4), shape=(P0, P1))` is `Stream[int32, 4][P0, P1]`."""
    if not isinstance(element, ChannelType):
        raise TypeError(f"an array of streams is made of `df.pipe(...)`, got {element!r}")
    return element[shape]


def get_pid() -> Any:
    """The position of a task in its grid: one number, or one for each dimension of the mapping."""
    _outside("the position of a task", "ask for it in a task")


def allreduce(x: Any, op: str = "+", axis: int | Sequence[int] | None = None) -> Any:
    """What `op` makes of the values that the positions along `axis` of the grid have for `x`; all of them get it.

    `x` is a number or an array, `op` one of + * max min & | ^. Values are combined from the first position to the
    last, ((x0 op x1) op x2) ..., axis by axis; the type of a sum of integers holds it. Without `axis` these are the
    axes along which layouts say that `x` is partial (Dato, Fig. 6).
    """
    _outside("a collective of positions", "call it in a task")


def reduce_scatter(x: Any, op: str = "+", axis: int | None = None, dim: int = 0) -> Any:
    """Of what `allreduce` gives, position p along `axis` gets part p of as many equal ones in dimension `dim`."""
    _outside("a collective of positions", "call it in a task")


def all_gather(x: Any, axis: int | None = None, dim: int = 0) -> Any:
    """The arrays `x` of all positions along `axis`, side by side in dimension `dim`; all of them get it.

    Without `axis` it is that along which the layout of `x` cuts dimension `dim`.
    """
    _outside("a collective of positions", "call it in a task")


def gather(streams: Any, axis: int = 0) -> Any:
    """One element of each of several streams: `df.gather(fifo[:, j])`, in the order of their subscripts.

    Numbers become an array of the extents that are left open; blocks stand side by side in dimension `axis`, or, of a
    grid of streams, in the first dimensions.
    """
    _outside("taking elements out of streams", "call it in a task")


def scatter(x: Any, streams: Any, axis: int = 0) -> None:
    """What `gather` takes from these streams, put into them: part p of array `x` into stream p."""
    _outside("putting elements into streams", "call it in a task")


def _outside(what: str, hint: str) -> NoReturn:
    raise RuntimeError(f"{what} has no meaning in plain Python; {hint}")


task, get_tid = kernel, get_pid  # as the Dato paper writes them
