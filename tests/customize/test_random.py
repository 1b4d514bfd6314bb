"""Random kernels and random schedules: what is accepted keeps the results, what is refused really conflicts."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import note
from hypothesis import strategies as st

from allo import Schedule, ScheduleError, customize
from tests.seeds import drawn, sweep

from .batch import outcomes
from .checks import arguments_of, assert_equal
from .random_kernels import ARRAYS, EXTENT, Kernel, load, programs, sources
from .random_steps import random_step


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


# -- accepted sequences keep the results --------------------------------------------------------------

SEQUENCES = 6  # of one kernel, compiled as one module


def random_sequence(data: st.DataObject, kernel: Kernel) -> Schedule:
    """A schedule of some accepted steps; a refused one changes nothing."""
    s = customize(kernel.function)
    attempts, wanted = data.draw(st.integers(3, 10)), data.draw(st.integers(2, 6))
    for _ in range(attempts):
        if len(s.steps) == wanted:
            break
        name, arguments, options = random_step(data.draw, s)
        before = s.ir
        try:
            getattr(s, name)(*arguments, **options)
        except ScheduleError:
            assert s.ir is before
    return s


@sweep(36, quick=0)
@drawn(10, st.data())
def test_sequences_keep_results(directory: Path, data: st.DataObject) -> None:
    kernel = load(data.draw(programs()), directory)
    note(kernel.source)
    schedules = [random_sequence(data, kernel) for _ in range(SEQUENCES)]
    for s in schedules:
        note(repr(s))
    wanted, *found = outcomes([customize(kernel.function), *schedules], arguments_of(kernel.function))
    for s, result in zip(schedules, found, strict=True):
        note(f"{s!r}\n{s.pseudocode()}")
        assert_equal(result, wanted)


# -- refusals and acceptances against the enumeration of all iterations -------------------------------


@dataclass(frozen=True)
class Event:
    """One access, in the order of the execution."""

    time: int
    array: str
    writes: bool
    line: int
    loops: dict[str, int]
    updates: bool  # it belongs to an update `x += e` of the element
    element: str  # with the name of the array


class Traced:
    """An array that records who touches which element, by running the kernel as Python."""

    def __init__(self, name: str, events: dict[Any, list[Event]], clock: list[int], source: list[str]) -> None:
        self.name, self.events, self.clock, self.source = name, events, clock, source
        self.updating = False  # between the read and the write of an update
        self.data = np.zeros((EXTENT,) * ARRAYS[name], np.int64)

    def record(self, index: Any, writes: bool) -> None:
        frame = sys._getframe(2)
        loops = {name: frame.f_locals[name] for name in "ijk" if name in frame.f_locals}
        self.clock[0] += 1
        is_target = self.source[frame.f_lineno - 1].strip().startswith(f"{self.name}[")
        updates = is_target and "+=" in self.source[frame.f_lineno - 1] and (writes or not self.updating)
        self.updating = (updates or self.updating) and not writes
        element = f"{self.name}{index}"
        event = Event(self.clock[0], self.name, writes, frame.f_lineno, loops, updates, element)
        self.events[(self.name, index)].append(event)

    def __getitem__(self, index: Any) -> int:
        self.record(index, False)
        return int(self.data[index])

    def __setitem__(self, index: Any, value: int) -> None:
        self.record(index, True)


def trace(kernel: Kernel) -> dict[Any, list[Event]]:
    events: dict[Any, list[Event]] = defaultdict(list)
    clock = [0]
    kernel.function(*(Traced(name, events, clock, kernel.source.split("\n")) for name in ARRAYS))
    return events


def lines_of_nests(kernel: Kernel) -> list[range]:
    """Which lines of the source each nest has."""
    lines = kernel.source.split("\n")
    starts = [number for number, line in enumerate(lines, 1) if line.startswith("    for ")]
    return [range(a, b) for a, b in zip(starts, [*starts[1:], len(lines) + 1], strict=True)]


def conflicts(events: dict[Any, list[Event]], lines: range) -> list[tuple[Event, Event]]:
    """All pairs (earlier, later) in a nest that touch one element, one of them writing."""
    found = []
    for group in events.values():
        inside = [event for event in group if event.line in lines]
        writes = [event for event in inside if event.writes]
        for event in inside:
            found += [(w, event) for w in writes if w.time < event.time]
            found += [(event, w) for w in writes if event.time < w.time and not event.writes]
    return found


def swapped(pair: tuple[Event, Event], order: tuple[str, ...]) -> bool:
    first, second = (tuple(event.loops[name] for name in order) for event in pair)
    return first > second


@dataclass
class Flow:
    """By the time of each read that of the write that it sees, 0 for none; the times of the last writes."""

    seen: dict[int, int]
    last: set[int]


def flow(events: list[Event]) -> Flow:
    seen: dict[int, int] = {}
    last: dict[str, int] = {}
    for event in events:
        if event.writes:
            last[event.element] = event.time
        else:
            seen[event.time] = last.get(event.element, 0)
    return Flow(seen, set(last.values()))


def live_reads(events: list[Event], found: Flow) -> set[int]:
    """The times of the reads on which what is left behind depends: the value of a read goes into the next write."""
    feeds: dict[int, set[int]] = defaultdict(set)
    waiting: set[int] = set()
    for event in sorted(events, key=lambda event: event.time):
        if event.writes:
            feeds[event.time], waiting = waiting, set()
        else:
            waiting.add(event.time)
    live: set[int] = set()
    writes = list(found.last)
    while writes:
        fresh = feeds.pop(writes.pop(), set())
        live |= fresh
        writes += [found.seen[read] for read in fresh]
    return live


def in_order(events: list[Event], order: tuple[str, ...]) -> list[Event]:
    return sorted(events, key=lambda event: (*(event.loops[name] for name in order), event.time))


def apart(pair: tuple[Event, Event], loops: tuple[str, ...], depth: int) -> bool:
    first, second = (event.loops for event in pair)
    same = all(first[name] == second[name] for name in loops[:depth])
    return same and first[loops[depth]] != second[loops[depth]]


def both_inside(kernel: Kernel, pair: tuple[Event, Event], name: str) -> bool:
    """Do both statements stand inside of the loop `name` of their nest?"""
    return all(name in enclosing(kernel, event.line) for event in pair)


def enclosing(kernel: Kernel, line: int) -> list[str]:
    """The loops around a line, inner to outer."""
    lines = kernel.source.split("\n")
    indent, found = len(lines[line - 1]) - len(lines[line - 1].lstrip()), []
    for text in reversed(lines[: line - 1]):
        width = len(text) - len(text.lstrip())
        if width < indent:
            indent = width
            if text.lstrip().startswith("for "):
                found.append(text.split()[1])
    return found


MESSAGE = re.compile(
    r"the statement at line (?P<line1>\d+) (?P<kind1>writes|reads) (?P<array1>\w+)\[[^]]*\] and "
    r"(the statement at line (?P<line2>\d+) )?(?P<kind2>writes|reads) (?P<array2>\w+)\[[^]]*\]: "
    r"iteration \((?P<first>[^)]*)\) must run before iteration \((?P<second>[^)]*)\)"
)


def is_reported(message: str, pair: tuple[Event, Event]) -> bool:
    """Is `pair` the pair of iterations that the message names?"""
    match = MESSAGE.search(message)
    assert match is not None, message
    line1 = match["line1"]
    for event, line, kind, array, iteration in (
        (pair[0], line1, match["kind1"], match["array1"], match["first"]),
        (pair[1], match["line2"] or line1, match["kind2"], match["array2"], match["second"]),
    ):
        values = {name: int(value) for name, value in (part.split("=") for part in iteration.split(", "))}
        if (event.line, event.writes, event.array) != (int(line), kind == "writes", array):
            return False
        if any(event.loops[name] != value for name, value in values.items()):
            return False
    return True


def changed_arrays(
    nest: list[Event], later: list[Event], order: tuple[str, ...], only: set[int] | None = None
) -> set[str]:
    """The arrays of which a read (one of `only`) sees another write, or that another write leaves, when the nest has
    another order and what runs `later` follows."""
    found: set[str] = set()
    for array in ARRAYS:
        own, after = ([event for event in events if event.array == array] for events in (nest, later))
        old, new = flow([*own, *after]), flow([*in_order(own, order), *after])
        if old.last != new.last or any(
            old.seen[read] != new.seen[read] for read in old.seen if only is None or read in only
        ):
            found.add(array)
    return found


type Pairs = list[tuple[Event, Event]]


def reorders(kernel: Kernel, events: dict[Any, list[Event]]) -> Iterator[tuple[tuple[str, ...], Pairs, Pairs]]:
    """The orders of perfect nests, with the pairs that a step would put in the wrong order, and those of which results
    may tell: the value that a read sees, or an element keeps, is another one, and something depends on it."""
    everything = sorted((event for group in events.values() for event in group), key=lambda event: event.time)
    for number, (loops, lines) in enumerate(zip(kernel.nests, lines_of_nests(kernel), strict=True)):
        nest = [event for event in everything if event.line in lines]
        later = [event for event in everything if event.line >= lines.stop]
        if not all(loops[-1] in enclosing(kernel, line) for line in {event.line for event in nest}):
            continue
        pairs = [pair for pair in conflicts(events, lines) if not (pair[0].updates and pair[1].updates)]
        live = live_reads([*nest, *later], flow([*nest, *later]))
        for order in permutations(loops):
            if order == loops:
                continue
            changed, harmed = changed_arrays(nest, [], order), changed_arrays(nest, later, order, live)
            broken = [pair for pair in pairs if swapped(pair, order) and pair[0].array in changed]
            harmful = [pair for pair in broken if pair[0].array in harmed]
            yield tuple(f"S_i_{number}.{name}" for name in order), broken, harmful


def check_answer(
    kernel: Kernel,
    call: str,
    arguments: tuple[str, ...],
    broken: Pairs,
    harmful: Pairs,
) -> None:
    """`broken` are the pairs that the step would put in the wrong order, `harmful` those of which results may tell."""
    s = customize(kernel.function)
    try:
        getattr(s, call)(*arguments)
    except ScheduleError as error:
        text = str(error)
        if "must run before" not in text:
            return  # not a question of dependences
        note(text)
        assert any(is_reported(text, pair) for pair in broken)
    else:
        assert call == "reorder" or not harmful
        for seed in range(3) if harmful else ():  # sums that wrap around may be harmless however they are written
            wanted, found = outcomes([customize(kernel.function), s], arguments_of(kernel.function, seed))
            assert_equal(found, wanted)


@sweep(3, quick=0)
@drawn(20, st.data())
def test_answers_agree_with_all_iterations(directory: Path, data: st.DataObject) -> None:
    kernel = load(data.draw(sources(conditions=False)), directory)
    note(kernel.source)
    events = trace(kernel)
    for number, (loops, lines) in enumerate(zip(kernel.nests, lines_of_nests(kernel), strict=True)):
        pairs = conflicts(events, lines)
        for depth, name in enumerate(loops):
            broken = [pair for pair in pairs if both_inside(kernel, pair, name) and apart(pair, loops, depth)]
            check_answer(kernel, "parallel", (f"S_i_{number}.{name}",), broken, broken)
    for names, broken, harmful in reorders(kernel, events):
        check_answer(kernel, "reorder", names, broken, harmful)


LAZY = 0.05  # of the refused orders of a kernel whose results would stay the same


@pytest.mark.parametrize("seed", [3])
def test_most_orders_that_change_no_value_are_accepted(directory: Path, seed: int) -> None:
    """By dependences alone a third of the orders that are refused here would be harmless."""
    refused: list[bool] = []

    @drawn(40, sources(conditions=False))
    def collect(text: tuple[str, tuple[tuple[str, ...], ...]]) -> None:
        kernel = load(text, directory)
        for names, broken, harmful in reorders(kernel, trace(kernel)):
            s = customize(kernel.function)
            try:
                s.reorder(*names)
            except ScheduleError as error:
                if "must run before" in str(error):
                    assert broken
                    refused.append(bool(harmful))

    collect(seed)
    assert len(refused) >= 20 and refused.count(False) <= LAZY * len(refused)
