"""`allo-native-integers`: integers of odd widths are computed in the next width that CPUs have; results stay."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import allo
from allo.ir.types import Int, UInt

from .compiled import on_function


@pytest.mark.parametrize(("width", "wide"), [(2, 8), (9, 16), (33, 64), (63, 64)])
def test_operations_on_the_next_width(width: int, wide: int) -> None:
    text = f"""
    func.func @f(%x: i{width}, %y: i{width}) -> i{width} {{
      %q = arith.divsi %x, %y : i{width}
      %r = arith.remui %q, %y : i{width}
      return %r : i{width}
    }}"""
    lines = [line.strip() for line in on_function(text, "allo-native-integers").splitlines()]
    operations = [line.partition(" = ")[2] for line in lines if " = " in line]
    computed = [operation for operation in operations if "div" in operation or "rem" in operation]
    assert len(computed) == 2 and all(f"i{wide}" in operation for operation in computed)
    assert sum("extsi" in operation for operation in operations) == 2
    assert sum("extui" in operation for operation in operations) == 2


@pytest.mark.parametrize("width", [1, 8, 16, 32, 64, 65])
def test_other_widths_stay(width: int) -> None:
    text = f"""
    func.func @f(%x: i{width}, %y: i{width}) -> i{width} {{
      %q = arith.addi %x, %y : i{width}
      return %q : i{width}
    }}"""
    assert "ext" not in on_function(text, "allo-native-integers")


@pytest.mark.parametrize("width", [11, 40, 63])
@pytest.mark.parametrize("kind", [Int, UInt])
def test_vectors_of_all_operations(kind: type, width: int) -> None:
    """Loops that LLVM makes vectors of, against Python's integers."""
    T, N = kind(width), 64

    def f(A: T[N], B: T[N], R: T[N, 6]):
        for i in range(N):
            R[i, 0] = A[i] * B[N - 1 - i]
            R[i, 1] = (A[i] - B[i]) // 2
            R[i, 2] = A[i] // (B[i] + 1)
            R[i, 3] = A[i] % 7
            R[i, 4] = A[i] if A[i] < B[i] else B[i]
            R[i, 5] = (A[i] * i) >> 3

    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if kind is Int else (0, (1 << width) - 1)
    random = np.random.default_rng(width)
    a, b = ([int(x) for x in random.integers(low, high, N, endpoint=True)] for _ in range(2))
    s = allo.customize(f)
    dtype = np.int64 if kind is Int else np.uint64
    made, meant = np.zeros((N, 6), dtype), np.zeros((N, 6), dtype)
    arrays = np.array(a, dtype), np.array(b, dtype)
    s.build()(*arrays, made)
    allo.interpret(f)(*arrays, meant)
    assert np.array_equal(made, meant)
    assert made[:, 3].tolist() == [x % 7 for x in a]
    assert made[:, 4].tolist() == [min(x, y) for x, y in zip(a, b, strict=True)]


PERMUTED = """
import numpy as np
import allo
from allo.ir.types import int64, uint8

def first(X: uint8[8, 8], Y: uint8[8, 8], V: uint8[8], p: int64):
    for i in range(8):
        for j in range(8):
            Y[i, j] = X[7 - i, j] - ((V[j] if p <= V[i] else V[j]) + (V[i // 2] + 5))

def second(X: uint8[8, 8], Y: uint8[8, 8], V: uint8[8]):
    for i in range(8):
        for j in range(8):
            Y[i, j] = X[j, i] - (V[j] >> 2)

def third(X: uint8[8, 8], Y: uint8[8, 8], V: uint8[8]):
    for i in range(8):
        for j in range(8):
            t: uint8 = X[i, j]
            if j >= 1:
                t = V[i]
            Y[i, j] = t

def top(A: uint8[8, 8], B: uint8[8, 8], V: uint8[8], p: int64):
    T: uint8[8, 8]
    U: uint8[8, 8]
    first(A, T, V, p)
    second(T, U, V)
    third(U, B, V)

A, V = np.arange(64, dtype=np.uint8).reshape(8, 8), np.arange(8, dtype=np.uint8)
found = [np.zeros((8, 8), np.uint8) for _ in range(2)]
allo.customize(top).build()(A, found[0], V, 3)
allo.interpret(top)(A, found[1], V, 3)
np.testing.assert_array_equal(*found)
"""


def test_permutations_of_64_bytes_are_compiled(tmp_path: Path) -> None:
    """LLVM 22 does not end on processors that permute bytes in one instruction (AVX-512 VBMI)."""
    program = tmp_path / "program.py"
    program.write_text(PERMUTED)
    subprocess.run([sys.executable, program], check=True, timeout=180)
