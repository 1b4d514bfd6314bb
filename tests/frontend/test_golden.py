"""The IR of small kernels, as it prints: what is affine, what is not, names, types, constants, locations."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo.ir.types import (
    ConstExpr,
    Fixed,
    Int,
    Stateful,
    bfloat16,
    bool,
    float32,
    index,
    int8,
    int16,
    int32,
    uint8,
)
from allo.ir.walk import entry_block, operations

GOLDEN = Path(__file__).parent / "golden"
TABLE = np.array([[1, 2], [3, 4]], np.int16)
SCALE = 2.5
int5 = Int(5)


def named_nest(A: float32[4, 8], B: float32[8, 4]):
    for i, j in allo.grid(4, 8, name="transpose"):
        B[j, i] = A[i, j] * SCALE


def widening(A: int32[8], B: uint8[8]):
    for i in range(8):
        A[i] = A[i] * B[i] + 1


def affine_bounds(A: float32[8, 8]):
    for i in range(1, 8, 2):
        for j in range(max(0, i - 2), min(8, i + 3)):
            A[i // 2, (i + j) % 8] = 0


def negative_step(A: int32[10]):
    for i in range(9, 0, -3):
        A[i] = i


def argument_bounds(A: float32[16], n: int32, m: index):
    for i in range(m, n):
        A[i + m] = A[i]


def data_bounds(A: float32[16], B: int32[16]):
    for i in range(B[0], 16, 2):
        A[B[i]] += 1.5


def affine_branch(A: float32[8, 8]):
    for i, j in allo.grid(8, 8):
        if i + 1 < j and j <= 6:
            A[i, j] = 1
        elif i == j:
            A[i, j] = 2
        else:
            A[i, j] = 3


def other_branch(A: float32[8]):
    for i in range(8):
        if A[i] > 0 or i != 3:
            A[i] = -A[i]


def scalar_variable(A: float32[8]) -> float32:
    total: float32 = 0
    for k in allo.reduction(8):
        total += A[k]
    return total


def assigned_argument(n: int32) -> int32:
    while n > 9:
        n = n // 10
    return n


def local_array() -> int32[4]:
    B: int32[4] = 3
    return B


def array_copy(A: int8[4]) -> int16[4]:
    B: int16[4] = A
    return B


def constant_array(A: int16[2]):
    for i in range(2):
        A[i] = TABLE[i, 1]


def odd_types(a: int5, b: bool, c: bfloat16) -> (int5, bool, bfloat16):
    return a + 1, not b, c * 2


def elementary(x: float32) -> float32:
    return allo.exp(x) + abs(x)


def callee(B: uint8[4], k: uint8) -> (uint8, bool):
    B[0] = k
    return B[1], k > 3


def caller(A: uint8[4]) -> uint8:
    x, large = callee(A, 200)
    return x if large else A[2]


def array_parts(A: float32[4, 8], v: float32[8]):
    A[1:] = A[:-1] + v
    A[0] *= A[0, 0]


def bits(x: uint8) -> uint8:
    y: uint8 = x
    y[4:8] = x[0:4]
    y[0] = x[7]
    return y.reverse()


def fixed_point(a: float32, n: int8) -> float32:
    x: Fixed(16, 8) = a
    return x * n + 0.5


def meta(A: int32[4]):
    count: ConstExpr[int32] = 2
    total: Stateful[int32] = 5
    with allo.meta_for(count) as i:
        with allo.meta_if(i == 0):
            total += A[i]
        with allo.meta_else():
            A[i] = total


KERNELS = [
    named_nest,
    widening,
    affine_bounds,
    negative_step,
    argument_bounds,
    data_bounds,
    affine_branch,
    other_branch,
    scalar_variable,
    assigned_argument,
    local_array,
    array_copy,
    constant_array,
    odd_types,
    elementary,
    caller,
    array_parts,
    bits,
    fixed_point,
    meta,
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_text(kernel: Any) -> None:
    assert str(allo.customize(kernel).module) == (GOLDEN / f"{kernel.__name__}.mlir").read_text()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_text_reads_back(kernel: Any) -> None:
    module = allo.customize(kernel).ir
    assert str(type(module).parse(str(module))) == str(module)


def test_operations_have_the_place_of_their_source() -> None:
    module = allo.customize(data_bounds).ir
    block = entry_block(module.function("data_bounds"))
    assert block is not None
    found = {}
    for op in operations(block):
        file, line, column = re.fullmatch(r'loc\("(.*)":(\d+):(\d+)\)', str(op.location)).groups()
        assert file == __file__
        found.setdefault(linecache.getline(file, int(line))[int(column) - 1 :].strip(), []).append(op.name)
    assert found == {
        "B[0], 16, 2):": ["affine.load", "arith.index_cast"],
        "16, 2):": ["arith.constant"],
        "2):": ["arith.constant"],
        "for i in range(B[0], 16, 2):": ["scf.for", "scf.yield"],
        "B[i]] += 1.5": ["memref.load", "arith.index_cast"] * 2,
        "A[B[i]] += 1.5": ["memref.load", "arith.addf", "memref.store", "func.return"],
        "1.5": ["arith.constant"],
    }


def test_printed_text_has_the_places() -> None:
    text = allo.customize(data_bounds).module.operation.get_asm(enable_debug_info=True)
    first = data_bounds.__code__.co_firstlineno
    assert f'%arg0: memref<16xf32> {{allo.name = "A"}} loc("{__file__}":{first}:17)' in text
    assert f'loc("{__file__}":{first + 2}:9)' in text
