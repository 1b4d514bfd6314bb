"""Axes of the grid of a task along which its values may differ from position to position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...library.structured import along
from ...typing.nodes import (
    AssignScalar,
    Block,
    Call,
    CallSite,
    CombinedValue,
    Copy,
    Declare,
    Element,
    Fill,
    For,
    If,
    Load,
    Stmt,
    Store,
    StreamAsked,
    StreamGet,
    Structured,
    Symbol,
    Var,
    While,
)
from ...typing.writes import changed_by, effects_of, parts

type Axes = frozenset[int]

_NONE: Axes = frozenset()


def varying(
    body: tuple[Stmt, ...],
    positions: Sequence[Symbol],
    known: Mapping[Symbol, Axes],
    agreements: Sequence[CombinedValue],
) -> Mapping[Symbol, Axes]:
    """For each variable the axes along which it may differ, whatever is put into streams: a least fixpoint.

    `known` says it of arguments of which positions have parts. What a variable holds depends on what is stored in it,
    on the subscripts, and on the conditions and bounds around the store.
    """
    found = dict(known) | {symbol: frozenset((axis,)) for axis, symbol in enumerate(positions)}
    analysis = _Analysis(found, {a.result: a for a in agreements}, frozenset(range(len(positions))))
    while analysis.changed:
        analysis.changed = False
        analysis.statements(body, _NONE)
    return found


@dataclass(slots=True)
class _Analysis:
    found: dict[Symbol, Axes]
    agreements: Mapping[Symbol, CombinedValue]
    all_axes: Axes
    changed: bool = True

    def statements(self, body: tuple[Stmt, ...], control: Axes) -> None:
        for statement in body:
            self._statement(statement, control)

    def _statement(self, statement: Stmt, control: Axes) -> None:
        match statement:
            case For(symbol=symbol, lower=lower, upper=upper, step=step, body=body):
                bounds = control | self.of((lower, upper, step))
                self._join(symbol, bounds)
                self.statements(body, bounds)
            case If(condition=condition, body=body, orelse=orelse):
                inside = control | self.of(condition)
                self.statements(body, inside)
                self.statements(orelse, inside)
            case While(condition=condition, body=body):
                self.statements(body, control | self.of(condition))
            case Declare(symbol=symbol, init=init) if init is not None:
                self._join(symbol, control | self.of(init))
            case AssignScalar(symbol=symbol, value=value):
                self._join(symbol, control | self.of(value))
            case Store(tensor=tensor, indices=indices, value=value):
                self._join(tensor, control | self.of((*indices, value)))
            case Fill(tensor=tensor, value=value):
                self._join(tensor, control | self.of(value))
            case Copy(tensor=tensor, source=source):
                self._join(tensor, control | self.of(source))
            case Structured(inputs=inputs, output=output, scalars=scalars):
                read = self.of((*(i.tensor for i in inputs), *(value for _, value in scalars)))
                self._join(output.tensor, control | read)
            case Call(call=call, targets=targets):
                for target in targets:
                    self._join(target, control | self._called(call))
            case _:
                inner = getattr(statement, "body", ())
                self.statements(inner if isinstance(inner, tuple) else (), control)
        self._written_by_calls(statement, control)

    def _written_by_calls(self, statement: Stmt, control: Axes) -> None:
        """Arrays that calls in the expressions of a statement change."""
        if isinstance(statement, For | If | While):
            return
        for part in parts(statement):
            if isinstance(part, CallSite):
                for symbol in changed_by(part):
                    self._join(symbol, control | self._called(part))

    def _called(self, call: CallSite) -> Axes:
        """What a kernel computes depends on its arguments, and on its state."""
        return self.all_axes if effects_of(call.callee).state else self.of(call.arguments)

    def of(self, tree: Any) -> Axes:
        """The axes along which a value may differ."""
        if isinstance(tree, Symbol):
            return self._of_symbol(tree)
        if isinstance(tree, tuple):
            return _NONE.union(*(self.of(part) for part in tree))
        result = _NONE
        for part in parts(tree):
            match part:
                case Var(symbol=symbol) | Load(tensor=symbol):
                    result |= self._of_symbol(symbol)
                case StreamGet() | StreamAsked():
                    return self.all_axes
                case CallSite():
                    result |= self._called(part)
        return result

    def _of_symbol(self, symbol: Symbol) -> Axes:
        agreement = self.agreements.get(symbol)
        if agreement is None:
            return self.all_axes if symbol.stream is not None else self.found.get(symbol, _NONE)
        before, axis = self.of(agreement.sample), frozenset((agreement.axis,))
        return before - axis if agreement.agrees else before | axis

    def _join(self, symbol: Symbol, axes: Axes) -> None:
        before = self.found.get(symbol, _NONE)
        if not axes <= before:
            self.found[symbol] = before | axes
            self.changed = True


def overwrites(statement: Stmt, array: Symbol) -> bool:
    """Whether a statement gives a value to each element of an array, and reads none of it."""
    match statement:
        case Block(body=body):
            first = next((part for part in body if not isinstance(part, Declare)), None)
            return first is not None and overwrites(first, array)
        case Fill(tensor=tensor) | Copy(tensor=tensor):
            return tensor is array
        case Structured(inputs=inputs, output=output, reductions=0):
            mine = output.tensor is array and all(i.tensor is not array for i in inputs)
            return mine and _is_all_of(output, statement)
        case For():
            read = any(isinstance(part, Load) and part.tensor is array for part in parts(statement))
            return not read and _stores_all(statement, array)
    return False


def _is_all_of(output: Element, statement: Structured) -> bool:
    """Whether the iterations of an operation go over an array in its own order."""
    shape = getattr(output.tensor.type, "shape", ())
    return output.subscripts == along(*range(len(shape))) and shape == statement.extents


def _stores_all(nest: For, array: Symbol) -> bool:
    loops: list[For] = []
    inner: Stmt = nest
    while isinstance(inner, For) and len(inner.body) == 1:
        loops.append(inner)
        inner = inner.body[0]
    if not isinstance(inner, Store) or inner.tensor is not array:
        return False
    shape = getattr(array.type, "shape", ())
    order = [getattr(place, "symbol", None) for place in inner.indices]
    if order != [loop.symbol for loop in loops]:
        return False
    bounds = [tuple(getattr(b, "value", None) for b in (loop.lower, loop.upper, loop.step)) for loop in loops]
    return bounds == [(0, extent, 1) for extent in shape]
