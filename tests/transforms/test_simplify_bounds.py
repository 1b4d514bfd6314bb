"""`allo-simplify-bounds`: one of equal bounds stays, bounds that never decide go, loops that never run go."""

import numpy as np
import pytest

import allo
from allo.ir.types import int32

from .compiled import on_function


def nest(outer: str, bound: str) -> str:
    return f"""
    func.func @f(%A: memref<9xf32>, %x: f32) {{
      affine.for %i = {outer} {{
        affine.for %j = 0 to min affine_map<(d0) -> ({bound})>(%i) {{
          affine.store %x, %A[%j] : memref<9xf32>
        }}
      }}
      return
    }}"""


@pytest.mark.parametrize(
    ("outer", "bound", "wanted"),
    [
        ("3 to 4", "d0 + 2, 5", "affine.for %arg3 = 0 to #map(%arg2) {"),  # always equal: the first stays
        ("0 to 4", "d0 + 2, 9", "affine.for %arg3 = 0 to #map(%arg2) {"),
        ("0 to 4", "d0 + 2, 4", "affine.for %arg3 = 0 to min #map(%arg2) {"),  # either decides
    ],
)
def test_bounds(outer: str, bound: str, wanted: str) -> None:
    assert wanted in on_function(nest(outer, bound), "allo-simplify-bounds")


def test_a_loop_that_never_runs_is_erased() -> None:
    assert "affine" not in on_function(nest("2 to 2", "d0, 1"), "allo-simplify-bounds")


def test_equal_bounds_do_not_end_the_process() -> None:
    def kernel(A: int32[8]):
        for i in range(3, 4):
            for j in range(0, min(i + 2, 5)):
                A[j] = i

    A = np.zeros(8, np.int32)
    allo.customize(kernel).build()(A)
    assert A.tolist() == [3] * 5 + [0] * 3
