"""Arguments of one call that share an array are refused when the callee writes it."""

import numpy as np
import pytest

import allo
from allo.ir.types import float32, int32

N = 4


def add(A: float32[N], B: float32[N]):
    for i in range(N):
        B[i] += A[i]


def total(A: float32[N], B: float32[N]) -> float32:
    s: float32 = 0
    for i in range(N):
        s += A[i] * B[i]
    return s


def twice(X: float32[N]):
    add(X, X)


def square(X: float32[N]) -> float32:
    return total(X, X)


def test_written_twice() -> None:
    with pytest.raises(allo.KernelError) as caught:
        allo.customize(twice)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == "arguments 'A' and 'B' of 'add' are the same array, and 'add' writes 'B'"
    assert diagnostic.hint == "pass a copy for one of them"
    assert diagnostic.at is not None and diagnostic.at.line == twice.__code__.co_firstlineno + 1


def test_read_twice_is_fine() -> None:
    x = np.arange(4, dtype=np.float32)
    assert allo.customize(square).build()(x) == 14.0


def write_first(X: int32[...], Y: int32[4]):
    X[0] = Y[1]


def give_twice(A: int32[4]):
    write_first(A, A)


def test_an_array_seen_with_other_extents_is_the_same_array() -> None:
    message = "arguments 'X' and 'Y' of 'write_first' are the same array, and 'write_first' writes 'X'"
    with pytest.raises(allo.KernelError, match=message):
        allo.customize(give_twice)


def give_to_any_extent(A: int32[4], B: int32[4]):
    write_first(A, B)


def test_what_a_kernel_for_any_extent_writes_is_written() -> None:
    A = np.zeros(4, np.int64)  # converted on the way in, and on the way out if it is written
    allo.customize(give_to_any_extent).build()(A, np.full(4, 7, np.int32))
    assert A.tolist() == [7, 0, 0, 0]


ADD = """func.func private @add(%A: memref<4xi32> {allo.name = "A"}, %B: memref<4xi32> {allo.name = "B"}) {
  affine.for %i = 0 to 4 {
    %v = affine.load %A[%i] : memref<4xi32>
    affine.store %v, %B[3 - %i] : memref<4xi32>
  }
  return
}
"""
SAME = ADD + """func.func private @same(%X: memref<4xi32>) -> memref<4xi32> {
  return %X : memref<4xi32>
}
"""
COUNT = """memref.global "private" @count : memref<4xi32> = dense<0>
func.func private @add(%A: memref<4xi32> {allo.name = "A"}) {
  %c = memref.get_global @count : memref<4xi32>
  affine.for %i = 0 to 4 {
    %v = affine.load %A[%i] : memref<4xi32>
    affine.store %v, %c[3 - %i] : memref<4xi32>
  }
  return
}
"""
SHARED = "arguments 'A' and 'B' of 'add' are the same array, and 'add' writes 'B'\n  hint: pass a copy for one of them"


@pytest.mark.parametrize(
    ("functions", "body", "message"),
    [
        (ADD, "call @add(%X, %X) : (memref<4xi32>, memref<4xi32>) -> ()", SHARED),
        (
            SAME,
            "%Y = call @same(%X) : (memref<4xi32>) -> memref<4xi32>\n"
            "call @add(%X, %Y) : (memref<4xi32>, memref<4xi32>) -> ()",
            SHARED,
        ),
        (
            COUNT,
            "%c = memref.get_global @count : memref<4xi32>\ncall @add(%c) : (memref<4xi32>) -> ()",
            "argument 'A' of 'add' is '@count', which 'add' uses by that name too, and it writes one of them\n"
            "  hint: pass a copy",
        ),
        (
            "",
            "%Y = memref.alloc() : memref<4xi32>\n%Z = arith.select %is, %X, %Y : memref<4xi32>",
            "'arith.select' gives one array or another: no analysis can tell which one is used\n"
            "  hint: use the arrays themselves under the condition",
        ),
    ],
    ids=["arguments", "result", "state", "choice"],
)
def test_modules_from_text(functions: str, body: str, message: str) -> None:
    text = f"{functions}func.func @f(%X: memref<4xi32>, %is: i1) {{\n{body}\nreturn\n}}"
    with pytest.raises(allo.KernelError) as caught:
        allo.Schedule.from_mlir(text)
    line = text[: text.index("\nreturn\n}", len(functions))].count("\n") + 1
    column = 1 + (body.splitlines()[-1].index("= ") + 2 if body.splitlines()[-1].startswith("%") else 0)
    assert str(caught.value) == f'File "-", line {line}, column {column}: {message}'


def test_arrays_that_are_only_read_may_be_one() -> None:
    text = ADD.replace("affine.store %v, %B", "%w = affine.load %B")
    text += "func.func @f(%X: memref<4xi32>) {\ncall @add(%X, %X) : (memref<4xi32>, memref<4xi32>) -> ()\nreturn\n}"
    assert allo.Schedule.from_mlir(text).ir.top == "f"
