"""Uses of loop variables by processes without data: what is the same in other iterations, and until when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import lcm

from mlir import ir

from ...errors import Location
from ...ir.walk import location_of
from .terms import Growth, Term, Test


@dataclass(frozen=True, slots=True)
class LoopHere:
    """A loop around a place: its name, where its process has its variable, its step and its iterations if constant."""

    name: str
    place: int
    step: int
    trips: int | None
    at: Location | None

    def is_of(self, op: ir.Operation) -> bool:
        """Whether the loop goes over the elements of the block that a put or get is about."""
        return self.trips is not None and self.at is not None and self.at == location_of(op)


@dataclass(frozen=True, slots=True)
class Site:
    """A place where a process may wait, with the loops around it, the outermost first."""

    op: ir.Operation
    loops: tuple[LoopHere, ...]


@dataclass(frozen=True, slots=True)
class UsedComparison:
    """A comparison with 0 that depends on a loop variable: its number among those of the process, and how its term
    grows; if it `is_linear`, always so, else only while other comparisons turn out the same."""

    number: int
    growth: Growth
    is_equality: bool
    is_linear: bool


@dataclass(slots=True)
class VariableUse:
    """What depends on a loop variable.

    All is the same after a multiple of `period` iterations' distance, unless it `is_fixed`, and as long as the
    comparisons `tests` turn out the same.
    """

    is_fixed: bool = False
    period: int = 1
    tests: list[UsedComparison] = field(default_factory=list)


@dataclass(slots=True)
class ProcessText:
    """What is known of the processes of one statement: their number of values, comparisons, uses of variables."""

    number: int
    op: ir.Operation | None
    slots: int = 0
    tests: list[str] = field(default_factory=list)
    uses: dict[int, VariableUse] = field(default_factory=dict)

    def _growths(self, term: Term) -> list[tuple[int, Growth | None]]:
        """How a term grows with the variables of the process; those of others around it stay as they are."""
        return [(place, growth) for (process, place), growth in term.growths.items() if process == self.number]

    def depend(self, term: Term) -> None:
        """Something but a comparison depends on a term."""
        for place, growth in self._growths(term):
            use = self.uses.setdefault(place, VariableUse())
            if growth is None or growth.gain:
                use.is_fixed = True
            else:
                use.period = lcm(use.period, growth.period)
        self.decide(term.tests)

    def decide(self, tests: Iterable[Test]) -> None:
        """Comparisons decide what happens: of the variables that change one, the innermost may go on."""
        for test in tests:
            growths = self._growths(test.term)
            innermost = max((place for place, _ in growths), default=0)
            for place, growth in growths:
                use = self.uses.setdefault(place, VariableUse())
                if growth is None or (growth.gain and place != innermost):
                    use.is_fixed = True
                    continue
                use.period = lcm(use.period, growth.period)
                if growth.gain:
                    linear = not test.term.tests
                    use.tests.append(UsedComparison(len(self.tests), growth, test.is_equality, linear))
            self.tests.append(test.term.text)
