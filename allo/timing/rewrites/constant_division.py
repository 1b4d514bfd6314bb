"""Quotients and remainders by constants as products with a reciprocal, of which bits are left out.

`n / d` is `n * m >> s` for `m = ceil(2 ** s / d)` if `(m * d - 2 ** s) * n < 2 ** s`, rounded down where `n` is not
negative, and else below the next number up (T. Granlund, P. Montgomery, Division by invariant integers using
multiplication, PLDI 1994).
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ...ir.builder import Builder
from ...ir.module import Module
from ...ir.walk import entry_block, location_of, operations
from ...ir.widths import Widths
from .record import Rewrite

NAME = "allo-constant-division"
_QUOTIENTS = ("arith.divui", "arith.divsi", "arith.floordivsi")
_REMAINDERS = ("arith.remui", "arith.remsi")


@dataclass(frozen=True, slots=True)
class Reciprocal:
    """`factor / 2 ** shift`, which is 1 / d as exactly as numbers up to some bound need it."""

    factor: int
    shift: int


def constant_division(module: Module, function: str) -> list[Rewrite]:
    """Rewrite one function; divisors that are negative, 0 or powers of two stay: these are wires, or sums."""
    entry = entry_block(module.function(function))
    assert entry is not None
    widths = Widths(entry)
    found = []
    for op in operations(entry, *_QUOTIENTS, *_REMAINDERS):
        divisor = widths.range(op.operands[1]).constant if isinstance(op.results[0].type, ir.IntegerType) else None
        if divisor is not None and op.name in ("arith.divui", "arith.remui"):
            divisor %= 1 << op.results[0].type.width
        if divisor is None or divisor < 1 or not divisor & (divisor - 1):
            continue
        what = "quotient" if op.name in _QUOTIENTS else "remainder"
        found.append(Rewrite(NAME, function, f"the {what} by {divisor} is made of a product", location_of(op)))
        op.results[0].replace_all_uses_with(_result(op, divisor, widths))
        op.erase()
    return found


def reciprocal(divisor: int, most: int) -> Reciprocal:
    """The shortest one for numbers from `-most` to `most`."""
    shift = 0
    while (-(1 << shift) % divisor) * most >= 1 << shift:
        shift += 1
    return Reciprocal(-(-(1 << shift) // divisor), shift)


def _result(op: ir.Operation, divisor: int, widths: Widths) -> ir.Value:
    builder, kind, value = Builder.before(op), op.results[0].type, op.operands[0]
    known = widths.range(value)
    unsigned = op.name in ("arith.divui", "arith.remui")
    if known.low >= 0 or unsigned:
        most = known.high if known.low >= 0 else (1 << kind.width) - 1
        quotient = _quotient(builder, value, divisor, most, "arith.extui")
    else:
        sign = builder.value("arith.shrsi", kind, [value, builder.constant(kind, kind.width - 1)])
        most = max(-known.low, known.high)
        if op.name == "arith.floordivsi":  # that of the complement, which is not negative, is the complement
            flipped = builder.value("arith.xori", kind, [value, sign])
            quotient = _quotient(builder, flipped, divisor, most, "arith.extui")
            quotient = builder.value("arith.xori", kind, [quotient, sign])
        else:
            below = _quotient(builder, value, divisor, most, "arith.extsi")
            quotient = builder.value("arith.subi", kind, [below, sign])
    if op.name in _QUOTIENTS:
        return quotient
    product = builder.value("arith.muli", kind, [quotient, builder.constant(kind, divisor)])
    return builder.value("arith.subi", kind, [value, product])


def _quotient(builder: Builder, value: ir.Value, divisor: int, most: int, extension: str) -> ir.Value:
    """The product, without the bits behind the point: rounded down, and for negative numbers one below rounded up."""
    found = reciprocal(divisor, most)
    wide = ir.IntegerType.get_signless(value.type.width + found.factor.bit_length() + 1, value.type.context)
    factor = builder.constant(wide, found.factor)
    product = builder.value("arith.muli", wide, [builder.value(extension, wide, [value]), factor])
    shifted = builder.value("arith.shrsi", wide, [product, builder.constant(wide, found.shift)])
    return builder.value("arith.trunci", value.type, [shifted])
