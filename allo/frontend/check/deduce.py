"""Template parameters that a call does not give: deduced from the types of its arguments, then by default."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType
from typing import Any, NamedTuple

from ...errors import KernelError
from ...ir.types import DYNAMIC, AlloType, Index, TensorType, int32
from ..read.source import KernelSource, read_kernel
from ..read.templates import NestedKernel, TemplateInstance, default_of, parameters_of
from ..typing.nodes import Const, Expr
from ..typing.rules import as_integer


class Deduced(NamedTuple):
    """The value of a parameter and the argument that it comes from."""

    value: Any
    argument: str


class NotDeduced(Exception):
    """Why a parameter has no value."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def template_source(callee: Any) -> KernelSource | None:
    """The source of `callee` if it is a template of which parameters are missing."""
    kernel = callee.kernel if isinstance(callee, TemplateInstance) else callee
    given = len(callee.values) if isinstance(callee, TemplateInstance) else 0
    if isinstance(kernel, NestedKernel):
        source = kernel.source
    elif isinstance(kernel, FunctionType) and kernel.__type_params__:
        try:
            source = read_kernel(kernel)
        except KernelError:  # reported when the call is compiled
            return None
    else:
        return None
    return source if given < len(parameters_of(source)) else None


def completed(callee: Any, source: KernelSource, arguments: Sequence[tuple[str, Any]]) -> TemplateInstance:
    """`callee` with all its parameters; `arguments` are the checked values by the name of the kernel's argument.

    Raises NotDeduced if arguments contradict each other, or leave a parameter open that has no default.
    """
    instance = callee if isinstance(callee, TemplateInstance) else TemplateInstance(callee, (), None)
    parameters = parameters_of(source)
    names = [parameter.name for parameter in parameters]
    found = {name: Deduced(value, "") for name, value in zip(names, instance.values, strict=False)}
    annotations = {a.arg: a.annotation for a in (*source.tree.args.posonlyargs, *source.tree.args.args)}
    literals = [(name, value) for name, value in arguments if isinstance(value, Const)]
    for name, value in [pair for pair in arguments if not isinstance(pair[1], Const)]:
        _unify(_parsed(annotations.get(name)), value.type, Deduced(None, name), names, found)
    for name, value in literals:
        annotation = _parsed(annotations.get(name))
        if isinstance(annotation, ast.Name) and annotation.id in names and annotation.id not in found:
            found[annotation.id] = Deduced(_type_of(value), name)
    for parameter in parameters:
        if parameter.name not in found:
            value = default_of(source, parameter, {name: deduced.value for name, deduced in found.items()})
            if value is None:
                message = f"parameter '{parameter.name}' of template '{source.name}' does not follow from the arguments"
                raise NotDeduced(message, f"write {source.name}[{', '.join(names)}](...)")
            found[parameter.name] = Deduced(value, "")
    return TemplateInstance(instance.kernel, tuple(found[name].value for name in names), instance.id)


def _parsed(annotation: ast.expr | None) -> ast.expr | None:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.parse(annotation.value.strip(), mode="eval").body
        except SyntaxError:
            return None
    return annotation


def _unify(
    annotation: ast.expr | None, given: Any, origin: Deduced, names: Sequence[str], found: dict[str, Deduced]
) -> None:
    """What the annotation `T[M, 4]` says of T and M for an array or scalar of type `given`."""
    if isinstance(annotation, ast.Name) and annotation.id in names and isinstance(given, AlloType):
        value = int32 if isinstance(given, Index) else given
        _bind(annotation.id, Deduced(value, origin.argument), found)
    if not isinstance(annotation, ast.Subscript) or not isinstance(given, TensorType):
        return
    _unify(annotation.value, given.element, origin, names, found)
    extents = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    for extent, size in zip(extents, given.shape, strict=False):
        if isinstance(extent, ast.Name) and extent.id in names and size != DYNAMIC:
            _bind(extent.id, Deduced(size, origin.argument), found)


def _bind(name: str, new: Deduced, found: dict[str, Deduced]) -> None:
    old = found.setdefault(name, new)
    if old.argument and old.value != new.value:
        message = f"'{name}' is {old.value!r} by argument '{old.argument}', but {new.value!r} by '{new.argument}'"
        raise NotDeduced(message, f"convert one of them, or give '{name}' in brackets")


def _type_of(literal: Expr) -> AlloType:
    """A literal counts as int32 if it is a whole number, as a variable that starts with it does."""
    whole = as_integer(literal.type) is not None and not isinstance(getattr(literal, "value", None), bool)
    return int32 if whole else literal.type
