"""Cycles of the code of a core: an instruction an operation, or loops and products of matrices on its vector unit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil, prod

from mlir import ir

from ....errors import TargetError, nearest
from ....ir.access import (
    accessed,
    callee_name,
    is_affine_access,
    is_end,
    is_get,
    is_load,
    is_put,
    is_store,
    stored,
)
from ....ir.module import Module
from ....ir.walk import bound_operands, induction_variable, location_of, operations, statements
from ....ir.words import container_width
from ....poly import extract, passed_on
from ....poly.formula import compile_map, evaluate
from ....target import ProcessorArray
from ..kernels import known_cycles, known_products
from ..kernels.contract import product_cycles
from ..kernels.products import MatrixProduct, product_in
from ..localize import bits_of

_FREE = ("arith.constant", "arith.index_cast", "affine.yield", "scf.yield", "allo.sign_cast", "memref.alloc")
_CASTS = ("arith.ext", "arith.trunc")
# Instructions of functions of lanes, counted in the text of our kernels (allo_kernels.h).
_FUNCTIONS = {"math.exp": 24, "math.tanh": 36, "math.sqrt": 8, "math.rsqrt": 8, "arith.divf": 8}


class Kernels(StrEnum):
    """What loops of cores run as."""

    SCALAR = "scalar"  # as they are emitted, an operation after the other
    VECTOR = "vector"  # as a library of kernels for the vector unit would run them: the emitted text has no such code


@dataclass(slots=True)
class CoreCycles:
    """Cycles of statements of cores of `array`; `given` are those of calls of functions of C++, and `summed` the
    products of two elements that these sum."""

    array: ProcessorArray
    kernels: Kernels
    given: Mapping[str, int]
    summed: Mapping[str, Mapping[str, int]]
    known: dict[ir.Operation, int] = field(default_factory=dict)

    @classmethod
    def of_bodies(
        cls, array: ProcessorArray, kernels: Kernels, bodies: Module, given: Mapping[str, int]
    ) -> CoreCycles:
        """The cycles of what bodies of tasks call, with what a user says of it."""
        stated = {name: array.timing.call + count for name, count in given.items()}
        return cls(array, kernels, {**known_cycles(bodies), **stated}, known_products(bodies))

    def of_kernel(self, nest: ir.Operation, lanes: Mapping[ir.Operation, int]) -> tuple[int, Mapping[str, int]]:
        """The cycles of a nest as a kernel, with its call, and the products of elements that it sums; `lanes` are how
        many iterations of a loop are done at once."""
        return self.array.timing.call + self._on_lanes(nest, lanes), self.multiplied(nest, {})

    def _on_lanes(self, loop: ir.Operation, lanes: Mapping[ir.Operation, int]) -> int:
        own = statements(loop.regions[0].blocks[0])
        inner = [op for op in own if len(op.regions)]
        once = self._instructions([op for op in own if not len(op.regions)])
        once += sum(self._on_lanes(op, lanes) for op in inner) + (self.array.timing.branch if inner else 0)
        return ceil(len(trips_of(loop, {})) / lanes.get(loop, 1)) * once

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
            return self._function(op)
        if op.name == "memref.copy":
            return ceil(_bytes(op.operands[0].type) / self.array.timing.store)
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
        variable, trips = induction_variable(loop), trips_of(loop, values)
        own = self.array.timing.branch if inside else 0
        if _is_rectangular(loop) and all(map(_is_rectangular, inside)):
            whole = len(trips) * (self._block(body, values) + own)
            if self.kernels is Kernels.VECTOR:
                whole = min([whole, *self._vector(loop, values, len(trips), innermost=not inside)])
            self.known[loop] = whole
            return whole
        return sum(self._block(body, {**values, variable: k}) + own for k in trips)

    def multiplied(self, op: ir.Operation, values: Mapping[ir.Value, int]) -> Counter[str]:
        """How many products of two elements of a type a statement sums in products of matrices.

        Of branches that depend on data, or on loops within the statement, the longer ones count, as in `of`.
        """
        found: Counter[str] = Counter()
        if op.name == "func.call":
            return Counter(self.summed.get(callee_name(op), {}))
        if op.name in ("affine.if", "scf.if"):
            branches = [self._multiplied(block, values) for region in op.regions for block in region.blocks]
            return max(branches, key=Counter.total, default=found)
        if op.name != "affine.for" or not operations(op.regions[0].blocks[0], "arith.muli", "arith.mulf"):
            return found
        product = product_in(op)
        if product is not None:
            return Counter({product.element: product.multiplications})
        body, variable, trips = op.regions[0].blocks[0], induction_variable(op), trips_of(op, values)
        if all(map(_is_rectangular, operations(body, "affine.for"))):
            one = self._multiplied(body, values)
            return Counter({element: len(trips) * count for element, count in one.items()})
        for k in trips:
            found.update(self._multiplied(body, {**values, variable: k}))
        return found

    def _multiplied(self, block: ir.Block, values: Mapping[ir.Value, int]) -> Counter[str]:
        found: Counter[str] = Counter()
        for op in statements(block):
            found.update(self.multiplied(op, values))
        return found

    # -- the vector unit ---------------------------------------------------------------------------

    def _vector(
        self, loop: ir.Operation, values: Mapping[ir.Value, int], trips: int, *, innermost: bool
    ) -> Sequence[int]:
        """The cycles of a loop on the vector unit, if it can be there."""
        if innermost:
            ops = statements(loop.regions[0].blocks[0])
            return [self._lanes(ops, trips)] if all(map(_has_lanes, ops)) and not _is_chain(loop) else []
        found = product_in(loop)
        if found is None or found.element not in self.array.products:
            return []
        return [self._product(found) + self._around(found, values)]

    def _product(self, found: MatrixProduct) -> int:
        """The cycles of blocks of native shape: an instruction for each, and one more for each block of results."""
        shapes, call = self.array.products[found.element].shapes, self.array.timing.call
        one = product_cycles(self.array, found.element, found.rows, found.terms, found.columns, shapes)
        return call + found.batch * (one - call)

    def _around(self, found: MatrixProduct, values: Mapping[ir.Value, int]) -> int:
        """The cycles of what is in the nest of a product beside it."""
        total = 0
        for times, own in found.beside:
            loops = [op for op in own if len(op.regions)]
            total += times * sum(self.of(op, values) for op in loops)
            total += self._lanes([op for op in own if not len(op.regions)], times)
        return total

    def _lanes(self, ops: Sequence[ir.Operation], times: int) -> int:
        """The cycles of operations on vectors, `times` in all."""
        worked = [op for op in ops if op.name not in _FREE and not op.name.startswith(_CASTS)]
        kinds = [stored(op).type if _writes(op) else op.results[0].type for op in worked if _has_value(op)]
        lanes = self.array.timing.vector // max((_width(kind) // 8 for kind in kinds), default=1)
        return ceil(times / lanes) * self._instructions(ops)

    def _instructions(self, ops: Sequence[ir.Operation]) -> int:
        """The instructions of operations on vectors: loads, stores and an operation each at once."""
        timing = self.array.timing
        worked = [op for op in ops if op.name not in _FREE and not op.name.startswith(_CASTS)]
        stores, loads = sum(map(_writes, worked)), sum(map(_reads, worked))
        moved = max(loads * ceil(timing.vector / timing.load), stores * ceil(timing.vector / timing.store))
        return max(moved, sum(_FUNCTIONS.get(op.name, 1) for op in worked) - loads - stores)


def kernels_of(given: object) -> Kernels:
    """What a user asks for; raises TargetError for what is none of them."""
    if given not in list(Kernels):
        listed = ", ".join(repr(str(own)) for own in Kernels)
        raise TargetError(f"kernels must be {listed}; got {given!r}", hint=nearest(str(given), list(Kernels)))
    return Kernels(str(given))


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


def _reads(op: ir.Operation) -> bool:
    """Whether an operation loads, of a block of a stream too: it is an array once the core is written."""
    return is_load(op) or is_get(op)


def _writes(op: ir.Operation) -> bool:
    return is_store(op) or is_put(op)


def _has_lanes(op: ir.Operation) -> bool:
    values = (*op.operands, *op.results)
    if any(isinstance(value.type, ir.F16Type) for value in values):  # the vector unit has none
        return False
    slow = ("arith.divs", "arith.divu", "arith.rem")
    plain = op.name.startswith("arith.") and not op.name.startswith(slow)
    moves = (_reads(op) or _writes(op)) and is_affine_access(op)
    return plain or op.name in _FUNCTIONS or moves or is_end(op) or op.name == "affine.yield"


def _is_chain(loop: ir.Operation) -> bool:
    """Whether iterations of an innermost loop wait for earlier ones; sums do not, which lanes add in parts."""
    ops = statements(loop.regions[0].blocks[0])
    written = {accessed(op) for op in ops if is_store(op)}
    if not any(is_load(op) and accessed(op) in written for op in ops):
        return False
    around = loop
    while around.parent.operation.name != "func.func":
        around = around.parent.operation
    return passed_on(extract(around.parent.operation, around), loop) is not None


def _has_value(op: ir.Operation) -> bool:
    return _writes(op) or len(op.results) == 1


def _width(kind: ir.Type) -> int:
    return container_width(bits_of(kind)) if hasattr(kind, "width") else 32


def _bytes(kind: ir.Type) -> int:
    own = ir.MemRefType(kind)
    return int(prod(own.shape)) * _width(own.element_type) // 8
