"""Signatures of primitives as users call them: parts of the program by name or handle, several of them in a list."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

_WRITTEN = {
    "Loop": ("Loop", "str"),
    "Buffer": ("Buffer", "str"),
    "Nest": ("Nest", "str"),
    "FifoName": ("FifoName", "str"),
    "Function": ("Function", "Callable[..., Any]", "str"),
}


def shown_signature(body: Callable[..., Any]) -> inspect.Signature:
    """The signature of the method that is made of the rewrite `body(module, ...)`."""
    signature = inspect.signature(body)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    rest = [_shown(parameter) for parameter in list(signature.parameters.values())[1:]]
    returned = signature.return_annotation
    if isinstance(returned, str):  # users get the value that was decided
        returned = returned.removeprefix("Decided[").removesuffix("]") if returned.startswith("Decided[") else returned
    return signature.replace(parameters=[own, *rest], return_annotation=returned)


def call_signature(primitive: Callable[..., Any]) -> inspect.Signature:
    """The signature of `s.<primitive>(...)`, whose schedule is given."""
    signature = inspect.signature(primitive)
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def _shown(parameter: inspect.Parameter) -> inspect.Parameter:
    given = parameter.annotation
    text = given if isinstance(given, str) else getattr(given, "__name__", str(given))
    options = _options(ast.parse(text, mode="eval").body)
    if parameter.kind is parameter.VAR_POSITIONAL:
        options += [f"Sequence[{' | '.join(options)}]"]
    return parameter.replace(annotation=" | ".join(dict.fromkeys(options)))


def _options(annotation: ast.expr) -> list[str]:
    """What a user may give for a parameter that the rewrite takes as `annotation`."""
    match annotation:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            found = _options(left) + _options(right)
            return [*(option for option in found if option != "None"), *(["None"] if "None" in found else [])]
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[element, ast.Constant()])):
            return [f"Sequence[{' | '.join(_options(element))}]"]
        case ast.Name(id=name) if name in _WRITTEN:
            return list(_WRITTEN[name])
    return [ast.unparse(annotation)]
