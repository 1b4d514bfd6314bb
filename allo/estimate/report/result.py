"""Result of an estimate: cycles, intervals with their reasons and resources, of each function and loop."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...customize.fifo.dies import DiePlan
from ...errors import TargetError
from ...timing.control.timeline import Timeline
from ...timing.reason import Reason
from ...timing.rewrites import Rewrite
from ...timing.schedule import StaticSchedule

if TYPE_CHECKING:
    from ...customize import Schedule
    from ...dataflow.timed.run import TimedRun
    from ...verify import Result
    from .stages import StageEstimate

SCHEMA = 1  # of the JSON; changes only when a key is renamed or goes away


@dataclass(frozen=True, slots=True)
class Resources:
    """What a function takes of a device; blocks of BRAM are those of 18 Kb."""

    dsp: int = 0
    bram18: int = 0
    uram: int = 0
    lut: int = 0
    ff: int = 0

    def __add__(self, other: Resources) -> Resources:
        return Resources(
            self.dsp + other.dsp, self.bram18 + other.bram18, self.uram + other.uram,
            self.lut + other.lut, self.ff + other.ff,
        )  # fmt: skip

    def times(self, count: int) -> Resources:
        """That of `count` copies."""
        return Resources(count * self.dsp, count * self.bram18, count * self.uram, count * self.lut, count * self.ff)


@dataclass(frozen=True, slots=True)
class LoopEstimate:
    """One loop. All numbers are *estimated*; None where a run-time value decides.

    `trips`: iterations of one run, on average (`exact`: of each run), `fewest` and `most` their range; `latency`:
    cycles of one run; `interval`: cycles between two iterations (achieved II), with its `reason`; `depth`: cycles of
    one iteration; `bound`: the least latency that operations, ports and recurrences allow at this parallelism;
    `advice`: a step to paste that moves what binds it.
    `flattened`: it is one pipeline with the loop inside of it; `unrolled`: its copies are part of the loop around.
    """

    function: str
    nest: str
    name: str
    level: int
    trips: float | None
    exact: bool
    fewest: int
    most: int | None
    latency: int | None
    interval: int | None
    requested: int | None
    reason: Reason | None
    depth: int | None
    bound: int | None
    advice: str
    state: str  # "pipelined", "flattened", "unrolled", "sequential", "spatial" or "dataflow"

    @property
    def flattened(self) -> bool:
        return self.state == "flattened"

    @property
    def unrolled(self) -> bool:
        return self.state == "unrolled"


@dataclass(frozen=True, slots=True)
class FunctionEstimate:
    """One function: cycles of one call, cycles between two calls, and the `resources` of one instance with its callees.

    `own` are those without callees, so that the design takes the sum of `own` times `instances` of all functions.
    `advice`: steps to paste that let the parts of the function overlap. `timelines`: of the function, and of one
    iteration of each loop in it, which consist of several parts.
    """

    name: str
    latency: int | None
    interval: int | None
    resources: Resources
    own: Resources
    loops: tuple[LoopEstimate, ...]
    instances: int
    dataflow: bool
    advice: str = ""
    timelines: tuple[Timeline, ...] = ()


@dataclass(frozen=True, slots=True)
class Advice:
    """A step to paste for a loop `"f:i"` or a function, and the cycles that the whole design gains by it alone.

    0: nothing, since another part binds; None: not known. Steps that gain together only are one step.
    """

    at: str
    step: str
    gain: int | None


@dataclass(frozen=True, slots=True)
class Burst:
    """A burst between a memory and the chip: `kind` is load or store; None where an extent is known at run time."""

    kind: str
    array: str
    memory: str
    words: int | None
    word_bits: int
    cycles: int | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a schedule costs on a target, *estimated* by static scheduling (docs/estimator.md states the error)."""

    top: str
    target: str
    frequency: float
    functions: tuple[FunctionEstimate, ...]
    available: Resources
    notes: tuple[str, ...] = ()
    transfers: tuple[Burst, ...] = ()
    copies: Resources = Resources()  # the arrays on the chip that transfers fill
    advice: tuple[Advice, ...] = ()  # the step that gains most is the first
    profile: str = ""  # who makes the hardware; empty: nobody in particular
    rewrites: tuple[Rewrite, ...] = ()  # what was done to the module, and what was left and why, if it was rewritten
    dies: tuple[DiePlan, ...] = ()  # of the stages of functions that `place_stages` has placed
    schedules: Mapping[tuple[str, str, str], StaticSchedule] = field(default_factory=dict, compare=False, repr=False)
    design: Schedule | None = field(default=None, compare=False, repr=False)  # of `s.report`, as it was then

    @property
    def on(self) -> str:
        """The target, with the profile if there is one, and the clock."""
        profile = f", profile {self.profile}" if self.profile else ""
        return f"{self.target} at {self.frequency:g} MHz{profile}"

    @property
    def kernel(self) -> FunctionEstimate:
        """The entry."""
        return next(function for function in self.functions if function.name == self.top)

    @property
    def cycles(self) -> int | None:
        """The latency of the kernel with its transfers; None where a run-time value decides."""
        parts = [self.kernel.latency, *(transfer.cycles for transfer in self.transfers)]
        return None if None in parts else sum(part for part in parts if part is not None)

    @property
    def milliseconds(self) -> float | None:
        """The latency at the clock of the target."""
        return None if self.cycles is None else self.cycles / self.frequency / 1000

    @property
    def resources(self) -> Resources:
        """What the whole kernel takes, with copies of its arguments."""
        return self.kernel.resources + self.copies

    @property
    def dsp(self) -> int:
        return self.resources.dsp

    @property
    def bram18(self) -> int:
        return self.resources.bram18

    @property
    def uram(self) -> int:
        return self.resources.uram

    @property
    def lut(self) -> int:
        return self.resources.lut

    @property
    def ff(self) -> int:
        return self.resources.ff

    @property
    def loops(self) -> tuple[LoopEstimate, ...]:
        """The loops of all functions."""
        return tuple(loop for function in self.functions for loop in function.loops)

    @property
    def interval(self) -> int | None:
        """The worst interval of the pipelined loops, as tables of designs give it; None if none is pipelined."""
        found = [x.interval for x in self.loops if x.state == "pipelined" and x.interval is not None]
        return max(found, default=None)

    @property
    def stages(self) -> tuple[StageEstimate, ...]:
        """The stages of the kernel, if it is a dataflow region: cycles, bound and what binds, a row for each."""
        from .stages import stages_of

        own = (timeline for timeline in self.kernel.timelines if timeline.dataflow and timeline.of == self.top)
        return tuple(stage for timeline in own for stage in stages_of(self, timeline))

    def loop(self, name: str) -> LoopEstimate:
        """The loop `"i"`, `"nest.i"` or `"function:i"`; KeyError if there is none, or several."""
        function, _, rest = name.rpartition(":")
        nest, _, last = rest.rpartition(".") if rest not in [x.name for x in self.loops] else ("", "", rest)
        found = [
            x
            for x in self.loops
            if x.name == last and (not function or x.function == function) and (not nest or x.nest == nest)
        ]
        if len(found) != 1:
            known = ", ".join(f"{x.function}:{x.nest}.{x.name}" for x in self.loops)
            raise KeyError(f"{'no loop' if not found else 'several loops'} '{name}'; the loops are {known}")
        return found[0]

    def schedule(self, name: str) -> StaticSchedule:
        """When the operations of a loop `"i"`, `"nest.i"` or `"function:i"` start, on which units and ports.

        It prints as a table (docs/timing.md). Raises KeyError for a loop that has no schedule of its own: it is
        unrolled, or one pipeline with the loop inside of it, or its parts run one after the other.
        """
        row = self.loop(name)
        found = self.schedules.get((row.function, row.nest, row.name))
        if found is None:
            known = ", ".join(f"{function}:{nest}.{loop}" for function, nest, loop in self.schedules)
            raise KeyError(f"loop '{name}' is {row.state} and has no schedule of its own; those are {known or 'none'}")
        return found

    def to_json(self) -> str:
        """The estimate as JSON; docs/estimator-details.md describes its keys."""
        data = dataclasses.asdict(dataclasses.replace(self, schedules={}, design=None))
        del data["schedules"], data["design"]
        head = {"schema": SCHEMA, "estimated": True, "cycles": self.cycles, "milliseconds": self.milliseconds}
        return json.dumps({**head, **data}, indent=2)

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        verification: Result | None = None,
        timing: TimedRun | None = None,
        code: Sequence[str] = ("vhls", "rtl"),
    ) -> str:
        """One page for a browser, also written to `path`; it needs no other file and has no script.

        It has the tree of loops with reasons and advice; that of `s.report(target)` is a report of the design, with its
        graph, steps, kernel and the text of the backends `code` too. `verification` is what `s.verify()` has answered,
        `timing` that of a timed run. Raises TargetError if these are given for an estimate without its design.
        """
        if self.design is None:
            if verification is not None or timing is not None:
                raise TargetError("this estimate does not know its design", hint='take that of s.report("u280")')
            from .page import page

            text = page(self)
        else:
            from ...report.design_page import design_page

            text = design_page(self, self.design, verification, timing, code)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def __str__(self) -> str:
        from .table import table

        return table(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from .page import fragment

        return fragment(self)
