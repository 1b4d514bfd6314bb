"""Streams: the k-th get takes the k-th token; what cannot work is named."""

from __future__ import annotations

from textwrap import indent
from typing import Any

import pytest

import allo
from allo import customize
from allo.ir.module import Module
from allo.ir.types import int32
from allo.verify.affine import Proof, prove
from allo.verify.program.programs import load
from allo.verify.result import Mismatch, Stuck


def copied(A: int32[12, 8], B: int32[12, 8]):
    for i, j in allo.grid(12, 8):
        B[i, j] = A[i, j]


FRAME = """
module attributes {{allo.top = "copied"}} {{
  func.func @copied(%A: memref<12x8xi32> {{allo.name = "A"}}, %B: memref<12x8xi32> {{allo.name = "B"}}) {{
    %pipe = allo.stream_create {{allo.name = "pipe"}} : !allo.stream<i32, 4>
{0}
    return
  }}
}}
"""


def loops(extents: tuple[int, ...], *body: str) -> str:
    """A nest of loops `%i0`, `%i1`, ..."""
    text = "\n".join(body)
    for depth in reversed(range(len(extents))):
        inner = indent(text, "  ")
        text = f'affine.for %i{depth} = 0 to {extents[depth]} {{\n{inner}\n}} {{allo.name = "i{depth}"}}'
    return text


def put(subscripts: str) -> str:
    return (
        f"%x{len(subscripts)} = affine.load %A[{subscripts}] : memref<12x8xi32>\n"
        f"allo.stream_put %pipe, %x{len(subscripts)} : !allo.stream<i32, 4>"
    )


def get(subscripts: str) -> str:
    return (
        "%y = allo.stream_get %pipe : !allo.stream<i32, 4>\n"
        f"affine.store %y, %B[{subscripts}] : memref<12x8xi32>"
    )


PUTS = loops((12, 8), put("%i0, %i1"))
GETS = loops((12, 8), get("%i0, %i1"))


def answer(*nests: str) -> Any:
    module = Module.parse(FRAME.format(indent("\n".join(nests), "    ")))
    return prove(load(customize(copied)), load(module))


EQUAL = {
    "nests of other shapes": (PUTS, loops((12, 4, 2), get("%i0, 2 * %i1 + %i2"))),
    "one long loop": (loops((96,), put("%i0 floordiv 8, %i0 mod 8")), GETS),
    "two puts an iteration": (loops((12, 4), put("%i0, 2 * %i1"), put("%i0, 2 * %i1 + 1")), GETS),
    "first and rest": (loops((8,), put("0, %i0")), loops((11, 8), put("%i0 + 1, %i1")), GETS),
    "in the same loop": (loops((12, 8), put("%i0, %i1"), get("%i0, %i1")),),
    "a row at a time": (loops((12,), loops((8,), put("%i0, %j")), loops((8,), get("%i0, %j"))),),
}


@pytest.mark.parametrize("nests", EQUAL.values(), ids=EQUAL.keys())
def test_streams_are_followed(nests: tuple[str, ...]) -> None:
    text = "\n".join(nests)
    if "%j" in text:  # the inner loops
        text = text.replace("affine.for %i0 = 0 to 8", "affine.for %j = 0 to 8")
    assert isinstance(answer(text), Proof)


WRONG = {
    "reads A[": (PUTS, loops((8, 12), get("%i1, %i0"))),
    "deadlock: never put, token 84 of 'pipe'": (loops((12, 7), put("%i0, %i1")), GETS),
    "counts: put and never taken, token 96 of 'pipe'": (PUTS, put("0, 0"), GETS),
    "deadlock: taken before it is put, token 0 of 'pipe'": (loops((12, 8), get("%i0, %i1"), put("%i0, %i1")),),
}


@pytest.mark.parametrize("reason", WRONG.keys())
def test_what_is_wrong_with_a_stream(reason: str) -> None:
    found = answer(*WRONG[reason])
    assert isinstance(found, Mismatch)
    assert found.reason.startswith(reason)


def test_tokens_under_a_condition_on_data_are_not_understood() -> None:
    token = "%zero = arith.constant 0 : i32\n%x = affine.load %A[%i0, %i1] : memref<12x8xi32>\n"
    token += "%c = arith.cmpi sgt, %x, %zero : i32\nscf.if %c {\n"
    found = answer(loops((12, 8), token + "allo.stream_put %pipe, %x : !allo.stream<i32, 4>\n}"), GETS)
    assert isinstance(found, Stuck)
    assert "condition that is not affine" in found.reason


def test_triangles_agree_if_they_have_one_shape() -> None:
    lower = "affine_map<(d0) -> (d0 + 1)>"
    text = loops((12, 8), "BODY").replace("%i1 = 0 to 8", f"%i1 = 0 to {lower}(%i0)")
    first = text.replace("BODY", put("%i0, %i1 floordiv 2")).replace("0 to 12", "0 to 8")
    second = text.replace("BODY", get("%i0, %i1 floordiv 2")).replace("0 to 12", "0 to 8")
    assert isinstance(answer(first, second, loops((12, 8), copy("%i0, %i1"))), Proof)


def copy(subscripts: str) -> str:
    return (
        f"%z = affine.load %A[{subscripts}] : memref<12x8xi32>\n"
        f"affine.store %z, %B[{subscripts}] : memref<12x8xi32>"
    )
