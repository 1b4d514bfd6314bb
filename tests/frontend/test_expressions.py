"""Random programs of typed expressions over all types agree with exact integers, fractions and NumPy floats."""

from __future__ import annotations

import linecache
import math
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo.errors import KernelError
from allo.frontend.typing.rules import TypingRules
from allo.frontend.typing.tables import CPP, DEFAULT
from allo.ir.types import Float, Int, UInt, bfloat16, float16, float32, float64, wrap
from tests.seeds import sweep

from . import exact_model as model
from .random_expressions import Program, inputs, load, words_of

ROWS = 12


def same_float(got: float, wanted: float) -> bool:
    if math.isnan(wanted):
        return math.isnan(got)
    return got == wanted and math.copysign(1, got) == math.copysign(1, wanted)


def compiled(text: str, rules: TypingRules = DEFAULT) -> tuple[Any, Any]:
    """The kernel as machine code, and interpreted."""
    with tempfile.TemporaryDirectory() as folder:
        kernel = load(text, Path(folder))
        linecache.clearcache()
        built = allo.customize(kernel, typing_rule_set=rules.name).build()
        return built, allo.interpret(kernel, typing_rule_set=rules.name)


def check_program(seed: int, rules: TypingRules) -> None:
    """Twenty expressions on twelve rows of values: each result is in its type, and all ways to run them give it."""
    program = Program(rules, random.Random(seed))
    words = program.fill(variables=12, results=20, depth=3)
    a, b, x = inputs(np.random.default_rng(seed), ROWS)
    integers, floats = np.zeros((ROWS, words), np.uint64), np.zeros((ROWS, words))
    try:
        built, reference = compiled(program.text(ROWS, words), rules)
    except KernelError as error:  # a program with an intermediate wider than any type
        assert all("needs more than 1024 bits" in d.message for d in error.diagnostics)
        return
    built(a, b, x, integers, floats)
    interpreted = np.zeros_like(integers), np.zeros_like(floats)
    reference(a, b, x, *interpreted)
    np.testing.assert_array_equal(interpreted[0], integers, str(seed))
    np.testing.assert_array_equal(interpreted[1], floats, str(seed))
    for s in range(ROWS):
        wanted = program.expected({"s": s, "a": int(a[s]), "b": int(b[s]), "x": x[s]})
        for (node, place), value in zip(program.results, wanted, strict=True):
            assert model.is_value_of(value, node.type), (seed, node.text, value)
            if isinstance(node.type, Float):
                assert same_float(floats[s, place], float(value)), (
                    seed,
                    s,
                    node.text,
                    floats[s, place],
                    value,
                )
            else:
                exact = words_of(value, node.type)
                assert integers[s, place : place + len(exact)].tolist() == exact, (seed, s, node.text)


@sweep(270, quick=17)
def test_default_rules(seed: int) -> None:
    check_program(seed, DEFAULT)


@sweep(200, quick=7)
def test_rules_of_cpp(seed: int) -> None:
    check_program(seed, CPP)


TO_FLOAT = """from allo.ir.types import *


def kernel(A: int64[100], S: int64[100], O: float64[100]):
    for i in range(100):
        amount: uint16 = S[i]
        wide: Int(1024) = A[i]
        value: {kind}({width}) = wide << amount
        result: {target!r} = value
        O[i] = result
"""


@pytest.mark.parametrize("target", [float16, bfloat16, float32, float64], ids=repr)
@pytest.mark.parametrize("width", [24, 40, 64, 65, 145, 1024])
def test_integers_to_floats(width: int, target: Float) -> None:
    for scalar in (Int(width), UInt(width)):
        numbers = random.Random(width)
        edges = [numbers.getrandbits(25) << 30 | numbers.getrandbits(1) for _ in range(50)]
        values = [*edges, *(numbers.getrandbits(63) - (1 << 62) for _ in range(50))]
        amounts = [numbers.choice([0, numbers.randrange(width)]) for _ in values]
        result = np.zeros(100)
        text = TO_FLOAT.format(kind=type(scalar).__name__, width=width, target=target)
        compiled(text)[0](np.array(values), np.array(amounts), result)
        for value, amount, got in zip(values, amounts, result, strict=True):
            held = wrap(value << amount, scalar)
            assert got == float(model.convert(held, scalar, target))
