"""Tile programs in the kernel language: the mark of a kernel, and the loops over its programs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

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
