"""Emitter of structs: their fields, values made of all fields, and values with one field replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlir import ir

from ...ir.builder import string_attr
from ...ir.mlir_types import storage_type
from ...ir.types import Struct
from ..typing.nodes import Construct, Field, SetField

if TYPE_CHECKING:
    from .expressions import ExpressionEmitter


def struct_value(emitter: ExpressionEmitter, expr: Field | Construct | SetField) -> ir.Value:
    """The value of an expression on structs."""
    match expr:
        case Field(operand=operand, name=name):
            struct = emitter.value(operand)
            emitter.place(expr.at)
            assert isinstance(operand.type, Struct)
            return emitter.from_storage(_get(emitter, struct, operand.type, name), expr.type)
        case Construct(values=fields):
            values = [emitter.to_storage(emitter.value(field), field.type) for field in fields]
            emitter.place(expr.at)
            return emitter.builder.value("allo.struct_construct", storage_type(expr.type), values)
    value = emitter.to_storage(emitter.value(expr.value), expr.value.type)  # before the struct is read, as in Python
    struct = emitter.value(expr.operand)
    emitter.place(expr.at)
    assert isinstance(expr.type, Struct)
    return _with(emitter, struct, expr.type, expr.path, value)


def _get(emitter: ExpressionEmitter, struct: ir.Value, declared: Struct, name: str) -> ir.Value:
    """A field, as memory has it."""
    field = declared.field(name)
    assert field is not None
    return emitter.builder.value("allo.struct_get", storage_type(field), [struct], {"field": string_attr(name)})


def _with(
    emitter: ExpressionEmitter, struct: ir.Value, declared: Struct, path: tuple[str, ...], value: ir.Value
) -> ir.Value:
    """The struct in which the field that `path` leads to is `value`."""
    values = []
    for name, field in declared.fields:
        if name != path[0]:
            values.append(_get(emitter, struct, declared, name))
        elif len(path) == 1:
            values.append(value)
        else:
            assert isinstance(field, Struct)
            values.append(_with(emitter, _get(emitter, struct, declared, name), field, path[1:], value))
    return emitter.builder.value("allo.struct_construct", storage_type(declared), values)
