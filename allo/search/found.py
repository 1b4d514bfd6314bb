"""Result of a search: its points, the best design, the front, tables, files and plots."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..customize import Schedule
from ..equivalence import verify
from ..errors import SearchError, TargetError, ToolError, VerificationError, counted
from ..messages import LOG
from ..picture import aligned, preformatted
from ..picture.drawing import Drawing
from ..picture.plot import Mark, plot
from ..verify import Different
from .goal import Goal, front
from .point import FIGURES, Point

_SHOWN = 8  # designs in the text
_FRONT = ("cycles", "dsp", "bram18")


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search has looked at. `complete`: the driver had no more to ask before the budget and the time ended.

    `points` are all, in order, `designs` those with an estimate, one for each module, `best` the best that the
    constraints allow; where cycles are the goal and some were simulated, it is one of these, by those cycles. All other
    figures are *estimated*.
    """

    start: Schedule
    goal: Goal
    points: tuple[Point, ...]
    complete: bool
    options: Mapping[str, Any]

    @property
    def designs(self) -> list[Point]:
        """Designs that differ, the best first; those that the constraints forbid are the last."""
        return self.goal.sorted({p.module: p for p in reversed(self.points) if p.is_design}.values())

    @property
    def has_design(self) -> bool:
        """Whether a design within the constraints was found."""
        return any(self.goal.allows(point) for point in self.points)

    @property
    def best(self) -> Point:
        """The best design. Raises SearchError, with what was nearest, if none is within the constraints."""
        designs = self.designs
        if not designs:
            reasons = Counter(p.reason.splitlines()[0] for p in self.points if p.reason)
            told = "".join(f"\n  {count} x {reason}" for reason, count in reasons.most_common(3))
            raise SearchError(f"no point of {len(self.points)} is a design{told}")
        if not self.goal.allows(designs[0]):
            limits = ", ".join(f"{name} <= {limit:g}" for name, limit in self.goal.limits.items())
            raise SearchError(
                f"no design of {len(designs)} is within {limits}; the nearest one has {designs[0]}",
                hint="raise the limits or the budget",
            )
        simulated = [p for p in designs if p.simulated is not None and self.goal.allows(p)]
        if self.goal.is_of_cycles and simulated:
            return min(simulated, key=lambda point: point.simulated or 0)
        return designs[0]

    def front(self, *figures: str) -> list[Point]:
        """The designs of which no other one is as good in all `figures` (default: cycles, DSPs, BRAM) and better in
        one, by the first figure; constraints play no part."""
        Goal.of(figures or _FRONT, None)
        return front(self.designs, figures or _FRONT)

    def schedule(self, point: Point | None = None) -> Schedule:
        """The schedule of a point, or of the best one: that of the search with the steps of the point behind it."""
        made = self.start.copy()
        made.replay((point or self.best).steps)
        return made

    def verified(self, *points: Point, **options: Any) -> SearchResult:
        """The same with proofs of some points, or of the best one: what `allo.verify` says of them and the kernel.

        `options` are those of `allo.verify`. Raises VerificationError if a design is not its kernel.
        """
        proofs = {}
        for point in points or (self.best,):
            answer = verify(self.start.state(0), self.schedule(point), **options)
            if isinstance(answer, Different):
                raise VerificationError(f"a design is not its kernel: {answer}\nits steps are\n{point.steps}")
            proofs[point.module] = answer.said
        return self._with({m: {"proof": proof} for m, proof in proofs.items()})

    def simulated(self, *arguments: Any, count: int = 1) -> SearchResult:
        """The same with the cycles of the `count` best designs in RTL, *simulated* by Verilator on copies of
        `arguments`. They are those of the estimates if the search had `profile="rtl", rewritten=True`. Designs that
        have no hardware are logged, and the next ones are taken; raises the error of the last one if none has.
        """
        cycles: dict[str, Mapping[str, Any]] = {}
        refused: TargetError | None = None
        for point in (p for p in self.designs if self.goal.allows(p)):
            if len(cycles) == count:
                break
            try:
                module = self.schedule(point).build(target="rtl")
                module(*deepcopy(arguments))
            except TargetError as error:
                LOG.warning("a design of the search has no hardware: %s", error)
                refused = error
                continue
            cycles[point.module] = {"simulated": module.cycles}
        if refused is not None and not cycles:
            raise refused
        return self._with(cycles)

    def _with(self, changes: Mapping[str, Mapping[str, Any]]) -> SearchResult:
        return replace(self, points=tuple(replace(p, **changes.get(p.module, {})) for p in self.points))

    def to_csv(self, path: str | Path) -> None:
        """Write all points as a table: state, figures, decisions, steps, reason."""
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["state", *FIGURES, "simulated", "proof", "decisions", "steps", "reason"])
            for p in self.points:
                shown = [p.figures.get(name) for name in FIGURES]
                rows.writerow([p.state.value, *shown, p.simulated, p.proof, p.told(), p.steps, p.reason])

    def plot(self, path: str | Path | None = None, x: str = "dsp", y: str = "cycles") -> Any:
        """A figure of matplotlib (the extra `search`): all designs, those of the front of `x` and `y` as a line; both
        axes are logarithmic. With a `path` it is written there. Raises ToolError without matplotlib."""
        Goal.of((x, y), None)
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ToolError("plots need the package matplotlib", hint="pip install 'allo[search]'") from None
        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.add_subplot(xscale="log", yscale="log", xlabel=f"{x} (estimated)", ylabel=f"{y} (estimated)")
        axes.set_title(f"{self.start.top_func_name}: {counted(len(self.designs), 'design')}")
        shown = [p for p in self.designs if p.figure(x) > 0 and p.figure(y) < float("inf")]
        axes.scatter([p.figure(x) for p in shown], [p.figure(y) for p in shown], s=8, color="0.7", label="designs")
        best = sorted(front(shown, (x, y)), key=lambda p: p.figure(x))
        steps = [p.figure(x) for p in best], [p.figure(y) for p in best]
        axes.step(*steps, where="post", marker="o", markersize=3, label="front")
        if x in self.goal.limits:
            axes.axvline(self.goal.limits[x], color="0.3", linestyle="--", linewidth=1, label=f"limit of {x}")
        axes.legend()
        if path is not None:
            figure.savefig(path)
        return figure

    def __str__(self) -> str:
        states = Counter(point.state.value for point in self.points)
        head = f"{counted(len(self.points), 'point')} of '{self.start.top_func_name}': " + ", ".join(
            f"{count} {state}" for state, count in states.items()
        )
        end = "; nothing near the best is left" if self.complete else "; the budget or the time is used up"
        designs = self.designs
        if not designs:
            return f"{head}{end}"
        rows: list[tuple[str, ...]] = [("cycles", "DSP", "BRAM18", "LUT", "FF", "decisions")]
        for point in designs[:_SHOWN]:
            mark = "" if self.goal.allows(point) else "  (above a limit)"
            figures = (point.cycles if point.cycles is not None else "?", point.dsp, point.bram18, point.lut, point.ff)
            rows.append((*map(str, figures), point.told() + mark))
        lines = [f"{head}{end}; figures are *estimated*", *aligned(rows)]
        best = designs[0]
        if best.proof:
            lines.append(f"the best is {best.proof.splitlines()[0]}")
        return "\n".join([*lines, "its steps:", best.steps.rstrip()])

    __repr__ = __str__

    def draw(self, x: str = "dsp", y: str = "cycles") -> Drawing:
        """A picture of all designs by two figures, both above 0, with the front as a line; it needs no matplotlib.

        Raises SearchError if no design has both.
        """
        Goal.of((x, y), None)
        shown = [p for p in self.designs if p.figure(x) > 0 and 0 < p.figure(y) < float("inf")]
        if not shown:
            raise SearchError(f"no design has a {x} and a {y} above 0", hint="draw other figures, such as x='lut'")
        best = sorted(front(shown, (x, y)), key=lambda p: p.figure(x))
        marks = [
            Mark(p.figure(x), p.figure(y), f"{p.figure(x):g}, {p.figure(y):g}", best=p in best) for p in shown
        ]
        points = [(p.figure(x), p.figure(y)) for p in best]
        steps = [(right[0], left[1]) for left, right in pairwise(points)]
        line = [points[0], *(point for pair in zip(steps, points[1:], strict=True) for point in pair)]
        title = f"{self.start.top_func_name}: {counted(len(self.designs), 'design')}"
        return Drawing("", plot(title, x, y, marks, [line], "estimated; red: the front"))

    def _repr_html_(self) -> str:
        drawn = [p for p in self.designs if p.figure("dsp") > 0 and 0 < p.figure("cycles") < float("inf")]
        return preformatted(str(self)) + (self.draw().svg if drawn else "")
