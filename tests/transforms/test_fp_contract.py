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


SUMS = """
func.func @f(%A: memref<8x8xf32>, %x: memref<8xf32>, %b: f32) {{
  affine.for %i = 0 to 8 {{
    affine.for %j = 0 to 8 {{
      %a = affine.load %A[%i, %j] : memref<8x8xf32>
      %p = arith.mulf %a, %b : f32
      %s = affine.load %x[{place}] : memref<8xf32>
      {sums}
      affine.store %r, %x[{place}] : memref<8xf32>
    }}
  }}
  return
}}"""
ONE_SUM = "%r = arith.addf %s, %p : f32"


def fused(place: str, sums: str) -> list[bool]:
    """Which of the additions and subtractions may be fused after the pass."""
    text = on_function(SUMS.format(place=place, sums=sums), "allo-fp-contract")
    lines = [line for line in text.splitlines() if "addf" in line or "subf" in line]
    return [line.endswith(" fastmath<contract> : f32") for line in lines]


def chain(length: int) -> str:
    """As many sums, each of the one before, the first of what is loaded."""
    lines = [f"%s{n + 1} = arith.addf %s{n}, %p : f32" for n in range(length)]
    return "\n".join(lines).replace("%s0", "%s").replace(f"%s{length} ", "%r ")


def test_a_sum_that_the_loop_carries_is_not_fused() -> None:
    """Its product is ready when the sum is; a fused operation would take longer from sum to sum."""
    assert fused("%i", ONE_SUM) == [False]
    assert fused("%i", "%r = arith.subf %s, %p : f32") == [False]


def test_a_sum_of_its_own_for_each_iteration_is_fused() -> None:
    assert fused("%j", ONE_SUM) == [True]


def test_a_recurrence_through_a_product_is_fused() -> None:
    """There the product is what the next iteration waits for."""
    assert fused("%i", "%q = arith.mulf %s, %b : f32\n%r = arith.addf %q, %p : f32") == [True]


def test_many_sums_are_fused() -> None:
    """More than four keep the units busy."""
    assert fused("%i", chain(4)) == [False] * 4
    assert fused("%i", chain(5)) == [True] * 5
