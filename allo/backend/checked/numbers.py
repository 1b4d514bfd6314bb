"""Checks for divisions by zero, and for positions of bits that a number does not have."""

from __future__ import annotations

from mlir import ir

from ...ir.builder import Builder, index_type
from ...ir.mlir_types import integer_of
from ...ir.walk import entry_block, operations
from .failures import require

_DIVISIONS = tuple(
    f"arith.{name}" for name in ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui")
)
_BITS = {"allo.get_bit": (1,), "allo.set_bit": (1,), "allo.get_slice": (1, 2), "allo.set_slice": (1, 2)}
_DIFFERENT, _BELOW = 1, 6  # the second one of unsigned numbers


def guard_numbers(function: ir.OpView) -> None:
    """Put a check in front of each division by what may be 0, and each access to bits by what may be no position."""
    entry = entry_block(function)
    if entry is None:
        return
    for op in operations(entry, *_DIVISIONS):
        _guard_division(op)
    for op in operations(entry, *_BITS):
        _guard_bits(op)


def _guard_division(op: ir.Operation) -> None:
    divisor = _divisor(op)
    if (number := _constant(divisor)) is not None and number != 0:
        return
    builder = Builder.before(op)
    holds = builder.compare(_DIFFERENT, divisor, builder.constant(divisor.type, 0))
    what = "remainder of a division" if "rem" in op.name else "division"
    require(builder, holds, f"{what} of integers by zero\ntest the right operand with `if` first")


def _divisor(op: ir.Operation) -> ir.Value:
    """What the kernel divides by: the front end puts a choice in front that replaces 0, with the same location."""
    divisor = op.operands[1]
    if isinstance(divisor.owner, ir.Block):
        return divisor
    choice = divisor.owner.operation
    is_guard = choice.name == "arith.select" and choice.location == op.location
    return choice.operands[2] if is_guard and _constant(choice.operands[1]) is not None else divisor


def _constant(value: ir.Value) -> int | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    attribute = value.owner.operation.attributes["value"]
    return integer_of(attribute) if isinstance(attribute, ir.IntegerAttr) else None


def _guard_bits(op: ir.Operation) -> None:
    positions = [op.operands[number] for number in _BITS[op.name]]
    width = op.operands[0].type.width
    known = [_constant(position) for position in positions]
    if all(number is not None for number in known):  # the verifier has looked at them
        return
    builder = Builder.before(op)
    if len(positions) == 1:
        holds = builder.compare(_BELOW, positions[0], builder.constant(index_type(), width))
        require(builder, holds, f"there is no bit {{0}} in a number of {width} bits", positions)
        return
    high, low = positions
    fits = builder.compare(_BELOW, high, builder.constant(index_type(), width + 1))
    ordered = builder.compare(_BELOW, low, high)
    holds = builder.value("arith.andi", fits.type, [fits, ordered])
    require(builder, holds, f"there are no bits {{0}}:{{1}} in a number of {width} bits", [low, high])
