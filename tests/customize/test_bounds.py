"""Affine subscripts that leave their array are refused, with the first iteration that does."""

import numpy as np
import pytest

import allo
from allo.ir.types import float32, int32

N = 8


def past_end(A: float32[N]):
    for i in range(N):
        A[i] = A[i + 1]


def before_start(A: float32[N]):
    for i in range(N):
        for j in range(i + 1):
            A[i - j - 1] = 0.0


def guarded(A: float32[N], B: float32[N]):
    for i in range(N):
        if i > 0 and i < N - 1:
            B[i] = A[i - 1] + A[i + 1]


def run_time(A: float32[N], n: int32):
    for i in range(n):
        A[i] = A[i] + 1.0


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            past_end,
            "A[i + 1] is outside of the array: subscript 0 is 8 when i=7, but dimension 0 of 'A' has 8 elements",
        ),
        (
            before_start,
            "A[i - j - 1] is outside of the array: subscript 0 is -1 when i=0, j=0, "
            "but dimension 0 of 'A' has 8 elements",
        ),
    ],
)
def test_refused(kernel: object, message: str) -> None:
    with pytest.raises(allo.KernelError) as caught:
        allo.customize(kernel)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == message
    assert diagnostic.hint == "change the bounds of the loop, or guard the access with `if`"


def test_guards_count() -> None:
    a, b = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    allo.customize(guarded).build()(a, b)
    assert b.tolist() == [0, 2, 4, 6, 8, 10, 12, 0]


def test_run_time_bounds_are_not_judged() -> None:
    a = np.zeros(N, np.float32)
    allo.customize(run_time).build()(a, 3)
    assert a.sum() == 3


@pytest.mark.parametrize("read", [str, None], ids=["from_mlir", "verify"])
def test_texts_are_refused_too(read: object) -> None:
    """Run, such a module would write over what lies beside the array."""
    text = """func.func @f(%A: memref<8xi32>) {
  %one = arith.constant 1 : i32
  affine.for %i = 0 to 8 {
    affine.store %one, %A[%i * 300] : memref<8xi32>
  }
  return
}"""
    with pytest.raises(allo.KernelError) as caught:
        allo.Schedule.from_mlir(text) if read else allo.verify(text, text)
    assert str(caught.value) == (
        'File "-", line 4, column 5: arg0[300*i] is outside of the array: subscript 0 is 300 when i=1, '
        "but dimension 0 of 'arg0' has 8 elements\n"
        "  hint: change the bounds of the loop, or guard the access with `if`"
    )
    inside = text.replace("%i * 300", "%i")
    assert allo.verify(inside, inside)


@pytest.mark.parametrize("dimension", [-1, 1])
def test_dimensions_that_an_array_has_not_are_refused(dimension: int) -> None:
    """MLIR ends the process when it looks for dimension -1."""
    text = f"""func.func @f(%A: memref<?xi32>) -> index {{
  %k = arith.constant {dimension} : index
  %n = memref.dim %A, %k : memref<?xi32>
  return %n : index
}}"""
    with pytest.raises(allo.KernelError) as caught:
        allo.Schedule.from_mlir(text)
    assert str(caught.value) == (
        f'File "-", line 3, column 8: memref.dim asks for dimension {dimension} of an array that has 1 dimension\n'
        "  hint: dimensions count from 0"
    )
