"""Einsum programs on an array of XDNA: tensors laid out in tiles, padded where tiles do not divide them.

Source: Steinert (2025), section 6.4, the layout in which tiles of all three tensors are in the order of their use.
Edges, which the thesis lacks, are zeros that the host adds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...errors import ContractionError
from ...mapping.teir import DataType, DimType, ExecType, PrimMain, Tec, TecDimension
from ...mapping.teir.npu import XDNA_ARRAY, NpuArray, NpuProgram, npu_program, run_on_array
from .contraction import Operand
from .program import NUMPY, Array, EinsumProgram, EinsumStep

_MOST, _CALL = 128, 25  # the largest side of a tile; cycles of a call of the kernel, section 6.2


@dataclass(frozen=True, slots=True)
class ArrayContraction:
    """A contraction of two tensors as matrices in tiles: the labels of C, M, N and K, their sizes, and the tiles.

    `tile` are the sides of M, N and K of one tile, `parts` how many tiles there are along them.
    """

    labels: tuple[str, str, str, str]
    sizes: Mapping[str, int]
    tile: tuple[int, int, int]
    parts: tuple[int, int, int]
    program: NpuProgram

    def extent(self, group: int) -> int:
        """How many indices the labels of C (0), M (1), N (2) or K (3) have together."""
        return _extent(self.labels[group], self.sizes)

    def __call__(self, first: Operand, in0: Array, second: Operand, in1: Array, output: str) -> Array:
        """The result on the model of the array, of bfloat16 as the inputs are."""
        c, m, n, k = self.labels
        left = self._tiled(first, in0, (m, k), 0)
        right = self._tiled(second, in1, (n, k), 1).swapaxes(3, 4)
        out = np.empty(self.program.tec.extent(2), in0.dtype)
        left, right = (np.ascontiguousarray(tiles).reshape(-1) for tiles in (left, right))
        run_on_array(self.program, left, right, out)
        rows, columns, _ = self.parts
        whole = out.reshape(self.extent(0), columns, rows, *self.tile[:2]).transpose(0, 2, 3, 1, 4)
        whole = whole.reshape(self.extent(0), rows * self.tile[0], -1)[:, : self.extent(1), : self.extent(2)]
        order = c + m + n
        found = whole.reshape([self.sizes[label] for label in order])
        return np.ascontiguousarray(found.transpose([order.index(label) for label in output]))

    def _tiled(self, given: Operand, data: Array, groups: tuple[str, str], side: int) -> Array:
        """The tiles of an input: C, tiles of its rows, tiles of K, and the two sides of one."""
        labels = self.labels[0] + "".join(groups)
        strides = given.strides(self.sizes)
        shape = [self.sizes[label] for label in labels]
        view = as_strided(data.reshape(-1), shape, [strides[label] * data.itemsize for label in labels])
        sides = [_extent(group, self.sizes) for group in groups]
        tile, parts = (self.tile[side], self.tile[2]), (self.parts[side], self.parts[2])
        padded = np.zeros((self.extent(0), parts[0] * tile[0], parts[1] * tile[1]), data.dtype)
        padded[:, : sides[0], : sides[1]] = view.reshape(-1, *sides)
        return padded.reshape(-1, parts[0], tile[0], parts[1], tile[1]).swapaxes(2, 3)


def _extent(labels: str, sizes: Mapping[str, int]) -> int:
    return prod(sizes[label] for label in labels)


def array_contraction(
    first: Operand, second: Operand, output: str, sizes: Mapping[str, int], array: NpuArray = XDNA_ARRAY
) -> ArrayContraction:
    """The contraction of two operands with the tile that takes the fewest cycles of cores and streams, estimated.

    Raises ContractionError for a label that only one operand has and the result does not, and for what the engines of
    the array do not reach.
    """
    a, b = set(first.labels), set(second.labels)
    alone = [label for label in sorted(a ^ b) if label not in output and sizes[label] > 1]
    if alone:
        raise ContractionError(f"label '{alone[0]}' is in one operand only", hint="sum the operand over it before")
    there = [label for label in output if label in a | b]
    labels = (
        "".join(label for label in there if label in a & b), "".join(label for label in there if label in a - b),
        "".join(label for label in there if label in b - a),
        "".join(label for label in dict.fromkeys(first.labels) if label in b and label not in output),
    )  # fmt: skip
    extents = [_extent(group, sizes) for group in labels]
    tile = _tile(extents[1:], array)
    rows, columns, steps = (ceil(extent / side) for extent, side in zip(extents[1:], tile, strict=True))
    far = array.columns * max(steps * tile[2], rows * tile[0]) * tile[1] > 2 * array.stride_words
    loops = ceil(columns / (array.columns * (1 if far else array.repeat)))  # of which a descriptor repeats each
    rounds = ceil(steps / array.wrap)
    if rounds > array.repeat:
        most = array.repeat * array.wrap * tile[2]
        raise ContractionError(
            f"K of the contraction is {extents[3]:,}: descriptors of an array reach {most:,} in tiles of {tile[2]}",
            hint="split the sum in parts, and add their results",
        )
    parts = (rows, ceil(columns / loops) * loops, ceil(steps / rounds) * rounds)
    tec = _tec(extents[0], tile, parts, (loops, rounds))
    return ArrayContraction(labels, sizes, tile, parts, npu_program(tec, array))


def _tile(extents: Sequence[int], array: NpuArray) -> tuple[int, int, int]:
    """The sides of M, N and K: blocks of 4, 4 and 8 that fill a core, and leave few cores idle at the edges."""

    def cost(tile: tuple[int, int, int]) -> tuple[int, float, int]:
        m, n, k = tile
        parts = [ceil(extent / side) for extent, side in zip(extents, tile, strict=True)]
        calls = ceil(parts[0] / array.rows) * ceil(parts[1] / array.columns) * parts[2]
        cycles = calls * max(m * n * k / 128 + _CALL, m * k / 2, k * n / 2)
        return ceil(parts[2] / array.wrap), cycles, prod(parts)

    sides = [_sides(extent, unit) for extent, unit in zip(extents, (4, 4, 8), strict=True)]
    room = (array.tile_bytes - array.stack_bytes) // 2
    fitting = (t for t in product(*sides) if 2 * (t[0] * t[2] + t[2] * t[1] + t[0] * t[1]) <= room)
    return min(((m, n, k) for m, n, k in fitting), key=cost)


def _sides(extent: int, unit: int) -> list[int]:
    """Multiples of `unit`, each the least for its number of tiles."""
    parts = (ceil(extent / side) for side in range(unit, _MOST + 1, unit))
    return [ceil(ceil(extent / part) / unit) * unit for part in dict.fromkeys(parts)]


def _tec(batch: int, tile: tuple[int, int, int], parts: tuple[int, int, int], outer: tuple[int, int]) -> Tec:
    """Loops over tiles that lie behind each other; N has one always, which descriptors repeat.

    `outer` are loops around those of N and K, for what a descriptor does not reach. Tiles of a column of the output
    are neighbours: descriptors have the rows of the array too.
    """
    (m, n, k), (rows, columns, steps), (loops, rounds) = tile, parts, outer
    inner_n, inner_k = columns // loops, steps // rounds
    outside = (
        ("c", DimType.C, batch, (rows * steps * m * k, columns * steps * k * n, rows * columns * m * n)),
        ("m", DimType.M, rows, (steps * m * k, 0, m * n)),
        ("n.outer", DimType.N, loops, (0, inner_n * steps * k * n, inner_n * rows * m * n)),
        ("n", DimType.N, inner_n, (0, steps * k * n, rows * m * n)),
        ("k.outer", DimType.K, rounds, (m * k, k * n, 0)),
        ("k", DimType.K, inner_k, (rounds * m * k, rounds * k * n, 0)),
    )
    around = [TecDimension(w, kind, ExecType.NPU, size, s) for w, kind, size, s in outside if size > 1 or w == "n"]
    prims = (("mp", DimType.M, m, (k, 0, n)), ("np", DimType.N, n, (0, 1, 1)), ("kp", DimType.K, k, (1, n, 0)))
    inner = [TecDimension(name, kind, ExecType.PRIM, size, s) for name, kind, size, s in prims]
    return Tec((*around, *inner), DataType.BF16, prim_main=PrimMain.GEMM)


@dataclass(frozen=True, slots=True)
class ArrayResult:
    """What an einsum gave on an array: the result, and the program of each step; None for those of the host."""

    result: Array
    programs: tuple[NpuProgram | None, ...]


def einsum_on_array(program: EinsumProgram, *operands: Any, array: NpuArray = XDNA_ARRAY) -> ArrayResult:
    """Run a program of bfloat16 on the model of an array, which rounds when a call of the kernel ends.

    Steps with one operand and products without sums have no product of matrices in them: the host does them. Raises
    ContractionError for programs of other types, arrays that do not fit, and what the array does not take.
    """
    if program.data_type is not DataType.BF16:
        raise ContractionError(f"an array of XDNA computes bfloat_16, and the program is for {program.data_type}")
    values = program.flat(*operands)
    programs: list[NpuProgram | None] = []
    for step in program.steps:
        values.append(_step(program, step, values, array, programs))
    result = np.asarray(values[-1]).reshape(program.steps[-1].result.shape)
    return ArrayResult(result, tuple(programs))


def _step(
    program: EinsumProgram, step: EinsumStep, values: Sequence[Array], array: NpuArray,
    programs: list[NpuProgram | None],
) -> Array:  # fmt: skip
    if step.plan.first.is_unary or DimType.K not in step.plan.first.dim_types:
        programs.append(None)
        return program.step(step, values)
    first, second = step.operands
    sizes = {label: n for o in step.operands for label, n in zip(o.labels, o.shape, strict=True)}
    made = array_contraction(first, second, step.result.labels, sizes, array)
    programs.append(made.program)
    in0, in1 = (values[k].astype(NUMPY[DataType.BF16], copy=False) for k in step.inputs)
    return made(first, in0, second, in1, step.result.labels).reshape(-1)
