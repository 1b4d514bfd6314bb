"""Other looks at arrays in modules from text, on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import allo

VIEWS = {
    "collapse": ("memref.collapse_shape %A [[0, 1]] : memref<4x8xi32> into memref<32xi32>", "19"),
    "expand": (
        "memref.expand_shape %A [[0, 1], [2]] output_shape [2, 2, 8] : memref<4x8xi32> into memref<2x2x8xi32>",
        "1, 0, 3",
    ),
    "subview": (
        "memref.subview %A[1, 1] [2, 3] [1, 2] : memref<4x8xi32> to memref<2x3xi32, strided<[8, 2], offset: 9>>",
        "1, 1",
    ),
    "moved": (
        "memref.subview %A[%o, 1] [2, 3] [1, 2] : memref<4x8xi32> to memref<2x3xi32, strided<[8, 2], offset: ?>>",
        "1, 1",
    ),
    "transpose": ("memref.transpose %A (i, j) -> (j, i) : memref<4x8xi32> to memref<8x4xi32, strided<[1, 8]>>", "3, 2"),
}  # fmt: skip


def text_of(view: str) -> str:
    """A function that returns A[2, 3] and makes it -1, through a view."""
    operation, subscripts = VIEWS[view]
    kind = operation.rpartition("to ")[2]
    return f"""
func.func @f(%A: memref<4x8xi32> {{allo.name = "A"}}, %o: index) -> i32 {{
  %view = {operation}
  %x = affine.load %view[{subscripts}] : {kind}
  %minus = arith.constant -1 : i32
  affine.store %minus, %view[{subscripts}] : {kind}
  return %x : i32
}}"""


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("view", VIEWS)
def test_views_are_read_and_written(view: str, check: bool) -> None:
    A = np.arange(32, dtype=np.int32).reshape(4, 8)
    built = allo.Schedule.from_mlir(text_of(view)).build(check=check)
    assert (built(A, 1), A[2, 3]) == (19, -1)
    A.flags.writeable = False
    with pytest.raises(ValueError, match="argument 'A' is written by the kernel"):
        built(A, 1)


def test_what_no_pass_knows_is_refused_at_its_line() -> None:
    text = """
func.func @f(%A: memref<8xi32>) -> i32 {
  %B = memref.realloc %A : memref<8xi32> to memref<9xi32>
  %x = affine.load %B[0] : memref<9xi32>
  return %x : i32
}"""
    with pytest.raises(allo.AlloError, match=r"line 3, .*'memref.realloc' cannot run on the CPU"):
        allo.Schedule.from_mlir(text).build()
