"""Samples that Optuna draws, by its tree-structured Parzen estimator (the extra `search`)."""

from __future__ import annotations

from ...errors import ToolError
from ..goal import Goal
from ..point import Point
from .searched import Proposals

_BATCH = 8  # samples that are drawn before the first of them is known


def sampled(goal: Goal, seed: int = 0) -> Proposals:
    """Batches of samples; the same seed gives the same ones. Raises ToolError without Optuna."""
    try:
        import optuna
    except ImportError:
        raise ToolError("driver 'optuna' needs the package optuna", hint="pip install 'allo[search]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=False)
    study = optuna.create_study(sampler=sampler)
    (known,) = yield [{}]
    if not known.holes:
        return
    while True:
        trials = [study.ask() for _ in range(_BATCH)]
        drawn = [
            {hole.name: trial.suggest_int(hole.name, 0, len(hole.options) - 1) for hole in known.holes}
            for trial in trials
        ]
        points = yield drawn
        for trial, point in zip(trials, points, strict=True):
            if point.is_design:
                study.tell(trial, goal.cost(point))
            else:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
        known = _with_most_holes([known, *points])


def _with_most_holes(points: list[Point]) -> Point:
    return max(points, key=lambda point: len(point.holes))
