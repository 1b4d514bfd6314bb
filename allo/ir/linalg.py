"""Structured operations (dialect `linalg`) as loops: their accesses, and the names of the loops."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from mlir import ir

# Not from mlir.dialects.linalg, which takes 80 ms to import.
from mlir._mlir_libs._mlirDialectsLinalg import get_indexing_maps

from ..errors import InternalError
from .builder import Builder, affine_constant, affine_dim, index_type, string_attr
from .context import context
from .module import Module
from .names import unique_name
from .walk import LOOP_OPERATIONS, entry_block, operations, string_of

_DYNAMIC = -(1 << 63)


def is_structured(op: ir.Operation) -> bool:
    """Whether `op` is an operation on whole arrays that loops can replace."""
    return op.name.startswith("linalg.") and op.name not in ("linalg.yield", "linalg.index") and bool(indexing_maps(op))


def indexing_maps(op: ir.Operation) -> list[ir.AffineMap]:
    """For each operand, the element that an iteration uses; empty if `op` has no such maps."""
    maps = get_indexing_maps(op)
    return [] if maps is None else [ir.AffineMapAttr(attribute).value for attribute in maps]


def output_count(op: ir.Operation) -> int:
    """How many of the last operands of a structured operation are written."""
    if "operandSegmentSizes" in op.attributes:
        return int(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[1])
    return 1 if op.name in ("linalg.transpose", "linalg.broadcast", "linalg.map") else len(op.operands) // 2


def with_loops(module: Module) -> Module:
    """The module with loops in the place of operations on whole arrays."""
    for function in module.functions():
        entry = entry_block(function)
        if entry is not None and any(is_structured(op) for op in operations(entry)):
            lowered = module.clone()
            lower_linalg(lowered)
            return lowered
    return module


def lower_linalg(module: Module) -> None:
    """Replace every structured operation by loops, in place.

    The loops have the names of the attribute `allo.loops` (`i0`, `i1`, ... without it), made unique in their nest,
    the outermost has the attribute `allo.nest` of the operation.
    """
    for function in module.functions():
        entry = entry_block(function)
        if entry is None:
            continue
        structured = [op for op in operations(entry) if is_structured(op)]
        if not structured:
            continue
        nests = {nest for op in operations(entry) if (nest := string_of(op, "allo.nest")) is not None}
        for op in structured:
            _Lowering(op, string_of(op, "allo.nest") or _numbered(op.name.removeprefix("linalg."), nests)).run()


def _numbered(operation: str, taken: set[str]) -> str:
    """The first of `matmul_0`, `matmul_1`, ... that no nest has yet."""
    name = next(name for n in count() if (name := f"{operation}_{n}") not in taken)
    taken.add(name)
    return name


class _Lowering:
    """The loops of one operation."""

    def __init__(self, op: ir.Operation, nest: str) -> None:
        self.op = op
        self.nest = nest
        self.maps = indexing_maps(op)
        self.operands: list[ir.Value] = list(op.operands)
        self.rank: int = self.maps[0].n_dims
        self.builder = Builder.before(op)

    def run(self) -> None:
        variables = self._loops()
        block = self.op.regions[0].blocks[0]
        first = len(self.operands) - output_count(self.op)
        for operand, access, argument in zip(self.operands, self.maps, block.arguments, strict=True):
            if len(list(argument.uses)):
                argument.replace_all_uses_with(self._load(operand, access, variables))
        self._positions(block, variables)
        *body, last = list(block.operations)
        for op in body:
            self.builder.point.insert(op.operation.detach_from_parent())
        results = list(last.operation.operands)
        for operand, access, result in zip(self.operands[first:], self.maps[first:], results, strict=True):
            self.builder.affine_store(result, operand, *self._subscripts(access, variables))
        self.op.erase()

    def _loops(self) -> list[ir.Value]:
        """Nested loops over all iterations; the builder stands in the innermost body afterwards."""
        taken = self._names_around()
        given = string_of(self.op, "allo.loops")
        names = [name.strip() for name in given.split(",")] if given else []
        if len(names) != self.rank:
            names = [f"i{dimension}" for dimension in range(self.rank)]
        variables = []
        for dimension, name in enumerate(names):
            attributes: dict[str, ir.Attribute] = {"allo.name": string_attr(unique_name(name, taken))}
            if dimension == 0:
                attributes["allo.nest"] = string_attr(self.nest)
            zero = ir.AffineMap.get(0, 0, [affine_constant(0)], context())
            loop = self.builder.affine_for((zero, []), self._extent(dimension), 1, attributes)
            block = loop.regions[0].blocks[0]
            variables.append(block.arguments[0])
            self.builder.point = ir.InsertionPoint.at_block_terminator(block)
        return variables

    def _names_around(self) -> set[str]:
        """The names of all loops of the nest that the operation stands in."""
        root, parent = None, self.op.parent
        while parent is not None and parent.name != "func.func":
            root = parent.operation if parent.name in LOOP_OPERATIONS else root
            parent = parent.parent
        if root is None:
            return set()
        inside = (op for region in root.regions for block in region.blocks for op in operations(block))
        names = (string_of(op, "allo.name") for op in (root, *inside) if op.name in LOOP_OPERATIONS)
        return {name for name in names if name is not None}

    def _extent(self, dimension: int) -> tuple[ir.AffineMap, Sequence[ir.Value]]:
        """The bound of a loop: the extent of an operand that it runs along."""
        for operand, access in zip(self.operands, self.maps, strict=True):
            for position, result in enumerate(access.results):
                if result == affine_dim(dimension):
                    extent = ir.MemRefType(operand.type).shape[position]
                    if extent != _DYNAMIC:
                        return ir.AffineMap.get(0, 0, [affine_constant(extent)], context()), []
                    place = self.builder.constant(index_type(), position)
                    size = self.builder.value("memref.dim", index_type(), [operand, place])
                    return ir.AffineMap.get(1, 0, [affine_dim(0)], context()), [size]
        raise InternalError(f"no operand of `{self.op.name}` has the extent of its loop {dimension}")

    def _subscripts(
        self, access: ir.AffineMap, variables: Sequence[ir.Value]
    ) -> tuple[ir.AffineMap, Sequence[ir.Value]]:
        """The access with only the loops that it uses."""
        used = [d for d in range(self.rank) if any(_depends(result, d) for result in access.results)]
        places = [affine_constant(0)] * self.rank
        for position, dimension in enumerate(used):
            places[dimension] = affine_dim(position)
        results = [_composed(result, places) for result in access.results]
        return ir.AffineMap.get(len(used), 0, results, context()), [variables[d] for d in used]

    def _load(self, operand: ir.Value, access: ir.AffineMap, variables: Sequence[ir.Value]) -> ir.Value:
        """The element of an operand that an iteration uses; a scalar operand is the value itself."""
        if not isinstance(operand.type, ir.MemRefType):
            return operand
        return self.builder.affine_load(operand, *self._subscripts(access, variables))

    def _positions(self, block: ir.Block, variables: Sequence[ir.Value]) -> None:
        """`linalg.index` is the variable of a loop."""
        for op in operations(block, "linalg.index"):
            dimension = ir.IntegerAttr(op.attributes["dim"]).value
            op.results[0].replace_all_uses_with(variables[dimension])
            op.erase()


def _depends(expr: ir.AffineExpr, dimension: int) -> bool:
    if isinstance(expr, ir.AffineDimExpr):
        return bool(expr.position == dimension)
    if isinstance(expr, ir.AffineBinaryExpr):
        return _depends(expr.lhs, dimension) or _depends(expr.rhs, dimension)
    return False


def _composed(expr: ir.AffineExpr, places: Sequence[ir.AffineExpr]) -> ir.AffineExpr:
    """`expr` with `places` for its dimensions."""
    return expr.compose(ir.AffineMap.get(len(places), 0, list(places), context()))
