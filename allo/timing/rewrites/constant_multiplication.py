"""Products by constants as sums of shifted values, in canonical signed digits, where that is cheaper."""

from __future__ import annotations

from mlir import ir

from ...ir.builder import Builder
from ...ir.module import Module
from ...ir.walk import entry_block, location_of, operations
from ...ir.widths import Widths
from ...target import Fpga, Operator
from .record import Rewrite

NAME = "allo-constant-multiplication"


def constant_multiplication(module: Module, function: str, target: Fpga) -> list[Rewrite]:
    """Rewrite one function; products by 0, 1, -1 and powers of two are wires and differences as they are."""
    entry = entry_block(module.function(function))
    assert entry is not None
    widths = Widths(entry)
    found = []
    for op in operations(entry, "arith.muli"):
        if not isinstance(op.results[0].type, ir.IntegerType):
            continue
        held = [widths.range(value).constant for value in op.operands]
        side = next((k for k, number in enumerate(held) if number is not None), None)
        if side is None or held[1 - side] is not None:
            continue
        constant = held[side]
        assert constant is not None
        width = op.results[0].type.width
        digits = signed_digits(constant, width)
        if len(digits) < 2:
            continue
        left, right = map(widths.signed_bits, op.operands)
        result = widths.bits(op.results[0])
        product = target.product(left, right, result)
        sums = target.integer("add", result)
        sum_share, product_share = (len(digits) - 1) * share(sums, target), share(product, target)
        if sum_share >= product_share:
            what = f"{len(digits) - 1} sums for the product by {constant} cost as much as a multiplier"
            found.append(Rewrite(NAME, function, what, location_of(op), done=False))
            continue
        what = f"the product by {constant} is made of {len(digits) - 1} sums"
        found.append(Rewrite(NAME, function, what, location_of(op)))
        op.results[0].replace_all_uses_with(_sum(op, op.operands[1 - side], digits))
        op.erase()
    return found


def signed_digits(number: int, width: int) -> list[tuple[int, int]]:
    """The canonical signed digits of a number modulo 2**width: places and signs, of which no two are neighbours."""
    rest = number % (1 << width)
    rest -= (rest >> (width - 1)) << width
    found = []
    place = 0
    while rest and place < width:
        if rest & 1:
            sign = 2 - rest % 4
            found.append((place, sign))
            rest -= sign
        rest >>= 1
        place += 1
    return found


def share(operator: Operator, target: Fpga) -> float:
    """The part of the device that an operator takes, of what it takes most of."""
    device = target.device
    return max(operator.dsp / device.dsp, operator.lut / device.lut, operator.ff / device.ff)


def _sum(op: ir.Operation, value: ir.Value, digits: list[tuple[int, int]]) -> ir.Value:
    """The sum of the digits times a value; it begins with a positive digit if there is one."""
    builder = Builder.before(op)
    kind = value.type
    ordered = sorted(digits, key=lambda digit: (-digit[1], digit[0]))
    total: ir.Value | None = None
    for place, sign in ordered:
        shifted = builder.value("arith.shli", kind, [value, builder.constant(kind, place)]) if place else value
        if total is None:
            total = shifted if sign > 0 else builder.value("arith.subi", kind, [builder.constant(kind, 0), shifted])
        else:
            total = builder.value("arith.addi" if sign > 0 else "arith.subi", kind, [total, shifted])
    assert total is not None
    return total
