"""What each value of a function is: numbers, choices, bits of words; what is not understood is named."""

from __future__ import annotations

import islpy as isl
import pytest

from allo.ir.module import Module
from allo.poly.computation import Computation, Copies, NotUnderstood
from allo.poly.extract import Reading


def computation(body: str, arguments: str = "%A: memref<8xi32>", result: str = "") -> Computation:
    text = f"""
module attributes {{allo.top = "f"}} {{
  memref.global "private" @B : memref<8xi32>
  func.func @f({arguments}) {result} {{
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : i32
{body}
  }}
}}
"""
    return Computation(Reading.of(Module.parse(text)))


def stored(found: Computation) -> list[tuple[str, str]]:
    """Label and number of what is stored, by the order of the text."""
    values = [found.stored(access.id) for access in found.accesses if access.is_write]
    return [(" ".join(value.label), str(value.number)) for value in values]


def assert_copies(copies: Copies, *expected: tuple[str, str]) -> None:
    assert [one.name for one, _ in copies] == [name for name, _ in expected]
    for (_, through), (_, text) in zip(copies, expected, strict=True):
        assert through.is_equal(isl.Map(text)), through


def test_affine_values_are_numbers() -> None:
    found = computation(
        """
    affine.for %i = 0 to 8 {
      %j = affine.apply affine_map<(d0) -> (2 * d0 + 1)>(%i)
      %v = arith.index_cast %j : index to i32
      affine.store %v, %A[%i] : memref<8xi32>
      affine.store %c3, %A[%i] : memref<8xi32>
    }
    return"""
    )
    assert stored(found) == [
        ("index i32", "{ [i0] -> [v = 1 + 2i0] }"),
        ("index i32", "{ [] -> [v = 3] }"),
    ]


def test_a_select_by_affine_values_is_a_choice_where_sums_do_not_wrap() -> None:
    found = computation(
        """
    %c1 = arith.constant 1 : i32
    affine.for %i = 0 to 8 {
      %v = arith.index_cast %i : index to i32
      %s = arith.addi %v, %c1 : i32
      %c = arith.cmpi slt, %s, %c3 : i32
      %x = arith.select %c, %v, %c3 : i32
      affine.store %x, %A[%i] : memref<8xi32>
    }
    return"""
    )
    value = found.stored(found.accesses[0].id)
    assert value.is_choice and value.copies is not None
    assert_copies(
        value.copies,
        ("n4", "{ [i] -> [i] : -2147483649 <= i <= 1 }"),
        ("n1", "{ [i] -> [] : 2 <= i <= 2147483646 }"),
        ("unknown n7", "{ [i] -> [i] : i <= -2147483650 or i >= 2147483647 }"),
    )


def test_bits_of_a_word_come_from_what_was_put_in() -> None:
    found = computation(
        """
    affine.for %i = 0 to 8 {
      %w = affine.load %A[%i] : memref<8xi32>
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %x = affine.load %B[%i] : memref<8xi4>
      %y = allo.set_slice %w[%c8, %c4], %x : i32, i4
      %z = allo.get_slice %y[%c8, %c4] : i32 -> i4
      affine.store %z, %B[%i] : memref<8xi4>
    }
    return""",
        "%A: memref<8xi32>, %B: memref<8xi4>",
    )
    taken = found.stored(found.accesses[-1].id).copies or []
    assert_copies(taken, ("4 bits of n7", "{ [i] -> [i, 4] }"))
    assert_copies(
        taken[0][0].copies or [],
        ("n6", "{ [i, 4] -> [i] }"),
        ("4 bits of n3", "{ [i, bit] -> [i, bit] : bit <= 0 or bit >= 8 }"),
        ("unknown 4 bits of n7", "{ [i, bit] -> [i, bit] : 1 <= bit <= 7 and bit != 4 }"),
    )


REFUSED = {
    "a loop passes values from one iteration to the next": """
    %r = affine.for %i = 0 to 8 iter_args(%t = %c3) -> (i32) {
      %u = arith.muli %t, %t : i32
      affine.store %u, %A[%i] : memref<8xi32>
      affine.yield %u : i32
    }
    return""",
    "the result of `scf.if` is not understood": """
    %c = arith.constant true
    %r = scf.if %c -> (i32) {
      scf.yield %c3 : i32
    } else {
      scf.yield %c3 : i32
    }
    affine.store %r, %A[0] : memref<8xi32>
    return""",
}


OF_THE_FUNCTION = {
    "an argument is a stream": ("return", "%A: !allo.stream<i32, 4>", ""),
    "what loops or subscripts depend on is computed": (
        """
    %n = arith.divsi %m, %c3 : i32
    %e = arith.index_cast %n : i32 to index
    affine.for %i = 0 to %e {
      affine.store %c3, %A[%i] : memref<8xi32>
    }
    return""",
        "%A: memref<8xi32>, %m: i32",
        "",
    ),
}
OF_OUTPUTS = {
    "output 1 is an array that is not understood": (
        """
    %part = memref.subview %A[0] [4] [1] : memref<8xi32> to memref<4xi32, strided<[1]>>
    return %part : memref<4xi32, strided<[1]>>""",
        "%A: memref<8xi32>",
        "-> memref<4xi32, strided<[1]>>",
    ),
    "'pipe' is not an array of this program": (
        """
    %pipe = allo.stream_create {allo.name = "pipe"} : !allo.stream<i32, 4>
    allo.stream_put %pipe, %c3 : !allo.stream<i32, 4>
    return""",
        "%A: memref<8xi32>",
        "",
    ),
    "'B' is an array outside of the program": (
        """
    %B = memref.get_global @B : memref<8xi32>
    affine.for %i = 0 to 8 {
      %x = affine.load %B[%i] : memref<8xi32>
      affine.store %x, %A[%i] : memref<8xi32>
    }
    return""",
        "%A: memref<8xi32>",
        "",
    ),
}


@pytest.mark.parametrize("message", OF_THE_FUNCTION)
def test_functions_that_are_not_understood(message: str) -> None:
    with pytest.raises(NotUnderstood) as caught:
        computation(*OF_THE_FUNCTION[message])
    assert str(caught.value) == message


@pytest.mark.parametrize("message", OF_OUTPUTS)
def test_arrays_that_are_not_understood(message: str) -> None:
    found = computation(*OF_OUTPUTS[message])
    with pytest.raises(NotUnderstood) as caught:
        found.outputs()
        for buffer in found.model.buffers:
            found.initial(buffer)
    assert str(caught.value) == message


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_not_understood(message: str) -> None:
    found = computation(REFUSED[message])
    with pytest.raises(NotUnderstood) as caught:
        stored(found)
    assert str(caught.value) == message
