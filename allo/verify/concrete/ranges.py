"""Value ranges of subscripts that are data, by the types they come from."""

from __future__ import annotations

from mlir import ir

_DEPTH = 16


def is_inside(subscript: ir.Value, extent: int) -> bool:
    """Whether an index is surely one of 0, ..., `extent` - 1, as far as its operations tell at once."""
    op = _definition(subscript)
    if op is None or op.name not in ("arith.index_cast", "arith.index_castui"):
        return False
    source = op.operands[0]
    if op.name == "arith.index_cast" and not _has_no_sign(source):
        return False
    greatest = _greatest(source, _DEPTH)
    return greatest is not None and greatest < extent


def _definition(value: ir.Value) -> ir.Operation | None:
    return None if isinstance(value.owner, ir.Block) else value.owner.operation


def _has_no_sign(value: ir.Value) -> bool:
    """Whether the highest bit is zero: the value is wider than what it was extended from."""
    op = _definition(value)
    if op is None or not isinstance(value.type, ir.IntegerType):
        return False
    greatest = _greatest(value, _DEPTH)
    return greatest is not None and greatest < 1 << (value.type.width - 1)


def _greatest(value: ir.Value, depth: int) -> int | None:
    """The greatest value that the bits, read without a sign, may have; None if the type is not an integer."""
    if not isinstance(value.type, ir.IntegerType):
        return None
    width: int = value.type.width
    whole = (1 << width) - 1
    op = _definition(value)
    if op is None or depth == 0:
        return whole
    if op.name in ("arith.extui", "arith.trunci"):
        inner = _greatest(op.operands[0], depth - 1)
        return whole if inner is None else min(whole, inner)
    if op.name == "arith.constant" and isinstance(op.attributes["value"], ir.IntegerAttr):
        return int(ir.IntegerAttr(op.attributes["value"]).value) & whole if width <= 64 else whole
    if op.name in ("arith.andi", "arith.minui"):
        ends = [_greatest(operand, depth - 1) for operand in op.operands]
        return min(whole, *(end for end in ends if end is not None))
    if op.name == "arith.remui":
        divisor = _definition(op.operands[1])
        constant = (
            None if divisor is None or divisor.name != "arith.constant" else _greatest(op.operands[1], 1)
        )
        return min(whole, constant - 1) if constant else whole
    return whole
