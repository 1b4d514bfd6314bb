"""Integer operations that are undefined for some operands: division by zero, quotients and shifts beyond the width."""

from __future__ import annotations

from mlir import ir

from ...ir.mlir_types import integer_of

_SIGNED_DIVISIONS = frozenset({"arith.divsi", "arith.floordivsi", "arith.ceildivsi", "arith.remsi"})
_DIVISIONS = _SIGNED_DIVISIONS | {"arith.divui", "arith.ceildivui", "arith.remui"}
_SHIFTS = frozenset({"arith.shli", "arith.shrsi", "arith.shrui"})
_EXTENSIONS = frozenset({"arith.extsi", "arith.extui", "arith.index_cast"})
_EQUAL, _BELOW, _AT_MOST = 0, 6, 7  # predicates of arith.cmpi: eq, ult, ule


def undefined_case(op: ir.Operation) -> str:
    """For which operands the result of `op`, or that it ends, is not defined; empty if none is possible.

    Operations that the front end guards, and those on constants, are seen to be defined; a divisor or an amount that
    only the rest of the program keeps in its range is not.
    """
    if op.name in _DIVISIONS:
        dividend, divisor = op.operands
        if not _is_never(divisor, 0):
            return "a divisor that may be 0"
        if op.name in _SIGNED_DIVISIONS and not (_is_never(divisor, -1) or _is_extended(dividend)):
            return "a divisor that may be -1 of the least number"
    if op.name in _SHIFTS and not _is_below(op.operands[1], _width(op.operands[0])):
        return "an amount that may be the width or more"
    return ""


def _width(value: ir.Value) -> int:
    return value.type.width if isinstance(value.type, ir.IntegerType) else 64


def _maker(value: ir.Value) -> ir.Operation | None:
    return None if isinstance(value.owner, ir.Block) else value.owner.operation


def _constant(value: ir.Value) -> int | None:
    """A constant as a signed number."""
    op = _maker(value)
    if op is None or op.name != "arith.constant" or not isinstance(op.attributes["value"], ir.IntegerAttr):
        return None
    width = _width(value)
    number = integer_of(op.attributes["value"]) & ((1 << width) - 1)
    return number - (1 << width) if number >> (width - 1) else number


def _is_never(value: ir.Value, number: int) -> bool:
    """Whether `value` is sure not to be 0, or not to be -1."""
    known, op = _constant(value), _maker(value)
    if known is not None:
        return known != number
    if op is None:
        return False
    if op.name == "arith.extui" and number == -1:
        return True
    if op.name in _EXTENSIONS:
        return _is_never(op.operands[0], number)
    if op.name == "arith.maxsi":
        return any((c := _constant(operand)) is not None and c > number for operand in op.operands)
    if op.name == "arith.select":
        condition, chosen, other = op.operands
        return _is_never(chosen, number) and (_is_never(other, number) or _excludes(condition, other, number))
    return False


def _excludes(condition: ir.Value, value: ir.Value, number: int) -> bool:
    """Whether `value` is not `number` where the condition does not hold: `value == number`, `value + 1 <= 1`."""
    op = _maker(condition)
    if op is None or op.name != "arith.cmpi":
        return False
    left, right = op.operands
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    if predicate == _EQUAL:
        return (left == value and _constant(right) == number) or (right == value and _constant(left) == number)
    raised = _maker(left)
    return (
        predicate == _AT_MOST
        and _constant(right) == 1
        and raised is not None
        and raised.name == "arith.addi"
        and raised.operands[0] == value
        and _constant(raised.operands[1]) == 1
    )


def _is_extended(value: ir.Value) -> bool:
    """Whether a number is not the least of its type, as one that was narrower, or a constant."""
    op, known = _maker(value), _constant(value)
    if known is not None:
        return known != -(1 << (_width(value) - 1))
    return op is not None and op.name in ("arith.extsi", "arith.extui")


def _is_below(amount: ir.Value, width: int) -> bool:
    """Whether a number without a sign is sure to be below `width`."""
    known, op = _constant(amount), _maker(amount)
    if known is not None:
        return known & ((1 << _width(amount)) - 1) < width
    if op is None:
        return False
    if op.name == "arith.extui":
        return 1 << _width(op.operands[0]) <= width or _is_below(op.operands[0], width)
    if op.name == "arith.andi":
        return any((c := _constant(operand)) is not None and 0 <= c < width for operand in op.operands)
    if op.name == "arith.select":
        condition, chosen, other = op.operands
        return _is_below(other, width) and (_is_below(chosen, width) or _limits(condition, chosen, width))
    return False


def _limits(condition: ir.Value, value: ir.Value, width: int) -> bool:
    """Whether `value`, perhaps cast, is below `width` where the condition holds."""
    op = _maker(condition)
    if op is None or op.name != "arith.cmpi":
        return False
    limit = _constant(op.operands[1])
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    if limit is None or predicate not in (_BELOW, _AT_MOST):
        return False
    most = (limit & ((1 << _width(op.operands[1])) - 1)) - (1 if predicate == _BELOW else 0)
    cast = _maker(value)
    casts = cast is not None and cast.name in (*_EXTENSIONS, "arith.trunci")
    same = op.operands[0] == value or (casts and cast is not None and cast.operands[0] == op.operands[0])
    return same and most < width and most < 1 << (_width(value) - 1)
