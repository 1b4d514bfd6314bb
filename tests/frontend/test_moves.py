"""Loads and stores of blocks under masks: Python, the interpreter, machine code and plans compute the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo import tile
from allo.errors import KernelError
from allo.ir.types import float32, index
from tests.mapping.tiles.test_space import small_mesh

M, N, K, B = 7, 6, 5, 4


@tile.kernel
def gemm(X: float32[M, K], W: float32[K, N], Y: float32[M, N]):
    for m, n in tile.programs(2, 2):
        acc: float32[B, B] = 0
        w: float32[B, B] = 0
        for k in range(2):
            x: float32[B, B] = tile.load(X, (m * B, k * B), (B, B), mask=lambda i, j: i < M and j < K, other=0)
            w = tile.load(W, [k * B, n * B], shape=(B, B), mask=lambda i, j: i < K and j < N)
            acc += allo.matmul(x, w)
        tile.store(Y, (m * B, n * B), acc, mask=lambda i, j: i < M and j < N)


@tile.kernel
def shifted(X: float32[M], Y: float32[M + 1]):
    for m in tile.programs(2):
        x: float32[B] = tile.load(X, (B * m - 1,), (B,), lambda i: 0 <= i < M, -2)
        tile.store(Y, (B * m,), x)


@pytest.mark.parametrize("kernel", [gemm, shifted], ids=["gemm", "shifted"])
def test_blocks_that_do_not_divide(kernel: Any) -> None:
    random = np.random.default_rng(0)
    shapes = [(M, K), (K, N), (M, N)] if kernel is gemm else [(M,), (M + 1,)]
    *given, _ = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    plan = allo.map(kernel, small_mesh(2, 2), k=2, profile=False)
    expected = given[0] @ given[1] if kernel is gemm else np.concatenate([[-2], given[0]])
    for run in (kernel, allo.interpret(kernel), plan.source.build(), plan.run, plan.others[0].run):
        result = np.full(shapes[-1], np.nan, np.float32)
        run(*given, result)
        assert np.allclose(result, expected, atol=1e-5)
    assert allo.verify(kernel, plan) and allo.verify(plan, kernel)


def test_python_refuses_elements_that_are_not_there() -> None:
    for place in ((-1,), (5,)):
        with pytest.raises(IndexError):
            tile.load(np.zeros(M, np.float32), place, (B,))


def outside(X: float32[M], Y: float32[M]):
    for m in range(2):
        x: float32[B] = tile.load(X, (B * m,), (B,))
        tile.store(Y, (B * m,), x, mask=lambda i: i < M)


def of_three(X: float32[M, K], Y: float32[B]):
    y: float32[B] = tile.load(X, (0, 0, 0), (B,))
    tile.store(Y, (0,), y)


def no_tuple(X: float32[M], Y: float32[B]):
    y: float32[B] = tile.load(X, 0, (B,))
    tile.store(Y, (0,), y)


def no_constant(n: index, X: float32[M], Y: float32[B]):
    y: float32[B] = tile.load(X, (0,), (n,))
    tile.store(Y, (0,), y)


def no_array(X: float32[M], Y: float32[B]):
    y: float32[B] = tile.load(X[1:], (0,), (B,))
    tile.store(Y, (0,), y)


def other_mask(X: float32[M], Y: float32[B]):
    y: float32[B] = tile.load(X, (0,), (B,), mask=lambda i, j: i < M)
    tile.store(Y, (0,), y)


def mask_of_data(X: float32[M], Y: float32[B]):
    y: float32[B] = tile.load(X, (0,), (B,), mask=X)
    tile.store(Y, (0,), y)


def too_few(X: float32[M], Y: float32[B]):
    y: float32[B] = tile.load(X, (0,))
    tile.store(Y, (0,), y)


def expression(X: float32[M], Y: float32[B]):
    y: float32[B] = tile.load(X, (0,), (B,))
    tile.store(Y, (0,), y + 1)


def undeclared(X: float32[M], Y: float32[B]):
    y = tile.load(X, (0,), (B,))  # noqa: F841
    Y[0] = 0


def other_shape(X: float32[M], Y: float32[B]):
    y: float32[B] = tile.load(X, (0,), (B + 1,))
    tile.store(Y, (0,), y)


LOAD = "tile.load(A, (m * BM, k * BK), (BM, BK), mask=lambda i, k: i < M and k < K, other=0)"
STORE = "tile.store(C, (m * BM, n * BN), acc, mask=lambda i, j: i < M and j < N)"
OUTSIDE = "\n  hint: change the bounds of the loop, or guard the access with `if`"
REFUSED: list[tuple[Any, str, str]] = [
    (outside, "tile.load", "X[4*m + x_load_0] is outside of the array: subscript 0 is 7 when m=1, x_load_0=3, but "
     f"dimension 0 of 'X' has 7 elements{OUTSIDE}"),
    (of_three, "(0, 0, 0)", "'X' has 2 dimensions, the place 3, and the block 1\n"
     f"  hint: give one start and one extent a dimension: `{LOAD}`"),
    (no_tuple, "0, (B", f"the place of a block is a tuple, got `0`\n  hint: write `{LOAD}`"),
    (no_constant, "n,)", "extents of a block are constants, at least 1, got `n`\n"
     "  hint: give names of constants or of template parameters"),
    (no_array, "X[1:]", f"`X[1:]` is no array\n  hint: write `{LOAD}`"),
    (other_mask, "lambda", f"a mask is a lambda of 1 subscript, got `lambda i, j: i < M`\n  hint: write `{LOAD}`"),
    (mask_of_data, "X)", f"a mask is a lambda of 1 subscript, got `X`\n  hint: write `{LOAD}`"),
    (too_few, "tile.load", "the arguments of tile.load() do not fit: missing a required argument: 'shape'\n"
     f"  hint: write `{LOAD}`"),
    (expression, "y + 1", "tile.store() stores an array of the kernel, got `y + 1`\n"
     f"  hint: assign it to one before: `{STORE}`"),
    (undeclared, "tile.load", f"'y' is no array yet\n  hint: declare it: `y: T = {LOAD}`"),
    (other_shape, "tile.load", "y[y_load_0] is outside of the array: subscript 0 is 4 when y_load_0=4, but dimension 0 "
     f"of 'y' has 4 elements{OUTSIDE}"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "at", "message"), REFUSED, ids=[case[0].__name__ for case in REFUSED])
def test_mistakes(function: Any, at: str, message: str) -> None:
    with pytest.raises(KernelError) as caught:
        allo.customize(function)
    lines = Path(__file__).read_text().splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(f"def {function.__name__}("))
    number = next(k for k in range(start, len(lines)) if at in lines[k])
    column = lines[number].index(at)
    first, _, _, *hint = str(caught.value).split("\n")
    assert "\n".join([first, *hint]) == f'File "{__file__}", line {number + 1}, column {column + 1}: {message}'
