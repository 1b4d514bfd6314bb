"""Branches that positions decide though no affine set says so: one function for all positions that do the same."""

# ruff: noqa: F821 - streams are declared without a value
from __future__ import annotations

import importlib.util
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.backend.instantiate import instantiate
from allo.ir.types import Stream, int32
from tests.dataflow.doors import in_c
from tests.published.doors import assert_same, ran
from tests.seeds import sweep


def board(n: int) -> Callable[..., Any]:
    """Positions at the edge do nothing; the others do as the fields of a chess board."""

    @df.region()
    def top(A: int32[n, n], B: int32[n, n]):
        s: Stream[int32, 2][n + 2, n + 2]

        @df.kernel(mapping=[n + 2, n + 2], args=[A, B])
        def f(A: int32[n, n], B: int32[n, n]):
            i, j = df.get_pid()
            with allo.meta_if(i in {0, n + 1} or j in {0, n + 1}):
                pass
            with allo.meta_elif((i + j) % 2 == 0 or i == j + 1):
                s[i, j].put(A[i - 1, j - 1])
                B[i - 1, j - 1] = s[i, j].get()
            with allo.meta_else():
                B[i - 1, j - 1] = -A[i - 1, j - 1]

    return top


def functions(code: str) -> list[str]:
    return re.findall(r"^void (f_\w+)\(", code, re.M)


@in_c
def test_board(csim: bool) -> None:
    n = 4
    top, A = board(n), np.arange(16, dtype=np.int32).reshape(n, n)
    i, j = np.indices((n, n))
    seen = ran(df.build(top), (A, np.zeros_like(A)))
    np.testing.assert_array_equal(seen.arguments[1], np.where(((i + j) % 2 == 0) | (i == j + 1), A, -A))
    if csim:
        assert_same(seen, ran(df.build(top, target="vitis_hls", mode="csim"), (A, np.zeros_like(A))))


@pytest.mark.parametrize("n", [4, 12])
def test_a_function_for_each_class(n: int) -> None:
    assert functions(df.build(board(n), target="vhls").hls_code) == ["f_0_0", "f_1_1", "f_1_2"]


TERMS = ("i", "j", "i + j", "i - j", "2 * i + j", "(i + j) % 3", "(i * j) % 4", "i // 2", "i * j")


def condition(r: random.Random, depth: int = 2) -> str:
    kind = r.randrange(9)
    if depth and kind < 4:
        word = "or" if kind < 2 else "and"
        return f"({condition(r, depth - 1)} {word} {condition(r, depth - 1)})"
    if depth and kind == 4:
        return f"not ({condition(r, depth - 1)})"
    if kind == 5:
        return f"{r.choice(TERMS)} in {{{r.randrange(5)}, {r.randrange(5)}}}"
    return f"{r.choice(TERMS)} {r.choice(['==', '!=', '<', '<=', '>', '>='])} {r.choice(['j', '0', '1', '2', 'j + 1'])}"


def random_grid(seed: int, folder: Path) -> Callable[..., Any]:
    """A region whose positions do what random conditions say, in branches of branches and of loops."""
    r = random.Random(seed)
    text = f"""
import allo, allo.dataflow as df
from allo.ir.types import Stream, int32

@df.region()
def top(A: int32[4, 4, 3], B: int32[4, 4]):
    s: Stream[int32, 4][4, 4]
    @df.kernel(mapping=[4, 4], args=[A, B])
    def f(A: int32[4, 4, 3], B: int32[4, 4]):
        i, j = df.get_pid()
        with allo.meta_if({condition(r)}):
            B[i, j] = A[i, j, 0] * 2
        with allo.meta_elif({condition(r)}):
            s[i, j].put(A[i, j, 1])
            B[i, j] = s[i, j].get()
            with allo.meta_if({condition(r)}):
                B[i, j] = B[i, j] + i
        with allo.meta_else():
            for k in range(3):
                with allo.meta_if({condition(r, 1)}):
                    B[i, j] = B[i, j] + A[i, j, k]
                with allo.meta_else():
                    B[i, j] = B[i, j] - A[j, i, k] + j
"""
    file = folder / f"grid_{seed}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: Callable[..., Any] = module.top
    return made


@sweep(60, quick=5)
def test_elements_do_what_positions_do(seed: int, tmp_path: Path) -> None:
    s = df.customize(random_grid(seed, tmp_path))
    A = np.random.default_rng(seed).integers(-99, 99, (4, 4, 3)).astype(np.int32)
    elements = allo.Schedule.from_mlir(str(instantiate(s.ir).mlir))
    given = (A, np.zeros((4, 4), np.int32))
    assert_same(ran(s.build(), given), ran(elements.build(), given))
