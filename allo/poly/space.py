"""Iteration space of a pipelined body: loops over time, loops unrolled into copies, and subscripts as forms of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Protocol

from .linear import Linear
from .model import Access


@dataclass(frozen=True, slots=True)
class TimeLoop:
    """A loop whose iterations are started one after the other; `stride` iterations of the pipeline lie between two.

    `lower` is None where the bound is not constant. `factor` iterations are unrolled into one.
    """

    variable: int
    name: str
    trip: int | None
    step: int
    lower: int | None
    stride: int
    factor: int = 1
    copy: int = -1  # the unrolled loop of its `factor` copies


@dataclass(frozen=True, slots=True)
class CopyLoop:
    """An unrolled loop: `trip` copies of its body, whose variable starts at `lower`."""

    variable: int
    name: str
    trip: int
    step: int
    lower: int


@dataclass(frozen=True, slots=True)
class Form:
    """A subscript: constant, coefficients of time loops and of copy loops, and what is fixed in the space."""

    constant: int
    time: tuple[int, ...]
    copies: tuple[tuple[int, int], ...]
    other: tuple[tuple[object, int], ...]


@dataclass(frozen=True, slots=True)
class Meeting:
    """Differences (later - earlier) of iterations and copies at which two accesses meet; None: any difference."""

    time: tuple[int | None, ...]
    copies: tuple[int | None, ...]  # of the copy loops around both


@dataclass(frozen=True, slots=True)
class Meetings:
    """All ways to meet; `exact` is false where there may be fewer."""

    common: tuple[int, ...]
    ways: tuple[Meeting, ...]
    exact: bool


class PlacedAccess(Protocol):
    """An access in a space; `index` tells those of one space apart, `around` are the copy loops around it."""

    @property
    def index(self) -> int: ...
    @property
    def around(self) -> tuple[int, ...]: ...
    @property
    def forms(self) -> tuple[Form | None, ...]: ...
    @property
    def access(self) -> Access | None: ...
    @property
    def lookups(self) -> Sequence[Access | None]:
        """For each subscript the read of an array, which nothing writes, that it is the value of, if there is one."""


@dataclass(slots=True)
class Space:
    """Time loops and copy loops, the latter by number; copies of an iteration run in the order of their loops."""

    time: tuple[TimeLoop, ...]
    copies: list[CopyLoop] = field(default_factory=list)
    constants: Mapping[int, tuple[int, int]] = field(default_factory=dict)  # other loops: lower bound and step
    copy_of: dict[int, int] = field(default_factory=dict)  # copy loops by variable
    meetings: dict[tuple[int, int], Meetings] = field(default_factory=dict)  # known ones, by two accesses

    def __post_init__(self) -> None:
        """Give time loops of which several iterations are unrolled into one a copy loop."""
        time = []
        for loop in self.time:
            number = -1
            if loop.factor > 1:
                number = self.unrolled(CopyLoop(-1, loop.name, loop.factor, loop.step, 0))
            time.append(replace(loop, copy=number))
        self.time = tuple(time)

    def unrolled(self, loop: CopyLoop) -> int:
        """The number of one more copy loop."""
        self.copies.append(loop)
        self.copy_of[loop.variable] = len(self.copies) - 1
        return len(self.copies) - 1

    def count(self, numbers: Iterable[int]) -> int:
        """How many copies some copy loops make together."""
        return prod([self.copies[number].trip for number in numbers])

    def form(self, linear: Linear, access: Access) -> Form | None:
        """A subscript of an access in terms of the space; None where it is not affine in loops and parameters.

        A quotient that is the same number in all iterations, as `x // 4` is where x counts up to 3, is that number.
        """
        fixed = self._fixed(access)
        if fixed:
            parts = [Linear(c * fixed[v]) if v in fixed else Linear(0, ((v, c),)) for v, c in linear.terms]
            linear = sum(parts, Linear(linear.constant))
        levels = {loop.variable: level for level, loop in enumerate(self.time)}
        known = {loop.variable for loop in access.loops} | {p.variable for p in access.parameters}
        constant = linear.constant
        time = [0] * len(self.time)
        copies: dict[int, int] = {}
        other: list[tuple[object, int]] = []
        for variable, c in linear.terms:
            if variable in levels:
                loop = self.time[levels[variable]]
                if loop.lower is None:
                    other.append((("lower", variable), c))
                else:
                    constant += c * loop.lower
                time[levels[variable]] += c * loop.step * loop.factor
                if loop.factor > 1:
                    copies[loop.copy] = copies.get(loop.copy, 0) + c * loop.step
            elif variable in self.copy_of:
                number = self.copy_of[variable]
                copy = self.copies[number]
                constant += c * copy.lower
                copies[number] = copies.get(number, 0) + c * copy.step
            elif variable in self.constants:
                lower, step = self.constants[variable]
                constant += c * lower
                other.append((variable, c * step))
            elif variable in known:
                other.append((variable, c))
            else:
                return None
        return Form(constant, tuple(time), tuple(sorted(copies.items())), tuple(sorted(other, key=repr)))

    def _fixed(self, access: Access) -> dict[int, int]:
        """The quotients of an access that are one number in the space, with that."""
        found: dict[int, int] = {}
        for quotient in access.quotients:
            low = high = quotient.numerator.constant
            for variable, c in quotient.numerator.terms:
                ends = (found[variable],) * 2 if variable in found else self._ends(variable)
                if ends is None:
                    break
                low, high = low + min(c * end for end in ends), high + max(c * end for end in ends)
            else:
                if low // quotient.divisor == high // quotient.divisor:
                    found[quotient.variable] = low // quotient.divisor
        return found

    def _ends(self, variable: int) -> tuple[int, int] | None:
        """The first and the last value of a loop, if they are known."""
        if variable in self.copy_of:
            copy = self.copies[self.copy_of[variable]]
            return copy.lower, copy.lower + copy.step * (copy.trip - 1)
        loop = next((loop for loop in self.time if loop.variable == variable), None)
        if loop is None or loop.lower is None or loop.trip is None:
            return None
        return loop.lower, loop.lower + loop.step * (loop.trip * loop.factor - 1)


def renewed(access: Access | None) -> frozenset[int]:
    """The variables of loops in each iteration of which the array of an access is a new one."""
    return frozenset() if access is None else frozenset(loop.variable for loop in access.buffer.scope)


def common(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """The copy loops around both, of those around each."""
    count = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        count += 1
    return first[:count]
