"""Tile programs in the kernel language: the mark of a kernel, and the loops over its programs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

PROGRAM = "allo.x_program"  # the attribute of a loop over programs: the number of its dimension of the grid
_MARK = "__allo_tile_kernel__"


def kernel[F: Callable[..., Any]](function: F) -> F:
    """The decorator of a tile program: a kernel whose body is one loop over `programs`.

    The function stays what it is: plain Python, `allo.customize` and `allo.interpret` take it as any kernel; `allo.map`
    maps it on a mesh.
    """
    setattr(function, _MARK, True)
    return function


def is_tile_kernel(function: object) -> bool:
    """Whether a function is marked as a tile program."""
    return getattr(function, _MARK, False) is True


def programs(*extents: int, name: str | None = None) -> Iterator[Any]:
    """The ids of all programs of a grid: `for m, n in tile.programs(M // BM, N // BN)`.

    Programs may run in any order and at the same time: no two of them may use an element that one of them writes. With
    one extent the id is a plain number. Raises TypeError if no extent is given.
    """
    if not extents:
        raise TypeError("programs() takes at least one extent")
    if len(extents) == 1:
        return iter(range(extents[0]))
    return itertools.product(*(range(extent) for extent in extents))


type Mask = Callable[..., Any]
type Block = np.ndarray[Any, Any]


def load(
    array: Block, place: Sequence[Any], shape: Sequence[int], mask: Mask | None = None, other: float = 0
) -> Block:
    """The block of a shape that begins at a place of an array: `tile.load(A, (m * BM, k * BK), (BM, BK))`.

    `mask` says which elements are loaded, by their subscripts in the array; `other` is what the rest of the block gets:
    `tile.load(..., mask=lambda i, k: i < M and k < K, other=0)` loads what the array has where blocks do not divide
    it. An array of a tile program that is assigned so is the buffer of the tile. Raises IndexError for an element that
    the array has not got and the mask does not leave out.
    """
    block = np.full(tuple(shape), other, array.dtype)
    for inner, outer in _elements(array, place, block.shape, mask):
        block[inner] = array[outer]
    return block


def store(array: Block, place: Sequence[Any], value: Block, mask: Mask | None = None) -> None:
    """Write a block to an array, from a place on; `mask` says which elements, as in `load`."""
    for inner, outer in _elements(array, place, value.shape, mask):
        array[outer] = value[inner]


def _elements(
    array: Block, place: Sequence[Any], shape: tuple[int, ...], mask: Mask | None
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The subscripts of the elements that move, in the block and in the array."""
    for inner in np.ndindex(shape):
        outer = tuple(int(start) + k for start, k in zip(place, inner, strict=True))
        if mask is None or mask(*outer):
            if min(outer, default=0) < 0 or len(outer) != array.ndim:
                raise IndexError(f"the block has an element {list(outer)}, which the array has not")
            yield inner, outer
