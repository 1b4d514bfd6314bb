"""`allo-expand-remainders`: divisions of remainders survive `canonicalize`, and nothing else changes."""

import numpy as np
import pytest

import allo
from allo.ir.types import int32

from .compiled import on_function


def test_an_access_that_divides_a_remainder_gets_computed_indices() -> None:
    text = """
    func.func @f(%A: memref<9xf32>, %x: f32) {
      affine.for %i = 2 to 6 {
        affine.store %x, %A[(%i mod 4) floordiv 2] : memref<9xf32>
        affine.store %x, %A[%i mod 4] : memref<9xf32>
      }
      return
    }"""
    body = on_function(text, "allo-expand-remainders")
    assert body.count("memref.store") == 1 and body.count("affine.store") == 1 and "affine.for" in body


def test_a_bound_that_divides_a_remainder_leaves_the_affine_dialect() -> None:
    text = """
    func.func @f(%A: memref<9xf32>, %x: f32) {
      affine.for %i = 2 to 6 {
        affine.for %j = 0 to affine_map<(d0) -> ((d0 mod 4) floordiv 2)>(%i) {
          affine.store %x, %A[%j] : memref<9xf32>
        }
      }
      return
    }"""
    assert "affine." not in on_function(text, "allo-expand-remainders")


@pytest.mark.parametrize("divisor", [2, 3])
def test_results_are_those_of_python(divisor: int) -> None:
    def subscript(V: int32[8], A: int32[8]):
        for i in range(2, 6):
            A[i] = V[(i % 4) // divisor]

    def bound(V: int32[8], A: int32[8]):
        for i in range(2, 6):
            for j in range((i % 4) // divisor, 4):
                A[i] += V[j]

    def condition(V: int32[8], A: int32[8]):
        for i in range(2, 6):
            if (i % 4) // divisor < 1:
                A[i] = V[i]

    for kernel in (subscript, bound, condition):
        V, found, wanted = np.arange(1, 9, dtype=np.int32), np.zeros(8, np.int32), np.zeros(8, np.int32)
        allo.customize(kernel).build()(V, found)
        kernel(V, wanted)
        assert np.array_equal(found, wanted)
