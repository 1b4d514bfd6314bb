"""`allo-vectorize`: which short loops become vectors, and which do not."""

import numpy as np
import pytest

from .compiled import Compiled, on_function

UPDATE = """
  %a = affine.load %A[%i, 3] : memref<8x64xf32>
  %b = affine.load %B[%j] : memref<64xf32>
  %c = affine.load %A[%i, %j] : memref<8x64xf32>
  %p = arith.mulf %b, %b fastmath<contract> : f32
  %s = arith.addf %c, %p : f32
  affine.store %s, %A[%i, %j] : memref<8x64xf32>"""


def rows(body: str, trips: int = 16, mark: str = "") -> str:
    return f"""
    func.func @f(%A: memref<8x64xf32>, %B: memref<64xf32>) {{
      affine.for %i = 0 to 8 {{
        affine.for %j = 0 to {trips} {{{body}
        }} {{{mark}}}
      }}
      return
    }}"""


def lanes(text: str) -> str:
    """The vector type that was made; empty if none."""
    stores = [line for line in on_function(text, "allo-vectorize").splitlines() if "vector_store" in line]
    return stores[0].rsplit(", ", 1)[1] if stores else ""


def test_whole_loop() -> None:
    assert (
        on_function(
            rows(UPDATE.replace("%A[%i, 3]", "%B[3]").replace("8x64xf32>", "64xf32>", 1)), "allo-vectorize"
        )
        == """\
%c0 = arith.constant 0 : index
affine.for %arg2 = 0 to 8 {
  %0 = affine.load %arg1[3] : memref<64xf32>
  %1 = affine.vector_load %arg1[%c0] : memref<64xf32>, vector<16xf32>
  %2 = affine.vector_load %arg0[%arg2, %c0] : memref<8x64xf32>, vector<16xf32>
  %3 = arith.mulf %1, %1 fastmath<contract> : vector<16xf32>
  %4 = arith.addf %2, %3 : vector<16xf32>
  affine.vector_store %4, %arg0[%arg2, %c0] : memref<8x64xf32>, vector<16xf32>
}"""
    )


SUM = UPDATE.replace("%A[%i, 3]", "%A[%i, 60]")


@pytest.mark.parametrize(
    ("trips", "mark", "wanted"),
    [
        (4, "", "vector<4xf32>"),
        (32, "", "vector<32xf32>"),
        (48, "", ""),
        (6, "", ""),
        (48, "allo.unroll = 16 : i32", "vector<16xf32>"),
        (48, "allo.unroll = 4 : i32", ""),
        (16, "allo.unroll = 0 : i32", "vector<16xf32>"),
        (20, "allo.unroll = 8 : i32", ""),
    ],
)
def test_length(trips: int, mark: str, wanted: str) -> None:
    assert lanes(rows(SUM, trips, mark)) == wanted


def test_limit_is_in_bits() -> None:
    assert lanes(rows(SUM, 32)) == "vector<32xf32>"
    assert lanes(rows(SUM, 32).replace("f32", "f64")) == ""


@pytest.mark.parametrize(
    "body",
    [
        # a sum into one element, a column, a carried dependence, the variable as a value
        UPDATE.replace("affine.store %s, %A[%i, %j]", "affine.store %s, %A[%i, 0]"),
        SUM.replace("%A[%i, %j]", "%A[%i, %j * 2]"),
        SUM.replace("affine.load %A[%i, %j]", "affine.load %A[%i, %j + 1]"),
        SUM + "%x = arith.index_cast %j : index to i32\n%y = arith.sitofp %x : i32 to f32\n"
        "affine.store %y, %B[%j] : memref<64xf32>",
    ],
)
def test_left_alone(body: str) -> None:
    assert lanes(rows(body)) == ""


def test_accumulators_in_registers() -> None:
    text = """
    func.func @f(%A: memref<4x20xf32>, %B: memref<20x16xf32>, %C: memref<4x16xf32>) {
      %acc = memref.alloc() : memref<4x16xf32>
      affine.for %i = 0 to 4 { affine.for %j = 0 to 16 {
        %c = affine.load %C[%i, %j] : memref<4x16xf32>
        affine.store %c, %acc[%i, %j] : memref<4x16xf32>
      } } {allo.unroll = 0 : i32}
      affine.for %k = 0 to 20 { affine.for %i = 0 to 4 { affine.for %j = 0 to 16 {
        %a = affine.load %A[%i, %k] : memref<4x20xf32>
        %b = affine.load %B[%k, %j] : memref<20x16xf32>
        %c = affine.load %acc[%i, %j] : memref<4x16xf32>
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %c, %p : f32
        affine.store %s, %acc[%i, %j] : memref<4x16xf32>
      } } {allo.unroll = 0 : i32} }
      affine.for %i = 0 to 4 { affine.for %j = 0 to 16 {
        %c = affine.load %acc[%i, %j] : memref<4x16xf32>
        affine.store %c, %C[%i, %j] : memref<4x16xf32>
      } } {allo.unroll = 0 : i32}
      return
    }"""
    generator = np.random.default_rng(0)
    left, right = (generator.random(shape, dtype=np.float32) for shape in ((4, 20), (20, 16)))
    wanted = np.ones((4, 16), np.float32)
    for k in range(20):  # in the order of the program: equal to the last bit
        wanted += left[:, k : k + 1] * right[k]
    result = np.ones((4, 16), np.float32)
    Compiled(text, "func.func(allo-vectorize,allo-unroll-annotated,allo-place-buffers)")(left, right, result)
    assert np.array_equal(result, wanted)
