"""Types as a user writes them in strings, such as "float32[32, 32]"."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ...errors import KernelError
from ...ir import types
from ...ir.types import AlloType, TensorType


def given_types(texts: Sequence[str]) -> tuple[AlloType | TensorType, ...]:
    """The types that a user gave; KernelError for one that is none."""
    return tuple(map(_given, texts))


def _given(text: str) -> AlloType | TensorType:
    try:
        value = _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, TypeError, ValueError):
        value = None
    if not isinstance(value, AlloType | TensorType) or (
        isinstance(value, TensorType) and not value.is_static
    ):
        raise KernelError(
            f"`{text}` in the signature is not a type", hint='write "float32[32, 32]" or "int32"'
        )
    return value


def _value(tree: ast.expr) -> Any:
    match tree:
        case ast.Name(id=name):
            return getattr(types, name, None)
        case ast.Call(
            func=ast.Name(id="Int" | "UInt" | "Fixed" | "UFixed" as name), args=arguments, keywords=[]
        ):
            return getattr(types, name)(*map(_value, arguments))
        case ast.Constant(value=int(value)):
            return value
        case ast.Subscript(value=element, slice=shape):
            extents = shape.elts if isinstance(shape, ast.Tuple) else [shape]
            sizes = [_value(extent) for extent in extents]
            kind = _value(element)
            if isinstance(kind, AlloType) and all(type(size) is int and size > 0 for size in sizes):
                return TensorType(kind, tuple(sizes))
    return None
