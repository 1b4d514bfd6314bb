"""Cycles of the code of a core: an instruction an operation, or loops and products of matrices on its vector unit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil, prod

from mlir import ir

from ....errors import TargetError
from ....ir.access import callee_name, is_load, is_store
from ....ir.walk import bound_operands, induction_variable, location_of, operations, statements, trip_count
from ....ir.words import container_width
from ....poly.formula import compile_map, evaluate
from ....target import ProcessorArray
from ..localize import bits_of
from .products import MatrixProduct, product_in

CALL = 25  # cycles to call a kernel and come back, measured (sections 4.1 and 6.2 of the XDNA thesis)
_BRANCH = 6  # of a loop that has another one inside; innermost ones cost nothing
_VECTOR = 64  # bytes that an instruction of the vector unit works on
_FREE = ("arith.constant", "arith.index_cast", "affine.yield", "scf.yield", "allo.sign_cast", "memref.alloc")
_CASTS = ("arith.ext", "arith.trunc")


class Kernels(StrEnum):
    """What loops of cores run as."""

    SCALAR = "scalar"  # as they are emitted, an operation after the other
    VECTOR = "vector"  # on the vector unit, if its library has a kernel for them


@dataclass(slots=True)
class CoreCycles:
    """Cycles of statements of cores of `array`; `given` are those of functions of C++, by name."""

    array: ProcessorArray
    kernels: Kernels
    given: Mapping[str, int]
    known: dict[ir.Operation, int] = field(default_factory=dict)

    def of(self, op: ir.Operation, values: Mapping[ir.Value, int]) -> int:
        """The cycles of a statement, with what is known of the variables of loops around it.

        Raises TargetError where they depend on data, or on a function that nothing is known of.
        """
        if op in self.known:
            return self.known[op]
        if op.name == "affine.for":
            return self._loop(op, values)
        if op.name in ("affine.if", "scf.if"):  # the longer branch
            return 1 + max(self._block(block, values) for region in op.regions for block in region.blocks)
        if len(op.regions):
            raise TargetError(
                "how long a core takes depends on data here", at=location_of(op),
                hint="loops with affine bounds have a time",
            )  # fmt: skip
        if op.name == "func.call":
            return CALL + self._function(op)
        if op.name == "memref.copy":
            return ceil(_bytes(op.operands[0].type) / (_VECTOR // 2))
        return 0 if op.name in _FREE or op.name == "memref.dealloc" else 1

    def _function(self, call: ir.Operation) -> int:
        name = callee_name(call)
        if name not in self.given:
            raise TargetError(
                f"nothing is known of the time that '{name}' takes", at=location_of(call),
                hint=f"say so: cycles={{'{name}': ...}}",
            )  # fmt: skip
        return self.given[name]

    def _block(self, block: ir.Block, values: Mapping[ir.Value, int]) -> int:
        return sum(self.of(op, values) for op in statements(block))

    def _loop(self, loop: ir.Operation, values: Mapping[ir.Value, int]) -> int:
        body = loop.regions[0].blocks[0]
        inside = operations(body, "affine.for", "scf.for", "scf.while")
        variable = induction_variable(loop)
        trips = trips_of(loop, values)
        if _is_rectangular(loop) and all(map(_is_rectangular, inside)):
            whole = len(trips) * (self._block(body, values) + (_BRANCH if inside else 0))
            if self.kernels is Kernels.VECTOR:
                whole = min([whole, *self._vector(loop, values, len(trips), innermost=not inside)])
            self.known[loop] = whole
            return whole
        own = _BRANCH if inside else 0
        return sum(self._block(body, {**values, variable: k}) + own for k in trips)

    def multiplied(self, op: ir.Operation) -> Counter[str]:
        """How many products of two elements of a type are summed in products of matrices."""
        found: Counter[str] = Counter()
        if op.name == "affine.for":
            product = product_in(op)
            if product is not None:
                found[product.element] = product.multiplications
                return found
            times = trip_count(op) or 0
            for inner in statements(op.regions[0].blocks[0]):
                for element, count in self.multiplied(inner).items():
                    found[element] += times * count
        return found

    # -- the vector unit ---------------------------------------------------------------------------

    def _vector(
        self, loop: ir.Operation, values: Mapping[ir.Value, int], trips: int, *, innermost: bool
    ) -> Sequence[int]:
        """The cycles of a loop on the vector unit, if it can be there."""
        if innermost:
            ops = statements(loop.regions[0].blocks[0])
            return [self._lanes(ops, trips)] if all(map(_has_lanes, ops)) else []
        found = product_in(loop)
        if found is None or found.element not in self.array.products:
            return []
        return [self._product(found) + self._around(found, values)]

    def _product(self, found: MatrixProduct) -> int:
        """The cycles of blocks of native shape: an instruction for each, and one more for each block of results."""
        native = self.array.products[found.element]
        return CALL + found.batch * min(
            ceil(found.rows / m) * ceil(found.columns / n) * (ceil(found.terms / k) + 1) * ceil(m * k * n / native.rate)
            for m, k, n in native.shapes
        )

    def _around(self, found: MatrixProduct, values: Mapping[ir.Value, int]) -> int:
        """The cycles of what is in the nest of a product beside it."""
        total = 0
        for times, own in found.beside:
            loops = [op for op in own if len(op.regions)]
            total += times * sum(self.of(op, values) for op in loops)
            total += self._lanes([op for op in own if not len(op.regions)], times)
        return total

    def _lanes(self, ops: Sequence[ir.Operation], times: int) -> int:
        """The cycles of operations on vectors: two loads, a store and an operation each at once."""
        worked = [op for op in ops if op.name not in _FREE and not op.name.startswith(_CASTS)]
        kinds = [op.operands[0].type if is_store(op) else op.results[0].type for op in worked if _value(op)]
        lanes = _VECTOR // max((_width(kind) // 8 for kind in kinds), default=1)
        stores = sum(map(is_store, worked))
        loads = sum(map(is_load, worked))
        return ceil(times / lanes) * max(loads, 2 * stores, len(worked) - loads - stores)


def trips_of(loop: ir.Operation, values: Mapping[ir.Value, int]) -> range:
    """What the variable of a loop takes on. Raises TargetError if that depends on data."""
    lower, upper = (ir.AffineMapAttr(loop.attributes[name]).value for name in ("lowerBoundMap", "upperBoundMap"))
    sides = []
    for own, used in zip((lower, upper), bound_operands(loop), strict=True):
        if any(value not in values for value in used):
            raise TargetError(
                "how often a core runs this loop depends on data", at=location_of(loop),
                hint="loops with affine bounds have a time",
            )  # fmt: skip
        sides.append(evaluate(compile_map(own), [values[value] for value in used]))
    step: int = ir.IntegerAttr(loop.attributes["step"]).value
    return range(max(sides[0]), min(sides[1]), step)


def _is_rectangular(loop: ir.Operation) -> bool:
    if loop.name != "affine.for":
        return False
    bounds = [ir.AffineMapAttr(loop.attributes[name]).value for name in ("lowerBoundMap", "upperBoundMap")]
    return all(isinstance(expr, ir.AffineConstantExpr) for own in bounds for expr in own.results)


def _has_lanes(op: ir.Operation) -> bool:
    slow = ("arith.div", "arith.rem")
    plain = op.name.startswith("arith.") and not op.name.startswith(slow)
    return plain or op.name in ("affine.load", "affine.store", "affine.yield")


def _value(op: ir.Operation) -> bool:
    return is_store(op) or len(op.results) == 1


def _width(kind: ir.Type) -> int:
    return container_width(bits_of(kind)) if hasattr(kind, "width") else 32


def _bytes(kind: ir.Type) -> int:
    own = ir.MemRefType(kind)
    return int(prod(own.shape)) * _width(own.element_type) // 8
