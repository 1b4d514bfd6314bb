"""Type annotations: `T`, `T[M, N]`, and either of them as a string."""

from __future__ import annotations

import ast
import builtins
import math
from typing import Any

from ...errors import nearest
from ...ir import types
from ...ir.memory import Memory
from ...ir.qualified import Qualifier
from ...ir.types import AlloType, TensorType
from ..typing.scope import Scope, static_value

_PYTHON_TYPES: dict[type, AlloType] = {
    builtins.int: types.int32,
    builtins.float: types.float32,
    builtins.bool: types.bool,
}


_NOT_EVALUATED = object()
_STATIC = "variables and results have a size that is known when the kernel is compiled: give every extent a number"
_FORGOTTEN = (
    "if it is a variable of the function around the kernel, drop `from __future__ import annotations`, which hides it"
)
_MAX_TENSOR_BITS = 1 << 50  # addresses have 47 bits


def read_annotation(scope: Scope, node: ast.expr, run_time: bool = False) -> AlloType | TensorType | None:
    """The type that `node` names, or None after reporting why there is none; `run_time` admits extents `...`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        inner = _parsed(node)
        if inner is None:
            scope.error(node, f"the annotation {node.value!r} is not an expression")
            return None
        return read_annotation(scope, inner, run_time)
    if isinstance(node, ast.Subscript):
        return _read_tensor(scope, node, run_time)
    value = _evaluate(scope, node)
    if value is _NOT_EVALUATED:
        return None
    return _as_scalar_or_tensor(scope, node, value, run_time)


def _parsed(node: ast.expr) -> ast.expr | None:
    """An annotation that may be a string, as an expression; None if the string is none."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return node
    try:
        inner = ast.parse(node.value.strip(), mode="eval").body
    except SyntaxError:
        return None
    for child in ast.walk(inner):
        ast.copy_location(child, node)
    return inner


def split_memory(scope: Scope, node: ast.expr) -> tuple[Memory | None, ast.expr]:
    """`T @ Memory(...)` as the memory and `T`; anything else as it is."""
    inner = _parsed(node)
    if not isinstance(inner, ast.BinOp) or not isinstance(inner.op, ast.MatMult):
        return None, node
    try:
        value = static_value(scope, inner.right)
    except (ValueError, NameError):
        return None, node
    return (value, inner.left) if isinstance(value, Memory) else (None, node)


def split_qualifier(scope: Scope, node: ast.expr) -> tuple[str | None, ast.expr]:
    """`Stateful[T]`, `Stateful(T)`, `T @ Stateful` (and ConstExpr) as the qualifier's name and `T`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        outer, inner = node.right, node.left
    elif isinstance(node, ast.Subscript):
        outer, inner = node.value, node.slice
    elif isinstance(node, ast.Call) and len(node.args) == 1:
        outer, inner = node.func, node.args[0]
    else:
        return None, node
    try:
        value = static_value(scope, outer)
    except (ValueError, NameError):
        return None, node
    return (value.name, inner) if isinstance(value, Qualifier) else (None, node)


def _evaluate(scope: Scope, node: ast.expr) -> Any:
    try:
        return static_value(scope, node)
    except NameError as error:
        name = error.args[0]
        known = {**vars(types), **scope.source.names}.items()
        hint = nearest(name, [n for n, value in known if isinstance(value, AlloType | TensorType)])
        if hint is None and scope.source.forgets_enclosing_names:
            hint = _FORGOTTEN
        elif hint is None or name in vars(types):
            hint = "import it from allo.ir.types"
        scope.error(node, f"Unsupported type `{name}`: the name is not defined", hint)
    except ValueError as error:
        scope.error(node, f"Unsupported type `{ast.unparse(node)}`: {error}")
    return _NOT_EVALUATED


def _as_scalar_or_tensor(scope: Scope, node: ast.expr, value: Any, run_time: bool) -> AlloType | TensorType | None:
    if isinstance(value, TensorType) and not (value.is_static or run_time):
        scope.error(node, f"only an argument can have a run-time extent, not {value!r}", _STATIC)
        return None
    if isinstance(value, TensorType) and not all(
        isinstance(extent, int) and (extent > 0 or extent == types.DYNAMIC) for extent in value.shape
    ):
        scope.error(
            node,
            f"shape {value.shape} is not made of positive integers",
            "every extent must be a compile-time constant",
        )
        return None
    if isinstance(value, AlloType | TensorType):
        return value
    if isinstance(value, type) and value in _PYTHON_TYPES:
        return _PYTHON_TYPES[value]
    scope.error(
        node,
        f"Unsupported type `{ast.unparse(node)}`",
        "use a type of allo.ir.types, such as int32 or float32[M, N]",
    )
    return None


def _read_tensor(scope: Scope, node: ast.Subscript, run_time: bool) -> TensorType | None:
    element = read_annotation(scope, node.value)
    if element is None:
        return None
    if isinstance(element, TensorType):
        scope.error(node, "a tensor type has one list of extents", "write T[M, N] for two dimensions")
        return None
    extents = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    shape = []
    for extent in extents:
        if isinstance(extent, ast.Constant) and extent.value is ...:
            if not run_time:
                scope.error(extent, f"only an argument can have a run-time extent, not `{ast.unparse(node)}`", _STATIC)
                return None
            shape.append(types.DYNAMIC)
            continue
        try:
            value = static_value(scope, extent)
        except NameError as error:
            hint = _FORGOTTEN if scope.source.forgets_enclosing_names else None
            scope.report_unknown_in(extent, error.args[0], hint)
            return None
        except ValueError as error:
            scope.error(extent, f"the extent `{ast.unparse(extent)}` is not a compile-time constant: {error}")
            return None
        if isinstance(value, int) and value > _MAX_TENSOR_BITS:
            scope.error(extent, f"the extent `{ast.unparse(extent)}` is larger than any memory")
            return None
        if isinstance(value, builtins.bool) or not hasattr(value, "__index__") or int(value) <= 0:
            scope.error(
                extent, f"the extent `{ast.unparse(extent)}` must be a positive integer, got {value!r}"
            )
            return None
        shape.append(int(value))
    size = math.prod(map(abs, shape)) * element.bits
    if size > _MAX_TENSOR_BITS:
        scope.error(node, f"an array of shape {tuple(shape)} needs {size // 8} bytes, more than any memory has")
        return None
    return TensorType(element, tuple(shape))
