"""Loads and stores of blocks under masks, `tile.load` and `tile.store`: loops over elements, with the mask around."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable
from typing import Any

from ...errors import counted
from ...ir.types import TensorType
from .. import tiles
from ..typing.nodes import Stmt, Symbol, SymbolKind
from ..typing.scope import Scope, static_value

type CheckBody = Callable[[list[ast.stmt]], tuple[Stmt, ...]]

_LOAD = "tile.load(A, (m * BM, k * BK), (BM, BK), mask=lambda i, k: i < M and k < K, other=0)"
_STORE = "tile.store(C, (m * BM, n * BN), acc, mask=lambda i, j: i < M and j < N)"


class _Refused(Exception):
    """A mistake that was reported."""


def moved_block(node: ast.stmt, scope: Scope, body: CheckBody) -> tuple[Stmt, ...] | None:
    """What `a: T = tile.load(...)` or `tile.store(...)` means; None for another statement."""
    call = node.value if isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr) else None
    callee = _callee(call, scope) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or not (callee is tiles.load or callee is tiles.store):
        return None
    move = _Move(scope)
    try:
        return body(move.load(node, call) if callee is tiles.load else move.store(call))
    except _Refused:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):  # its uses are no further mistakes
            scope.declare(node.target.id, SymbolKind.INVALID, None, scope.source.position(node))
        return ()


def _callee(call: ast.Call, scope: Scope) -> Any:
    """The function that a call is of, if that is `module.name` or a name of Python's."""
    root = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    if not isinstance(root, ast.Name) or scope.local(root.id) is not None:
        return None
    try:
        return static_value(scope, call.func)
    except (NameError, ValueError):
        return None


