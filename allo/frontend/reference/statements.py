"""Statements and functions of the typed tree as functions that carry them out."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ...errors import CheckError, InternalError
from ...ir.types import TensorType
from ..typing.nodes import (
    AssignScalar,
    Block,
    Call,
    CallSite,
    Cast,
    CheckedFunction,
    Copy,
    Declare,
    Expr,
    Fill,
    For,
    If,
    Load,
    Return,
    Stmt,
    Store,
    StreamPut,
    Structured,
    Symbol,
    TaskGrid,
    Var,
    While,
)
from .boundary import elements_of
from .expressions import SHARED, Elements, Evaluate, Expressions, Frame
from .external import ExternalFunction
from .processes import Scheduler
from .streams import Apart, Starts, fresh_streams, is_process, put_run, region_run
from .structured import structured_run
from .subnormals import KEEPING, TypedArithmetic
from .values import UNREADY, NoValue, Value

type Run = Callable[[Frame], None]
_HINT = "give it one where it is declared; what is made of elements without a value has none either"


class Watch(Protocol):
    """Sees what a program does, statement by statement."""

    def after(self, code: FunctionCode, statements: Sequence[Stmt]) -> Run | None:
        """What to do behind these statements, which stem from one of the kernel."""

    def iteration(self, code: FunctionCode, loop: For) -> Run | None:
        """What to do at the begin of each iteration."""


class ProgramCode:
    """The functions of a program, and the values that it keeps between calls."""

    def __init__(
        self, watch: Watch | None = None, apart: Apart = lambda _: {}, arithmetic: TypedArithmetic = KEEPING
    ) -> None:
        self.watch = watch
        self.arithmetic = arithmetic
        self.apart = apart
        self._functions: dict[CheckedFunction, FunctionCode | ExternalFunction] = {}
        self._states: dict[int, Elements] = {}
        self.scheduler = Scheduler()

    def function(self, function: CheckedFunction) -> FunctionCode | ExternalFunction:
        """The code of a function, made once."""
        if function not in self._functions:
            is_here = function.external is None
            self._functions[function] = FunctionCode(function, self) if is_here else ExternalFunction(function)
        return self._functions[function]

    def state(self, symbol: Symbol) -> Elements:
        """What a Stateful variable holds."""
        key = id(symbol.state)
        if key not in self._states:
            assert symbol.type is not None
            self._states[key] = elements_of(
                symbol.type, symbol.state.reshape(symbol.state.shape or (1,)), "a state"
            )
            self._states[key].visible = True
        return self._states[key]


def ended(error: NoValue) -> CheckError:
    """The error of using what has no value."""
    return CheckError(f"{error.what} has no value where it is read", at=error.at, hint=_HINT)


class FunctionCode:
    """A function, ready to run."""

    def __init__(self, function: CheckedFunction, program: ProgramCode) -> None:
        self.function = function
        self.program = program
        self.expressions = Expressions(function, self._call_site, lambda: program.scheduler, program.arithmetic)
        self._body = [self._region()] if function.is_region else self.block(function.body)
        self._params = [self.expressions.place(p) for p in function.params]
        self._frame = self._constants()

    def _constants(self) -> Frame:
        """A frame with the arrays that every call has."""
        for parameter in self.function.params:
            for extent in parameter.extents:
                if extent is not None:
                    self.expressions.place(extent)
        frame: Frame = [None] * (len(self.expressions.names) + 1)
        for symbol, place in self.expressions.names.items():
            if symbol.state is not None:
                frame[place] = self.program.state(symbol)
            elif symbol.constant is not None:
                assert symbol.type is not None
                frame[place] = elements_of(symbol.type, symbol.constant, f"'{symbol.name}'")
        return frame

    def run(self, arguments: Sequence[Any]) -> list[Any]:
        """The results for arguments: `Elements` for arrays, else values."""
        frame = [*self._frame]
        frame[SHARED] = {}
        for place, parameter, argument in zip(self._params, self.function.params, arguments, strict=True):
            frame[place] = argument
            for dimension, extent in enumerate(parameter.extents):
                if extent is not None:
                    frame[self.expressions.place(extent)] = argument.data.shape[dimension]
        results: list[Any] = []
        for statement in self._body:
            found = statement(frame)
            if found is not None:
                results = found
        return results

    # -- blocks and branches ----------------------------------------------------------------------------------

    def block(self, statements: Sequence[Stmt], around: Stmt | None = None) -> list[Callable[[Frame], Any]]:
        """The statements in their order, with what watches them; those of loops over an array are one statement."""
        made: list[Callable[[Frame], Any]] = []
        watch = self.program.watch
        for at, group in itertools.groupby(statements, lambda statement: statement.at[:2]):
            together = list(group)
            made += [self.statement(statement) for statement in together]
            is_part = around is not None and around.at[:2] == at
            seen = None if watch is None or is_part else watch.after(self, together)
            if seen is not None:
                made.append(seen)
        return made

    def statement(self, statement: Stmt) -> Callable[[Frame], Any]:
        """What carries out one statement; that of a `return` gives the results."""
        match statement:
            case Declare():
                return self._declare(statement)
            case AssignScalar(symbol=symbol, value=value):
                return self._set(symbol, value)
            case Store():
                return self._store(statement)
            case Fill(tensor=tensor, value=value):
                return self._fill(tensor, value)
            case Copy(tensor=tensor, source=source):
                return self._copy(tensor, source)
            case For():
                return self._for(statement)
            case While():
                return self._while(statement)
            case If():
                return self._if(statement)
            case Call():
                return self._call(statement)
            case Return(values=values):
                return self._return(values)
            case StreamPut():
                return put_run(self.expressions, self.program, statement)
            case TaskGrid(call=call):
                return self._call(Call(statement.at, call, (), ()))
            case Structured():
                return structured_run(self.expressions, statement)
            case Block(body=body):
                return self._sequence(self.block(body, statement))
        raise InternalError(
            f"no meaning for {type(statement).__name__}", at=self.expressions.location(statement.at)
        )

    def _region(self) -> Run:
        """The statements of a region, which run at the same time."""
        made: list[tuple[Stmt, Starts | Run]] = []
        for statement in self.function.body:
            action = self.statement(statement)
            if isinstance(statement, TaskGrid):
                places = tuple(map(self.expressions.place, statement.positions))
                made.append((statement, Starts(action, places, statement.extents if places else ())))
            else:
                made.append((statement, Starts(action) if is_process(statement) else action))
        return region_run(self.function, made, self.program)

    def _sequence(self, steps: Sequence[Run]) -> Run:
        def run(frame: Frame) -> None:
            for step in steps:
                step(frame)

        return run

    def _for(self, loop: For) -> Run:
        bounds = [self.expressions.index(bound) for bound in (loop.lower, loop.upper, loop.step)]
        place, body = self.expressions.place(loop.symbol), self.block(loop.body, loop)
        watch = None if self.program.watch is None else self.program.watch.iteration(self, loop)
        if watch is not None:
            body = [watch, *body]

        def run(frame: Frame) -> None:
            frame[SHARED] = {}
            lower, upper, step = [bound(frame) for bound in bounds]
            for value in range(lower, upper, step) if step else ():  # a step of 0 at run time: never
                frame[place] = value
                for inner in body:
                    inner(frame)

        return run

    def _while(self, loop: While) -> Run:
        first, condition = self.block(loop.first), self.expressions.whole(loop.condition)
        body = self.block(loop.body)

        def run(frame: Frame) -> None:
            while True:
                for inner in first:
                    inner(frame)
                frame[SHARED] = {}
                if not condition(frame):
                    return
                for inner in body:
                    inner(frame)

        return run

    def _if(self, statement: If) -> Run:
        condition = self.expressions.whole(statement.condition)
        body, orelse = self.block(statement.body), self.block(statement.orelse)

        def run(frame: Frame) -> None:
            frame[SHARED] = {}
            for inner in body if condition(frame) else orelse:
                inner(frame)

        return run

    # -- variables and arrays ---------------------------------------------------------------------------------

    def _assign(self, symbol: Symbol) -> Callable[[Frame, Value], None]:
        place = self.expressions.place(symbol)

        def assign(frame: Frame, value: Value) -> None:
            frame[place] = value

        def keep(frame: Frame, value: Value) -> None:
            frame[place].data[0] = value

        return assign if symbol.state is None else keep

    def _set(self, symbol: Symbol, expr: Expr) -> Run:
        """A variable may get what is computed of elements without a value, and not such an element itself."""
        assign, value = self._assign(symbol), self.expressions.value(expr)
        moved = expr
        while isinstance(moved, Cast) and moved.type.bits == moved.operand.type.bits:
            moved = moved.operand
        strict = isinstance(moved, Load | Var) or symbol.state is not None

        def run(frame: Frame) -> None:
            frame[SHARED] = {}
            try:
                found = value(frame)
            except NoValue:
                if strict:
                    raise
                found = None
            assign(frame, found)

        return run

    def _declare(self, statement: Declare) -> Run:
        symbol, init = statement.symbol, statement.init
        place = self.expressions.place(symbol)
        if symbol.stream is not None:
            made = fresh_streams(self.function, symbol)
            return lambda frame: frame.__setitem__(place, made())
        if not isinstance(symbol.type, TensorType):
            if init is None:
                return self._fresh(place, None)
            assert isinstance(init, Expr)
            return self._set(symbol, init)
        fresh = self._fresh(place, symbol.type.shape)
        if init is None:
            return fresh
        start = self._copy(symbol, init) if isinstance(init, Symbol) else self._fill(symbol, init)
        return self._sequence([fresh, start])

    def _fresh(self, place: int, shape: tuple[int, ...] | None) -> Run:
        def run(frame: Frame) -> None:
            frame[place] = None if shape is None else Elements(np.full(shape, None, object))

        return run

    def _store(self, statement: Store) -> Run:
        array, value = self.expressions.place(statement.tensor), self.expressions.value(statement.value)
        subscripts = self.expressions.element(statement.tensor, statement.indices, statement.at)

        def run(frame: Frame) -> None:
            frame[SHARED] = {}
            try:
                found = value(frame)
            except NoValue:
                if frame[array].visible:
                    raise
                found = None
            frame[array].data[subscripts(frame)] = found

        return run

    def _fill(self, tensor: Symbol, expr: Expr) -> Run:
        array, value = self.expressions.place(tensor), self.expressions.value(expr)

        def run(frame: Frame) -> None:
            frame[SHARED] = {}
            found, data = value(frame), frame[array].data
            for place in np.ndindex(data.shape):
                data[place] = found

        return run

    def _copy(self, tensor: Symbol, source: Symbol) -> Run:
        assert isinstance(tensor.type, TensorType) and isinstance(source.type, TensorType)
        convert = self.expressions.arithmetic.conversion(source.type.element, tensor.type.element)
        target, given = self.expressions.place(tensor), self.expressions.place(source)
        location = self.expressions.location

        def run(frame: Frame) -> None:
            values, into = frame[given].data.copy(), frame[target]
            for place in np.ndindex(into.data.shape):
                value = values[place]
                if type(value) in UNREADY:
                    if into.visible:
                        text = f"element [{', '.join(map(str, place))}] of '{source.name}'"
                        raise NoValue(text, location(source.at))
                    into.data[place] = None
                else:
                    into.data[place] = value if convert is None else convert(value)

        return run

    # -- calls and results ------------------------------------------------------------------------------------

    def _call_site(self, site: CallSite) -> Callable[[Frame], list[Any]]:
        callee = self.program.function(site.callee)
        arguments: list[Evaluate] = [
            self._array(argument) if isinstance(argument, Symbol) else self.expressions.value(argument)
            for argument in site.arguments
        ]
        return lambda frame: callee.run([argument(frame) for argument in arguments])

    def _array(self, symbol: Symbol) -> Evaluate:
        place = self.expressions.place(symbol)
        return lambda frame: frame[place]

    def _call(self, statement: Call) -> Run:
        run = self._call_site(statement.call)
        targets = [
            (target, self.expressions.place(target), self._assign(target)) for target in statement.targets
        ]

        def call(frame: Frame) -> None:
            frame[SHARED] = {}
            results = run(frame)
            pairs = zip(targets, statement.declares, results if targets else (), strict=True)
            for (target, place, assign), declared, result in pairs:
                if isinstance(target.type, TensorType) and not declared:
                    frame[place].data[...] = result.data
                elif declared:
                    frame[place] = result
                else:
                    assign(frame, result)

        return call

    def _return(self, values: Sequence[Expr | Symbol]) -> Callable[[Frame], list[Any]]:
        made = [self._array(v) if isinstance(v, Symbol) else self.expressions.value(v) for v in values]

        def results(frame: Frame) -> list[Any]:
            frame[SHARED] = {}
            found = [value(frame) for value in made]
            return [Elements(value.data.copy()) if isinstance(value, Elements) else value for value in found]

        return results
