"""The texts of answers: one screen each, with what stopped the methods, and no more than that."""

from __future__ import annotations

import json

import numpy as np

from allo.ir.types import float64
from allo.poly import Source
from allo.verify import Counterexample, Different, Equivalent, FirstStep, Mismatch, Unknown, load
from allo.verify.affine import prove
from allo.verify.run.counterexample import value_text

SOURCE = Source("design.py", 12, 5)
MISMATCH = Mismatch("C", (3, 4), "A[3, 0] * B[0, 4]", "A[3, 1] * B[0, 4]", "reads A[3, 1] instead of A[3, 0]", SOURCE)


def example(left: str = "A[3, 0]") -> Counterexample:
    return Counterexample(
        output="C",
        element=(3, 4),
        left=left,
        right="A[3, 1]",
        reason="reads A[3, 1] instead of A[3, 0]",
        inputs=(("A", "0 except [3, 0] = 1.0"), ("n", "5")),
        seen_left="1.0",
        seen_right="0.0",
        first_step=FirstStep(2, 's.reorder("i", "j")', 'File "design.py", line 30'),
        left_at=SOURCE,
    )


def test_different():
    result = Different("a method", 1.25, example(), "'f'", "'g'")
    assert not result
    assert str(result) == (
        "Different: 'f' and 'g', by a method in 1.25 s\n"
        "C[3, 4] differs: 1.0 and 0.0\n"
        "  because: reads A[3, 1] instead of A[3, 0]\n"
        "  first program:  A[3, 0]   (line 12)\n"
        "  second program: A[3, 1]\n"
        "  inputs on which both were run:\n"
        "    A = 0 except [3, 0] = 1.0\n"
        "    n = 5\n"
        '  first step after which they differ: s.reorder("i", "j") (step 2)\n'
        '    File "design.py", line 30'
    )
    told = json.loads(result.to_json())
    assert told["counterexample"]["first_step"]["number"] == 2 and told["counterexample"]["element"] == [3, 4]


def tenth(x: float64[4], z: float64[4]):
    for i in range(4):
        z[i] = x[i] * 0.1


def more_than_a_tenth(x: float64[4], z: float64[4]):
    for i in range(4):
        z[i] = x[i] * 0.10000000000000002


def test_numbers_that_differ_are_told_apart():
    found = prove(load(tenth), load(more_than_a_tenth))
    assert isinstance(found, Mismatch)
    assert found.reason == "computes 0.10000000000000002 instead of 0.1"


def test_different_without_an_output():
    reason = "the second program accesses an element outside of 'x' (line 3)"
    found = Counterexample("", (), "", "", reason, (("n", "11"),), "", "")
    assert str(Different("running both", 0.5, found, "'f'", "'g'")) == (
        "Different: 'f' and 'g', by running both in 0.50 s\n"
        "the second program accesses an element outside of 'x' (line 3)\n"
        "  inputs on which both were run:\n"
        "    n = 11"
    )


def test_long_expressions_are_shortened():
    assert len(str(example("x" * 5000)).splitlines()[2]) < 500


def test_unknown():
    result = Unknown("`while` is not understood", SOURCE, 0.5, ("first method: `while`",), MISMATCH, "'f'", "'g'")
    assert not result
    assert str(result) == (
        "Unknown: 'f' and 'g', after 0.50 s\n"
        "  `while` is not understood   (line 12)\n"
        "  first method: `while`\n"
        "  suspected but not confirmed: C[3, 4]: reads A[3, 1] instead of A[3, 0]\n"
        "    first program:  A[3, 0] * B[0, 4]   (line 12)\n"
        "    second program: A[3, 1] * B[0, 4]"
    )
    assert json.loads(result.to_json())["at"] == {"file": "design.py", "line": 12}


def test_equivalent():
    result = Equivalent("a method", 0.5, None, "'f'", "'g'")
    assert result and str(result) == "Equivalent: 'f' and 'g', by a method in 0.50 s"
    assert json.loads(result.to_json(certificate=True))["certificate"] is None


def test_inputs_in_one_line():
    array = np.zeros((3, 4), np.float32)
    assert value_text(array) == "0 everywhere"
    array[1, 2] = 2.5
    assert value_text(array) == "0 except [1, 2] = 2.5"
    assert value_text(np.full(3, 7)) == "7 everywhere"
    assert value_text(np.arange(40)).endswith("... (39 of 40 elements are not 0)")
    assert value_text(True) == "True"
    assert value_text(np.array([0.0, -0.0], np.float32)) == "0 except [1] = -0.0"
