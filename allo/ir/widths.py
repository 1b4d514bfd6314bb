"""Widths of integers in hardware: the range that each value holds, and the low bits that results depend on.

The language computes sums and products exactly, in types that are wide enough for any operands; most of these bits
are copies of a sign, zeros, or are cut off by the type that is stored. What is left is what a tool builds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mlir import ir

from .access import accessed, is_access, is_load, is_store
from .mlir_types import integer_of
from .walk import LOOP_OPERATIONS, constant_bounds, operations

INDEX_BITS = 32  # as C++ has them


class IntegerRange(NamedTuple):
    """The least and the greatest number that a value is, read with a sign."""

    low: int
    high: int

    @property
    def constant(self) -> int | None:
        """The number, if there is one only."""
        return self.low if self.low == self.high else None

    @property
    def bits(self) -> int:
        """How many bits hold all numbers: without a sign if none is negative."""
        if self.low >= 0:
            return self.high.bit_length()
        return max(self.high.bit_length(), (-self.low - 1).bit_length()) + 1


class Widths:
    """The integers of a function; operations that are not known hold any number of their type, and need all bits.

    Elements of arrays need all bits too; with `arrays=True`, those of arrays that are made here, and that only loads
    and stores use, need what is needed of what is loaded.
    """

    def __init__(self, entry: ir.Block, *, arrays: bool = False) -> None:
        self._ranges: dict[ir.Value, IntegerRange] = {}
        self._needed: dict[ir.Value, int] = {}
        self._elements: dict[ir.Value, int] = {}
        found = operations(entry)
        if arrays:
            made = [op.results[0] for op in found if op.name == "memref.alloc"]
            self._elements = {array: 0 for array in made if integer_elements(array) and is_plain(array)}
        for op in found:
            self._hold(op)
        changed = True
        while changed:  # sums in elements need of themselves what others need of them
            before = dict(self._elements)
            for op in reversed(found):
                self._need(op)
            changed = before != self._elements

    def range(self, value: ir.Value) -> IntegerRange:
        """What the value may be. Only for integers and indices."""
        return self._ranges.get(value) or _whole(_type_bits(value.type) or INDEX_BITS)

    def needed(self, value: ir.Value) -> int:
        """The low bits of the value that anything depends on. Only for integers and indices."""
        return min(self._needed.get(value, 0), _type_bits(value.type) or INDEX_BITS)

    def needed_elements(self, array: ir.Value) -> int:
        """The low bits of the elements of an array of integers that anything depends on."""
        return self._elements.get(array, integer_elements(array))

    def bits(self, value: ir.Value) -> int:
        """The width of what is built of a value: an integer, or an index."""
        return min(self.range(value).bits, self.needed(value))

    def signed_bits(self, value: ir.Value) -> int:
        """The width as an operand of a multiplier of signed numbers."""
        held = self.range(value)
        return min(held.bits + (held.low >= 0), max(self.needed(value), 1))

    def _hold(self, op: ir.Operation) -> None:
        if op.name in LOOP_OPERATIONS:
            bounds = constant_bounds(op)
            if bounds is not None and bounds[1] > bounds[0] and bounds[2] > 0:
                self._ranges[op.regions[0].blocks[0].arguments[0]] = IntegerRange(bounds[0], bounds[1] - 1)
            return
        if len(op.results) != 1 or (bits := _type_bits(op.results[0].type)) is None:
            return
        rule = _RULES.get(op.name)
        if rule is not None and all(_type_bits(value.type) is not None for value in op.operands):
            found = rule(op, [self.range(value) for value in op.operands])
            whole = _whole(bits)
            if found is not None and whole.low <= found.low and found.high <= whole.high:
                self._ranges[op.results[0]] = found

    def _need(self, op: ir.Operation) -> None:
        """What an operation needs of its operands, when all users of its result are known."""
        kept = op.results[0] if len(op.results) == 1 and _type_bits(op.results[0].type) is not None else None
        array = accessed(op) if is_access(op) else None
        if array in self._elements and is_load(op):
            self._elements[array] = max(self._elements[array], self.needed(op.results[0]))
        for number, value in enumerate(op.operands):
            bits = _type_bits(value.type)
            if bits is None:
                continue
            need = bits
            if not number and array in self._elements and is_store(op):
                need = self._elements[array]
            elif kept is not None and (op.name in _LOW_BITS or (op.name == "arith.select" and number)):
                need = min(bits, self.needed(kept))
            elif kept is not None and op.name == "arith.shli" and not number:
                amount = self.range(op.operands[1]).constant
                need = min(bits, max(0, self.needed(kept) - (amount or 0)))
            self._needed[value] = max(self._needed.get(value, 0), need)


# results whose low bits depend on as many low bits of the operands
LOW_BITS_OF_BOTH = frozenset({"arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori"})
_LOW_BITS = LOW_BITS_OF_BOTH | {
    "arith.trunci", "arith.extsi", "arith.extui", "arith.index_cast", "arith.index_castui", "allo.sign_cast",
    "arith.bitcast",
}  # fmt: skip


def integer_elements(array: ir.Value) -> int:
    """The width of the elements of an array; 0 if they are no integers."""
    kind = ir.MemRefType(array.type).element_type
    return int(kind.width) if isinstance(kind, ir.IntegerType) else 0


def is_plain(array: ir.Value) -> bool:
    """Whether all that uses an array loads from it, stores to it, or frees it."""
    return all(is_access(use.owner) or use.owner.operation.name == "memref.dealloc" for use in array.uses)


def _type_bits(kind: ir.Type) -> int | None:
    if isinstance(kind, ir.IntegerType):
        return int(kind.width)
    return INDEX_BITS if isinstance(kind, ir.IndexType) else None


def _whole(bits: int) -> IntegerRange:
    half = 1 << (bits - 1) if bits else 0
    return IntegerRange(-half, max(half - 1, 0))


def _constant(op: ir.Operation, _: Sequence[IntegerRange]) -> IntegerRange | None:
    attribute = op.attributes["value"]
    if not isinstance(attribute, ir.IntegerAttr):
        return None
    bits = _type_bits(op.results[0].type) or INDEX_BITS
    number = integer_of(attribute) & ((1 << bits) - 1)
    number -= (number >> (bits - 1)) << bits if bits else 0
    return IntegerRange(number, number)


def _unsigned(op: ir.Operation, held: IntegerRange) -> IntegerRange:
    """The operand of an operation, read without a sign."""
    return held if held.low >= 0 else IntegerRange(0, (1 << (_type_bits(op.operands[0].type) or INDEX_BITS)) - 1)


def _product(_: ir.Operation, held: Sequence[IntegerRange]) -> IntegerRange:
    corners = [a * b for a in held[0] for b in held[1]]
    return IntegerRange(min(corners), max(corners))


def _and(_: ir.Operation, held: Sequence[IntegerRange]) -> IntegerRange | None:
    masks = [h.high for h in held if h.low >= 0]
    return IntegerRange(0, min(masks)) if masks else None


def _or(_: ir.Operation, held: Sequence[IntegerRange]) -> IntegerRange | None:
    if min(h.low for h in held) < 0:
        return None
    return IntegerRange(0, (1 << max(h.high.bit_length() for h in held)) - 1)


def _remainder(_: ir.Operation, held: Sequence[IntegerRange]) -> IntegerRange | None:
    divisor = held[1].constant
    if not divisor:
        return None
    most = abs(divisor) - 1
    return IntegerRange(max(held[0].low, -most) if held[0].low < 0 else 0, max(0, min(held[0].high, most)))


def _unsigned_remainder(op: ir.Operation, held: Sequence[IntegerRange]) -> IntegerRange | None:
    divisor = held[1].constant
    if divisor is None or divisor <= 0:
        return None
    return IntegerRange(0, min(_unsigned(op, held[0]).high, divisor - 1))


def _quotient(op: ir.Operation, held: Sequence[IntegerRange]) -> IntegerRange | None:
    divisor = held[1].constant
    if divisor is None or divisor <= 0:
        return None
    value = _unsigned(op, held[0]) if op.name.endswith("divui") else held[0]
    return IntegerRange(value.low // divisor, max(value.high, 0) // divisor)


def _right_shift(op: ir.Operation, held: Sequence[IntegerRange]) -> IntegerRange | None:
    amount = held[1].constant
    if amount is None or amount < 0:
        return None
    value = _unsigned(op, held[0]) if op.name == "arith.shrui" else held[0]
    return IntegerRange(value.low >> amount, value.high >> amount)


def _left_shift(_: ir.Operation, held: Sequence[IntegerRange]) -> IntegerRange | None:
    amount = held[1].constant
    if amount is None or not 0 <= amount < 1024:
        return None
    return IntegerRange(held[0].low << amount, held[0].high << amount)


def _same(_: ir.Operation, held: Sequence[IntegerRange]) -> IntegerRange:
    return held[0]


_RULES: dict[str, Callable[[ir.Operation, Sequence[IntegerRange]], IntegerRange | None]] = {
    "arith.constant": _constant,
    "arith.extsi": _same,
    "arith.extui": lambda op, held: _unsigned(op, held[0]),
    "arith.trunci": _same,
    "arith.index_cast": _same,
    "arith.index_castui": lambda op, held: _unsigned(op, held[0]),
    "allo.sign_cast": _same,
    "arith.addi": lambda _, held: IntegerRange(held[0].low + held[1].low, held[0].high + held[1].high),
    "arith.subi": lambda _, held: IntegerRange(held[0].low - held[1].high, held[0].high - held[1].low),
    "arith.muli": _product,
    "arith.andi": _and,
    "arith.ori": _or,
    "arith.xori": _or,
    "arith.remsi": _remainder,
    "arith.remui": _unsigned_remainder,
    "arith.divsi": _quotient,
    "arith.divui": _quotient,
    "arith.floordivsi": _quotient,
    "arith.shrsi": _right_shift,
    "arith.shrui": _right_shift,
    "arith.shli": _left_shift,
    "arith.minsi": lambda _, held: IntegerRange(min(h.low for h in held), min(h.high for h in held)),
    "arith.maxsi": lambda _, held: IntegerRange(max(h.low for h in held), max(h.high for h in held)),
    "arith.select": lambda _, held: IntegerRange(min(h.low for h in held[1:]), max(h.high for h in held[1:])),
}
