"""Certificates: written by proofs, accepted by the independent checker, rejected when tampered with."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from functools import cache
from inspect import getfile
from pathlib import Path
from typing import Any

import pytest

import allo
from allo import Schedule, customize
from allo.ir.types import int8, int16
from allo.verify.affine import Proof, prove
from allo.verify.certificate import problems
from allo.verify.program.programs import Program, load

from .programs import mutant
from .test_gemm import product, systolic, tiled


@cache
def proved(steps: Callable[[Schedule], Any], n: int) -> tuple[Program, Program, str]:
    s = customize(product(n))
    steps(s)
    a, b = load(customize(product(n))), load(s)
    found = prove(a, b)
    assert isinstance(found, Proof)
    return a, b, found.to_json()


def proof(steps: Callable[[Schedule], Any], n: int = 64) -> tuple[Program, Program, dict[str, Any]]:
    a, b, text = proved(steps, n)
    return a, b, json.loads(text)


@pytest.mark.parametrize("steps", [tiled, systolic], ids=lambda f: f.__name__)
def test_certificates_pass(steps: Callable[[Schedule], Any]) -> None:
    a, b, told = proof(steps)
    assert problems(json.dumps(told), a, b) == ""


type Told = dict[str, Any]


def changed(texts: Any, key: Any, old: str, new: str) -> None:
    """One text of a certificate with a part replaced."""
    assert old in texts[key], texts[key]
    texts[key] = texts[key].replace(old, new)


def claim(told: Told, a: str, b: str) -> list[str]:
    found: list[str] = next(one for one in told["claims"] if one[:2] == [a, b])
    return found


def drop_a_claim(told: Told) -> None:
    """That of the sums, which recurs."""
    told["claims"].remove(claim(told, "n3", "n20"))


def narrow_a_bound(told: Told) -> None:
    changed(claim(told, "n3", "n20"), 2, "i1 <= 63", "i1 <= 62")


def shift_a_subscript(told: Told) -> None:
    changed(claim(told, "n4", "n21"), 2, "i0 - 32o0, i1]", "i0 - 32o0, 63 - i1]")


def claim_it_of_other_values(told: Told) -> None:
    """The operands of the product, exchanged."""
    first, second = claim(told, "n4", "n21"), claim(told, "n5", "n22")
    first[1], second[1] = second[1], first[1]


def forget_a_write(told: Told) -> None:
    told["sources"][1]["n32"] = "{ }"


def read_an_earlier_write(told: Told) -> None:
    changed(told["sources"][0], "n3", "-1 + i2] : 0 <= i0 <= 63 and 0 <= i1 <= 63 and 0 <", "-2 + i2] : 1 <")


def read_a_later_write(told: Told) -> None:
    changed(told["sources"][0], "n3", "-1 + i2", "i2")


def read_another_element(told: Told) -> None:
    changed(told["sources"][1], "n22", "i3, i5]", "i3, 63 - i5]")


def read_an_array_that_is_not_there(told: Told) -> None:
    changed(told["sources"][1], "n22", "A3[", "A300[")


def forget_an_output(told: Told) -> None:
    del told["sources"][1]["output 2"]


def name_another_program(told: Told) -> None:
    told["programs"].reverse()


def no_text_of_isl(told: Told) -> None:
    claim(told, "n3", "n20")[2] = "{ [i -> [i] }"


def claim_without_a_reason(told: Told) -> None:
    """That the sums themselves are equal."""
    told["claims"].append(["n7", "n24", claim(told, "n3", "n20")[2]])
    told["claims"].remove(claim(told, "n3", "n20"))


LAST = "Wrong: {} does not read the last write of '{}'"
TAMPERED: dict[Callable[[Told], None], str] = {
    drop_a_claim: "Wrong: nothing shows that n7 and n32 are equal where it is claimed",
    narrow_a_bound: "Wrong: nothing shows that n7 and n32 are equal where it is claimed",
    shift_a_subscript: "Wrong: nothing shows that n7 and n32 are equal where it is claimed",
    claim_it_of_other_values: "Wrong: nothing shows that n4 and n22 are equal where it is claimed",
    forget_a_write: "Wrong: the certificate does not say all that n32 reads of 'buf_C'",
    read_an_earlier_write: LAST.format("n3", "C"),
    read_a_later_write: LAST.format("n3", "C"),
    read_another_element: LAST.format("n22", "buf_B"),
    read_an_array_that_is_not_there: LAST.format("n22", "buf_B"),
    forget_an_output: "KeyError: 'output 2'",
    name_another_program: "Wrong: the certificate is of another program than 'gemm'",
    claim_without_a_reason: "Wrong: nothing shows that n7 and n24 are equal where it is claimed",
}


@pytest.mark.parametrize("tamper", TAMPERED, ids=lambda f: f.__name__)
def test_tampered_certificates_are_rejected(tamper: Callable[[Told], None]) -> None:
    a, b, told = proof(tiled)
    before = json.dumps(told)
    tamper(told)
    assert json.dumps(told) != before
    assert problems(json.dumps(told), a, b) == TAMPERED[tamper]


def test_what_is_no_certificate_is_rejected() -> None:
    a, b, told = proof(tiled)
    no_text_of_isl(told)
    assert problems(json.dumps(told), a, b).startswith("Error: ")
    assert problems("{}", a, b) == "KeyError: 'programs'"
    assert problems(json.dumps({**told, "sources": [[], []]}), a, b).startswith("AttributeError: ")
    assert problems("", a, b) == "JSONDecodeError: Expecting value: line 1 column 1 (char 0)"


@pytest.mark.parametrize("steps", [tiled, systolic], ids=lambda f: f.__name__)
def test_each_claim_is_needed(steps: Callable[[Schedule], Any]) -> None:
    a, b, told = proof(steps, 4 if steps is systolic else 64)
    for number in range(len(told["claims"])):
        less = {**told, "claims": [one for k, one in enumerate(told["claims"]) if k != number]}
        assert problems(json.dumps(less), a, b).startswith("Wrong: nothing shows that "), told["claims"][
            number
        ]


@pytest.mark.parametrize("steps", [tiled, systolic], ids=lambda f: f.__name__)
def test_each_source_is_needed(steps: Callable[[Schedule], Any]) -> None:
    a, b, told = proof(steps, 4 if steps is systolic else 64)
    for side in told["sources"]:
        for read in [read for read, text in side.items() if "->" in text]:
            text, side[read] = side[read], "{ }"
            assert problems(json.dumps(told), a, b).startswith("Wrong: "), read
            side[read] = text


def test_tokens() -> None:
    a, b, told = proof(systolic, 4)
    gets = told["sources"][1]

    def answer(old: str, new: str) -> str:
        text = gets["n21"]
        changed(gets, "n21", old, new)
        found = problems(json.dumps(told), a, b)
        gets["n21"] = text
        return found

    wrong = "Wrong: tokens of stream 'fifo_buf_A' are matched wrongly"
    assert answer("A1[i2, i0]", "A1[3 - i2, i0]") == wrong  # in another order
    assert answer("A6[i0, -1 + i1, i2]", "A6[3 - i0, -1 + i1, i2]") == wrong  # of another stream
    assert answer("A5[i0, 0, i2] -> A1[i2, i0]", "A5[i0, 0, i2] -> A1[i0, i2]") == wrong
    assert answer("0 <= i2 <= 3", "0 <= i2 <= 2") == "Wrong: a token of stream 'fifo_buf_A' is not matched"


def test_tokens_of_another_get_are_rejected() -> None:
    a, b, told = proof(systolic, 4)
    gets = told["sources"][1]
    gets["n21"], gets["n27"] = gets["n27"], gets["n21"]
    assert problems(json.dumps(told), a, b) == "Wrong: a token of stream 'fifo_buf_A' is not matched"


def forged(a: Program, b: Program, told: Told, other: Program) -> str:
    """What is said of the certificate if it is changed to name another second program."""
    return problems(json.dumps({**told, "programs": [a.digest, other.digest]}), a, other)


def test_certificate_of_another_program_is_rejected() -> None:
    a, b, told = proof(tiled)
    other = mutant(b, "arith.addf", "arith.subf")
    assert problems(json.dumps(told), a, other) == "Wrong: the certificate is of another program than 'gemm'"
    shown = "Wrong: nothing shows that {} and {} are equal where it is {}"
    assert forged(a, b, told, other) == shown.format("n7", "n32", "claimed")
    shorter = mutant(b, "affine.for %arg8 = 0 to 64", "affine.for %arg8 = 0 to 63")
    assert forged(a, b, told, shorter) == "Wrong: n32 does not read the last write of 'buf_C'"
    wider = load(str(b.module).replace("64xf32", "65xf32"))
    said = "argument 'A' of the first is float32[64, 64], and 'A' of the second is float32[64, 65]"
    assert forged(a, b, told, wider) == said


def test_programs_that_are_not_understood_are_rejected() -> None:
    def copied(A: int16[4], B: int16[4]):
        for i in range(4):
            B[i] = A[i]

    def scattered(A: int16[4], B: int16[4]):
        for i in range(4):
            B[A[i]] = A[i]

    def repeated(A: int16[4], B: int16[4]):
        for i in range(4):
            while B[i] < A[i]:
                B[i] = A[i]

    a, b, *others = (load(customize(kernel)) for kernel in (copied, copied, scattered, repeated))
    found = prove(a, b)
    assert isinstance(found, Proof)
    told = json.loads(found.to_json())
    assert forged(a, b, told, others[0]) == "Wrong: 'B' is used in a way that is not understood"
    calls = "Wrong: a program has calls, `while` or tasks that wait for each other"
    assert forged(a, b, told, others[1]) == calls


STREAM = """
module attributes {{allo.top = "f"}} {{
  func.func @f(%A: memref<4xi1> {{allo.name = "A"}}) {{
    %s = allo.stream_create {{allo.name = "s"}} : !allo.stream<i1, 4>
    affine.for %i = 0 to 4 {{
      %x = affine.load %A[%i] : memref<4xi1>
      allo.stream_put %s, %x : !allo.stream<i1, 4>
    }}
    affine.for %j = 0 to 4 {{
      %y = allo.{} %s : !allo.stream<i1, 4>{}
      affine.store %y, %A[%j] : memref<4xi1>
    }}
    return
  }}
}}
"""


def test_streams_that_are_not_understood_are_rejected() -> None:
    a, other = load(STREAM.format("stream_get", "")), load(STREAM.format("stream_empty", ""))
    found = prove(a, a)
    assert isinstance(found, Proof)
    told = json.loads(found.to_json())
    assert forged(a, a, told, other) == "Wrong: stream 's' is used in a way that is not understood"


def test_the_checker_is_small_and_does_not_know_the_prover() -> None:
    folder = Path(getfile(problems)).parent
    for name in ("check.py", "streams.py", "sums.py", "../program/branches.py"):
        text = (folder / name).read_text()
        assert name.endswith("branches.py") or len(text.splitlines()) <= 200
        imports = [
            node.module or "" for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)
        ]
        assert not [module for module in imports if "affine" in module]


def test_an_undefined_element_has_one_value() -> None:
    def undefined(A: int16[4], B: int16[4]):
        T: int16[4]
        for i in range(4):
            B[i] = T[0]

    def one(A: int16[4], B: int16[4]):
        for i in range(4):
            B[i] = A[0]

    def several(A: int16[4], B: int16[4]):
        for i in range(4):
            B[i] = A[i]

    a, b, other = (load(customize(kernel)) for kernel in (undefined, one, several))
    found = prove(a, b)
    assert isinstance(found, Proof) and problems(found.to_json(), a, b) == ""
    told = json.loads(found.to_json())
    shown = "Wrong: nothing shows that {} and {} are equal where it is claimed"
    assert forged(a, b, told, other) == shown.format("n2", "n1")


HEAD = """module attributes {allo.top = "k"} {
  func.func @k(%x: memref<1xi32> {allo.name = "x"}, %y: memref<1xi32> {allo.name = "y"},
               %z: memref<1xi32> {allo.name = "z"}) {
"""
TWICE_UNDEFINED = f"""{HEAD}
    %u = memref.alloc() {{allo.name = "u"}} : memref<1xi32>
    affine.for %i = 1 to 2 {{
      %a = affine.load %u[0] : memref<1xi32>
      %b = affine.load %u[0] : memref<1xi32>
      %r = arith.subi %a, %b : i32
      affine.store %r, %z[%i - 1] : memref<1xi32>
    }}
    return
  }}
}}
"""
TWO_CHOICES = f"""{HEAD}
    %most = arith.constant 2147483647 : i32
    affine.for %i = 1 to 2 {{
      %a = affine.load %x[%i - 1] : memref<1xi32>
      %b = affine.load %y[%i - 1] : memref<1xi32>
      %j = arith.index_cast %i : index to i32
      %wrapped = arith.addi %j, %most : i32
      %c = arith.cmpi slt, %wrapped, %j : i32
      %p = arith.select %c, %a, %b : i32
      %q = arith.select %c, %b, %a : i32
      %r = arith.subi %p, %q : i32
      affine.store %r, %z[%i - 1] : memref<1xi32>
    }}
    return
  }}
}}
"""


@pytest.mark.parametrize("names", [("unknown", "unknown"), ("unknown n7", "unknown n7"), ("unknown n7", "unknown n8")])
def test_values_that_are_not_known_are_different_ones(names: tuple[str, str]) -> None:
    """An undefined element minus itself is 0, and not the difference of two values that the checker does not know."""
    a, b = load(TWICE_UNDEFINED), load(TWO_CHOICES)
    arrays = {f"output {k}": "{ }" for k in range(2)}
    told = {
        "programs": [a.digest, b.digest],
        "sources": [
            {**arrays, "output 2": "{ End[0] -> A2[1] }", "n2": "{ }", "n3": "{ }"},
            {**arrays, "output 2": "{ End[0] -> A2[1] }", "n2": "{ }", "n3": "{ }"},
        ],
        "claims": [
            *([f"output {k}", f"output {k}", "{ [0] -> [0] }"] for k in range(3)),
            *([read, name, "{ [1] -> [1] }"] for read, name in zip(("n2", "n3"), names, strict=True)),
        ],
        "form": "values",
        "sums": [],
    }
    wrong = ("output 2", "output 2") if names[0] == names[1] else ("n3", "unknown n8")
    shown = "Wrong: nothing shows that {} and {} are equal where it is claimed"
    assert problems(json.dumps(told), a, b) == shown.format(*wrong)


def test_words_are_checked_too() -> None:
    def kernel(A: int8[8, 4], B: int8[8, 4]):
        for i, j in allo.grid(8, 4):
            B[i, j] = A[i, 3 - j] + 1

    s = customize(kernel)
    s.pack(s.B, dim=1, factor=2)
    a, b = load(customize(kernel)), load(s)
    found = prove(a, b)
    assert isinstance(found, Proof) and problems(found.to_json(), a, b) == ""


def test_operands_may_change_places() -> None:
    def left(A: int16[9], B: int16[9]):
        for i in range(9):
            B[i] = A[i] * 3 + A[8 - i]

    def right(A: int16[9], B: int16[9]):
        for i in range(9):
            B[i] = A[8 - i] + 3 * A[i]

    a, b = load(customize(left)), load(customize(right))
    found = prove(a, b)
    assert isinstance(found, Proof) and problems(found.to_json(), a, b) == ""
