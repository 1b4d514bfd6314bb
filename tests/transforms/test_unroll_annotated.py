"""`allo-unroll-annotated`: how often a body is copied, and what stays rolled."""

import pytest
from mlir import ir

from .compiled import on_function, run_passes


def loop_over(trips: int, attributes: str, inner: str = "") -> str:
    return f"""
    func.func @f(%A: memref<9000xf32>, %x: memref<f32>) {{
      affine.for %i = 0 to {trips} {{
        {inner}
        %a = affine.load %A[%i] : memref<9000xf32>
        affine.store %a, %x[] : memref<f32>
      }} {{{attributes}}}
      return
    }}"""


def test_factor_with_clean_up_loop() -> None:
    assert (
        on_function(loop_over(5, "allo.unroll = 2 : i32"), "allo-unroll-annotated,canonicalize")
        == """\
affine.for %arg2 = 0 to 4 step 2 {
  %1 = affine.load %arg0[%arg2] : memref<9000xf32>
  affine.store %1, %arg1[] : memref<f32>
  %2 = affine.load %arg0[%arg2 + 1] : memref<9000xf32>
  affine.store %2, %arg1[] : memref<f32>
}
%0 = affine.load %arg0[4] : memref<9000xf32>
affine.store %0, %arg1[] : memref<f32>"""
    )


@pytest.mark.parametrize("factor", [0, 3, 7])
def test_full(factor: int) -> None:
    body = on_function(loop_over(3, f"allo.unroll = {factor} : i32"), "allo-unroll-annotated")
    assert "affine.for" not in body
    assert body.count("affine.store") == 3


def test_name_is_kept_and_annotation_consumed() -> None:
    body = on_function(loop_over(8, 'allo.unroll = 2 : i32, allo.name = "i"'), "allo-unroll-annotated")
    assert '{allo.name = "i"}' in body
    assert "allo.unroll" not in body


def test_inner_loop_first() -> None:
    inner = """affine.for %j = 0 to 4 {
          %b = affine.load %A[%j] : memref<9000xf32>
          affine.store %b, %x[] : memref<f32>
        } {allo.unroll = 0 : i32}"""
    body = on_function(loop_over(6, "allo.unroll = 3 : i32", inner), "allo-unroll-annotated")
    assert body.count("affine.for") == 1
    assert body.count("affine.store") == 3 * (4 + 1)


def remarks(text: str) -> list[str]:
    seen: list[str] = []

    def keep(diagnostic: ir.Diagnostic) -> bool:
        seen.append(diagnostic.message)
        return True

    with ir.Context.current.attach_diagnostic_handler(keep):
        body = str(run_passes(text, "func.func(allo-unroll-annotated)"))
    assert "allo.unroll" not in body
    return seen


def test_very_large_stays_rolled() -> None:
    assert remarks(loop_over(9000, "allo.unroll = 0 : i32")) == [
        "left rolled: unrolling it would make 9000 copies of 3 operations"
    ]


def test_copies_multiply_over_the_nest() -> None:
    inner = """affine.for %j = 0 to 100 {
          %b = affine.load %A[%j] : memref<9000xf32>
          affine.store %b, %x[] : memref<f32>
        } {allo.unroll = 0 : i32}"""
    assert remarks(loop_over(100, "allo.unroll = 0 : i32", inner)) == [
        "left rolled: unrolling it would make 100 copies of 302 operations"
    ]


def test_full_needs_a_constant_trip_count() -> None:
    text = """
    func.func @f(%n: index, %x: memref<f32>, %a: f32) {
      affine.for %i = 0 to %n { affine.store %a, %x[] : memref<f32> } {allo.unroll = 0 : i32}
      return
    }"""
    assert remarks(text) == ["left rolled: its trip count is not constant"]


def test_scf_for_loses_the_annotation_only() -> None:
    text = """
    func.func @f(%n: index, %x: memref<f32>, %a: f32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 { memref.store %a, %x[] : memref<f32> } {allo.unroll = 0 : i32}
      return
    }"""
    body = on_function(text, "allo-unroll-annotated")
    assert body.count("scf.for") == 1
    assert "allo.unroll" not in body
