"""Programs run without risk: what they do wrong is noted, and does no harm."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import re

import numpy as np
import pytest

import allo
from allo.equivalence.runner import ProcessRunner, shared_runner
from allo.ir.module import Module
from allo.ir.types import UInt, float32, int32
from allo.verify import Deadline, Failed, Ran, Stuck, Unknown, check, load
from allo.verify.run.differential import Agreement, Difference, Inconclusive, ProgramPair


def gathered(index: int32[4], x: float32[8], y: float32[4]):
    for i in range(4):
        y[i] = x[index[i]]


def halves(x: float32[4], y: float32[4]):
    t: float32[4]
    for i in range(4):
        t[i] = x[i] / 2
    for j in range(4):
        y[j] = t[j]


def edited(kernel, old, new):
    """The module of a kernel with a fault, which the front end would refuse."""
    text = str(allo.customize(kernel).module)
    assert old in text
    return load(Module.parse(text.replace(old, new, 1)))


def pair(a, b, seconds=60.0):
    return ProgramPair(a, b, shared_runner(), reassociate=False, deadline=Deadline.after(seconds))


def test_subscripts_from_data_are_checked():
    program = load(gathered)
    both = pair(program, program)
    x, y = np.arange(8, dtype=np.float32), np.zeros(4, np.float32)
    assert both.compare((np.array([0, 7, 3, 3], np.int32), x, y)) == Agreement()
    found = both.compare((np.array([0, 8, 3, 3], np.int32), x, y))
    assert isinstance(found, Inconclusive) and "the first program leaves 'x'" in found.reason


def test_leaving_an_array_is_a_difference():
    other = edited(halves, "affine.for %arg2 = 0 to 4", "affine.for %arg2 = 0 to 5")
    found = pair(load(halves), other).compare((np.ones(4, np.float32), np.zeros(4, np.float32)))
    assert isinstance(found, Difference) and "an element outside of 'x'" in found.reason


def test_elements_that_are_not_written_are_a_difference():
    other = edited(halves, "affine.for %arg2 = 0 to 4", "affine.for %arg2 = 0 to 3")
    found = pair(load(halves), other).compare((np.ones(4, np.float32), np.zeros(4, np.float32)))
    assert isinstance(found, Difference) and found.element == (3,) and found.right == "undefined"


def test_what_the_first_program_leaves_undefined_is_free():
    first = edited(halves, "affine.for %arg2 = 0 to 4", "affine.for %arg2 = 0 to 3")
    assert pair(first, load(halves)).compare((np.ones(4, np.float32), np.zeros(4, np.float32))) == Agreement()


def test_nan_is_nan_and_zero_has_a_sign():
    def identity(x: float32[1], y: float32[1]):
        y[0] = x[0]

    def plus_zero(x: float32[1], y: float32[1]):
        y[0] = x[0] + 0.0

    both, y = pair(load(identity), load(plus_zero)), np.zeros(1, np.float32)
    assert both.compare((np.array([np.nan], np.float32), y)) == Agreement()
    found = both.compare((np.array([-0.0], np.float32), y))
    assert isinstance(found, Difference) and (found.left, found.right) == ("-0.0", "0.0")


@pytest.mark.slow
def test_memory_has_a_limit():
    """The process that needs more is ended, whatever it does, and the limit is named."""

    def large(index: UInt(13)[4], x: float32[4]):
        t: float32[8192, 16384]
        for i, j in allo.grid(8192, 16384):
            t[i, j] = x[0] * i + j
        for i in range(4):
            x[i] = t[index[i], index[i]]

    runner = ProcessRunner(memory=500_000_000)
    program, limit = load(large), "too large: it needs more than the limit of 0.5 GB of memory"
    arguments = (np.zeros(4, np.uint16), np.zeros(4, np.float32))
    large_one = runner.run(runner.prepare(program.module), arguments, 60.0, Deadline.after(60))
    assert large_one == Failed(limit, is_late=True)
    assert runner.compare(program, program, reassociate=False, deadline=Deadline.after(60)) == Stuck(limit)
    result = check(program, program, runner, deadline=Deadline.after(60), method="concrete")
    assert isinstance(result, Unknown) and result.reason == f"{limit}; no input agreed"
    arguments = (np.ones(4, np.float32), np.ones(4, np.float32))
    fine = runner.run(runner.prepare(load(halves).module), arguments, 60.0, Deadline.after(60))
    assert isinstance(fine, Ran)
    runner.stop()


@pytest.mark.slow
def test_expressions_have_most_of_the_memory():
    def squared(x: int32[512, 512], y: int32[512, 512]):
        for i, j in allo.grid(512, 512):
            y[i, j] = 0
            for k in range(512):
                y[i, j] += x[i, k] * x[k, j]

    runner = ProcessRunner(memory=700_000_000)
    program = load(squared)
    found = runner.compare(program, program, reassociate=False, deadline=Deadline.after(60))
    wanted = r"too large: more than [\d,]+ different expressions, in the limit of 0.3 GB for them"
    assert isinstance(found, Stuck) and re.fullmatch(wanted, found.reason)
    runner.stop()


def test_endless_loops_and_crashes_end():
    def endless(x: int32[1]):
        while x[0] == x[0]:
            x[0] = 1

    runner = ProcessRunner()
    number = runner.prepare(load(endless).module)
    late = runner.run(number, (np.zeros(1, np.int32),), 0.5, Deadline.after(60))
    assert isinstance(late, Failed) and late.is_late
    arguments = (np.ones(4, np.float32), np.ones(4, np.float32))
    fine = runner.run(runner.prepare(load(halves).module), arguments, 60.0, Deadline.after(60))
    assert isinstance(fine, Ran) and fine.arguments[1].tolist() == [0.5] * 4
    runner.stop()
