"""`allo.check_python`: a kernel as plain Python beside what it means, up to the first difference."""

from __future__ import annotations

import copy
import queue
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import Location
from ...ir.types import TensorType
from ..program import checked_program
from ..read.source import KernelSource, Position
from ..read.templates import instance
from ..typing.nodes import (
    AssignScalar,
    CheckedFunction,
    Declare,
    Fill,
    For,
    Return,
    Stmt,
    Store,
    Structured,
    Symbol,
)
from ..typing.tables import rule_set
from ..typing.writes import changed_by, parts
from .difference import ConversionReason, PythonDifference, first_difference, same, shown
from .expressions import Elements, Frame
from .interpret import interpreted
from .plain import Place, PlainKernel
from .statements import FunctionCode, Run

_AHEAD = 256  # assignments by which plain Python may be ahead


def check_python(
    kernel: Callable[..., Any],
    inputs: Sequence[Any],
    instantiate: Sequence[Any] | Mapping[str, Any] | None = None,
    typing_rule_set: str = "default",
) -> PythonDifference | None:
    """The first difference between `kernel` run as plain Python and what it means; None if there is none.

    Both run on copies of `inputs`, assignment by assignment. Plain Python keeps neither declared widths nor the types
    in which expressions are computed: elements of integer arrays wrap inside of expressions, Python integers never
    wrap, Python floats have 64 bits; Stateful variables start anew in each call. A template needs `instantiate`, as in
    `customize`: plain Python then has these values for its parameters. Templates that `kernel` itself calls do not run
    as plain Python.

    Raises KernelError if `kernel` is none, and CheckError where it has no meaning.
    """
    top = checked_program(kernel, instantiate, rule_set(typing_rule_set)).top
    python = _PlainRun(instance(kernel, instantiate), copy.deepcopy(tuple(inputs)))
    mine = copy.deepcopy(tuple(inputs))
    watch = _LockStep(python)
    try:
        run = interpreted(top, watch)
        python.start(watch.places)
        results = run(*mine)
        return python.rest() or _at_the_end(top, results, mine, python)
    except _Found as found:
        return found.difference
    finally:
        python.stop()


class _Event(NamedTuple):
    """An assignment of plain Python; `subscripts` of one element or row, else `value` is all of it."""

    place: Place
    name: str
    subscripts: tuple[int, ...] | None
    value: Any


class _Found(Exception):
    def __init__(self, difference: PythonDifference) -> None:
        super().__init__()
        self.difference = difference


class _Stopped(BaseException):
    """Ends plain Python, which nobody looks at any more."""


class _PlainRun:
    """Plain Python in a thread of its own, a few assignments ahead."""

    def __init__(self, kernel: KernelSource, inputs: tuple[Any, ...]) -> None:
        self.inputs = inputs
        self.results: Any = None
        plain = PlainKernel(self._tell)
        self._kernel = plain.function(kernel)
        self.told = plain.told  # where it tells of an assignment
        self._events: queue.Queue[_Event | Exception | None] = queue.Queue(_AHEAD)
        self._places: set[tuple[Place, str]] = set()
        self._ended = False
        self._thread: threading.Thread | None = None

    def start(self, places: set[tuple[Place, str]]) -> None:
        """Begin; only assignments at `places` are told of."""
        self._places = places
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended = True
        if self._thread is not None:
            self._thread.join()

    def next(self) -> _Event | None:
        """The next assignment, None behind the last; raises _Found where Python has raised an error."""
        event = self._events.get()
        if isinstance(event, Exception):
            frames = [f for f in traceback.extract_tb(event.__traceback__) if f.filename == self._file]
            at = Location(self._file, frames[-1].lineno or 0) if frames else None
            told = f"an error ({type(event).__name__}: {event})"
            why = "plain Python does not run this statement"
            raise _Found(PythonDifference(at, "the statement", told, "no error", why))
        return event

    def rest(self) -> PythonDifference | None:
        """What plain Python does when the kernel has ended."""
        event = self.next()
        return None if event is None else _elsewhere(event, None)

    @property
    def _file(self) -> str:
        return str(self._kernel.__code__.co_filename)

    def _run(self) -> None:
        try:
            with np.errstate(all="ignore"):
                self.results = self._kernel(*self.inputs)
            self._put(None)
        except _Stopped:
            return
        except Exception as error:
            self._put(error)

    def _tell(self, place: Place, name: str, subscripts: Any, value: Any) -> None:
        if (place, name) not in self._places:
            return
        if subscripts is not None and isinstance(value, np.ndarray):
            subscripts = tuple(map(int, subscripts if isinstance(subscripts, tuple) else (subscripts,)))
            value = value[subscripts]
        else:
            subscripts = None
        self._put(_Event(place, name, subscripts, copy.deepcopy(value)))

    def _put(self, event: _Event | Exception | None) -> None:
        while not self._ended:
            try:
                return self._events.put(event, timeout=0.05)
            except queue.Full:
                continue
        raise _Stopped


