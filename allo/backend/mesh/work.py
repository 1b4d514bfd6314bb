"""Work of statements on a core: products of matrices, operations on elements and scalars, bytes of own arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from mlir import ir

from ...errors import TargetError
from ...ir.access import accessed, is_access, is_affine_load, is_load, is_store, stored
from ...ir.linalg import indexing_maps, is_structured, output_count
from ...ir.mlir_types import scalar_from_mlir
from ...ir.walk import LOOP_OPERATIONS, location_of, operations, statements
from ...mapping.tiles.program import TileWork
from ...poly import Model, trips_of

# Conversions cost nothing: units read and write all types; constants and subscripts are no work of elements.
_FREE = ("arith.constant", "arith.extf", "arith.truncf", "arith.extsi", "arith.extui", "arith.trunci",
         "arith.index_cast", "arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui", "arith.bitcast",
         "arith.select")  # fmt: skip
_PRODUCT = ({"arith.mulf", "arith.muli"}, {"arith.addf", "arith.addi"})


def work_of(run: Sequence[ir.Operation], model: Model) -> TileWork:
    """The work of statements that stand one after the other. Raises TargetError for what cannot be counted."""
    counted = _Count(model)
    for op in run:
        counted.statement(op, Fraction(1), False)
    return TileWork(
        tuple(counted.products), tuple(counted.elements), tuple(counted.elementary), round(counted.scalars)
    )


def local_bytes(block: ir.Block, model: Model) -> int:
    """The bytes of arrays that programs declare, but for those that are copies of loaded tiles, or partial products."""
    total = 0
    for op in operations(block, "memref.alloc", "memref.get_global"):
        array = op.results[0]
        kind = ir.MemRefType(array.type)
        if kind.rank and not _is_loaded(array, model) and not _is_added_up(array):
            total += prod(kind.shape) * -(-scalar_from_mlir(kind.element_type).bits // 8)
    return total


@dataclass
class _Count:
    model: Model

    def __post_init__(self) -> None:
        self.products: list[tuple[int, int, int, int]] = []
        self.elements: list[int] = []
        self.elementary: list[int] = []
        self.scalars = Fraction(0)

    def statement(self, op: ir.Operation, times: Fraction, in_loop: bool) -> None:
        """Count an operation that runs so many times."""
        if is_structured(op):
            self.structured(op, times)
        elif op.name == "func.call":
            raise TargetError("a tile program calls a kernel", at=location_of(op), hint="write its statements here")
        elif op.name in LOOP_OPERATIONS:
            self.loop(op, times)
        elif len(op.regions):
            for region in op.regions:
                for block in region.blocks:
                    for inner in statements(block):
                        self.statement(inner, times, in_loop)
        else:
            self.single(op, times, in_loop)

    def loop(self, op: ir.Operation, times: Fraction) -> None:
        trips = None if op.name == "scf.while" else trips_of(op)
        if trips is None or (trips.mean is None and trips.greatest is None):
            raise TargetError("how often a loop runs is decided by data", at=location_of(op), hint="give it a bound")
        inner = times * (Fraction(trips.greatest or 0) if trips.mean is None else trips.mean)
        for statement in statements(op.regions[0].blocks[0]):
            self.statement(statement, inner, True)

    def single(self, op: ir.Operation, times: Fraction, in_loop: bool) -> None:
        if is_store(op):
            if self.moves(op):
                self.add(1, 0, times, in_loop)
        elif op.name.startswith("math."):
            self.add(0, 1, times, in_loop)
        elif op.name.startswith("arith.") and op.name not in _FREE and not self.adds_product(op):
            computes = any(not isinstance(result.type, ir.IndexType) for result in op.results)
            self.add(int(computes), 0, times, in_loop)

    def add(self, plain: int, elementary: int, times: Fraction, in_loop: bool) -> None:
        if not in_loop:
            self.scalars += plain + elementary
        else:
            self.elements += [round(times)] * plain
            self.elementary += [round(times)] * elementary

    def moves(self, store: ir.Operation) -> bool:
        """Whether a store copies an element between arrays of the core: what transfers move costs no operation."""
        value = stored(store)
        if isinstance(value.owner, ir.Block) or not is_load(value.owner.operation):
            return False
        sides = (self.model.buffer(accessed(op)) for op in (store, value.owner.operation))
        return all(side is not None and side.origin != "argument" and bool(side.shape) for side in sides)

    def adds_product(self, op: ir.Operation) -> bool:
        """Whether an addition adds a product of matrices to an array, which matrix units do as they multiply."""
        if op.name not in _PRODUCT[1]:
            return False
        loads = [made for operand in op.operands if (made := _made_by(operand)) is not None]
        return any(is_affine_load(load) and _is_added_up(accessed(load)) for load in loads)

    def structured(self, op: ir.Operation, times: Fraction) -> None:
        """Count an operation on whole arrays: a product of matrices, or one of the vector unit."""
        if _is_product(op):
            m, k, n, batches = _product_extents(op)
            self.products.append((m, k, n, round(times * batches)))
            return
        if op.name == "linalg.fill" and any(_is_product(user) for user in _users(_outputs(op)[0])):
            return  # matrix units start from 0
        body = [inner.name for inner in statements(op.regions[0].blocks[0])]
        iterations = times * prod(_extents(op))
        arithmetic = sum(name.startswith("arith.") and name not in _FREE for name in body)
        elementary = sum(name.startswith("math.") for name in body)
        self.add(arithmetic if arithmetic or elementary else 1, elementary, iterations, True)


def _is_product(op: ir.Operation) -> bool:
    """Whether an operation multiplies elements of two arrays and adds up: a contraction."""
    if not is_structured(op) or len(op.operands) - output_count(op) != 2:
        return False
    body = {inner.name for inner in statements(op.regions[0].blocks[0])}
    return all(kind & body for kind in _PRODUCT) and _product_extents(op)[1] > 1


def _extents(op: ir.Operation) -> tuple[int, ...]:
    """The extents of the iterations of an operation on whole arrays."""
    maps = indexing_maps(op)
    found = [1] * maps[0].n_dims
    for operand, access in zip(op.operands, maps, strict=True):
        for result, extent in zip(access.results, _shape(operand), strict=True):
            if isinstance(result, ir.AffineDimExpr):
                found[result.position] = extent
    return tuple(found)


def _shape(operand: ir.Value) -> tuple[int, ...]:
    return tuple(ir.MemRefType(operand.type).shape) if isinstance(operand.type, ir.MemRefType) else ()


def _product_extents(op: ir.Operation) -> tuple[int, int, int, int]:
    """(m, k, n, how many) of a contraction: which operands a dimension of its iterations stands in tells what it is."""
    left, right, out = ({d for result in access.results for d in _dims(result)} for access in indexing_maps(op))
    m = k = n = batches = 1
    for dimension, extent in enumerate(_extents(op)):
        if dimension not in out:
            k *= extent
        elif dimension in left and dimension in right:
            batches *= extent
        elif dimension in left:
            m *= extent
        else:
            n *= extent
    return m, k, n, batches


def _dims(expression: ir.AffineExpr) -> Iterator[int]:
    if isinstance(expression, ir.AffineDimExpr):
        yield expression.position
    elif isinstance(expression, ir.AffineBinaryExpr):
        yield from _dims(expression.lhs)
        yield from _dims(expression.rhs)


def _made_by(value: ir.Value) -> ir.Operation | None:
    """The operation that makes a value, before conversions."""
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if op.name not in _FREE or len(op.operands) != 1:
            return op
        value = op.operands[0]
    return None


def _users(array: ir.Value) -> list[ir.Operation]:
    return [use.owner.operation for use in array.uses]


def _is_added_up(array: ir.Value) -> bool:
    """Whether an array is a product that is only added to another array: it is filled with 0, made, and read so."""
    if isinstance(array.owner, ir.Block) or array.owner.operation.name != "memref.alloc":
        return False
    products = loads = 0
    for user in _users(array):
        if user.name == "linalg.fill":
            continue
        if is_structured(user) and user.operands[len(user.operands) - 1] == array and len(user.operands) == 3:
            products += 1
        elif is_access(user) and is_load(user) and _goes_to_its_sum(user):
            loads += 1
        else:
            return False
    return products == 1 and loads == 1


def _goes_to_its_sum(load: ir.Operation) -> bool:
    """Whether a loaded value is only added to an element, which is stored where it was."""
    adds = _users(load.results[0])
    if len(adds) == 1 and adds[0].name in _FREE:
        adds = _users(adds[0].results[0])
    if len(adds) != 1 or adds[0].name not in _PRODUCT[1]:
        return False
    stores = [user for user in _users(adds[0].results[0]) if is_store(user)]
    others = [operand.owner.operation for operand in adds[0].operands if not isinstance(operand.owner, ir.Block)]
    loaded = [accessed(op) for op in others if is_access(op) and is_load(op)]
    return len(stores) == 1 and accessed(stores[0]) in loaded


def _is_loaded(array: ir.Value, model: Model) -> bool:
    """Whether all that is written to an array are elements of arguments: it is the buffer that they come to."""
    stores = [user for user in _users(array) if is_access(user) and is_store(user)]
    if not stores or any(is_structured(user) and array in _outputs(user) for user in _users(array)):
        return False
    for store in stores:
        value = stored(store)
        if isinstance(value.owner, ir.Block) or not is_load(value.owner.operation):
            return False
        source = model.buffer(accessed(value.owner.operation))
        if source is None or source.origin != "argument":
            return False
    return True


def _outputs(op: ir.Operation) -> list[ir.Value]:
    return list(op.operands)[len(op.operands) - output_count(op) :]
