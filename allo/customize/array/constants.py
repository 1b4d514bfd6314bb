"""Constants that are stored: what makes them, which number they are, and the same constant elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from ...ir.mlir_types import integer_of, mantissa_of, scalar_from_mlir
from ...ir.types import Fixed, UFixed

_CONSTANTS = ("arith.constant", "allo.fixed_constant")


def makers(value: ir.Value) -> list[ir.Operation]:
    """The operations that make a constant, first to last; none if it is not one."""
    chain: list[ir.Operation] = []
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        chain.insert(0, op)
        if op.name in _CONSTANTS:
            return chain
        if op.name != "allo.sign_cast":
            break
        value = op.operands[0]
    return []


def made_again(chain: Sequence[ir.Operation], before: ir.Operation) -> ir.Value:
    """The same constant in front of an operation."""
    value: ir.Value | None = None
    for op in chain:
        copy = op.clone(ir.InsertionPoint(before))
        if value is not None:
            copy.operands[0] = value
        value = copy.results[0]
    assert value is not None
    return value


def is_number(value: ir.Value, number: float) -> bool:
    """Whether a value is the constant `number`, of the type that it has."""
    chain = makers(value)
    if not chain:
        return False
    kind = scalar_from_mlir(value.type)
    if isinstance(kind, Fixed | UFixed):
        made = chain[0].attributes["mantissa"] if chain[0].name == "allo.fixed_constant" else None
        return made is not None and mantissa_of(integer_of(made), kind) == number * 2**kind.fracs
    attribute = chain[0].attributes["value"]
    if isinstance(attribute, ir.FloatAttr):
        return float(attribute.value) == number
    return float(number).is_integer() and (integer_of(attribute) - int(number)) % 2**kind.bits == 0
