"""Parameters and results of a built module, as the signature of its top function says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mlir import ir

from ...ir.arrays import form_dtype
from ...ir.effects import Effects
from ...ir.mlir_types import from_mlir
from ...ir.module import Module
from ...ir.streams import is_stream_type
from ...ir.types import AlloType, Int, TensorType, UInt
from ...ir.walk import argument_names
from ...ir.words import is_plain

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a built module; `written` if the kernel may change it."""

    name: str
    type: AlloType | TensorType
    written: bool
    form: tuple[np.dtype[Any], tuple[int, ...]] | None = field(init=False)
    """The dtype and shape of arrays that need no look at their elements, if the type has such ones."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "form", _form(self.type))

    def takes(self, value: Any) -> bool:
        """Whether `value` is an array that is passed as it is, for certain; asked at each call."""
        return (
            type(value) is np.ndarray
            and (value.dtype, value.shape) == self.form
            and value.flags.c_contiguous
            and (not self.written or value.flags.writeable)
        )

    def __str__(self) -> str:
        return f"{self.name}: {self.type!r}"


def _form(type: AlloType | TensorType) -> tuple[np.dtype[Any], tuple[int, ...]] | None:
    if not isinstance(type, TensorType) or not type.is_static or not is_plain(type.element):
        return None
    dtype = form_dtype(type.element)
    is_narrow = isinstance(type.element, Int | UInt) and type.element.width < dtype.itemsize * 8
    return None if is_narrow else (dtype, type.shape)


def parameters_of(module: Module, of_stream: Callable[[int, str], Parameter] | None = None) -> tuple[Parameter, ...]:
    """The arguments of the top function; `of_stream` makes those that are streams, from their number and name."""
    top = module.function(module.top)
    written = Effects(module).written_arguments(module.top)
    return tuple(
        of_stream(number, name)
        if of_stream is not None and is_stream_type(kind)
        else Parameter(name, from_mlir(kind), number in written)
        for number, (name, kind) in enumerate(zip(argument_names(top), _signature(top).inputs, strict=True))
    )


def results_of(module: Module) -> tuple[AlloType | TensorType, ...]:
    """The types of the results of the top function."""
    return tuple(from_mlir(kind) for kind in _signature(module.function(module.top)).results)


def _signature(function: ir.OpView) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(function.operation.attributes["function_type"]).value)
