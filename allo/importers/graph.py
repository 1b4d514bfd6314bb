"""Graphs of layers: what a model computes, as frozen values that no framework is needed for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import Location
from ..ir.arrays import array_element_type
from ..ir.types import TensorType

type Array = np.ndarray[Any, Any]
type Operand = str | int | float | bool  # the name of a value, or a number


def type_of(array: Array) -> TensorType:
    """The type of an array of elements that kernels have."""
    element = array_element_type(array)
    assert element is not None
    return TensorType(element, array.shape)


@dataclass(frozen=True, slots=True)
class LayerOrigin:
    """Where a layer comes from: the module of the model, and the line of the program that calls the operator."""

    module: str = ""
    at: Location | None = None

    def __str__(self) -> str:
        module = f"module '{self.module}'" if self.module else "the model"
        return module if self.at is None else f'{module}, File "{self.at.file}", line {self.at.line}'


@dataclass(frozen=True, slots=True)
class Layer:
    """`name = operator(*inputs, **options)`, an array of `type`; operators are those of `importers.operators`."""

    name: str
    operator: str
    inputs: tuple[Operand, ...]
    options: Mapping[str, Any]
    type: TensorType
    origin: LayerOrigin

    @property
    def arrays(self) -> tuple[str, ...]:
        """The values that it reads."""
        return tuple(operand for operand in self.inputs if isinstance(operand, str))

    def __str__(self) -> str:
        given = [str(operand) for operand in self.inputs] + [f"{k}={v!r}" for k, v in self.options.items()]
        return f"{self.name}: {self.type!r} = {self.operator}({', '.join(given)})"


@dataclass(frozen=True, slots=True)
class LayerGraph:
    """A model: layers in an order in which they can be computed.

    `constants` are the arrays that the model brings along, by name of value. `updates` say which arguments have other
    elements after a call (caches): the argument, and the value that it has then. `targets` are the names that the
    model itself has for its parameters and buffers; `means` are its names for values of layers that were joined.
    """

    name: str
    arguments: Mapping[str, TensorType]
    constants: Mapping[str, Array]
    layers: tuple[Layer, ...]
    results: tuple[str, ...]
    updates: Mapping[str, str] = field(default_factory=dict)
    targets: Mapping[str, str] = field(default_factory=dict)
    means: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """One layer a line, which is how errors show them."""
        arguments = ", ".join(f"{name}: {kind!r}" for name, kind in self.arguments.items())
        lines = [f"model {self.name}({arguments}):"]
        lines += [f"    {layer}  # {layer.origin}" for layer in self.layers]
        lines += [f"    {argument}[...] = {value}" for argument, value in self.updates.items()]
        return "\n".join([*lines, f"    return {', '.join(self.results)}"])

    def types(self) -> dict[str, TensorType]:
        """The types of all values."""
        constants = {name: type_of(array) for name, array in self.constants.items()}
        return {**self.arguments, **constants, **{layer.name: layer.type for layer in self.layers}}

    def users(self) -> dict[str, list[Layer]]:
        """The layers that read each value, in their order."""
        found: dict[str, list[Layer]] = {}
        for layer in self.layers:
            for name in dict.fromkeys(layer.arrays):
                found.setdefault(name, []).append(layer)
        return found

    @property
    def kept(self) -> frozenset[str]:
        """The values that are needed behind all layers: results, and what arguments become."""
        return frozenset(self.results) | frozenset(self.updates.values())
