"""Decides which arrays a kernel writes, and which ones an expression depends on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from .nodes import Call, CallSite, Copy, Expr, Fill, Function, KernelCall, Load, Stmt, Store, Symbol


def writes(function: Function, parameter: Symbol) -> bool:
    """Whether `function`, or a kernel that it calls, may change the elements of its `parameter`."""
    return any(_changes(node, parameter) for node in _parts(function.body))


def arrays_read(expr: Expr) -> list[Symbol]:
    """The arrays whose elements `expr` depends on."""
    found: list[Symbol] = []
    for node in _parts(expr):
        match node:
            case Load(tensor=tensor):
                found.append(tensor)
            case CallSite(arguments=arguments):
                found.extend(argument for argument in arguments if isinstance(argument, Symbol))
    return found


def calls_kernel(expr: Expr) -> bool:
    """Whether `expr` calls a kernel, which may have a state."""
    return any(isinstance(node, KernelCall) for node in _parts(expr))


def _parts(value: Any) -> Iterator[Stmt | Expr | CallSite]:
    """All statements, expressions and calls of a typed tree; not those of the kernels that it calls."""
    if isinstance(value, tuple):
        for part in value:
            yield from _parts(part)
    elif isinstance(value, Stmt | Expr | CallSite):
        yield value
        for field in fields(value):
            yield from _parts(getattr(value, field.name))


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
