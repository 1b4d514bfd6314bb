"""Fast builder of MLIR operations: one insertion point, one current location, no context managers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from .context import context, unknown_location
from .memory import Memory


@cache
def string_attr(text: str) -> ir.StringAttr:
    return ir.StringAttr.get(text, context())


@cache
def index_type() -> ir.Type:
    return ir.IndexType.get(context())


@cache
def i32_attr(value: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32, context()), value)


@cache
def i64_attr(value: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context()), value)


def memory_attr(memory: Memory) -> ir.DictAttr:
    """What the attribute `allo.memory` of an array says."""
    entries: dict[str, ir.Attribute] = {"resource": string_attr(memory.resource)}
    if memory.storage_type is not None:
        entries["storage_type"] = string_attr(memory.storage_type)
    for name, number in (("latency", memory.latency), ("depth", memory.depth)):
        if number is not None:
            entries[name] = i32_attr(number)
    return ir.DictAttr.get(entries, context())


@cache
def unit_attr() -> ir.UnitAttr:
    return ir.UnitAttr.get(context())


@cache
def segments_attr(sizes: tuple[int, ...]) -> ir.DenseI32ArrayAttr:
    return ir.DenseI32ArrayAttr.get(list(sizes), context())


@cache
def affine_dim(position: int) -> ir.AffineExpr:
    return ir.AffineExpr.get_dim(position, context())


@cache
def affine_constant(value: int) -> ir.AffineExpr:
    return ir.AffineExpr.get_constant(value, context())


@cache
def constant_map_attr(value: int) -> ir.AffineMapAttr:
    return ir.AffineMapAttr.get(ir.AffineMap.get(0, 0, [affine_constant(value)], context()))


class Builder:
    """Creates operations at `point`, each with the location `loc`."""

    __slots__ = ("loc", "point")

    def __init__(self, point: ir.InsertionPoint, loc: ir.Location | None = None) -> None:
        self.point = point
        self.loc = loc or unknown_location()

    @classmethod
    def before(cls, op: ir.OpView | ir.Operation) -> Builder:
        """A builder in front of `op`, with its location."""
        return cls(ir.InsertionPoint(op), op.location)

    def op(
        self,
        name: str,
        results: Sequence[ir.Type] = (),
        operands: Sequence[ir.Value] = (),
        attributes: dict[str, ir.Attribute] | None = None,
        regions: int = 0,
    ) -> ir.Operation:
        """Any operation."""
        return ir.Operation.create(name, results, operands, attributes, None, regions, self.loc, self.point)

    def value(
        self,
        name: str,
        result: ir.Type,
        operands: Sequence[ir.Value] = (),
        attributes: dict[str, ir.Attribute] | None = None,
    ) -> ir.Value:
        """An operation of one result; the result."""
        return ir.Operation.create(
            name, [result], operands, attributes, None, 0, self.loc, self.point
        ).results[0]

    def constant(self, result: ir.Type, value: int | float) -> ir.Value:
        """`arith.constant` of an integer, index or float type."""
        if isinstance(result, ir.FloatType):
            attribute: ir.Attribute = ir.FloatAttr.get(result, float(value), self.loc)
        elif isinstance(result, ir.IntegerType) and result.width >= 64:
            attribute = ir.Attribute.parse(f"{int(value)} : {result}", context())
        else:
            attribute = ir.IntegerAttr.get(result, int(value))
        return self.value("arith.constant", result, (), {"value": attribute})

    def compare(self, predicate: int, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """`arith.cmpi`; the predicate is the number that MLIR has for it."""
        flag = ir.IntegerType.get_signless(1, context())
        attribute = i64_attr(predicate)
        return self.value("arith.cmpi", flag, [lhs, rhs], {"predicate": attribute})

    def alloc(self, memref: ir.MemRefType, name: str, extents: Sequence[ir.Value] = ()) -> ir.Value:
        """A named buffer; `extents` are those that its type leaves open."""
        segments = segments_attr((len(extents), 0))
        attributes = {"operandSegmentSizes": segments, "allo.name": string_attr(name)}
        return self.value("memref.alloc", memref, extents, attributes)

    def affine_load(self, memref: ir.Value, access: ir.AffineMap, operands: Sequence[ir.Value]) -> ir.Value:
        attributes = {"map": ir.AffineMapAttr.get(access)}
        element = ir.MemRefType(memref.type).element_type
        return self.value("affine.load", element, [memref, *operands], attributes)

    def affine_store(
        self, value: ir.Value, memref: ir.Value, access: ir.AffineMap, operands: Sequence[ir.Value]
    ) -> None:
        self.op("affine.store", (), [value, memref, *operands], {"map": ir.AffineMapAttr.get(access)})

    def load(self, memref: ir.Value, indices: Sequence[ir.Value]) -> ir.Value:
        return self.value("memref.load", ir.MemRefType(memref.type).element_type, [memref, *indices])

    def store(self, value: ir.Value, memref: ir.Value, indices: Sequence[ir.Value]) -> None:
        self.op("memref.store", (), [value, memref, *indices])

    def copy(self, source: ir.Value, target: ir.Value) -> None:
        self.op("memref.copy", (), [source, target])

    def put(self, stream: ir.Value, value: ir.Value) -> None:
        self.op("allo.stream_put", (), [stream, value])

    def get(self, stream: ir.Value) -> ir.Value:
        return self.value("allo.stream_get", allo_d.StreamType(stream.type).element_type, [stream])

    def peek(self, stream: ir.Value) -> ir.Value:
        return self.value("allo.stream_peek", allo_d.StreamType(stream.type).element_type, [stream])

    def try_put(self, stream: ir.Value, value: ir.Value) -> ir.Value:
        """Whether there was room."""
        return self.value("allo.stream_try_put", ir.IntegerType.get_signless(1, context()), [stream, value])

    def try_get(self, stream: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The oldest element, or zero, and whether there was one."""
        kinds = [allo_d.StreamType(stream.type).element_type, ir.IntegerType.get_signless(1, context())]
        got, done = self.op("allo.stream_try_get", kinds, [stream]).results
        return got, done

    def asks(self, question: str, stream: ir.Value) -> ir.Value:
        """Whether a stream is "empty" or "full"."""
        return self.value(f"allo.stream_{question}", ir.IntegerType.get_signless(1, context()), [stream])

    def is_empty(self, stream: ir.Value, attributes: dict[str, ir.Attribute] | None = None) -> ir.Value:
        flag = ir.IntegerType.get_signless(1, context())
        return self.value("allo.stream_empty", flag, [stream], attributes)

    def affine_for(
        self,
        lower: tuple[ir.AffineMap, Sequence[ir.Value]],
        upper: tuple[ir.AffineMap, Sequence[ir.Value]],
        step: int,
        attributes: dict[str, ir.Attribute],
    ) -> ir.Operation:
        """`affine.for` with an empty body (only its terminator); results of `upper` mean their minimum."""
        named = {
            "lowerBoundMap": ir.AffineMapAttr.get(lower[0]),
            "upperBoundMap": ir.AffineMapAttr.get(upper[0]),
            "step": ir.IntegerAttr.get(index_type(), step),
            "operandSegmentSizes": segments_attr((len(lower[1]), len(upper[1]), 0)),
            **attributes,
        }
        loop = self.op("affine.for", (), [*lower[1], *upper[1]], named, 1)
        self._body(loop, "affine.yield", [index_type()])
        return loop

    def affine_if(
        self, condition: ir.IntegerSet, operands: Sequence[ir.Value], has_else: bool
    ) -> ir.Operation:
        """`affine.if` without results; both blocks hold only their terminators."""
        attributes = {"condition": ir.IntegerSetAttr.get(condition)}
        op = self.op("affine.if", (), operands, attributes, 2)
        for region in list(op.regions)[: 2 if has_else else 1]:
            block = region.blocks.append(arg_locs=[])
            ir.Operation.create("affine.yield", loc=self.loc, ip=ir.InsertionPoint(block))
        return op

    def scf_for(self, bounds: Sequence[ir.Value], attributes: dict[str, ir.Attribute]) -> ir.Operation:
        """`scf.for` over (lower, upper, step) with an empty body."""
        loop = self.op("scf.for", (), bounds, attributes, 1)
        self._body(loop, "scf.yield", [bounds[0].type])
        return loop

    def scf_if(self, condition: ir.Value, results: Sequence[ir.Type], has_else: bool) -> ir.Operation:
        """`scf.if`; with `results` the caller adds the yields, else the blocks hold their terminators."""
        op = self.op("scf.if", results, [condition], None, 2)
        for region in list(op.regions)[: 2 if has_else else 1]:
            block = region.blocks.append(arg_locs=[])
            if not results:
                ir.Operation.create("scf.yield", loc=self.loc, ip=ir.InsertionPoint(block))
        return op

    def _body(self, op: ir.Operation, terminator: str, arguments: Sequence[ir.Type]) -> None:
        block = op.regions[0].blocks.append(*arguments, arg_locs=[self.loc] * len(arguments))
        ir.Operation.create(terminator, loc=self.loc, ip=ir.InsertionPoint(block))
