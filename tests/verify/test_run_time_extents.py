"""Programs on arrays of run-time extents, as other tools print them: tiled, unrolled with a rest, for any size."""

import pytest

import allo
from allo.verify import Different, Equivalent

HEAD = "func.func @f(%A: memref<?x30xf64>, %B: memref<?x30xf64>, %C: memref<?x30xf64>, %n: index) {"
WHOLE = "affine_map<()[s0] -> ((s0 floordiv {0}) * {0})>()[%n]"


def step(lane: int, sign: str = "addf") -> str:
    return f"""%j{lane} = affine.apply affine_map<(d0) -> (d0 + {lane})>(%j)
      %a{lane} = affine.load %A[%i, %k] : memref<?x30xf64>
      %b{lane} = affine.load %B[%k, %j{lane}] : memref<?x30xf64>
      %c{lane} = affine.load %C[%i, %j{lane}] : memref<?x30xf64>
      %m{lane} = arith.mulf %a{lane}, %b{lane} : f64
      %s{lane} = arith.{sign} %c{lane}, %m{lane} : f64
      affine.store %s{lane}, %C[%i, %j{lane}] : memref<?x30xf64>
      """


PLAIN = f"""{HEAD}
  affine.for %i = 0 to %n {{ affine.for %j = 0 to %n {{ affine.for %k = 0 to %n {{
    {step(0)}
  }} }} }}
  return
}}"""


def tiled(tile: int, unrolled: int, rest: str = "addf") -> str:
    """Rows in tiles, columns unrolled, with a loop for those that are left."""
    whole = WHOLE.format(unrolled)
    return f"""{HEAD}
  affine.for %ii = 0 to affine_map<()[s0] -> (s0 ceildiv {tile})>()[%n] {{
  affine.for %i = affine_map<(d0) -> (d0 * {tile})>(%ii)
      to min affine_map<(d0)[s0] -> (d0 * {tile} + {tile}, s0)>(%ii)[%n] {{
    affine.for %j = 0 to {whole} step {unrolled} {{ affine.for %k = 0 to %n {{
      {"".join(map(step, range(unrolled)))}
    }} }}
    affine.for %j = {whole} to %n {{ affine.for %k = 0 to %n {{
      {step(0, rest)}
    }} }}
  }} }}
  return
}}"""


def test_tiles_and_a_rest():
    result = allo.verify(PLAIN, tiled(4, 2))
    assert isinstance(result, Equivalent) and result.method == "array dataflow graphs of any size"


@pytest.mark.slow
def test_both_are_tiled_and_unrolled():
    assert isinstance(allo.verify(tiled(4, 2), tiled(8, 3)), Equivalent)
    assert isinstance(allo.verify(tiled(8, 4), tiled(32, 2)), Equivalent)


@pytest.mark.slow
def test_a_fault_in_the_rest_is_no_proof():
    """It shows for odd sizes only."""
    assert isinstance(allo.verify(PLAIN, tiled(4, 2, rest="subf")), Different)


def test_a_rest_of_negative_sizes_is_no_proof():
    """Nothing runs for n = -1, but the rest begins at -2."""
    plain = """func.func @f(%A: memref<?xf64>, %n: index) {
      %one = arith.constant 1.0 : f64
      affine.for %i = 0 to %n { affine.store %one, %A[%i] : memref<?xf64> }
      return
    }"""
    whole = WHOLE.format(2)
    rest = "affine.store %one, %A[%i] : memref<?xf64>"
    unrolled = plain.replace(
        "affine.for %i = 0 to %n {",
        f"affine.for %i = 0 to {whole} step 2 {{ {rest} affine.store %one, %A[%i + 1] : memref<?xf64> }}\n"
        f"affine.for %i = {whole} to %n {{",
    )
    assert not allo.verify(plain, unrolled)
    guard = "affine.if affine_set<()[s0] : (s0 >= 0)>()[%n] {\n      affine.for %i = 0"
    inside = [t.replace("affine.for %i = 0", guard, 1).replace("return", "}\n return") for t in (plain, unrolled)]
    assert isinstance(allo.verify(*inside), Equivalent)
