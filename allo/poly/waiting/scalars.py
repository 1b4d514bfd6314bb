"""Scalars of programs of puts and gets: which values are integers of loop variables, and conditions on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import prod

from mlir import ir

from ...ir.access import accessed, global_name, is_affine_access, is_load, is_store, subscripts
from ...ir.affine_sets import constraints_of
from ...ir.dense import constant_integers
from ...ir.mlir_types import integer_of
from ...ir.walk import statements
from .terms import (
    Term,
    Test,
    Truth,
    added,
    chosen,
    compared,
    extreme,
    floored,
    modulo,
    multiplied,
    number,
    picked,
)

_CASTS = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci", "allo.sign_cast")
_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_SUMS = {"arith.addi": 1, "arith.subi": -1}
_BITWISE = {"arith.andi": "&", "arith.ori": "|", "arith.xori": "^"}
_SHIFTS = {"arith.shli": "<<", "arith.shrsi": ">>", "arith.shrui": ">>"}
_CONDITIONS = {"arith.andi": "and", "arith.ori": "or", "arith.xori": "!="}
_INDEX_BITS = 64
_MOST_OF_A_TABLE = 8192  # elements


@dataclass(slots=True)
class Scalars:
    """What is known of values in the order of the text; what is not known depends on data."""

    known: dict[ir.Value, Term | Truth] = field(default_factory=dict)

    def term(self, value: ir.Value) -> Term | None:
        found = self.known.get(value)
        return found if isinstance(found, Term) else None

    def truth(self, value: ir.Value) -> Truth | None:
        found = self.known.get(value)
        return found if isinstance(found, Truth) else None

    def passed(self, value: ir.Value, argument: ir.Value) -> None:
        """An argument of a function is what a call gives it."""
        self._set(argument, self.known.get(value))

    def variable(self, value: ir.Value, term: Term) -> None:
        """The variable of a loop."""
        self.known[value] = term

    def _set(self, value: ir.Value, found: Term | Truth | None) -> None:
        if found is None:
            self.known.pop(value, None)  # from an earlier call of the function around it
        else:
            self.known[value] = found

    def mapped(self, affine_map: ir.AffineMap, operands: Sequence[ir.Value]) -> list[Term] | None:
        """The results of an affine map."""
        terms = [self.term(value) for value in operands]
        given = [term for term in terms if term is not None]
        if len(given) < len(terms):
            return None
        dims, symbols = given[: affine_map.n_dims], given[affine_map.n_dims :]
        return [_affine(expr, dims, symbols) for expr in affine_map.results]

    def bound(self, loop: ir.Operation, attribute: str) -> Term | None:
        """A bound of an affine loop: `lowerBoundMap` or `upperBoundMap`."""
        first = ir.AffineMapAttr(loop.attributes["lowerBoundMap"]).value.n_inputs
        is_lower = attribute == "lowerBoundMap"
        affine_map = ir.AffineMapAttr(loop.attributes[attribute]).value
        operands = list(loop.operands)[:first] if is_lower else list(loop.operands)[first:]
        found = self.mapped(affine_map, operands[: affine_map.n_inputs])
        return None if found is None else extreme(found, "max" if is_lower else "min")

    def condition(self, op: ir.Operation) -> Truth | None:
        """The condition of `affine.if` or `scf.if`."""
        if op.name == "scf.if":
            return self.truth(op.operands[0])
        affine_map, equalities = constraints_of(op.attributes["condition"])
        terms = self.mapped(affine_map, list(op.operands))
        if terms is None:
            return None
        tests = [Test(term, is_equal) for term, is_equal in zip(terms, equalities, strict=True)]
        text = " and ".join(test.text for test in tests) or "True"
        return Truth(text, (*tests, *(inner for term in terms for inner in term.tests)))

    def _joined(self, op: ir.Operation) -> None:
        """Remember what a branch gives."""
        condition = self.condition(op)
        arms = [statements(region.blocks[0]) for region in op.regions]
        for inner in chain.from_iterable(arms):
            self.see(inner)
        for place, result in enumerate(op.results):
            given = [self.known.get(arm[-1].operands[place]) for arm in arms]
            self._set(result, None if condition is None else _either(condition, *given))

    def see(self, op: ir.Operation) -> None:
        """Remember what an operation makes of what is known."""
        if is_store(op):
            place = accessed(op)
            if _is_set_once(place, op):
                self._set(place, self.known.get(op.operands[0]))
            return
        if op.name in ("affine.if", "scf.if") and len(op.results):
            self._joined(op)
            return
        if len(op.results) != 1:
            return
        if is_load(op):
            place = accessed(op)
            is_scalar = not len(ir.MemRefType(place.type).shape)
            self._set(op.results[0], self.known.get(place) if is_scalar else self._looked_up(op))
        elif isinstance(op.results[0].type, ir.IndexType | ir.IntegerType):
            self._set(op.results[0], self._made(op))

    def _looked_up(self, load: ir.Operation) -> Term | Truth | None:
        """An element of a table of constants."""
        table = accessed(load)
        if global_name(table) is None:
            return None
        places = self.subscripts(load)
        shape = list(ir.MemRefType(table.type).shape)
        if places is None or not all(t.fits(0, n - 1) for t, n in zip(places, shape, strict=True)):
            return None
        values = constant_integers(table) if prod(shape) <= _MOST_OF_A_TABLE else None
        if values is None:
            return None
        place = number(0)
        for extent, term in zip(shape, places, strict=True):
            place = added(multiplied(place, number(extent)), term)
        found = number(values[place.constant]) if place.constant is not None else picked(values, place)
        kind = load.results[0].type
        if isinstance(kind, ir.IntegerType) and kind.width == 1:
            return compared("ne", found, number(0))
        return found

    def subscripts(self, load: ir.Operation) -> list[Term] | None:
        """Those of a load, as far as they are known."""
        found = subscripts(load)
        if is_affine_access(load):
            return self.mapped(ir.AffineMapAttr(load.attributes["map"]).value, found)
        given = [term for value in found if (term := self.term(value)) is not None]
        return given if len(given) == len(found) else None

    def _made(self, op: ir.Operation) -> Term | Truth | None:
        kind = op.results[0].type
        is_truth = isinstance(kind, ir.IntegerType) and kind.width == 1
        if op.name == "arith.constant":
            value = integer_of(op.attributes["value"])
            return Truth(str(value != 0), ()) if is_truth else number(value)
        if op.name == "arith.cmpi":
            return self._compared(op)
        if op.name == "affine.apply":
            made = self.mapped(ir.AffineMapAttr(op.attributes["map"]).value, list(op.operands))
            return None if made is None else made[0]
        if is_truth:
            return self._combined(op)
        bits = kind.width if isinstance(kind, ir.IntegerType) else _INDEX_BITS
        term = self._arithmetic(op)
        fits = term is not None and term.fits(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        return term if fits or isinstance(kind, ir.IndexType) else None  # what wraps around is not followed

    def _compared(self, op: ir.Operation) -> Truth | None:
        left, right = (self.term(value) for value in op.operands)
        if left is None or right is None:
            return None
        predicate = _PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value]
        if predicate.startswith("u"):
            kind = op.operands[0].type
            if isinstance(kind, ir.IntegerType):
                left, right = (modulo(term, 1 << kind.width) for term in (left, right))
            elif not all(t.range is not None and t.range[0] >= 0 for t in (left, right)):
                return None
            predicate = f"s{predicate[1:]}"
        return compared(predicate, left, right)

    def _combined(self, op: ir.Operation) -> Truth | None:
        truths = [self.truth(value) for value in op.operands]
        word = _CONDITIONS.get(op.name)
        if word is None or truths[0] is None or truths[1] is None:
            return None
        return Truth(f"(({truths[0].text}) {word} ({truths[1].text}))", truths[0].tests + truths[1].tests)

    def _arithmetic(self, op: ir.Operation) -> Term | None:
        if op.name == "arith.select":
            truth, one, other = self.truth(op.operands[0]), self.term(op.operands[1]), self.term(op.operands[2])
            if truth is None or one is None or other is None:
                return None
            return chosen(truth, one, other)
        terms = [self.term(value) for value in op.operands]
        given = [term for term in terms if term is not None]
        if len(given) < len(terms) or not given:
            return None
        if op.name == "arith.trunci":
            return _wrapped(given[0], op.results[0].type.width)
        if op.name in _CASTS:
            is_signed = op.name not in ("arith.extui", "arith.index_castui")
            return given[0] if is_signed or given[0].fits(0, 1 << 62) else None
        return _computed(op.name, *given) if len(given) == 2 else None


def _wrapped(term: Term, bits: int) -> Term:
    """What is left of an integer in so many bits, the highest one of which is that of the sign."""
    half = 1 << (bits - 1)
    if term.fits(-half, half - 1):
        return term
    return added(modulo(added(term, number(half)), 2 * half), number(half), -1)


def _either(condition: Truth, one: Term | Truth | None, other: Term | Truth | None) -> Term | Truth | None:
    """One of two values of a kind."""
    if isinstance(one, Term) and isinstance(other, Term):
        return chosen(condition, one, other)
    if isinstance(one, Truth) and isinstance(other, Truth):
        text = f"(({one.text}) if ({condition.text}) else ({other.text}))"
        return Truth(text, condition.tests + one.tests + other.tests)
    return None


def _computed(name: str, one: Term, other: Term) -> Term | None:
    """Sum, difference or product; quotient and remainder of what is not negative, by a positive constant."""
    if name in _SUMS:
        return added(one, other, _SUMS[name])
    if name == "arith.muli":
        return multiplied(one, other)
    if name in _BITWISE or name in _SHIFTS:
        return _of_bits(name, one, other)
    divisor = other.constant
    if divisor is None or divisor <= 0 or one.range is None or one.range[0] < 0:
        return None
    if name in ("arith.remsi", "arith.remui"):
        return modulo(one, divisor)
    quotients = ("arith.divsi", "arith.divui", "arith.floordivsi")
    return floored(one, divisor) if name in quotients else None


def _of_bits(name: str, one: Term, other: Term) -> Term | None:
    """What operators of bits and shifts make of integers that are not negative."""
    if one.range is None or other.range is None or one.range[0] < 0 or other.range[0] < 0:
        return None
    most, ends = max(one.range[1], other.range[1]), (one.range[1], other.range[1])
    if name in _BITWISE:
        values = 0, (1 << most.bit_length()) - 1
    elif ends[1] >= _INDEX_BITS:
        return None
    else:
        values = (0, ends[0] << ends[1]) if name == "arith.shli" else (0, ends[0])
    text = f"({one.text} {(_BITWISE | _SHIFTS)[name]} {other.text})"
    return Term(text, values, dict.fromkeys({**one.growths, **other.growths}), one.tests + other.tests)


def _is_set_once(place: ir.Value, store: ir.Operation) -> bool:
    """Whether a scalar variable is given one value where it is made."""
    made = place.owner
    if isinstance(made, ir.Block) or made.operation.name != "memref.alloc" or len(ir.MemRefType(place.type).shape):
        return False
    stores = [use.owner.operation for use in place.uses if not is_load(use.owner.operation)]
    return stores == [store] and made.operation.block == store.block


def _affine(expr: ir.AffineExpr, dims: Sequence[Term], symbols: Sequence[Term]) -> Term:
    if isinstance(expr, ir.AffineConstantExpr):
        return number(expr.value)
    if isinstance(expr, ir.AffineDimExpr):
        return dims[int(expr.position)]
    if isinstance(expr, ir.AffineSymbolExpr):
        return symbols[int(expr.position)]
    left = _affine(expr.lhs, dims, symbols)
    right = _affine(expr.rhs, dims, symbols)
    if isinstance(expr, ir.AffineAddExpr):
        return added(left, right)
    if isinstance(expr, ir.AffineMulExpr):
        return multiplied(left, right)
    divisor = right.constant
    assert divisor is not None and divisor > 0
    divided: Callable[[Term, int], Term] = modulo if isinstance(expr, ir.AffineModExpr) else floored
    if isinstance(expr, ir.AffineCeilDivExpr):
        return floored(left, divisor, up=True)
    return divided(left, divisor)
