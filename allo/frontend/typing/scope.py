"""Scopes of names: C-like blocks, then the free names of the kernel."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...errors import Diagnostic, Note, nearest
from ...ir.types import AlloType, ChannelType, TensorType
from ..read.source import KernelSource, Position, is_of_callers
from .nodes import CheckedFunction, CombinedValue, Symbol, SymbolKind
from .rules import TypingRules
from .tables import DEFAULT

_MISSING = object()

type Mask = np.ndarray[Any, np.dtype[np.bool_]]  # which positions of a grid
type Captured = list[tuple[Symbol, Symbol]]  # a name of a task, and what it means in the region around it


class Scope:
    """Names, constants and errors of one kernel while it is checked."""

    def __init__(
        self,
        source: KernelSource,
        diagnostics: list[Diagnostic],
        compile_callee: Callable[[Any, ast.AST, Scope], CheckedFunction | None],
        rules: TypingRules = DEFAULT,
        compile_task: Callable[[KernelSource, tuple[int, ...], Captured], CheckedFunction | None] | None = None,
    ) -> None:
        self.source = source
        self.diagnostics = diagnostics
        self.compile_callee = compile_callee
        self.compile_task = compile_task
        self.rules = rules
        self.depth = 0  # loops around the statement that is checked
        self.read: set[str] = set()  # the free names that were looked up
        self.positions: tuple[Symbol, ...] = ()  # of a task in its grid
        self.grid: tuple[int, ...] = ()  # its extents
        self.here: Mask | None = None  # at which of its positions a task runs what is checked; None: at all
        self.partial: dict[Symbol, Mask] = {}  # what only these positions declare
        self.choices = 0  # loops and branches around it that positions may decide about in different ways
        self.tasks: dict[str, Position] = {}  # of a region, with the places of their definitions
        self.links: list[Symbol] = []  # streams between the positions, which collectives use
        self.agreements: list[CombinedValue] = []  # what those give
        self.is_alone = True  # without other functions, constant arrays and states
        self._blocks: list[dict[str, Symbol]] = [{}]
        self._joined: dict[int, dict[str, Symbol]] = {}  # by depth, what a branch declares as one before it did
        self._ended: dict[str, Symbol] = {}
        self._unknown: set[str] = set()
        self._constants: dict[int, Symbol] = {}

    def error(self, node: ast.AST, message: str, hint: str | None = None) -> None:
        """Report a mistake at `node` and go on."""
        self.error_at(self.source.position(node), message, hint)

    def error_at(
        self, at: Position, message: str, hint: str | None = None, notes: tuple[Note, ...] = ()
    ) -> None:
        """Report a mistake at a known place and go on."""
        self.diagnostics.append(Diagnostic(message, self.source.location(at), hint, notes))

    def enter(self) -> None:
        self._blocks.append({})

    def enter_branch(self, joined: dict[str, Symbol], here: Mask) -> Mask | None:
        """Enter a block that only the positions `here` run, and that may declare what others have `joined` before it.

        Gives what `leave_branch` wants.
        """
        around = self.here
        self.enter()
        self._joined[len(self._blocks)] = joined
        self.here = here if around is None else around & here
        return around

    def leave_branch(self, around: Mask | None) -> dict[str, Symbol]:
        """Leave a branch; what it has declared."""
        del self._joined[len(self._blocks)]
        self.here = around
        declared = self._blocks[-1]
        self.leave()
        return declared

    def drop(self) -> None:
        """Leave a block whose names nobody has written."""
        self._blocks.pop()

    def leave(self) -> None:
        self._ended.update(self._blocks.pop())

    def declare(
        self, name: str, kind: SymbolKind, symbol_type: AlloType | TensorType | None, at: Position
    ) -> Symbol:
        """A new name in the innermost block."""
        known = None
        if name not in self._blocks[-1]:
            known = self._joined.get(len(self._blocks), {}).get(name)
        if known is None or known.kind is not kind or known.type != symbol_type:
            known = Symbol(name, kind, symbol_type, at)
        self._blocks[-1][name] = known
        return known

    def declare_stream(self, name: str, carries: ChannelType, at: Position) -> Symbol:
        """A new stream in the innermost block."""
        symbol = self.declare(name, SymbolKind.STREAM, None, at)
        symbol.stream = carries
        return symbol

    def alias(self, name: str, symbol: Symbol) -> None:
        """A further name of what is declared already, in the innermost block."""
        self._blocks[-1][name] = symbol

    def visible(self) -> Iterator[Symbol]:
        """What names mean here, each name once."""
        names = {name: symbol for block in self._blocks for name, symbol in block.items()}
        yield from names.values()

    def local(self, name: str) -> Symbol | None:
        """The declaration of `name` that is in scope."""
        for block in reversed(self._blocks):
            if name in block:
                symbol = block[name]
                return None if symbol in self.partial and not self._is_declared(symbol) else symbol
        return None

    def _is_declared(self, symbol: Symbol) -> bool:
        """Whether all positions that run what is checked have declared what some of them do."""
        known = self.partial[symbol]
        return bool((known if self.here is None else known | ~self.here).all())

    def define(self, name: str, value: Any, at: Position) -> None:
        """A name for a Python value, in the innermost block."""
        self.declare(name, SymbolKind.STATIC, None, at).constant = value

    def static_names(self) -> dict[str, Any]:
        """All names that mean a Python value here."""
        names = dict(self.source.names)
        for block in self._blocks:
            for name, symbol in block.items():
                if symbol.kind is SymbolKind.STATIC:
                    names[name] = symbol.constant
                else:
                    names.pop(name, None)
        return names

    def free(self, name: str) -> Any:
        """The Python value of a free name; KeyError if there is none."""
        self.read.add(name)
        value = self.source.names.get(name, _MISSING)
        if value is _MISSING:
            raise KeyError(name)
        return value

    def report_unknown(self, node: ast.Name, hint: str | None = None) -> None:
        """Say once that `node.id` means nothing here; `hint` is for names that are like no other."""
        symbol = self.local(node.id)
        if node.id in self._unknown or (symbol is not None and symbol.kind is SymbolKind.INVALID):
            return
        self._unknown.add(node.id)
        elsewhere = next((known for known in self.partial if known.name == node.id), None)
        if elsewhere is not None:
            self.error(
                node,
                f"'{node.id}' is declared at some positions of the task only, by the branch of line {elsewhere.at[0]}",
                "declare it before the branches",
            )
            return
        if node.id in self._ended:
            line = self._ended[node.id].at[0]
            self.error(
                node,
                f"'{node.id}' is not in scope here: its declaration on line {line} ended with the block",
                "declare it before the loop or branch",
            )
            return
        if node.id in self.tasks:
            message = f"'{node.id}' is a task of the region, which runs it at each position of its mapping"
            self.error(node, message, "take the call out, or make it a function of its own to call it")
            return
        self.error(node, f"name '{node.id}' is not defined", nearest(node.id, self.known_names()) or hint)

    def report_unknown_in(self, node: ast.expr, name: str, hint: str | None = None) -> None:
        """Say that `name` means nothing, at its place in the expression `node`."""
        self.report_unknown(next(n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name), hint)

    def known_names(self) -> list[str]:
        """The names that a kernel can use here, for hints: not every name that Python has built in."""
        function = self.source.function
        free = [n for n, v in self.source.names.items() if vars(builtins).get(n, _MISSING) is not v]
        free = [n for n in free if function is None or not is_of_callers(function, n)]
        names = [name for block in self._blocks for name in block]
        return [*names, "range", "min", "max", "abs", "int", "float", *(n for n in free if n[:2] != "__")]

    def constant_tensor(
        self, name: str, array: np.ndarray[Any, Any], element: AlloType, at: Position
    ) -> Symbol:
        """The symbol of a NumPy array that the kernel closes over; one for each array."""
        self.is_alone = False
        key = id(array)
        if key not in self._constants:
            symbol = Symbol(name, SymbolKind.TENSOR, TensorType(element, array.shape), at)
            symbol.constant = array
            self._constants[key] = symbol
        return self._constants[key]


def _bound_within(node: ast.expr) -> set[str]:
    """The variables of comprehensions and lambdas in an expression."""
    nodes = list(ast.walk(node))
    assigned = {child.id for child in nodes if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)}
    return assigned | {child.arg for child in nodes if isinstance(child, ast.arg)}


def static_value(scope: Scope, node: ast.expr) -> Any:
    """Evaluate an expression over free names only.

    Raises ValueError with the reason if it is not one, and NameError with a name that has no value, or a wrong one.
    """
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return _static_name(scope, node.id)
    own = _bound_within(node)
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and child.id in own:
            if scope.local(child.id) is None:
                scope.read.add(child.id)
        elif isinstance(child, ast.Name):
            _static_name(scope, child.id)
    code = compile(ast.Expression(node), scope.source.file, "eval")
    try:
        return eval(code, scope.static_names())
    except Exception as error:
        kind = "" if isinstance(error, AttributeError | TypeError) else f"{type(error).__name__}: "
        raise ValueError(f"{kind}{error}") from None


def _static_name(scope: Scope, name: str) -> Any:
    """The Python value of a name."""
    symbol = scope.local(name)
    if symbol is None:
        scope.read.add(name)
        if name not in scope.source.names:
            raise NameError(name)
        return scope.source.names[name]
    if symbol.kind is SymbolKind.INVALID:
        raise NameError(name)  # which has been told
    if symbol.kind is not SymbolKind.STATIC:
        raise ValueError(f"'{name}' is a run-time value")
    return symbol.constant