class _LockStep:
    """Compares each assignment of the kernel with the next one of plain Python."""

    def __init__(self, python: _PlainRun) -> None:
        self.python = python
        self.places: set[tuple[Place, str]] = set()

    def after(self, code: FunctionCode, statements: Sequence[Stmt]) -> Run | None:
        """What compares behind the statements of one assignment."""
        at = statements[0].at
        steps = [
            self._step(code, at, symbol, statement)
            for symbol, statement in _assigned(statements)
            if (_place(code, at), symbol.name) in self.python.told
        ]

        def run(frame: Frame) -> None:
            for step in steps:
                step(frame)

        return run if steps else None

    def iteration(self, code: FunctionCode, loop: For) -> Run | None:
        """What compares at the begin of an iteration: the innermost variable of loops that are written as one."""
        inner = loop.body[0] if len(loop.body) == 1 else None
        if isinstance(inner, For) and inner.at == loop.at:
            return None
        if (_place(code, loop.at), loop.symbol.name) not in self.python.told:
            return None
        return self._step(code, loop.at, loop.symbol, loop)

    def _step(self, code: FunctionCode, at: Position, symbol: Symbol, statement: Stmt) -> Run:
        place = _place(code, at)
        self.places.add((place, symbol.name))
        where = code.expressions.place(symbol)
        location, name, why = code.expressions.location(at), symbol.name, ConversionReason(symbol, statement)
        subscripts = None
        if isinstance(statement, Store):
            subscripts = code.expressions.element(statement.tensor, statement.indices, statement.at)

        def run(frame: Frame) -> None:
            event = self.python.next()
            if event is None or (event.place, event.name) != (place, name):
                raise _Found(_elsewhere(event, location))
            held = frame[where]
            own = (
                held.data[0]
                if isinstance(held, Elements) and symbol.state is not None and why.is_scalar
                else held
            )
            if event.subscripts is not None and subscripts is not None:
                _compare_subscripts(location, name, event.subscripts, subscripts(frame), held.data.shape)
            _compare(location, name, event, own, why)

        return run


def _place(code: FunctionCode, at: Position) -> Place:
    return code.function.source.file, at[0], at[1]


def _assigned(statements: Sequence[Stmt]) -> list[tuple[Symbol, Stmt]]:
    """The names that statements set, each with the last statement that does."""
    found: dict[Symbol, Stmt] = {}
    for part in parts(tuple(statements)):
        if isinstance(part, Declare) and part.init is not None:
            found[part.symbol] = part
        elif isinstance(part, Stmt):
            alone = part in statements or not isinstance(part, Store)
            kinds = Store | Fill | AssignScalar | Structured
            for symbol in changed_by(part):
                found[symbol] = part if alone and isinstance(part, kinds) else statements[-1]
    return list(found.items())


def _elsewhere(event: _Event | None, kernel: Location | None) -> PythonDifference:
    at = kernel or (None if event is None else Location(event.place[0], event.place[1]))
    python = "at its end" if event is None else f"in line {event.place[1]}"
    why = "a condition or the bounds of a loop in front of here have other values"
    return PythonDifference(
        at, "the next assignment", python, f"in line {kernel.line}" if kernel else "at its end", why
    )


def _compare_subscripts(
    location: Location, name: str, python: tuple[int, ...], kernel: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    """Raises _Found if Python assigns another element; it counts negative subscripts from the end."""
    if len(python) != len(kernel):
        return
    counted = tuple(k + extent if k < 0 else k for k, extent in zip(python, shape, strict=True))
    if counted != kernel:
        why = "they are computed in other types"
        raise _Found(PythonDifference(location, f"the place in '{name}'", list(python), list(kernel), why))


def _compare(location: Location | None, name: str, event: _Event, own: Any, why: ConversionReason) -> None:
    """Raises _Found if Python's value of a variable, element, row or array is not the kernel's."""
    if not isinstance(own, Elements):
        if not same(why.element, event.value, own):
            raise _Found(
                PythonDifference(location, f"'{name}'", event.value, shown(own), why.text(event.value, own))
            )
        return
    first = event.subscripts or ()
    found = first_difference(why.element, event.value, own.data[first] if first else own.data)
    if found is not None:
        place, python, kernel = found
        element = f"'{name}[{', '.join(map(str, (*first, *place)))}]'"
        raise _Found(PythonDifference(location, element, python, shown(kernel), why.text(python, kernel)))


def _at_the_end(
    top: CheckedFunction, results: Any, mine: Sequence[Any], python: _PlainRun
) -> PythonDifference | None:
    """A difference in what the calls leave in arrays and return."""
    for parameter, ours, theirs in zip(top.params, mine, python.inputs, strict=True):
        if isinstance(parameter.type, TensorType):
            found = _arrays_differ(f"'{parameter.name}' after the call", ours, theirs)
            if found is not None:
                return found
    ours = results if isinstance(results, tuple) else (results,) if top.results else ()
    theirs = python.results if isinstance(python.results, tuple) else (python.results,) if top.results else ()
    last = top.body[-1] if top.body else None
    at = top.source.location(last.at) if isinstance(last, Return) else None
    for number, (own, other) in enumerate(zip(ours, theirs, strict=True)):
        found = _arrays_differ("the result" if len(ours) == 1 else f"result {number}", own, other, at)
        if found is not None:
            return found
    return None


def _arrays_differ(what: str, ours: Any, theirs: Any, at: Location | None = None) -> PythonDifference | None:
    why = "it is computed in other types, or not converted to the declared one"
    own, other = np.asarray(ours), np.asarray(theirs)
    if own.shape != other.shape:
        return PythonDifference(at, what, f"of shape {other.shape}", f"of shape {own.shape}", why)
    for place in np.ndindex(own.shape):
        a, b = own[place], other[place]
        if not (a == b or (a != a and b != b)):
            subscripts = f"element {list(place)} of " if place else ""
            return PythonDifference(at, f"{subscripts}{what}", b, a, why)
    return None
