"""Arithmetic without subnormal numbers: zeros of their signs in their places, as operations of their own."""

from __future__ import annotations

from mlir import ir

from ..errors import TargetError
from .builder import Builder
from .context import context
from .elementary.functions import FUNCTIONS
from .module import Module
from .walk import entry_block, operations

UNITS = ("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "math.sqrt", "arith.extf", "arith.truncf")
"""The operations that take no subnormal numbers and make none, of which hardware has units that do the same."""
_OTHERS = ("allo.elementary", *(f"math.{name}" for name in FUNCTIONS))
_MAY_FOLD = ("arith.constant", "arith.sitofp", "arith.uitofp", "arith.select")  # of values that passes may know
_FRACTIONS = {16: 10, 32: 23, 64: 52}
_EQUAL = 0  # a predicate of `arith.cmpi`


def flushes(given: object) -> bool:
    """What an argument `subnormals` says. Raises TargetError if it is neither "keep" nor "flush"."""
    if given not in ("keep", "flush"):
        raise TargetError(f'subnormals must be "keep" or "flush", got {given!r}')
    return given == "flush"


def flush_subnormals(module: Module, *, units: bool = False) -> None:
    """Let arithmetic, roots, conversions between floats and elementary functions take and make zeros, in place.

    What only moves, compares or chooses numbers keeps them. `units`: hardware does so where it has units, unless an
    operand may be a constant, of which passes would make another operation.
    """
    for function in module.functions():
        entry = entry_block(function)
        for op in operations(entry, *UNITS, *_OTHERS) if entry is not None else ():
            if not units or op.name not in UNITS or any(map(_may_be_constant, op.operands)):
                _flush(op)


def _may_be_constant(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name in _MAY_FOLD


def _flush(op: ir.Operation) -> None:
    before, behind = Builder.before(op), Builder(ir.InsertionPoint.after(op), op.location)
    for number, operand in enumerate(op.operands):
        op.operands[number] = _flushed(before, operand)
    uses = [(use.owner.operation, use.operand_number) for use in op.results[0].uses]
    made = _flushed(behind, op.results[0])
    for user, number in uses:
        user.operands[number] = made


def _flushed(at: Builder, value: ir.Value) -> ir.Value:
    """A zero of the same sign in the place of a subnormal number."""
    bits = ir.FloatType(value.type).width
    fraction = 7 if isinstance(value.type, ir.BF16Type) else _FRACTIONS[bits]
    kind, sign = ir.IntegerType.get_signless(bits, context()), 1 << bits - 1
    word = at.value("arith.bitcast", kind, [value])
    exponent = at.value("arith.andi", kind, [word, at.constant(kind, sign - (1 << fraction))])
    is_least = at.compare(_EQUAL, exponent, at.constant(kind, 0))
    zero = at.value("arith.andi", kind, [word, at.constant(kind, -sign)])
    return at.value("arith.bitcast", value.type, [at.value("arith.select", kind, [is_least, zero, word])])
