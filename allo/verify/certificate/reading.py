"""Iterations and subscripts as the operations of a program have them, read without `allo/poly`, to check its model.

Whoever checks a proof must not take loops and casts from the model that found it: here they are written as text for
isl, and each access of the model must have the same iterations and the same elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import islpy as isl
from mlir import ir

from ...ir.affine_sets import constraints_of
from ...ir.mlir_types import integer_of
from ...poly.computation import Computation
from ...poly.model import Access
from .sums import Wrong

_SIGNS = {"arith.addi": "+", "arith.subi": "-", "arith.muli": "*"}
_GREAT = 1 << 31  # numbers in a text from here on could make an index wrap


@dataclass(frozen=True, slots=True)
class LoopContext:
    """The loops around an operation, and what holds of them there; `known` is false under conditions on data."""

    loops: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    known: bool = True

    def where(self, *more: str) -> LoopContext:
        return replace(self, conditions=(*self.conditions, *more))


def demand_same_reading(computation: Computation) -> None:
    """Raises Wrong where the model of a program is not what its operations say."""
    if problem := _Reader(computation).run():
        raise Wrong(problem)


class _Reader:
    def __init__(self, computation: Computation) -> None:
        self.computation = computation
        self.arguments = computation.arguments
        self.names: dict[ir.Value, str] = {}  # of loop variables
        self.accesses: dict[ir.Operation, list[Access]] = {}
        for access in computation.accesses:
            self.accesses.setdefault(access.op, []).append(access)
        widths = [(k, a.type.width) for k, a in enumerate(self.arguments) if isinstance(a.type, ir.IntegerType)]
        self.context = " and ".join(f"{-(1 << (w - 1))} <= arg{k} < {1 << (w - 1)}" for k, w in widths) or "true"
        self.parameters = ", ".join(
            f"arg{k}" for k, a in enumerate(self.arguments) if isinstance(a.type, ir.IndexType | ir.IntegerType)
        )

    def run(self) -> str:
        return self.block(self.computation.entry, LoopContext())

    def block(self, block: ir.Block, place: LoopContext) -> str:
        for view in block.operations:
            if problem := self.operation(view.operation, place):
                return problem
        return ""

    def operation(self, op: ir.Operation, place: LoopContext) -> str:
        if op.name in ("affine.for", "scf.for"):
            return self.block(op.regions[0].blocks[0], self.inside(op, place))
        if op.name == "affine.if":
            holds = " and ".join(self.condition(op, place) or ["false"])
            known = replace(place, known=place.known and self.condition(op, place) is not None)
            sides = (known.where(f"({holds})"), known.where(f"not ({holds})"))
            return next((p for r, s in zip(op.regions, sides, strict=True) for b in r if (p := self.block(b, s))), "")
        if op.name == "arith.index_cast" and self.computation.is_affine(op.results[0]):
            return "" if self.number(op.results[0], place) is not None else f"`{op.name}` may wrap"
        for access in self.accesses.get(op, ()):
            if access.exact and (problem := self.compared(access, place)):
                return problem
        inner = replace(place, known=False)
        return next((p for r in op.regions for b in r if (p := self.block(b, inner))), "")

    def inside(self, loop: ir.Operation, place: LoopContext) -> LoopContext:
        """Within a loop: from the greatest of its lower bounds, each `step`, below all upper ones."""
        variable, name = loop.regions[0].blocks[0].arguments[0], f"i{len(place.loops)}"
        operands = list(loop.operands)
        if loop.name == "affine.for":
            sizes = list(ir.DenseI32ArrayAttr(loop.attributes["operandSegmentSizes"]))
            lower = self.results(loop.attributes["lowerBoundMap"], operands[: sizes[0]], place)
            upper = self.results(loop.attributes["upperBoundMap"], operands[sizes[0] : sizes[0] + sizes[1]], place)
            step: str | None = str(ir.IntegerAttr(loop.attributes["step"]).value)
        else:
            lower, upper = ([self.number(operands[k], place)] for k in (0, 1))
            step = self.number(operands[2], place)
            constant = step is not None and step.strip("()").isdigit() and int(step.strip("()")) > 0
            step = step if constant and "unsignedCmp" not in loop.attributes else None
        self.names[variable] = name
        inner = replace(place, loops=(*place.loops, name))
        if step is None or None in lower or None in upper:
            return replace(inner, known=False)
        first = f"max({', '.join(map(str, lower))})" if len(lower) > 1 else str(lower[0])
        bounds = [f"{one} <= {name}" for one in lower] + [f"{name} < {one}" for one in upper]
        return inner.where(*bounds, *([] if step == "1" else [f"({name} - {first}) mod {step.strip('()')} = 0"]))

    def condition(self, op: ir.Operation, place: LoopContext) -> list[str] | None:
        sides, equalities = constraints_of(op.attributes["condition"])
        inputs = [self.number(operand, place) for operand in op.operands]
        forms = [self.expression(side, inputs, sides.n_dims) for side in sides.results]
        if None in forms:
            return None
        held = [f"{form} {'=' if equal else '>='} 0" for form, equal in zip(forms, equalities, strict=True)]
        return held or ["true"]

    def results(self, attribute: ir.Attribute, operands: Sequence[ir.Value], place: LoopContext) -> list[str | None]:
        access = ir.AffineMapAttr(attribute).value
        inputs = [self.number(operand, place) for operand in operands]
        return [self.expression(result, inputs, access.n_dims) for result in access.results]

    def expression(self, form: ir.AffineExpr, inputs: Sequence[str | None], dims: int) -> str | None:
        """An affine expression of MLIR as text for isl."""
        match form:
            case ir.AffineConstantExpr():
                return f"({form.value})"
            case ir.AffineDimExpr() | ir.AffineSymbolExpr():
                is_symbol = isinstance(form, ir.AffineSymbolExpr)
                return inputs[int(form.position) + (dims if is_symbol else 0)]
        left, right = (self.expression(side, inputs, dims) for side in (form.lhs, form.rhs))
        if left is None or right is None or isinstance(form, ir.AffineAddExpr | ir.AffineMulExpr):
            return _combined("+" if isinstance(form, ir.AffineAddExpr) else "*", left, right)
        match form:
            case ir.AffineFloorDivExpr():
                return f"floor(({left})/{right.strip('()')})"
            case ir.AffineCeilDivExpr():
                return f"ceil(({left})/{right.strip('()')})"
            case ir.AffineModExpr():
                return f"({left} mod {right.strip('()')})"
        raise AssertionError(f"an affine expression of another kind: {form}")

    def number(self, value: ir.Value, place: LoopContext) -> str | None:
        """An index or integer as text for isl; None where it is not affine, or may wrap."""
        if value in self.names:
            return self.names[value]
        if isinstance(value.owner, ir.Block):
            is_number = isinstance(value.type, ir.IndexType | ir.IntegerType)
            return f"arg{self.arguments.index(value)}" if is_number and value in self.arguments else None
        op = value.owner.operation
        if op.name == "arith.constant" and isinstance(op.attributes["value"], ir.IntegerAttr):
            return f"({integer_of(op.attributes['value'])})"
        if op.name == "affine.apply":
            (found,) = self.results(op.attributes["map"], list(op.operands), place)
        elif op.name == "arith.index_cast":
            found = self.number(op.operands[0], place)
        elif op.name in _SIGNS and isinstance(value.type, ir.IndexType):
            left, right = (self.number(operand, place) for operand in op.operands)
            found = _combined(_SIGNS[op.name], left, right)
        else:
            return None
        return found if found is not None and self.fits(found, value.type, place) else None

    def fits(self, number: str, kind: ir.Type, place: LoopContext) -> bool:
        """Whether a number is in the range of its type in all iterations here."""
        narrow = isinstance(kind, ir.IntegerType) and kind.width < 64
        literals = (int(word) for word in number.replace("(", " ").replace(")", " ").split() if word.isdigit())
        if not narrow and max(literals, default=0) < _GREAT:
            return True
        half = 1 << ((kind.width if narrow else 64) - 1)
        outside = place.where(f"({number} < {-half} or {number} >= {half})")
        return self.iterations(outside).is_empty()

    def iterations(self, place: LoopContext) -> isl.Set:
        conditions = " and ".join([self.context, *place.conditions])
        return isl.Set(f"[{self.parameters}] -> {{ [{', '.join(place.loops)}] : {conditions} }}")

    def compared(self, access: Access, place: LoopContext) -> str:
        """What the model says of an access, against its operation."""
        what = f"the model of {access.text} in {access.source}"
        if not place.known:
            return f"{what} is exact, and its iterations are not known"
        own, context = self.iterations(place), isl.Set(f"[{self.parameters}] -> {{ : {self.context} }}")
        told = _plain(access.domain).intersect_params(context)
        if not own.is_equal(told):
            return f"{what} has other iterations"
        if not access.op.name.startswith(("affine.", "memref.")) or access.op.name.endswith("copy"):
            return ""
        first = 0 if access.op.name.endswith("load") else 1
        if access.buffer.value != access.op.operands[first]:
            return ""  # through a view
        operands = list(access.op.operands)[first + 1 :]
        if access.op.name.startswith("affine."):
            subscripts = self.results(access.op.attributes["map"], operands, place)
        else:
            subscripts = [self.number(operand, place) for operand in operands]
        if None in subscripts:
            return f"{what} is exact, and its subscripts are not affine"
        elements = [*place.loops[: len(access.buffer.scope)], *map(str, subscripts)]
        text = f"[{self.parameters}] -> {{ [{', '.join(place.loops)}] -> [{', '.join(elements)}] }}"
        if not isl.Map(text).intersect_domain(own).is_equal(_plain_map(access.map).intersect_domain(told)):
            return f"{what} has other elements"
        return ""


def _combined(sign: str, left: str | None, right: str | None) -> str | None:
    """A sum, a difference, or a product with a constant, which isl wants first and without parentheses."""
    if left is None or right is None:
        return None
    if sign != "*":
        return f"({left} {sign} {right})"
    if not right.strip("(-)").isdigit():
        left, right = right, left
    return f"({right.strip('()')} * {left})" if right.strip("(-)").isdigit() else None


def _plain(domain: isl.Set) -> isl.Set:
    return domain.reset_tuple_id()


def _plain_map(access: isl.Map) -> isl.Map:
    return access.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
