"""Stencils on integers: a filter of 3 x 3 on a plane, and the seven neighbours in a volume."""

from __future__ import annotations

import numpy as np

import allo
from allo.ir.types import index, int32

ROWS, COLUMNS = 128, 64
VOLUME = (16, 32, 32)
CENTRE, NEIGHBOURS = -7, 2


def plane[R: index, C: index](source: int32[R, C], filter: int32[3, 3], target: int32[R - 2, C - 2]):
    for row, column in allo.grid(R - 2, C - 2, name="points"):
        total: int32 = 0
        for i, j in allo.reduction(3, 3, name="taps"):
            total += filter[i, j] * source[row + i, column + j]
        target[row, column] = total


def volume[D: index, R: index, C: index](source: int32[D, R, C], target: int32[D, R, C]):
    """The border is copied."""
    for z, row, column in allo.grid(D, R, C, name="points"):
        if 0 < z < D - 1 and 0 < row < R - 1 and 0 < column < C - 1:
            around: int32 = source[z - 1, row, column] + source[z + 1, row, column]
            around += source[z, row - 1, column] + source[z, row + 1, column]
            around += source[z, row, column - 1] + source[z, row, column + 1]
            target[z, row, column] = CENTRE * source[z, row, column] + NEIGHBOURS * around
        else:
            target[z, row, column] = source[z, row, column]


def check_plane(rows: int = ROWS, columns: int = COLUMNS) -> None:
    generator = np.random.default_rng(5)
    source = generator.integers(-1000, 1000, (rows, columns), dtype=np.int32)
    taps = generator.integers(-10, 10, (3, 3), dtype=np.int32)
    target = np.zeros((rows - 2, columns - 2), np.int32)
    windows = np.lib.stride_tricks.sliding_window_view(source, (3, 3))
    allo.customize(plane, instantiate=[rows, columns]).build()(source, taps, target)
    np.testing.assert_array_equal(target, np.einsum("rcij,ij->rc", windows, taps))


def check_volume(shape: tuple[int, int, int] = VOLUME) -> None:
    source = np.random.default_rng(6).integers(-1000, 1000, shape, dtype=np.int32)
    wanted = source.copy()
    around = sum(np.roll(source, step, axis) for axis in range(3) for step in (-1, 1))
    inside = (slice(1, -1),) * 3
    wanted[inside] = (CENTRE * source + NEIGHBOURS * around)[inside]
    target = np.zeros(shape, np.int32)
    allo.customize(volume, instantiate=list(shape)).build()(source, target)
    np.testing.assert_array_equal(target, wanted)


def main() -> None:
    check_plane()
    check_volume()
    print(f"stencil: {ROWS} x {COLUMNS} points and {VOLUME} points agree with NumPy")


if __name__ == "__main__":
    main()
