"""Models are made once of a function and state, whoever asks for them."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

from collections import Counter
from importlib import import_module

import pytest

import allo
from allo import customize
from allo.ir.states import FinishedModule
from allo.ir.types import int32
from allo.poly import model_of

EXTRACT = import_module("allo.poly.extract")  # `allo.poly.extract` is a function, too


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the model of each text of a function was made."""
    made: Counter[str] = Counter()
    run = EXTRACT._Extraction.run

    def counted(self):
        made[str(self.function)] += 1
        return run(self)

    monkeypatch.setattr(EXTRACT._Extraction, "run", counted)
    return made


def chain(A: int32[8], B: int32[8]):
    T: int32[8]
    for i in range(8):
        T[i] = A[i] + 1
    for j in range(8):
        B[j] = T[j] * 2


def tiles(A: int32[8, 8], X: int32[8], B: int32[8, 8]):
    for t in range(8):
        T: int32[8]
        for i in range(8):
            X[i] = A[t, i]
            T[i] = X[i] + 1
        for j in range(8):
            B[t, j] = T[j] * 2


def guarded(A: int32[8], B: int32[8]):
    for i in range(8):
        if A[i] > 3:
            B[i] = A[i]


def scattered(A: int32[8], P: int32[8], B: int32[8]):
    for i in range(8):
        B[P[i]] = A[i]


@pytest.mark.parametrize(("kernel", "region"), [(chain, "chain"), (tiles, "t")])
def test_dataflow_makes_one_model(models: Counter[str], kernel: object, region: str) -> None:
    s = customize(kernel)
    models.clear()
    s.dataflow(region)
    assert list(models.values()) == [1]


def test_a_step_that_makes_other_stages_makes_one_more_than_it_needs_itself(models: Counter[str]) -> None:
    def step(s: allo.Schedule) -> int:
        models.clear()
        s.buffer_at("X", "t")
        return models.total()

    plain, region = customize(tiles), customize(tiles)
    region.dataflow("t")
    step(plain)
    before = models.total()
    step(region)
    assert models.total() == before + 1 and max(models.values()) == 1


@pytest.mark.parametrize("kernel", [chain, tiles, guarded, scattered])
def test_verify_makes_one_model_of_each_program(models: Counter[str], kernel: object) -> None:
    """And one more of a program with branches, as it is without them."""
    first, second = customize(kernel), customize(kernel)
    second.split("i", 2)
    models.clear()
    allo.verify(first, second)
    branches = 2 if kernel is guarded else 0
    assert models.total() == 2 + branches and max(models.values()) == 1


def test_a_state_has_one_model_of_a_function(models: Counter[str]) -> None:
    s = customize(chain)
    first = model_of(s.ir, "chain")
    models.clear()
    allo.estimate(s)
    allo.estimate(s)
    assert not models and model_of(s.ir, "chain") is first
    s.pipeline("i")
    s.build(target="vhls")
    assert not models
    allo.estimate(s)
    assert list(models.values()) == [1]


def test_a_model_is_of_the_module_that_the_state_has() -> None:
    before = FinishedModule(customize(chain).ir.clone().mlir)
    first = model_of(before, "chain")
    before.draft().function("chain")  # takes the module of the state before it
    again = model_of(before, "chain")
    assert again is not first and again.loop(before.loops("chain")[0].op).name == "i"
