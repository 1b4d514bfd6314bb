"""Streams and tasks of the typed tree as functions that carry them out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod
from typing import Any, Protocol

import numpy as np

from ...errors import Location
from ...ir.stream_facts import unit_of
from ..typing.nodes import (
    CallSite,
    CheckedFunction,
    Declare,
    Load,
    Stmt,
    StreamAsked,
    StreamGet,
    StreamPut,
    StreamTryGet,
    StreamTryPut,
    Symbol,
    SymbolKind,
)
from ..typing.writes import changed_by, parts
from .expressions import SHARED, Elements, Expressions, Frame
from .processes import Fifo, Process, Scheduler, facts_of_stream

type Run = Callable[[Frame], Any]
# Which earlier processes of a region use other elements of arrays than a process does, by their numbers and its own, of
# processes that call these functions: whoever knows how elements are used says it.
type Apart = Callable[[str], Mapping[tuple[int, int], tuple[str, str]]]
type Ends = tuple[list[Location], list[Location], list[Location], list[Location]]

_PUT, _GET, _PUT_ASK, _GET_ASK = {0}, {1}, {2}, {3}  # numbers of `Ends`


class RunningProgram(Protocol):
    """The run of a program that processes belong to."""

    @property
    def scheduler(self) -> Scheduler: ...

    @property
    def apart(self) -> Apart: ...


def fresh_streams(function: CheckedFunction, symbol: Symbol) -> Callable[[], Elements]:
    """What makes the FIFOs of a stream, or of an array of them."""
    carries = symbol.stream
    assert carries is not None
    ends = ends_of(function, symbol)
    depth = carries.holds
    made = function.source.location(symbol.at)
    unit = unit_of(1, carries.block[0]) if carries.packed else unit_of(prod(carries.block), 1)
    facts = facts_of_stream(symbol.name, carries.shape, depth, made, ends, unit)

    def fresh() -> Elements:
        data = np.empty(carries.shape, object)
        for number, place in enumerate(np.ndindex(carries.shape)):
            data[place] = Fifo(facts, number if carries.shape else None, depth)
        return Elements(data)

    return fresh


def ends_of(function: CheckedFunction, symbol: Symbol) -> Ends:
    """Where a function, and those that it calls, put into a stream, get from it, and ask it, or try, at either end."""
    found: Ends = ([], [], [], [])
    for part in parts(function.body):
        match part:
            case CallSite(callee=callee, arguments=arguments):
                for argument, parameter in zip(arguments, callee.params, strict=True):
                    if argument is symbol:
                        for own, inner in zip(found, ends_of(callee, parameter), strict=True):
                            own.extend(inner)
                continue
            case StreamPut(stream=stream):
                kinds = _PUT
            case StreamTryPut(stream=stream):
                kinds = _PUT | _PUT_ASK
            case StreamGet(stream=stream, stays=stays):
                kinds = _GET_ASK if stays else _GET
            case StreamTryGet(stream=stream):
                kinds = _GET | _GET_ASK
            case StreamAsked(stream=stream, question=question):
                kinds = _PUT_ASK if question == "full" else _GET_ASK
            case _:
                continue
        if stream is symbol:
            for number in kinds:
                found[number].append(function.source.location(part.at))
    return found


def put_run(expressions: Expressions, program: RunningProgram, statement: StreamPut) -> Run:
    """What puts a value into a FIFO."""
    fifo = expressions.fifo(statement.stream, statement.indices, statement.at)
    value = expressions.value(statement.value)

    def run(frame: Frame) -> None:
        frame[SHARED] = {}
        found = value(frame)
        program.scheduler.put(fifo(frame), found)

    return run


def region_run(
    function: CheckedFunction, statements: Sequence[tuple[Stmt, Starts | Run]], program: RunningProgram
) -> Run:
    """All statements of a region: each begins when those have ended that use elements which it uses, and one writes.

    A statement is given as what makes its processes, or as what is done in its turn if it declares something.
    """
    used = [_arrays(statement) for statement, _ in statements]
    before = [[k for k in range(number) if _conflict(used[k], used[number])] for number in range(len(statements))]
    processes = [number for number, (_, action) in enumerate(statements) if isinstance(action, Starts)]
    if any(k in processes for number in processes for k in before[number]):
        called = [_called(statement) for statement, _ in statements]
        for (one, other), names in program.apart(function.name).items():
            if other < len(processes):
                first, second = processes[one], processes[other]
                if (called[first], called[second]) == names and first in before[second]:
                    before[second].remove(first)

    def run(frame: Frame) -> None:
        scheduler = program.scheduler
        started: list[list[Process]] = []
        for number, (statement, action) in enumerate(statements):
            name = _called(statement) or "a statement"
            leaders = [process for k in before[number] for process in started[k]]
            if isinstance(action, Starts):
                own = action.processes(frame)
                started.append([scheduler.start(name + at, process, leaders) for at, process in own])
                continue
            scheduler.join(leaders)
            action(frame)
            started.append([])
        scheduler.join([process for group in started for process in group])

    return run


def _called(statement: Stmt) -> str:
    """The one function that a statement calls; empty if there are others, or none."""
    found = {part.callee.name for part in parts(statement) if isinstance(part, CallSite)}
    return found.pop() if len(found) == 1 else ""


def is_process(statement: Stmt) -> bool:
    """Whether a statement of a region runs beside the others: it changes no scalar of the region."""
    if isinstance(statement, Declare):
        return False
    changed = (symbol for part in parts(statement) for symbol in changed_by(part))
    return all(symbol.kind is SymbolKind.TENSOR for symbol in changed)


def _arrays(statement: Stmt) -> tuple[set[Symbol], set[Symbol]]:
    """The arrays that a statement uses, and what of them it may write."""
    used: set[Symbol] = set()
    for part in parts(statement):
        if isinstance(part, CallSite):
            used |= {a for a in part.arguments if isinstance(a, Symbol) and a.kind is SymbolKind.TENSOR}
        elif isinstance(part, Load):
            used.add(part.tensor)
    written = {symbol for part in parts(statement) for symbol in changed_by(part)}
    return used | written, written


def _conflict(one: tuple[set[Symbol], set[Symbol]], other: tuple[set[Symbol], set[Symbol]]) -> bool:
    return bool(one[1] & other[0] or one[0] & other[1])


@dataclass(frozen=True, slots=True)
class Starts:
    """What a statement of a region runs in processes: `action`, once for each of these values of the `places`."""

    action: Run
    places: tuple[int, ...] = ()
    extents: tuple[int, ...] = ()

    def processes(self, frame: Frame) -> list[tuple[str, Callable[[], Any]]]:
        """What the processes do, each at its position, in a frame of its own with what the region has."""
        return [
            (f"[{', '.join(map(str, position))}]" if position else "", partial(self._live, frame, position))
            for position in product(*map(range, self.extents))
        ]

    def _live(self, frame: Frame, position: tuple[int, ...]) -> None:
        own = [*frame]
        own[SHARED] = {}
        for place, value in zip(self.places, position, strict=True):
            own[place] = value
        with np.errstate(all="ignore"):
            self.action(own)
