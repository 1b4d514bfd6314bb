"""Checker of `x, ok = s.try_get()`, which gives two values."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import counted
from ...ir.types import AlloType, TensorType
from ...ir.types import bool as bool_type
from ..typing.nodes import AssignScalar, Declare, Stmt, StreamTryGet, SymbolKind
from ..typing.scope import Scope
from .packing import block_type, unpack, word_of

if TYPE_CHECKING:
    from .expressions import ExpressionChecker
    from .results import Assign

_HELD = (".element", ".done")  # names that Python has not


class TryChecker:
    """Turns assignments of what `try_get` gives into typed statements; none after an error was reported."""

    def __init__(self, scope: Scope, expressions: ExpressionChecker, assign: Assign) -> None:
        self.scope = scope
        self.expressions = expressions
        self.assign = assign

    def statements(self, node: ast.Assign, call: ast.Call, targets: Sequence[ast.expr]) -> tuple[Stmt, ...]:
        """Both values to variables, and from there one after the other to places that are none."""
        found = self.expressions.streams.tried(call)
        if found is not None and len(targets) != 2:
            given = counted(len(targets), "name")
            self.scope.error(node, f"`{ast.unparse(call)}` gives two values, but {given} stand on the left")
            found = None
        if found is None:
            self._give_up(targets)
            return ()
        stream, indices = found
        kind = stream.stream
        assert kind is not None
        at = self.scope.source.position(node)
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        element = block_type(kind) if kind.packed else kind.element
        direct = len(names) == 2 and self._holds(names[0], element) and self._holds(names[1], bool_type)
        value_name, done_name = (names[0], names[1]) if direct else _HELD
        value, done = self.scope.local(value_name), self.scope.local(done_name)
        builder = self.expressions.builder
        before, after = builder.take_pending()
        made: list[Stmt] = [*before]
        if value is None or not direct:
            value = self.scope.declare(value_name, _kind_of(element), element, at)
            made.append(Declare(at, value, None))
        into = word_of(stream, at) if kind.packed else value
        made += [Declare(at, into, None)] if kind.packed else []
        value.assigned = into.assigned = True
        tried = StreamTryGet(bool_type, at, stream, indices, into)
        if done is None or not direct:
            made.append(Declare(at, self.scope.declare(done_name, SymbolKind.SCALAR, bool_type, at), tried))
        else:
            done.assigned = True
            made.append(AssignScalar(at, done, tried))
        made += [*(unpack(into, kind, value, at) if kind.packed else ()), *after]
        for target, name in zip(targets, () if direct else _HELD, strict=not direct):
            value_node = ast.copy_location(ast.Name(name, ast.Load()), target)
            placed = self.assign(ast.copy_location(ast.Assign([target], value_node), node))
            first, last = builder.take_pending()
            made += [*first, *placed, *last]
        return tuple(made)

    def _holds(self, name: str, kind: AlloType | TensorType) -> bool:
        """Whether a name is new, or a variable of a type."""
        symbol = self.scope.local(name)
        if symbol is None:
            return True
        return symbol.kind is _kind_of(kind) and symbol.type == kind and symbol.state is symbol.constant is None

    def _give_up(self, targets: Sequence[ast.expr]) -> None:
        """Names that stay without a value: uses of them are no further mistakes."""
        for target in targets:
            if isinstance(target, ast.Name) and self.scope.local(target.id) is None:
                self.scope.declare(target.id, SymbolKind.INVALID, None, self.scope.source.position(target))


def _kind_of(kind: AlloType | TensorType) -> SymbolKind:
    return SymbolKind.TENSOR if isinstance(kind, TensorType) else SymbolKind.SCALAR
