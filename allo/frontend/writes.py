"""Decides whether a kernel writes one of its arguments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from .nodes import Call, CallSite, Copy, Expr, Fill, Function, Stmt, Store, Symbol


def writes(function: Function, parameter: Symbol) -> bool:
    """Whether `function`, or a kernel that it calls, may change the elements of its `parameter`."""
    return any(_changes(node, parameter) for node in _nodes(function.body))


def _nodes(value: Any) -> Iterator[Stmt | Expr | CallSite]:
    """All statements, expressions and calls of a typed tree; not those of the kernels that it calls."""
    if isinstance(value, tuple):
        for part in value:
            yield from _nodes(part)
    elif isinstance(value, Stmt | Expr | CallSite):
        yield value
        for field in fields(value):
            yield from _nodes(getattr(value, field.name))


def _changes(node: Stmt | Expr | CallSite, tensor: Symbol) -> bool:
    match node:
        case Store(tensor=target) | Fill(tensor=target) | Copy(tensor=target):
            return target is tensor
        case Call(targets=targets):
            return tensor in targets
        case CallSite(callee=callee, arguments=arguments):
            pairs = zip(arguments, callee.params, strict=True)
            return any(argument is tensor and writes(callee, parameter) for argument, parameter in pairs)
    return False
