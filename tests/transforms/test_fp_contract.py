"""`allo-fp-contract`: only the freedom to fuse, and only where it means something."""

from .compiled import on_function


def test_flags() -> None:
    text = """
    func.func @f(%a: f32, %b: f32, %x: memref<f32>) {
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %p, %a fastmath<nnan> : f32
      %d = arith.divf %s, %b : f32
      affine.store %d, %x[] : memref<f32>
      return
    }"""
    assert (
        on_function(text, "allo-fp-contract")
        == """\
%0 = arith.mulf %arg0, %arg1 fastmath<contract> : f32
%1 = arith.addf %0, %arg0 fastmath<nnan,contract> : f32
%2 = arith.divf %1, %arg1 : f32
affine.store %2, %arg2[] : memref<f32>"""
    )
