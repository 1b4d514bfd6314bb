"""Signature of an emitted function: types and attributes of its arguments."""

from __future__ import annotations

from mlir import ir

from ...ir.argument_parts import PART, part_attr
from ...ir.builder import memory_attr, string_attr
from ...ir.context import context
from ...ir.mlir_types import memref_type, storage_type, stream_type
from ...ir.types import AlloType, TensorType
from ..typing.nodes import Symbol


def flat_type(value: AlloType | TensorType) -> ir.Type:
    """The type of an array or a scalar in memory."""
    return memref_type(value) if isinstance(value, TensorType) else storage_type(value)


def parameter_type(parameter: Symbol) -> ir.Type:
    """The type of an argument, which may be a stream."""
    if parameter.stream is not None:
        return stream_type(parameter.stream)
    assert parameter.type is not None
    return flat_type(parameter.type)


def argument_attributes(parameter: Symbol) -> ir.DictAttr:
    """The name of an argument, the memory that it asks for, and the part that a task has of it."""
    entries: dict[str, ir.Attribute] = {"allo.name": string_attr(parameter.name)}
    if parameter.memory is not None:
        entries["allo.memory"] = memory_attr(parameter.memory)
    if parameter.part is not None:
        entries[PART] = part_attr(parameter.part)
    return ir.DictAttr.get(entries, context())
