"""Normal form of `scf.for` in modules from text: signed counters of 64 bits that do not wrap."""

from __future__ import annotations

from mlir import ir

from ...errors import KernelError
from ...ir.builder import Builder
from ...ir.context import context
from ...ir.walk import entry_block, location_of, operations

_COUNTER = 64  # bits, as those of an index


def count_with_sign(function: ir.OpView) -> None:
    """Make each `scf.for` of a function compare signed numbers that do not wrap, in place.

    A loop over `iN` that compares without a sign, or whose step could take its variable beyond the greatest number,
    counts in 64 bits, and its body takes the variable cut to N. Raises KernelError where 64 bits are not enough.
    """
    entry = entry_block(function)
    for op in operations(entry, "scf.for") if entry is not None else ():
        is_unsigned = "unsignedCmp" in op.attributes
        bounds = [_constant(value) for value in list(op.operands)[:3]]
        kind = op.operands[0].type
        if is_unsigned and all(bound is not None and bound >= 0 for bound in bounds):
            is_unsigned = False  # the same with a sign
        elif is_unsigned and (not isinstance(kind, ir.IntegerType) or kind.width >= _COUNTER):
            raise KernelError(
                f"a loop over {kind} compares without a sign, and a bound may be above the greatest signed number",
                at=location_of(op),
                hint="give constant bounds, or bounds of fewer than 64 bits",
            )
        if is_unsigned or (isinstance(kind, ir.IntegerType) and kind.width < _COUNTER and bounds[2] != 1):
            _widen(op, "arith.extui" if is_unsigned else "arith.extsi")
        if "unsignedCmp" in op.attributes:
            del op.attributes["unsignedCmp"]


def _constant(value: ir.Value) -> int | None:
    """The value of a constant, with its sign."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    number: int = ir.IntegerAttr(value.owner.operation.attributes["value"]).value
    if isinstance(value.type, ir.IntegerType) and number >> (value.type.width - 1) > 0:
        number -= 1 << value.type.width
    return number


def _widen(op: ir.Operation, extension: str) -> None:
    """Let a loop count in 64 bits."""
    wide, narrow = ir.IntegerType.get_signless(_COUNTER, context()), op.operands[0].type
    before = Builder.before(op)
    for place in range(3):
        given, known = op.operands[place], _constant(op.operands[place])
        if known is not None:
            number = known if extension == "arith.extsi" else known & ((1 << narrow.width) - 1)
            op.operands[place] = before.constant(wide, number)
        else:
            op.operands[place] = before.value(extension, wide, [given])
    block = op.regions[0].blocks[0]
    variable = block.arguments[0]
    inside = Builder(ir.InsertionPoint.at_block_begin(block), op.location)
    variable.set_type(wide)
    cut = inside.value("arith.trunci", narrow, [variable])
    variable.replace_all_uses_except(cut, [cut.owner.operation])
