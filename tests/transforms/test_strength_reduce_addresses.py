"""`allo-strength-reduce-addresses`: quotients and remainders in subscripts are counted; the places stay the same."""

import numpy as np
import pytest

from .compiled import Compiled, on_function

PASS = "func.func(allo-strength-reduce-addresses)"


def stores(loop: str, subscripts: str, mark: str = "", before: str = "", after: str = "") -> str:
    """Each iteration adds its number to an element."""
    return f"""
    func.func @f(%A: memref<64x64xi32>) {{
      {before}
      affine.for %i = {loop} {{
        %n = arith.index_cast %i : index to i32
        %0 = affine.load %A[{subscripts}] : memref<64x64xi32>
        %1 = arith.addi %0, %n : i32
        affine.store %1, %A[{subscripts}] : memref<64x64xi32>
      }}{mark}
      {after}
      return
    }}"""


def test_a_digit_becomes_a_counter() -> None:
    text = on_function(stores("0 to 20", "%i floordiv 5, %i mod 5"), "allo-strength-reduce-addresses")
    assert "mod" not in text.split("affine.for")[1] and "floordiv" not in text.split("affine.for")[1]
    assert text.count("memref.alloc") == 2  # one quotient and one remainder for all accesses


@pytest.mark.parametrize(
    ("loop", "subscripts"),
    [
        ("0 to 60", "%i floordiv 7, %i mod 7"),
        ("3 to 60 step 4", "%i floordiv 7, %i mod 7"),  # steps that wrap at other places
        ("0 to 30 step 9", "(%i * 2 + 1) floordiv 4, (%i * 2 + 1) mod 4"),  # steps longer than the divisor
        ("0 to 40", "(-%i + 50) floordiv 6, (-%i + 50) mod 6"),  # downwards
        ("0 to 40", "%i mod 3 + (%i floordiv 3) mod 4, 2"),  # a quotient that is no counter itself
        ("5 to 5", "%i floordiv 3, 1"),
    ],
)
def test_the_places_are_the_same(loop: str, subscripts: str) -> None:
    text = stores(loop, subscripts)
    found = []
    for passes in ("", PASS):
        A = np.zeros((64, 64), np.int32)
        Compiled(text, passes)(A)
        found.append(A)
    assert np.array_equal(*found)


def test_outer_loops_are_part_of_the_start() -> None:
    before, after = "affine.for %o = 0 to 6 {", "}"
    text = stores("0 to 9", "(%o * 9 + %i) floordiv 5, (%o * 9 + %i) mod 5", "", before, after)
    found = []
    for passes in ("", PASS):
        A = np.zeros((64, 64), np.int32)
        Compiled(text, passes)(A)
        found.append(A)
    assert np.array_equal(*found)


@pytest.mark.parametrize("mark", ["allo.unroll = 0 : i32", "allo.unroll = 4 : i32", "allo.parallel", "allo.spatial"])
def test_copies_have_places_of_their_own(mark: str) -> None:
    text = stores("0 to 20", "%i floordiv 5, %i mod 5", f" {{{mark}}}")
    assert "memref.alloc" not in on_function(text, "allo-strength-reduce-addresses")


def test_loops_in_a_pipelined_loop_are_copies() -> None:
    after = "} {allo.pipeline = 1 : i32}"
    text = stores("0 to 20", "%i floordiv 5, %i mod 5", "", "affine.for %o = 0 to 6 {", after)
    assert "memref.alloc" not in on_function(text, "allo-strength-reduce-addresses")
