"""Instances of templates (`def f[T, M: index](...)`): what their parameters stand for."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import KernelError, counted
from ...ir.types import AlloType, Index
from .source import KernelSource, read_kernel

_UNBOUND = object()


@dataclass(frozen=True, slots=True, eq=False)
class NestedKernel:
    """A kernel defined in the body of another one."""

    source: KernelSource


@dataclass(frozen=True, slots=True)
class TemplateInstance:
    """A kernel with the values of its type parameters, and the name the user gave to the instance."""

    kernel: Any
    values: tuple[Any, ...]
    id: str | None


def template_instance(kernel: Any, values: Sequence[Any]) -> TemplateInstance:
    """The instance that `kernel[*values]` means; a last value that is a string names it."""
    if values and isinstance(values[-1], str):
        return TemplateInstance(kernel, tuple(map(_python_number, values[:-1])), values[-1])
    return TemplateInstance(kernel, tuple(map(_python_number, values)), None)


def parameters_of(source: KernelSource) -> list[ast.TypeVar]:
    """The type parameters of a kernel."""
    return [p for p in getattr(source.tree, "type_params", []) if isinstance(p, ast.TypeVar)]


def values_of(source: KernelSource) -> dict[str, Any]:
    """What the type parameters of an instance stand for; of a kernel that is no template nothing."""
    return {parameter.name: source.names[parameter.name] for parameter in parameters_of(source)}


def instantiate(source: KernelSource, values: Sequence[Any] | Mapping[str, Any] | None) -> KernelSource:
    """`source` with its type parameters bound to `values`.

    Raises KernelError if there are too few or too many values, or one that its constraint does not admit.
    """
    parameters = parameters_of(source)
    at = source.location(source.position(source.tree))
    names = [parameter.name for parameter in parameters]
    if isinstance(values, Mapping):
        given: list[Any] = [_python_number(values[name]) if name in values else _UNBOUND for name in names]
        unknown = [name for name in values if name not in names]
    else:
        given = [_python_number(value) for value in values or ()]
        unknown = given[len(names) :]
        given += [_UNBOUND] * (len(names) - len(given))
    bound = dict(source.names)
    for position, (parameter, value) in enumerate(zip(parameters, given, strict=False)):
        if value is _UNBOUND:
            default = default_of(source, parameter, bound)
            given[position] = _UNBOUND if default is None else default
        bound[parameter.name] = given[position]
    if unknown or any(value is _UNBOUND for value in given):
        listed = ", ".join(names)
        if not names:
            raise KernelError(f"'{source.name}' is not a template and takes no template arguments", at=at)
        count = sum(value is not _UNBOUND for value in given)
        raise KernelError(
            f"template '{source.name}' has {counted(len(names), 'parameter')} ({listed}), got {count}",
            at=at,
            hint=f"write {source.name}[{listed}](...) or allo.customize({source.name}, instantiate=[{listed}])",
        )
    for parameter, value in zip(parameters, given, strict=True):
        _check(source, parameter, value, bound)
    return replace(source, names=bound)


def instance(kernel: Callable[..., Any], values: Sequence[Any] | Mapping[str, Any] | None) -> KernelSource:
    """The text of `kernel`, with its type parameters, if it has any, bound to `values` or to their defaults."""
    if isinstance(values, str) or not isinstance(values, Sequence | Mapping | None):
        raise KernelError(f"instantiate is a list of values, or a dictionary of them by name, got {values!r}")
    source = read_kernel(kernel)
    return instantiate(source, values) if values is not None or parameters_of(source) else source


def is_value(value: Any) -> bool:
    """Whether a type parameter can stand for it: a type or a number."""
    value = _python_number(value)
    return isinstance(value, AlloType | int | float) and not isinstance(value, bool)


def _python_number(value: Any) -> Any:
    """A number of NumPy as one of Python; everything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def default_of(source: KernelSource, parameter: ast.TypeVar, bound: Mapping[str, Any]) -> Any:
    """The value of `[T = int32]`, which Python has since version 3.13; None if the parameter has no default."""
    default = getattr(parameter, "default_value", None)
    if default is None:
        return None
    try:
        code = compile(ast.Expression(default), source.file, "eval")
        return eval(code, {**source.names, **bound})
    except Exception as error:
        at = source.location(source.position(parameter))
        raise KernelError(f"the default of '{parameter.name}' cannot be evaluated: {error}", at=at) from None


def _check(source: KernelSource, parameter: ast.TypeVar, value: Any, names: Mapping[str, Any]) -> None:
    """Whether the constraint of `parameter` admits `value`."""
    at = source.location(source.position(parameter))
    is_type = isinstance(value, AlloType)
    if not is_value(value):
        raise KernelError(f"template parameter '{parameter.name}' must be a type or a number, got {value!r}", at=at)
    if parameter.bound is None:
        return
    code = compile(ast.Expression(parameter.bound), source.file, "eval")
    try:
        bound = eval(code, dict(names))
    except Exception as error:
        raise KernelError(f"the constraint of '{parameter.name}' cannot be evaluated: {error}", at=at) from None
    if isinstance(bound, tuple | type):
        admitted = bound if isinstance(bound, tuple) else (bound,)
        if any(isinstance(value, one) if isinstance(one, type) else value == one for one in admitted):
            return
        listed = ", ".join(one.__name__ if isinstance(one, type) else repr(one) for one in admitted)
        raise KernelError(f"template parameter '{parameter.name}' must be one of {listed}, got {value!r}", at=at)
    if isinstance(bound, Index) and (is_type or not isinstance(value, int)):
        raise KernelError(f"template parameter '{parameter.name}' must be an integer, got {value!r}", at=at)
    if isinstance(bound, AlloType) and not isinstance(bound, Index) and is_type and value != bound:
        raise KernelError(f"template parameter '{parameter.name}' must be {bound!r}, got {value!r}", at=at)
