"""Arrays as cores see them: elements of tiles that are in their buffers, and poison everywhere else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ...ir.arrays import form_dtype
from ...ir.types import AlloType
from ...mapping.tiles.program import TileBox
from .reading import ReadProgram
from .segments import SegmentCodes, fresh_locals, view_bytes

_ROOM = 4 << 30  # bytes that arrays as cores see them may take on this machine

type Array = np.ndarray[Any, Any]
type Core = tuple[int, ...]


class CoreViews:
    """Arrays as single cores see them. A segment that reads what no transfer brought computes with poison.

    Poison is NaN in floats, and a pattern that programs do not make by chance in integers.
    """

    def __init__(self, code: SegmentCodes, arrays: Sequence[Array]) -> None:
        self.code, self.arrays = code, arrays
        self._views: dict[Core, list[Array]] = {}
        self._locals: dict[Core, list[Array]] = {}
        self._held: dict[Core, Counter[tuple[TileBox, tuple[int, ...]]]] = {}

    def of(self, core: Core) -> list[Array]:
        """The arrays of the kernel as a core sees them."""
        if core not in self._views:
            self._views[core] = [_poisoned(array) for array in self.arrays]
            self._locals[core] = fresh_locals(self.code)
            for array in self._locals[core]:
                array[...] = _poison(array.dtype)
            self._held[core] = Counter()
        return self._views[core]

    def arrived(self, core: Core, box: TileBox, place: Sequence[int]) -> None:
        """A tile is in a buffer of the core."""
        part = box.part(place)
        self.of(core)[box.array.number][part] = self.arrays[box.array.number][part]
        self._held[core][box, tuple(place)] += 1

    def released(self, core: Core, box: TileBox, place: Sequence[int]) -> None:
        """The buffer of a tile is free: other tiles of the array stay, also where they overlap with it."""
        number, held = box.array.number, self._held[core]
        held[box, tuple(place)] -= 1
        if held[box, tuple(place)] > 0:
            return
        del held[box, tuple(place)]
        view = self.of(core)[number]
        view[box.part(place)] = _poison(view.dtype)
        for other, where in held:
            if other.array.number == number:
                part = other.part(where)
                view[part] = self.arrays[number][part]

    def compute(self, core: Core, segment: int, indices: Sequence[int]) -> None:
        """Run a segment on the core."""
        views = self.of(core)
        code = self.code.segments[segment]
        if code is not None:
            code(views, self._locals[core], indices)

    def stored(self, core: Core, box: TileBox, place: Sequence[int]) -> None:
        """A tile of results goes to the memory beside the chip."""
        part = box.part(place)
        self.arrays[box.array.number][part] = self.of(core)[box.array.number][part]


def _poison(dtype: Any) -> Any:
    if dtype.kind in "iub":
        pattern = np.array([0xA5] * dtype.itemsize, np.uint8)
        return pattern.view(dtype)[0] if dtype.kind != "b" else True
    return np.nan


def _poisoned(array: Array) -> Array:
    made = np.empty(array.shape, array.dtype)
    made[...] = _poison(array.dtype)
    return made


def random_array(random: np.random.Generator, shape: tuple[int, ...], element: AlloType) -> np.ndarray[Any, Any]:
    """A random array, of small numbers."""
    dtype = form_dtype(element)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        return random.integers(0, 100, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def demand_arrays(read: ReadProgram, cores: int, arrays: Sequence[Any]) -> None:
    """Raises TypeError or ValueError for arguments of a run on so many cores that do not fit."""
    program, wanted = read.program, read.program.arrays
    if len(arrays) != len(wanted):
        names = ", ".join(array.name for array in wanted)
        raise TypeError(f"{program.name} takes {len(wanted)} arrays ({names}), got {len(arrays)}")
    for array, given in zip(wanted, arrays, strict=True):
        dtype = form_dtype(array.element)
        if not isinstance(given, np.ndarray):
            raise TypeError(f"'{array.name}' must be a NumPy array, got {type(given).__name__}")
        if given.shape != array.shape or given.dtype != dtype or not given.flags.writeable:
            frozen = "" if given.flags.writeable else "one that is read-only, "
            wanted_form, got = f"{dtype} of the shape {array.shape}", f"{given.dtype} of the shape {given.shape}"
            raise ValueError(f"'{array.name}' must be a NumPy array, {wanted_form}, got {frozen}{got}")
    stored = {box.array.number for segment, _ in program.segments for box in segment.stores}
    for first, second in combinations(range(len(wanted)), 2):
        if stored & {first, second} and np.may_share_memory(arrays[first], arrays[second]):
            names = f"'{wanted[first].name}' and '{wanted[second].name}'"
            raise ValueError(f"{names} share memory, and the program writes to it; pass a copy")
    needed = view_bytes(read, cores)
    if needed > _ROOM:
        raise ValueError(
            f"a run with data takes {needed >> 20} MB on this machine: each core sees the arrays by itself; "
            "run smaller arrays, or `simulate()` without data"
        )
