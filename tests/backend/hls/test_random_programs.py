"""Random programs of typed expressions give the same in the simulation of their C++ as on the CPU."""

from __future__ import annotations

import linecache
import random
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest

import allo
from allo.errors import KernelError
from allo.frontend.typing.rules import TypingRules
from allo.frontend.typing.tables import CPP, DEFAULT
from tests.frontend.random_expressions import Program, inputs, load
from tests.seeds import sweep

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++")
ROWS = 12
RULES = (DEFAULT, CPP)


def schedule_of(program: Program, words: int, rules: TypingRules) -> allo.Schedule:
    with tempfile.TemporaryDirectory() as folder:
        kernel = load(program.text(ROWS, words), Path(folder))
        linecache.clearcache()
        return allo.customize(kernel, typing_rule_set=rules.name)


def check(seed: int, rules: TypingRules, variables: int, results: int) -> None:
    """Every stored word is the same; a zero may have either sign: g++ 12 folds `0.0 - double(n)` to `-double(n)`."""
    program = Program(rules, random.Random(seed))
    words = program.fill(variables=variables, results=results, depth=3)
    try:
        s = schedule_of(program, words, rules)
    except KernelError as error:  # a program with an intermediate wider than any type
        assert all("needs more than 1024 bits" in d.message for d in error.diagnostics)
        return
    arguments = inputs(np.random.default_rng(seed), ROWS)
    outputs = [(np.zeros((ROWS, words), np.uint64), np.zeros((ROWS, words))) for _ in range(2)]
    s.build(target="vitis_hls", mode="csim")(*arguments, *outputs[0])
    s.build()(*arguments, *outputs[1])
    for node, place in program.results:
        for mine, others in zip(*outputs, strict=True):
            np.testing.assert_array_equal(mine[:, place], others[:, place], f"{seed} {rules.name} {node.text}")


@sweep(8)
def test_small_programs(seed: int) -> None:
    check(seed, RULES[seed % 2], variables=6, results=6)


@sweep(30, quick=0)
def test_programs(seed: int) -> None:
    check(seed, RULES[seed % 2], variables=12, results=20)
