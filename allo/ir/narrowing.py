"""Functions in which integers and the elements of arrays have no more bits than results depend on."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir

from .access import is_load, is_store, stored
from .builder import Builder
from .context import context, unknown_location
from .walk import entry_block, operations
from .widths import LOW_BITS_OF_BOTH, Widths, is_plain

_NARROWED = LOW_BITS_OF_BOTH | {"arith.select"}
_EXTENDED = ("arith.extsi", "arith.extui")


def narrow_integers(function: ir.OpView, fitting: Callable[[int], int]) -> None:
    """Give sums, differences, products, choices, and arrays that are made here, in place, the width that `fitting`
    tells for the bits that are needed of them; what is stored elsewhere and returned stays the same."""
    entry = entry_block(function)
    assert entry is not None
    widths = Widths(entry, arrays=True)
    found = operations(entry)
    needed = [widths.needed(op.results[0]) if op.name in _NARROWED else 0 for op in found]
    for op, bits in zip(found, needed, strict=True):
        if op.name == "memref.alloc":
            _narrow_array(op.results[0], fitting(max(widths.needed_elements(op.results[0]), 1)))
        elif op.name in _NARROWED:
            _narrow_operation(op, fitting(max(bits, 1)))


def _narrow_operation(op: ir.Operation, width: int) -> None:
    own = op.results[0].type
    if not isinstance(own, ir.IntegerType) or width >= own.width:
        return
    narrow = ir.IntegerType.get_signless(width, context())
    builder = Builder.before(op)
    first = 1 if op.name == "arith.select" else 0
    operands = [*list(op.operands)[:first], *(_cut(builder, v, narrow) for v in list(op.operands)[first:])]
    made = builder.value(op.name, narrow, operands)
    op.results[0].replace_all_uses_with(builder.value("arith.extsi", own, [made]))
    op.erase()


def _narrow_array(array: ir.Value, width: int) -> None:
    own = ir.MemRefType(array.type)
    wide = own.element_type
    if not isinstance(wide, ir.IntegerType) or not wide.is_signless:
        return
    if width >= wide.width or not is_plain(array):
        return
    narrow = ir.IntegerType.get_signless(width, context())
    array.set_type(ir.MemRefType.get(own.shape, narrow, own.layout, own.memory_space, loc=unknown_location()))
    for op in [use.owner.operation for use in array.uses]:
        builder = Builder.before(op)
        if is_store(op):
            op.operands[0] = _cut(builder, stored(op), narrow)
        elif is_load(op):
            attributes = {name: op.attributes[name] for name in op.attributes}
            value = builder.value(op.name, narrow, list(op.operands), attributes)
            op.results[0].replace_all_uses_with(builder.value("arith.extsi", wide, [value]))
            op.erase()


def _cut(builder: Builder, value: ir.Value, kind: ir.IntegerType) -> ir.Value:
    """The low bits of a value: of what has been extended, those that it had before."""
    made = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if made is not None and made.name in _EXTENDED:
        before = made.operands[0]
        if before.type == kind:
            return before
        if before.type.width < kind.width:
            return builder.value(made.name, kind, [before])
    return builder.value("arith.trunci", kind, [value])
