"""Reports of dependences that a change of order would reverse: two statements and a pair of iterations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .model import Access
from .pairs import Dependence, Pair, Sample, Signs


@dataclass(frozen=True, slots=True)
class Violation:
    """`source` must run before `sink` in these iterations (of the original order), and would not."""

    source: Access
    sink: Access
    dependence: Dependence
    array: str
    source_iteration: tuple[tuple[str, int], ...]
    sink_iteration: tuple[tuple[str, int], ...]
    parameters: tuple[tuple[str, int], ...]
    reassociable: bool = False  # only the rounding of a floating-point reduction would change

    def describe(self) -> str:
        first, second = _does(self.source), _does(self.sink)
        if _line(self.source) == _line(self.sink) or not self.source.source.line:
            statements = f"the statement at {self.source.source} {first} and {second}"
        else:
            statements = (
                f"the statement at {self.source.source} {first} and "
                f"the statement at {self.sink.source} {second}"
            )
        given = f" with {_assignments(self.parameters)}" if self.parameters else ""
        before = f"iteration ({_assignments(self.source_iteration)})" if self.source_iteration else "the first"
        after = f"iteration ({_assignments(self.sink_iteration)})" if self.sink_iteration else "the second"
        return f"{statements}: {before} must run before {after}{given}"


@dataclass(frozen=True, slots=True)
class Undecided:
    """Nothing forbids the change for sure, but what `access` does is only known roughly."""

    reason: str
    access: Access

    def describe(self) -> str:
        access = self.access
        return f"the statement at {access.source} {_does(access)}, but {self.reason}"


def violation(pair: Pair, sample: Sample) -> Violation:
    return Violation(
        pair.source,
        pair.sink,
        pair.dependence,
        pair.source.buffer.name,
        sample.source,
        sample.sink,
        sample.parameters,
    )


def first_violation(reordered: Iterable[tuple[Pair, Sequence[Signs]]]) -> Violation | Undecided | None:
    """The first pair that has a dependence in one of the ways in which its iterations lie, else one that may have."""
    doubt: Undecided | None = None
    for pair, ways in reordered:
        if not any(pair.possible(signs) for signs in ways):
            continue
        if pair.exact and (sample := pair.sample(ways)) is not None:
            return violation(pair, sample)
        doubt = doubt or undecided(pair)
    return doubt


def undecided(pair: Pair) -> Undecided:
    return unknown(pair.sink if pair.source.exact else pair.source)


def unknown(access: Access) -> Undecided:
    """What `access` touches, or when it runs, is not known exactly."""
    place = "it" if access.reason.startswith(("has", "is")) else "it is"
    return Undecided(f"{place} {access.reason}", access)


def _does(access: Access) -> str:
    return f"{'writes' if access.is_write else 'reads'} {access.text}"


def _assignments(values: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values)


def _line(access: Access) -> tuple[str, int]:
    return access.source.file, access.source.line