class _Move:
    """One statement that moves a block."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def _refuse(self, node: ast.AST, message: str, hint: str) -> _Refused:
        self.scope.error(node, message, hint)
        return _Refused()

    def _arguments(self, call: ast.Call, function: Callable[..., Any], example: str) -> dict[str, ast.expr]:
        """The arguments of a call by parameter."""
        names = {k.arg: k.value for k in call.keywords if k.arg is not None}
        try:
            if len(names) < len(call.keywords) or any(isinstance(one, ast.Starred) for one in call.args):
                raise TypeError("its arguments must be written one by one")
            bound = inspect.signature(function).bind(*call.args, **names)
        except TypeError as error:
            name = f"tile.{function.__name__}"
            raise self._refuse(call, f"the arguments of {name}() do not fit: {error}", f"write `{example}`") from None
        return dict(bound.arguments)

    def load(self, node: ast.stmt, call: ast.Call) -> list[ast.stmt]:
        given = self._arguments(call, tiles.load, _LOAD)
        target = getattr(node, "target", None) or getattr(node, "targets", [None])[0]
        if not isinstance(target, ast.Name) or len(getattr(node, "targets", [0])) > 1:
            raise self._refuse(call, "tile.load() gives a block to an array of the kernel", f"write `a: T = {_LOAD}`")
        shape = [self._extent(one) for one in self._several(given["shape"], "shape", _LOAD)]
        first: list[ast.stmt] = []
        if isinstance(node, ast.AnnAssign):
            first = [ast.copy_location(ast.AnnAssign(target, node.annotation, None, 1), node)]
        elif (known := self.scope.local(target.id)) is None or not isinstance(known.type, TensorType):
            raise self._refuse(call, f"'{target.id}' is no array yet", f"declare it: `{target.id}: T = {_LOAD}`")
        other = given.get("other", ast.Constant(0))
        names = [f"{target.id}_load_{k}" for k in range(len(shape))]
        inner, outer = self._sides(target, given, names, _LOAD)
        move: ast.stmt = ast.Assign([_stored(inner)], outer)
        if "mask" in given:
            move = ast.If(self._mask(given, outer, _LOAD), [move], [ast.Assign([_stored(inner)], other)])
        return [*first, self._loops(call, names, shape, move)]

    def store(self, call: ast.Call) -> list[ast.stmt]:
        given = self._arguments(call, tiles.store, _STORE)
        value = given["value"]
        known = self.scope.local(value.id) if isinstance(value, ast.Name) else None
        if known is not None and known.kind is SymbolKind.INVALID:
            raise _Refused
        if not isinstance(value, ast.Name) or known is None or not isinstance(known.type, TensorType):
            hint = f"assign it to one before: `{_STORE}`"
            raise self._refuse(value, f"tile.store() stores an array of the kernel, got `{ast.unparse(value)}`", hint)
        shape = [int(extent) for extent in known.type.shape]
        names = [f"{value.id}_store_{k}" for k in range(len(shape))]
        inner, outer = self._sides(value, given, names, _STORE)
        move: ast.stmt = ast.Assign([_stored(outer)], inner)
        if "mask" in given:
            move = ast.If(self._mask(given, outer, _STORE), [move], [])
        return [self._loops(call, names, shape, move)]

    def _several(self, node: ast.expr, what: str, example: str) -> list[ast.expr]:
        if not isinstance(node, ast.Tuple | ast.List):
            message = f"the {what} of a block is a tuple, got `{ast.unparse(node)}`"
            raise self._refuse(node, message, f"write `{example}`")
        return node.elts

    def _extent(self, node: ast.expr) -> int:
        try:
            value = static_value(self.scope, node)
        except (NameError, ValueError):
            value = None
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            text = f"extents of a block are constants, at least 1, got `{ast.unparse(node)}`"
            raise self._refuse(node, text, "give names of constants or of template parameters")
        return value

    def _sides(
        self, block: ast.Name, given: dict[str, ast.expr], names: list[str], example: str
    ) -> tuple[ast.Subscript, ast.Subscript]:
        """An element of the block, and of the array."""
        array = given["array"]
        known = self.scope.local(array.id) if isinstance(array, ast.Name) else None
        if not isinstance(array, ast.Name) or not isinstance(known, Symbol) or not isinstance(known.type, TensorType):
            raise self._refuse(array, f"`{ast.unparse(array)}` is no array", f"write `{example}`")
        place = self._several(given["place"], "place", example)
        rank = len(known.type.shape)
        if not len(place) == rank == len(names):
            message = f"'{array.id}' has {rank} dimensions, the place {len(place)}, and the block {len(names)}"
            raise self._refuse(given["place"], message, f"give one start and one extent a dimension: `{example}`")
        moved = [ast.BinOp(start, ast.Add(), _name(name)) for start, name in zip(place, names, strict=True)]
        return _element(block.id, [_name(name) for name in names]), _element(array.id, list(moved))

    def _mask(self, given: dict[str, ast.expr], outer: ast.Subscript, example: str) -> ast.expr:
        """The condition of a mask for an element."""
        mask = given["mask"]
        assert isinstance(outer.slice, ast.Tuple)
        subscripts = outer.slice.elts
        names = ast.unparse(mask.args).split(", ") if isinstance(mask, ast.Lambda) else []
        plain = len(names) == len(subscripts) and all(name.isidentifier() for name in names)
        if not isinstance(mask, ast.Lambda) or not plain:
            text = f"a mask is a lambda of {counted(len(subscripts), 'subscript')}, got `{ast.unparse(mask)}`"
            raise self._refuse(mask, text, f"write `{example}`")
        replaced = _Substituted(dict(zip(names, subscripts, strict=True))).visit(copy.deepcopy(mask.body))
        assert isinstance(replaced, ast.expr)
        return replaced

    def _loops(self, at: ast.expr, names: list[str], shape: list[int], body: ast.stmt) -> ast.stmt:
        for name, extent in zip(reversed(names), reversed(shape), strict=True):
            around = ast.Call(ast.Name("range", ast.Load()), [ast.Constant(extent)], [])
            body = ast.For(ast.Name(name, ast.Store()), around, [body], [])
        for node in ast.walk(body):
            if not hasattr(node, "lineno") and isinstance(node, ast.expr | ast.stmt):
                ast.copy_location(node, at)
        return body


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _element(array: str, subscripts: list[ast.expr]) -> ast.Subscript:
    return ast.Subscript(ast.Name(array, ast.Load()), ast.Tuple(subscripts, ast.Load()), ast.Load())


def _stored(element: ast.Subscript) -> ast.Subscript:
    return ast.Subscript(element.value, element.slice, ast.Store())


class _Substituted(ast.NodeTransformer):
    """Expressions in the places of names; the tree of a kernel is shared, so that a copy is visited."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)
