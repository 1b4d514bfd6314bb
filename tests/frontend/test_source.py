"""Where kernels may be written, and how their source is found."""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
from allo.ir.types import int32

Agree = Callable[..., Any]


def written(kernel: Callable[..., Any], size: int = 4) -> list[int]:
    """What the kernel makes of an array of zeros."""
    A = np.zeros(size, np.int32)
    allo.customize(kernel).build()(A)
    return A.tolist()


def test_nested_with_comments_and_strings_in_column_0() -> None:
    def kernel(A: int32[4]):
        """A text that
goes on in column 0."""
        x: int32 = 3
# as does a comment
        A[0] = x

    assert written(kernel) == [3, 0, 0, 0]


def test_lines_that_only_look_like_the_next_statement() -> None:
    # fmt: off
    def in_brackets(
        A: int32[4],
    ):
        A[0] = (
    3
)
        A[1] = (
            4
)

    def in_a_string(A: int32[4]):
        A[0] = 5
        """A text behind all that runs:
def in_a_string(A: int32[4]): and so on."""

    def without_code(A: int32[4]):
        A[0] = 6
        x: int32  # noqa: F842
# a comment
        y: int32  # noqa: F842
    # fmt: on

    assert written(in_brackets) == [3, 4, 0, 0]
    assert written(in_a_string) == [5, 0, 0, 0]
    assert written(without_code) == [6, 0, 0, 0]


def test_an_error_in_a_nested_kernel_has_the_column_of_the_file() -> None:
    def kernel(A: int32[4]):
        A[0] = unknown  # noqa: F821

    with pytest.raises(allo.KernelError) as caught:
        allo.customize(kernel)
    at = caught.value.diagnostics[0].at
    assert at is not None and (at.column, at.end_column) == (16, 23)
    assert linecache.getline(at.file, at.line)[at.column - 1 : at.end_column - 1] == "unknown"


def test_closure_over_what_is_bound_later() -> None:
    def kernel(A: int32[4]):
        A[0] = later

    later = 5
    assert written(kernel) == [5, 0, 0, 0]


def test_each_closure_has_its_own_constants() -> None:
    def make(n: int) -> Callable[..., Any]:
        def kernel(A: int32[4]):
            A[n] = n

        return kernel

    assert [written(make(n)) for n in (1, 3)] == [[0, 1, 0, 0], [0, 0, 0, 3]]


def test_extents_from_the_enclosing_function() -> None:
    size = 6

    def kernel(A: int32[size]):
        for i in range(size):
            A[i] = i

    assert written(kernel, 6) == [0, 1, 2, 3, 4, 5]


class Design:
    @staticmethod
    def kernel(A: int32[4]):
        A[0] = 8


def test_static_method() -> None:
    assert written(Design.kernel) == [8, 0, 0, 0]


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return function(*arguments)

    return call


def unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@unchanged
def decorated(A: int32[4]):
    A[0] = 9


def test_a_decorator_that_returns_the_kernel() -> None:
    assert written(decorated) == [9, 0, 0, 0]


def test_a_cell_of_a_notebook() -> None:
    name, text = "<ipython-input-1>", "def kernel(A: int32[4]):\n    A[0] = 6\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"int32": int32}
    exec(compile(text, name, "exec"), scope)
    assert written(scope["kernel"]) == [6, 0, 0, 0]


def test_names_outside_of_ascii() -> None:
    def größe(A: int32[4]):
        β: int32 = 4
        A[0] = β

    assert written(größe) == [4, 0, 0, 0]


def malloc(A: int32[4]):
    B: int32[100000] = 3
    A[0] = B[1]


def free(A: int32[4]):
    malloc(A)


def memcpy(A: int32[4]):
    B: int32[4] = A
    A[0] = B[1] + 1


def allo_entry(A: int32[4]):
    A[0] = 1


def allo_parallel_for(A: int32[4]):
    for i in range(4):
        A[i] = 2


def main(A: int32[4]):
    A[0] = 1


@pytest.mark.parametrize(
    ("kernel", "result"),
    [
        (malloc, [3, 0, 0, 0]),
        (free, [3, 0, 0, 0]),
        (memcpy, [1, 0, 0, 0]),
        (allo_entry, [1, 0, 0, 0]),
        (allo_parallel_for, [2, 2, 2, 2]),
        (main, [1, 0, 0, 0]),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_kernels_may_have_the_names_of_c_functions(kernel: Any, result: list[int]) -> None:
    assert written(kernel) == result


def test_parallel_loop_in_a_kernel_with_the_name_of_the_run_time() -> None:
    schedule = allo.customize(allo_parallel_for)
    schedule.parallel("i")
    A = np.zeros(4, np.int32)
    schedule.build()(A)
    assert A.tolist() == [2] * 4
