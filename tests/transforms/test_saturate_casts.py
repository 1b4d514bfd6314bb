"""`allo-saturate-casts`: floats outside of an integer type become its nearest number, NaN becomes 0."""

import numpy as np
import pytest

import allo
from allo.ir.types import int8, uint8

from .compiled import on_function


def test_selects_stand_around_a_conversion() -> None:
    text = """
    func.func @f(%A: memref<1xi8>, %x: f16) {
      %0 = arith.fptosi %x : f16 to i8
      affine.store %0, %A[0] : memref<1xi8>
      return
    }"""
    made = on_function(text, "allo-saturate-casts")
    assert made.count("arith.select") == 3 and made.count("arith.fptosi") == 1
    assert "arith.constant 1.280000e+02 : f16" in made and "arith.constant -1.280000e+02 : f16" in made


def convert(x: float, A: int8[1], B: uint8[1]):
    A[0] = x
    B[0] = x


@pytest.mark.parametrize(
    ("x", "wanted"),
    [(127.9, (127, 127)), (300, (127, 255)), (-1.5, (-1, 0)), (-1e30, (-128, 0)), (np.inf, (127, 255)),
     (np.nan, (0, 0))],
)  # fmt: skip
def test_values(x: float, wanted: tuple[int, int]) -> None:
    A, B = np.zeros(1, np.int8), np.zeros(1, np.uint8)
    allo.customize(convert).build()(x, A, B)
    assert (A[0], B[0]) == wanted
