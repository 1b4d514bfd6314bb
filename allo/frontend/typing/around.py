"""Statements hoisted around the one that is built: what is computed in front of it, once, and what follows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any, NamedTuple, Protocol

from ...ir.types import TensorType
from ..read.source import Position
from .nodes import (
    Call,
    CallEffects,
    CallSite,
    Const,
    Declare,
    Expr,
    KernelCall,
    Load,
    Stmt,
    Symbol,
    SymbolKind,
    Var,
)
from .rules import TypingRules
from .view import View
from .writes import arrays_read, calls_kernel, effects_in, effects_of, parts

type Place = Callable[[tuple[Expr, ...]], Load]


class KernelContext(Protocol):
    """Where a kernel is built: by which rules, how many loops deep, and where its mistakes go."""

    @property
    def rules(self) -> TypingRules: ...

    @property
    def depth(self) -> int: ...

    def error_at(self, at: Position, message: str, hint: str | None = None) -> None: ...


class Seen(NamedTuple):
    """What the statement does in front of some part of it: read elements, call kernels that change something."""

    read: bool = False
    written: bool = False
    state: bool = False


_NOTHING = Seen()


class Around:
    """Statements that the current one needs before and behind it, in the order in which Python would do them."""

    def __init__(self, context: KernelContext) -> None:
        self.context = context
        self.seen = _NOTHING
        self._branches = 0
        self._before: list[Stmt] = []
        self._after: list[Stmt] = []

    def take_pending(self) -> tuple[list[Stmt], list[Stmt]]:
        """Statements that the current one needs before and behind it."""
        pending = self._before, self._after
        self._before, self._after = [], []
        self.seen = _NOTHING
        return pending

    def restore_pending(self, pending: tuple[list[Stmt], list[Stmt]]) -> None:
        """Put back what `take_pending` gave: it belongs to the statement around a block."""
        self._before, self._after = pending

    @contextmanager
    def branch(self) -> Iterator[None]:
        """Around the check of an expression that is evaluated only in some cases."""
        self._branches += 1
        try:
            yield
        finally:
            self._branches -= 1

    def has_read(self) -> None:
        """An element is read where it stands in the statement."""
        if not self.seen.read:
            self.seen = Seen(True, self.seen.written, self.seen.state)

    def in_front(self, at: Position, what: str, seen: Seen, effects: CallEffects) -> bool:
        """Whether `what` may be done in front of the statement instead of behind the parts that `seen` tells of."""
        if self._branches:
            message = f"{what} cannot be done in a part of an expression that is evaluated only in some cases"
            self.context.error_at(at, message, "use an `if` statement, and give the value to a variable there")
            return False
        if seen.written or (effects.written and seen.read) or (effects.state and seen.state):
            message = f"{what} depends on the order in which this statement reads and changes arrays"
            self.context.error_at(at, message, "give its value to a variable in a statement before")
            return False
        return True

    def do_first(self, statements: Iterable[Stmt]) -> None:
        """Do these in front of the current statement."""
        self._before += statements

    def variable(self, value: Expr, name: str = "value") -> Var:
        """`value`, computed in front of the current statement."""
        symbol = Symbol(name, SymbolKind.SCALAR, value.type, value.at)
        self._before.append(Declare(value.at, symbol, value))
        return Var(value.type, value.at, symbol)

    def read_first(self, place: Load, check: Callable[[], Expr | Symbol | View | None]) -> tuple[Expr, Any]:
        """The element `place` as it is before the value that `check` checks is computed, and that value."""
        mark, self.seen = len(self._before), _NOTHING
        value = check()
        if len(self._before) == mark:
            return place, value
        symbol = Symbol(f"{place.tensor.name}_value", SymbolKind.SCALAR, place.type, place.at)
        self._before.insert(mark, Declare(place.at, symbol, place))
        return Var(place.type, place.at, symbol), value

    def settled(self, value: Expr) -> Expr:
        """`value`, computed together with what it needs in front of the current statement."""
        if not self._before:
            return value
        return self.variable(value, "condition" if value.type.bits == 1 else "value")

    def once(self, value: Expr, target: Symbol) -> Expr:
        """`value`, computed before elements of `target` are set, if another time it could differ."""
        if target not in arrays_read(value) and not calls_kernel(value):
            return value
        return self.variable(value, f"{target.name}_value")

    def extents_once(self, extents: list[Expr]) -> list[Expr]:
        """The extents of nested loops, which are computed once although the inner loops start many times."""
        inner = [part for extent in extents[1:] for part in parts(extent)]
        variables = any(isinstance(part, Var) and part.symbol.kind is SymbolKind.SCALAR for part in inner)
        if not variables and not any(isinstance(part, Load | KernelCall) for part in inner):
            return extents
        return [extent if isinstance(extent, Const) else self.variable(extent, "extent") for extent in extents]

    def called_once(self, value: Expr, seen: Seen) -> Expr | None:
        """`value` for use in every element of an array; None after an error. `seen` is what came before it."""
        if not calls_kernel(value):
            return value
        if not self.in_front(value.at, "the call of a kernel for a whole array", seen, effects_in(value)):
            return None
        self.seen = seen
        return self.variable(value)

    def received(self, at: Position, call: CallSite, seen: Seen) -> Symbol | None:
        """The result of a call in front of the current statement; None after an error."""
        result = call.callee.results[0]
        if not self.in_front(at, f"the call of '{call.callee.name}'", seen, effects_of(call.callee)):
            return None
        kind = SymbolKind.TENSOR if isinstance(result, TensorType) else SymbolKind.SCALAR
        symbol = Symbol(f"{call.callee.name}_result", kind, result, at)
        self._before += [Call(at, call, (symbol,), (True,)), *self._after]
        self._after = []
        self.seen = seen
        return symbol

    def has_called(self, call: CallSite) -> None:
        """A kernel is called where it stands in the statement."""
        effects = effects_of(call.callee)
        self.seen = Seen(True, self.seen.written or bool(effects.written), self.seen.state or effects.state)

    def needs_after(self) -> bool:
        """Whether the call that was just checked has to be followed by statements."""
        return bool(self._after)

    def pinned(self, place: Place) -> Place:
        """`place`, with subscripts that are read from arrays read once, in front of the current statement."""
        known: dict[Expr, Expr] = {}

        def fixed(indices: tuple[Expr, ...]) -> Load:
            element = place(indices)
            loops = {index.symbol for index in indices if isinstance(index, Var)}
            return replace(element, indices=tuple(self._pin(index, loops, known) for index in element.indices))

        return fixed

    def _pin(self, expr: Expr, loops: set[Symbol], known: dict[Expr, Expr]) -> Expr:
        if not arrays_read(expr) and not calls_kernel(expr):
            return expr
        if not any(isinstance(part, Var) and part.symbol in loops for part in parts(expr)):
            if expr not in known:
                known[expr] = self.variable(expr, "subscript")
            return known[expr]
        changed: dict[str, Any] = {}
        for field in fields(expr):
            value = getattr(expr, field.name)
            if isinstance(value, Expr):
                changed[field.name] = self._pin(value, loops, known)
            elif isinstance(value, tuple):
                changed[field.name] = tuple(self._pin(v, loops, known) if isinstance(v, Expr) else v for v in value)
        return replace(expr, **changed)
