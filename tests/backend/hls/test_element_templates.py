"""Positions of a grid that differ in numbers alone: instances of one template, where the tool has templates."""

# ruff: noqa: F821 - streams are declared without a value
from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int32

from .cpp_programs import compiled_file, lines, needs_compiler

N = 6


def rows(width: int) -> Callable[..., Any]:
    """Each position reads a row, and writes a column of the other array."""

    @df.region()
    def top(A: int32[width, N], B: int32[N, width]):
        line: Stream[int32, 4][width]

        @df.kernel(mapping=[width], args=[A])
        def source(A: int32[width, N]):
            p0 = df.get_pid()
            for i in range(N):
                line[p0].put(A[p0, i] + A[p0, 0])

        @df.kernel(mapping=[width], args=[B])
        def sink(B: int32[N, width]):
            p = df.get_pid()
            for i in range(N):
                B[i, width - 1 - p] = line[p].get() * 2

    return top


def corners(width: int) -> Callable[..., Any]:
    """Both coordinates are subscripts; one of them twice."""

    @df.region()
    def top(A: int32[width, width, N], B: int32[width, width]):
        @df.kernel(mapping=[width, width], args=[A, B])
        def sums(A: int32[width, width, N], B: int32[width, width]):
            i, j = df.get_pid()
            total: int32 = A[i, j, 5]
            for k in range(N):
                total += A[i, j, k]
            B[i, j] = total

    return top


def compared(width: int) -> Callable[..., Any]:
    """The position is a number: of conditions, of bounds, of sums in subscripts, and of arithmetic."""

    @df.region()
    def top(A: int32[width, N], B: int32[width, width]):
        row: Stream[int32, N][width, width]

        @df.kernel(mapping=[width], args=[A])
        def source(A: int32[width, N]):
            p = df.get_pid()
            for k in range(N):
                with allo.meta_for(width) as q:
                    row[p, q].put(A[p, k])

        @df.kernel(mapping=[width, width], args=[B])
        def sums(B: int32[width, width]):
            i, j = df.get_pid()
            values: int32[width + N] = 0
            for n in range(N):
                values[n + j] = row[i, j].get() * i - j
            total: int32 = 0
            for k in range(i, width + N):
                if k == j:
                    total += values[k - i]
                if k > i + 2 or 2 * k < j:
                    total += values[k]
                if total > i:
                    total -= 3 * j
            B[i, j] = total

    return top


def functions(code: str) -> list[str]:
    return re.findall(r"^(?:template <.*> )?void \w+\(", code, re.M)


def test_one_template_for_all_positions() -> None:
    code = df.build(rows(3), target="vhls").hls_code
    assert functions(code) == ["template <int p0> void source_0(", "template <int p0> void sink_0(", "void top("]
    assert "line_out.write(A[p0][i] + A[p0][0]);" in code
    assert re.findall(r"(?:source|sink)_\w+<.*>\(.*\);", code) == [
        "source_0<0>(A, line[0]);",
        "source_0<1>(A, line[1]);",
        "source_0<2>(A, line[2]);",
        "sink_0<2>(B, line[0]);",
        "sink_0<1>(B, line[1]);",
        "sink_0<0>(B, line[2]);",
    ]
    code = df.build(corners(2), target="vhls").hls_code
    assert functions(code) == ["template <int p0, int p1> void sums_0_0(", "void top("]
    assert "sums_0_0<1, 0>(A, B[1][0]);" in code


def test_a_function_for_each_position_in_other_dialects() -> None:
    code = df.build(rows(3), target="catapult").hls_code
    assert functions(code) == [f"void {task}_{p}(" for task in ("source", "sink") for p in range(3)] + ["void top("]


@pytest.mark.parametrize(("design", "small", "large"), [(rows, 4, 64), (corners, 4, 24), (compared, 4, 12)])
def test_functions_do_not_grow_with_the_grid(design: Callable[[int], Any], small: int, large: int) -> None:
    def size(width: int) -> int:
        code = df.build(design(width), target="vhls").hls_code
        return int(code.index("void top("))

    assert size(large) <= 1.5 * size(small)


def test_numbers_of_all_kinds_are_parameters() -> None:
    code = df.build(compared(4), target="vhls").hls_code
    assert functions(code) == [
        "template <int p0> void source_0(",
        "void sums_0_0(",  # `n + 0` and `k - 0` have another text, whatever the grid
        "template <int p0> void sums_0_1(",
        "template <int p0> void sums_1_0(",
        "template <int p0, int p1> void sums_1_1(",
        "void top(",
    ]
    assert "values[n + p1] = row_value * p0 - p1;" in code
    assert "for (int k = p0; k < 10; k++)" in code
    assert "if (k == p1) {" in code
    assert "total = total + values[k - p0];" in code
    assert "total = total - 3 * p1;" in code


@needs_compiler
@pytest.mark.parametrize("design", [rows, compared])
def test_what_is_synthesised_computes_the_same(design: Callable[[int], Any], tmp_path: Path) -> None:
    """The text for the tool itself, with calls one after the other: FIFOs of the simulation hold any number."""
    A = (np.arange(30, dtype=np.int32) ** 2).reshape(5, 6)
    wanted = np.zeros((6, 5) if design is rows else (5, 5), np.int32)
    df.build(design(5))(A, wanted)
    rows_of_result, columns = wanted.shape
    main = f"""
#include <cstdio>
int main() {{
  int32_t A[5][6], B[{rows_of_result}][{columns}];
  for (int i = 0; i < 30; i++) A[i / 6][i % 6] = i * i;
  top(A, B);
  for (auto &row : B) for (int x : row) printf("%d ", x);
}}
"""
    (file := tmp_path / "rows.cpp").write_text(df.build(design(5), target="vhls").hls_code + main)
    (printed,) = lines(compiled_file(file, tmp_path))
    assert printed.split() == [str(value) for value in wanted.flat]
