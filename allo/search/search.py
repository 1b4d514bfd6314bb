"""Search: a kernel, a space of schedules, a goal and a budget to designs that were looked at, the best one proven."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Any

from ..customize import Schedule, customize
from ..errors import SearchError, nearest
from ..estimate.estimate import device_of
from ..messages import working
from .drivers import Proposals, beam, evolution, exhaustive, sampled
from .found import SearchResult
from .goal import Goal
from .run import SearchRun, Space
from .store import PointStore
from .workers import Workers

_BEAM = 4
_SIMULATED = 3
_POPULATION = 16


def search(
    kernel: Callable[..., Any] | Schedule,
    space: Space | None = None,
    *,
    objective: str | Sequence[str] = "cycles",
    constraints: Mapping[str, float] | None = None,
    budget: int = 300,
    seconds: float | None = None,
    driver: str = "beam",
    seed: int = 0,
    workers: int | None = None,
    executor: Executor | None = None,
    store: PointStore | str | Path | None = None,
    verify: bool = True,
    simulate: Sequence[Any] = (),
    **options: Any,
) -> SearchResult:
    """Look for schedules of `kernel` whose `objective` is small, *estimated* by `allo.estimate` with `options`.

    `kernel` is a kernel or a schedule, which the search continues. `space` is a schedule with holes, a function
    `space(s, choose)` that applies primitives to `s` and asks `choose(name, options)` for what is open; None: orders,
    lanes, pipelines, banks and overlapping stages are derived from the kernel, whose operators on whole arrays become
    loops. `objective` is a figure (`cycles`,
    `milliseconds`, `interval`, `dsp`, `bram18`, `uram`, `lut`, `ff`) or several, whose front is looked for;
    `constraints` are the most of figures, `{"dsp": 440}`. It ends after `budget` points, after `seconds`, or if the
    driver has no more to ask: `beam` changes the best designs, `evolution` crosses them, `exhaustive` takes all
    decisions, `optuna` draws samples (the extra `search`); `seed` is that of chance.

    Points that a primitive refuses are known with the reason; those of which a lower bound shows that they are of no
    use are not estimated. `workers` processes estimate (None: one for each core, 0: this one), or any `executor`, such
    as a client of Dask or a `RayExecutor`; the result does not depend on them. With a `store`, a file, points are kept,
    and a search that is asked again, with this or a larger budget, goes on where it was stopped. The best designs are
    simulated in RTL on the arguments `simulate`, and the best one is verified against the kernel.
    Raises SearchError for what cannot be searched, VerificationError if a design is not its kernel.
    """
    goal = Goal.of(objective, constraints)
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise SearchError(f"the budget must be a number of points from 1 on, got {budget!r}")
    start = kernel if isinstance(kernel, Schedule) else customize(kernel, lower_linalg=space is None)
    _demand_arguments(simulate)
    device_of(options)  # which raises for targets that do not exist, before any work
    proposals, kept = _driver(driver, goal, seed)
    if not goal.is_of_cycles_alone:
        kept = None
    with ExitStack() as stack:
        if store is not None and not isinstance(store, PointStore):
            store = stack.enter_context(PointStore(store))
        if executor is None and workers != 0:
            own = executor = stack.enter_context(Workers(workers or os.cpu_count() or 1))
            stack.callback(own.stop)  # what runs when the time ends is of no use
        run = SearchRun(start, space, goal, options, executor, store, kept)
        stack.enter_context(working(f"searching schedules of '{start.top_func_name}'", so_far=run.so_far))
        complete = run.points_of(proposals, budget, None if seconds is None else monotonic() + seconds)
    found = SearchResult(start, goal, tuple(run.looked_at), complete, dict(options))
    if simulate and found.has_design:
        found = found.simulated(*simulate, count=_SIMULATED)
    if verify and found.has_design:
        found = found.verified()
    return found


def _demand_arguments(simulate: Any) -> None:
    """Refuse what is no list of arguments, such as an array that is one of them."""
    if not isinstance(simulate, list | tuple):
        shape = getattr(simulate, "shape", None)
        given = type(simulate).__name__ + (f" of shape {tuple(shape)}" if shape is not None else "")
        raise SearchError(
            f"simulate= takes the arguments of a call in a tuple, got {given}",
            hint="for a kernel of one argument, write simulate=(A,)",
        )


def _driver(name: str, goal: Goal, seed: int) -> tuple[Proposals, int | None]:
    """A driver, and how many of the best designs decide what it looks at next (None: all)."""
    match name:
        case "beam":
            return beam(goal, _BEAM), _BEAM
        case "evolution":
            return evolution(goal, seed, _POPULATION), _POPULATION
        case "exhaustive":
            return exhaustive(), None
        case "optuna":
            return sampled(goal, seed), None
    known = ("beam", "evolution", "exhaustive", "optuna")
    hint = nearest(str(name), known) or f"the drivers are {', '.join(known)}"
    raise SearchError(f"there is no driver {name!r}", hint=hint)
