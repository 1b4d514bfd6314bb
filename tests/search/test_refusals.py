"""Searches that cannot be: the whole message of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
from allo.search import Choose
from tests.search.kernels import chain, product


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"objective": "cycle"}, "there is no figure 'cycle' of a design\n  hint: did you mean 'cycles'?"),
        (
            {"objective": ()},
            "the objective names no figure\n"
            "  hint: take some of cycles, milliseconds, interval, dsp, bram18, uram, lut, ff",
        ),
        (
            {"constraints": {"power": 3}},
            "there is no figure 'power' of a design\n"
            "  hint: the figures are cycles, milliseconds, interval, dsp, bram18, uram, lut, ff",
        ),
        ({"constraints": {"dsp": "few"}}, "the limit of dsp must be a number from 0 on, got 'few'"),
        ({"constraints": {"dsp": -1}}, "the limit of dsp must be a number from 0 on, got -1"),
        ({"budget": 0}, "the budget must be a number of points from 1 on, got 0"),
        ({"driver": "bean"}, "there is no driver 'bean'\n  hint: did you mean 'beam'?"),
        (
            {"driver": "genetic"},
            "there is no driver 'genetic'\n  hint: the drivers are beam, evolution, exhaustive, optuna",
        ),
    ],
)
def test_arguments(asked: dict[str, Any], message: str):
    with pytest.raises(allo.SearchError) as error:
        allo.search(chain, workers=0, **asked)
    assert str(error.value) == message


def test_a_target_that_does_not_exist_is_refused_before_any_work():
    with pytest.raises(allo.TargetError, match="u28"):
        allo.search(chain, target="u28")


def test_a_hole_without_options():
    with pytest.raises(allo.SearchError) as error:
        allo.search(chain, lambda s, choose: choose("factor", ()), workers=0)
    assert str(error.value) == "hole 'factor' has no options\n  hint: give at least one, or do not ask"


def test_a_hole_with_two_sets_of_options():
    def space(s: allo.Schedule, choose: Choose) -> None:
        choose("factor", (1, 2))
        choose("factor", (1, 4))

    with pytest.raises(allo.SearchError) as error:
        allo.search(chain, space, workers=0)
    assert str(error.value) == (
        "hole 'factor' was asked twice with other options: 1, 2, then 1, 4\n"
        "  hint: give each decision a name of its own"
    )


def test_no_design_within_the_limits():
    found = allo.search(product, constraints={"lut": 1}, budget=3, workers=0)
    with pytest.raises(allo.SearchError) as error:
        _ = found.best
    nearest = found.designs[0]
    assert str(error.value) == (
        f"no design of {len(found.designs)} is within lut <= 1; the nearest one has {nearest}\n"
        "  hint: raise the limits or the budget"
    )


def test_no_design_at_all():
    found = allo.search(chain, lambda s, choose: s.split("x", 2), workers=0)
    with pytest.raises(allo.SearchError) as error:
        _ = found.best
    assert str(error.value).startswith("no point of 1 is a design\n  1 x ")


def test_errors_of_a_space_are_those_of_its_author():
    with pytest.raises(ZeroDivisionError):
        allo.search(chain, lambda s, choose: 1 / 0, workers=0)


def test_a_space_that_changes_the_results_is_found_out(monkeypatch: pytest.MonkeyPatch):
    other = allo.customize(product)

    def wrong(s: allo.Schedule, choose: Choose) -> None:
        s.pipeline("i")

    found = allo.search(chain, wrong, workers=0, verify=False)
    monkeypatch.setattr(type(found), "schedule", lambda self, point=None: other)
    with pytest.raises(allo.VerificationError):
        found.verified()


def test_one_array_to_simulate_is_no_tuple_of_arguments():
    with pytest.raises(allo.SearchError) as error:
        allo.search(chain, simulate=np.zeros(64), workers=0)
    assert str(error.value) == (
        "simulate= takes the arguments of a call in a tuple, got ndarray of shape (64,)\n"
        "  hint: for a kernel of one argument, write simulate=(A,)"
    )
