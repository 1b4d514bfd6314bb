"""How often loops and blocks run."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from allo.poly import Count, Trips, runs_of, shares_of, trips_of

CASES = [
    ("0 to 10", 10, 10, 10),
    ("0 to 10 step 3", 4, 4, 4),
    ("5 to 2", 0, 0, 0),
    ("affine_map<(d0) -> (d0)>(%i) to affine_map<(d0) -> (d0 + 4)>(%i)", 4, 4, 4),
    ("affine_map<(d0) -> (d0)>(%i) to 8", Fraction(9, 2), 1, 8),
    ("affine_map<(d0) -> (d0)>(%i) to min affine_map<(d0) -> (d0 + 4, 20)>(%i)", 4, 4, 4),
    ("affine_map<(d0) -> (4 * d0)>(%i) to min affine_map<(d0) -> (4 * d0 + 4, 30)>(%i)", Fraction(30, 8), 2, 4),
    ("affine_map<(d0) -> (d0)>(%i) to 8 step 2", Fraction(20, 8), 1, 4),
    ("0 to affine_map<(d0) -> (d0 mod 3)>(%i)", Fraction(7, 8), 0, 2),
    ("0 to affine_map<(d0) -> (5 - d0)>(%i)", Fraction(15, 8), 0, 5),
    ("0 to %n", None, 0, None),
    ("%n to affine_map<()[s0] -> (s0 + 5)>()[%n]", 5, 5, 5),
    ("0 to affine_map<()[s0] -> (s0 mod 4)>()[%n]", None, 0, 3),
]


@pytest.mark.parametrize(("bounds", "mean", "fewest", "most"), CASES)
def test_affine_loop(parse: Callable[..., Any], bounds: str, mean: Fraction | None, fewest: int, most: int) -> None:
    function = parse(
        f"""func.func @f(%n: index) {{
          affine.for %i = 0 to 8 {{
            affine.for %j = {bounds} {{ }} {{allo.name = "j"}}
          }} {{allo.name = "i"}}
          return
        }}"""
    )
    loop = function.loops["j"]
    assert trips_of(loop) == Trips(mean, fewest, most)
    runs = runs_of(loop.regions[0].blocks[0])
    if mean is not None and "%n" not in bounds:
        assert runs == Count(int(8 * mean))
    else:
        assert runs == Count(None if most is None else 8 * most, False)


def test_dynamic_loop(parse: Callable[..., Any]) -> None:
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
    assert [trips_of(function.loops[n]) for n in "ijk"] == [Trips(Fraction(3), 3, 3), Trips(None), Trips(None)]


def test_a_loop_that_is_no_part_of_the_bound_may_weigh_the_mean(parse: Callable[..., Any]) -> None:
    """The loop over k is reached i times for each i, through a loop whose variable its bound does not use."""
    function = parse(
        """func.func @f() {
          affine.for %i = 0 to 6 {
            affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
              affine.for %k = 0 to min affine_map<(d0) -> (d0, 4)>(%i) { } {allo.name = "k"}
            } {allo.name = "j"}
          } {allo.name = "i"}
          return
        }"""
    )
    runs = [min(i, 4) for i in range(6) for _ in range(i)]
    assert trips_of(function.loops["k"]) == Trips(Fraction(sum(runs), len(runs)), 1, 4)


def test_a_loop_may_not_run_where_the_loop_around_it_starts_below_zero(parse: Callable[..., Any]) -> None:
    function = parse(
        """func.func @f() {
          affine.for %i = 0 to 4 {
            affine.for %j = affine_map<(d0) -> (2 - d0)>(%i) to 8 {
              affine.for %k = 0 to affine_map<(d0) -> (d0)>(%j) { } {allo.name = "k"}
            } {allo.name = "j"}
          } {allo.name = "i"}
          return
        }"""
    )
    runs = sum(len(range(j)) for i in range(4) for j in range(2 - i, 8))
    assert runs_of(function.loops["k"].regions[0].blocks[0]) == Count(runs)


@pytest.mark.parametrize(
    ("condition", "mean", "runs"),
    [
        ("affine.if affine_set<(d0) : (d0 - 5 >= 0)>(%i)", Fraction(5 + 6 + 7, 3), Count(5 + 6 + 7)),
        ("affine.if affine_set<(d0) : (d0 - 5 >= 0)>(%i) { } else", Fraction(2), Count(10)),
        ("affine.if affine_set<(d0)[s0] : (s0 - d0 >= 0)>(%i)[%n]", Fraction(7, 2), Count(28, False)),
        ("scf.if %c", Fraction(7, 2), Count(28, False)),
    ],
)
def test_conditions_on_loops_count_and_others_are_bounds(
    parse: Callable[..., Any], condition: str, mean: Fraction, runs: Count
) -> None:
    function = parse(
        f"""func.func @f(%n: index, %c: i1) {{
          affine.for %i = 0 to 8 {{
            {condition} {{
              affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {{ }} {{allo.name = "j"}}
            }}
          }} {{allo.name = "i"}}
          return
        }}"""
    )
    assert trips_of(function.loops["j"]).mean == mean
    assert runs_of(function.loops["j"].regions[0].blocks[0]) == runs


def test_large_nests_cost_no_more(parse: Callable[..., Any]) -> None:
    function = parse(
        """func.func @f() {
          affine.for %i = 0 to 100000 {
            affine.for %j = affine_map<(d0) -> (d0)>(%i) to 100000 {
              affine.for %k = 0 to affine_map<(d0) -> (d0 + 1)>(%j) { } {allo.name = "k"}
            } {allo.name = "j"}
          } {allo.name = "i"}
          return
        }"""
    )
    n = 100000
    assert runs_of(function.loops["k"].regions[0].blocks[0]) == Count(n * (n + 1) * (2 * n + 1) // 6)


SHARES = [
    ("affine_set<(d0) : (d0 - 2 >= 0)>(%i)", Fraction(6, 8)),
    ("affine_set<(d0) : (d0 mod 4 == 0)>(%i)", Fraction(2, 8)),
    ("affine_set<(d0, d1) : (d0 - d1 >= 0)>(%i, %j)", Fraction(30, 40)),
    ("affine_set<(d0, d1) : (d0 + d1 - 3 >= 0, -d1 + 3 >= 0)>(%i, %j)", Fraction(26, 40)),
    ("affine_set<(d0) : (d0 - 20 >= 0)>(%i)", Fraction(0)),
    ("affine_set<(d0)[s0] : (d0 - s0 >= 0)>(%i)[%n]", None),
]


@pytest.mark.parametrize(("condition", "holds"), SHARES)
def test_shares_of_conditions(parse: Callable[..., Any], condition: str, holds: Fraction | None) -> None:
    """How often a condition holds, of 8 x 5 iterations, and in how many of those an outer one allows."""
    function = parse(
        f"""func.func @f(%n: index) {{
          affine.for %i = 0 to 8 {{
            affine.for %j = 0 to 5 {{
              affine.if {condition} {{
                affine.for %k = 0 to 3 {{ }} {{allo.name = "k"}}
              }}
            }} {{allo.name = "j"}}
          }} {{allo.name = "i"}}
          return
        }}"""
    )
    found = shares_of(function.loops["k"].operation.parent)
    assert found == (None if holds is None else (holds, 1 - holds))


def test_shares_inside_of_conditions(parse: Callable[..., Any]) -> None:
    """Of the runs that an outer condition allows; not known if that depends on more than loops."""
    inner = """affine.if affine_set<(d0) : (d0 - 6 >= 0)>(%i) {
                 affine.for %k = 0 to 3 { } {allo.name = "k"}
               }"""
    outer = "affine.if affine_set<(d0) : (d0 - 4 >= 0)>(%i) {"
    for around, share in ((outer, Fraction(2, 4)), ("scf.if %c {", None)):
        function = parse(
            f"""func.func @f(%c: i1) {{
              affine.for %i = 0 to 8 {{ {around} {inner} }} }} {{allo.name = "i"}}
              return
            }}"""
        )
        found = shares_of(function.loops["k"].operation.parent)
        assert found == (None if share is None else (share, 1 - share))
