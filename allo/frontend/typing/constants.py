"""Compile-time values for arrays of wide integers, fixed-point numbers and structs."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ...ir.forms import exact_array
from ...ir.types import AlloType, Bool, Fixed, Struct, TensorType, UFixed
from ...ir.words import is_plain
from .convert import NotExpressible
from .held_values import CONVERT, not_held
from .nodes import Symbol
from .scope import Scope, static_value


def typed_array(element: AlloType, value: Any, name: str) -> np.ndarray[Any, Any]:
    """`value` as an array of `element`, where 0 stands for a struct of which every field is 0.

    Raises TypeError or ValueError, which says what is wrong, for values that are none of `element`.
    """
    return exact_array(element, _with_zeros(value, element), f"'{name}'")


def _with_zeros(value: Any, element: AlloType) -> Any:
    if not isinstance(element, Struct) or isinstance(value, dict | list | np.ndarray | np.generic) or value != 0:
        return value
    return {name: _with_zeros(False if isinstance(field, Bool) else 0, field) for name, field in element.fields}


def given_constant(scope: Scope, node: ast.expr, declared: TensorType, name: str) -> Symbol | None:
    """The constant array of a list or a NumPy array for a type that NumPy does not have; None if it is neither.

    Raises NotExpressible for a value that is none of the declared type.
    """
    if is_plain(declared.element) or not isinstance(node, ast.List | ast.Name | ast.Attribute):
        return None
    try:
        value = static_value(scope, node)
    except (NameError, ValueError):  # an array of the kernel, or a mistake that is reported for other types too
        return None
    if not isinstance(value, list | np.ndarray):
        return None
    at = scope.source.position(node)
    given = np.array(value, object) if isinstance(value, list) else value
    if isinstance(declared.element, Fixed | UFixed) and (told := not_held(given, declared.element, name)) is not None:
        raise NotExpressible(told, at, CONVERT)
    try:
        array = typed_array(declared.element, value, name)
    except (TypeError, ValueError) as error:
        raise NotExpressible(str(error), at) from None
    if array.shape != declared.shape:
        what = "list" if isinstance(value, list) else "array"
        raise NotExpressible(f"the {what} has shape {array.shape}, but '{name}' has {declared.shape}", at)
    return scope.constant_tensor(name, array, declared.element, at)
