"""Seeds of random sweeps: a window that moves with the commits; `ALLO_SEEDS=...` asks for another one."""

from __future__ import annotations

import inspect
import os
import subprocess
from collections.abc import Callable, Sequence
from functools import cache, wraps
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

VARIABLE = "ALLO_SEEDS"
_COMMITS, _SEEDS = 50, 1000  # the window moves by so many seeds after so many commits
EXAMPLES = hypothesis.settings(deadline=None, database=None, suppress_health_check=list(hypothesis.HealthCheck))


@cache
def first_seed() -> int:
    """Where the window begins: from the environment, else from the number of the commit; 0 where there is none.

    It stays for some commits, so that what it shows for the first time is mended by who moves it, not by who happens
    to come next.
    """
    given = os.environ.get(VARIABLE)
    if given is not None:
        return int(given)
    try:
        command = ["git", "rev-list", "--count", "HEAD"]
        number = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(number) // _COMMITS * _SEEDS


def window(whole: int) -> range:
    """The seeds that the default and the slow tests try of a sweep that is `whole` with `-m exhaustive`: a third."""
    return range(first_seed(), first_seed() + -(-whole // 3))


def sweep(whole: int, quick: int | None = None) -> pytest.MarkDecorator:
    """Parameters `seed`: the first `quick` of the window (None: all) for default tests, its others for slow ones, and
    `whole` more for exhaustive ones."""
    seeds = window(whole)
    quick = len(seeds) if quick is None else quick
    more = range(seeds.stop, seeds.stop + whole)
    slow = [pytest.param(seed, marks=pytest.mark.slow) for seed in seeds[quick:]]
    exhaustive = [pytest.param(seed, marks=pytest.mark.exhaustive) for seed in more]
    return pytest.mark.parametrize("seed", [*seeds[:quick], *slow, *exhaustive])


def drawn(count: int, *strategies: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A test for the parameters of `sweep`: with each seed, Hypothesis draws `count` times its last arguments.

    The example that fails is made small; the arguments before are fixtures.
    """

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        parameters = list(inspect.signature(check).parameters.values())
        fixtures, last = parameters[: -len(strategies)], parameters[-len(strategies) :]
        values = {parameter.name: strategy for parameter, strategy in zip(last, strategies, strict=True)}

        @wraps(check)
        def test(seed: int, **given: Any) -> None:
            @hypothesis.seed(seed)
            @hypothesis.settings(EXAMPLES, max_examples=count)
            @hypothesis.given(**values)
            def example(**found: Any) -> None:
                check(**given, **found)

            example()

        taken = inspect.Parameter("seed", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        test.__signature__ = inspect.Signature([*fixtures, taken])  # type: ignore[attr-defined]
        return test

    return decorate


def rotating(cases: Sequence[Any], share: int = 3, *, slow: bool = False) -> list[Any]:
    """Values for `parametrize`: one of `share` that moves with the commits, the others for exhaustive tests."""
    turn = first_seed() // _SEEDS % share
    marks = [pytest.mark.slow if k % share == turn else pytest.mark.exhaustive for k in range(len(cases))]
    return [
        case if mark == pytest.mark.slow and not slow else _marked(case, mark)
        for case, mark in zip(cases, marks, strict=True)
    ]


def sampled(cases: Sequence[Any], share: int = 3) -> list[Any]:
    """Values for `parametrize`: one of `share` that moves with the commits, the others for slow tests."""
    turn = first_seed() // _SEEDS % share
    return [case if k % share == turn else _marked(case, pytest.mark.slow) for k, case in enumerate(cases)]


def _marked(case: Any, mark: pytest.MarkDecorator) -> Any:
    return pytest.param(*case, marks=mark) if isinstance(case, tuple) else pytest.param(case, marks=mark)
