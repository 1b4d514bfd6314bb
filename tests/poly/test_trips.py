"""How often loops run."""

from __future__ import annotations

import pytest

from allo.poly import max_trip_count, trip_count

CASES = [
    ("0 to 10", 10, 10),
    ("0 to 10 step 3", 4, 4),
    ("5 to 2", 0, 0),
    ("affine_map<(d0) -> (d0)>(%i) to affine_map<(d0) -> (d0 + 4)>(%i)", 4, 4),
    ("affine_map<(d0) -> (d0)>(%i) to 8", None, 8),
    ("affine_map<(d0) -> (d0)>(%i) to min affine_map<(d0) -> (d0 + 4, 20)>(%i)", 4, 4),
    ("affine_map<(d0) -> (4 * d0)>(%i) to min affine_map<(d0) -> (4 * d0 + 4, 30)>(%i)", None, 4),
    ("0 to %n", None, None),
    ("%n to affine_map<()[s0] -> (s0 + 5)>()[%n]", 5, 5),
    ("0 to affine_map<()[s0] -> (s0 mod 4)>()[%n]", None, 3),
]


@pytest.mark.parametrize(("bounds", "count", "most"), CASES)
def test_affine_loop(parse, bounds, count, most):
    function = parse(
        f"""func.func @f(%n: index) {{
          affine.for %i = 0 to 8 {{
            affine.for %j = {bounds} {{ }} {{allo.name = "j"}}
          }} {{allo.name = "i"}}
          return
        }}"""
    )
    assert (trip_count(function.loops["j"]), max_trip_count(function.loops["j"])) == (count, most)


def test_dynamic_loop(parse):
    function = parse(
        """func.func @f(%n: index) {
          %a = arith.constant 1 : index
          %b = arith.constant 9 : index
          %s = arith.constant 3 : index
          scf.for %i = %a to %b step %s { } {allo.name = "i"}
          scf.for %j = %a to %n step %s { } {allo.name = "j"}
          scf.for %k = %a to %b step %n { } {allo.name = "k"}
          return
        }"""
    )
    counts = [(trip_count(function.loops[n]), max_trip_count(function.loops[n])) for n in "ijk"]
    assert counts == [(3, 3), (None, None), (None, None)]
