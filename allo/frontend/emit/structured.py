"""Emitter of structured operations: the named one of `linalg` where it means the same for these types, else
`generic`."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

# Not from mlir.dialects.linalg, which takes 80 ms to import.
from mlir._mlir_libs._mlirDialectsLinalg import fill_builtin_region

from ...ir.builder import affine_constant, affine_dim, index_type, segments_attr, string_attr
from ...ir.context import context
from ...ir.linalg import indexing_maps
from ...ir.mlir_types import arith_type, storage_type
from ...ir.names import unique_name
from ...ir.types import AlloType, Float, Int
from ..library.structured import is_one_loop
from ..typing.nodes import Element, Structured, Symbol, Var
from ..typing.writes import parts
from .expressions import ExpressionEmitter

_MOVES = frozenset({"copy", "transpose"})
_CONTRACTIONS = frozenset({"matmul", "batch_matmul", "conv_2d_nchw_fchw", "pooling_nchw_sum"})
_OF_ONE_TYPE = frozenset({"add", "sub", "mul", "pooling_nchw_max"})
_OF_FLOATS = frozenset({"div", "powf", "exp", "log", "sqrt", "tanh", "abs"})
_OPERANDS = {name: 2 for name in (*_CONTRACTIONS, *_OF_ONE_TYPE, "div", "powf")}  # 1 for the others
_MAPPED = frozenset({"matmul", "batch_matmul"})  # named operations whose accesses may be permuted


def emit_structured(values: ExpressionEmitter, statement: Structured, nests: set[str]) -> None:
    """Build `statement` at the insertion point; the name of its nest is made unique in `nests`."""
    _Emission(values, statement, unique_name(statement.nest, nests)).run()


class _Emission:
    def __init__(self, values: ExpressionEmitter, statement: Structured, nest: str) -> None:
        self.values = values
        self.builder = values.builder
        self.statement = statement
        self.attributes: dict[str, ir.Attribute] = {"allo.nest": string_attr(nest)}
        if statement.loops:
            self.attributes["allo.loops"] = string_attr(", ".join(loop.name for loop in statement.loops))

    def run(self) -> None:
        statement = self.statement
        for symbol, value in statement.scalars:
            self.values.scalars[symbol] = self.values.value(value)
        if statement.operation == "fill":
            self._fill()
            return
        maps = [self._map(element) for element in (*statement.inputs, statement.output)]
        memrefs = [self.values.memref(element.tensor) for element in (*statement.inputs, statement.output)]
        self.values.place(statement.at)
        if not (self._types_fit() and self._named(maps, memrefs)):
            self._generic(maps, memrefs)

    def _map(self, element: Element) -> ir.AffineMap:
        results = []
        for constant, terms in element.subscripts:
            result = affine_constant(constant)
            for loop, factor in terms:
                result = result + affine_dim(loop) * factor
            results.append(result)
        return ir.AffineMap.get(len(self.statement.loops), 0, results, context())

    def _fill(self) -> None:
        statement = self.statement
        stored = self.values.to_storage(self.values.value(statement.value), statement.value.type)
        self.values.place(statement.at)
        segments = {"operandSegmentSizes": segments_attr((1, 1))}
        operands = [stored, self.values.memref(statement.output.tensor)]
        self._built(self.builder.op("linalg.fill", (), operands, {**self.attributes, **segments}, 1))

    def _built(self, op: ir.Operation) -> ir.Operation:
        """A named operation with its body, whose operations have the location of the operation."""
        fill_builtin_region(op)
        for inner in op.regions[0].blocks[0].operations:
            inner.operation.location = self.builder.loc
        return op

    # -- named operations ------------------------------------------------------------------------

    def _types_fit(self) -> bool:
        """Whether the named operation, which knows signed integers and floats, computes what the value says."""
        statement = self.statement
        result = statement.output.symbol.type
        inputs = [element.symbol.type for element in statement.inputs]
        if len(inputs) != _OPERANDS.get(statement.operation, 1):
            return False
        if not all(map(self._permuted, statement.inputs)):
            return False
        if any(storage_type(t) != arith_type(t) for t in (result, *inputs) if isinstance(t, Int)):
            return False
        if statement.operation in _MOVES:
            return inputs == [result]
        if statement.operation in _CONTRACTIONS:
            terms = inputs[:1] if statement.operation.startswith("pooling") else inputs
            return all(isinstance(t, Int) for t in (result, *terms)) or _float_sum(result, terms)
        if statement.operation in _OF_ONE_TYPE:
            terms = inputs[:1] if statement.operation.startswith("pooling") else inputs
            return isinstance(result, Int | Float) and set(terms) == {result}
        return statement.operation in _OF_FLOATS and isinstance(result, Float) and set(inputs) == {result}

    def _permuted(self, element: Element) -> bool:
        """Whether an operand may be accessed so by an operation that takes permutations: all of it, batches first."""
        operation = self.statement.operation
        rank = {"matmul": 2, "batch_matmul": 3, "transpose": len(self.statement.loops)}.get(operation)
        if rank is None:
            return True
        loops = [terms[0][0] for constant, terms in element.subscripts if constant == 0 and is_one_loop(terms)]
        return len(loops) == len(element.subscripts) == rank and (operation != "batch_matmul" or loops[0] == 0)

    def _named(self, maps: list[ir.AffineMap], memrefs: list[ir.Value]) -> bool:
        """Build the named operation; False if it would access other elements."""
        statement = self.statement
        attributes = dict(self.attributes)
        if statement.operation == "transpose":
            order = [term[0][0] for _, term in statement.inputs[0].subscripts]
            permutation = [order.index(d) for d in range(len(order))]
            attributes["permutation"] = ir.DenseI64ArrayAttr.get(permutation, context())
        else:
            attributes["operandSegmentSizes"] = segments_attr((len(statement.inputs), 1))
        if statement.operation in _MAPPED:
            attributes["indexing_maps"] = _maps_attr(maps)
        for name, numbers in statement.options:
            text = f"dense<{list(numbers)}> : tensor<{len(numbers)}xi64>"
            attributes[name] = ir.Attribute.parse(text, context())
        op = self._built(self.builder.op(f"linalg.{statement.operation}", (), memrefs, attributes, 1))
        if indexing_maps(op) == maps:
            return True
        op.erase()
        return False

    # -- linalg.generic --------------------------------------------------------------------------

    def _generic(self, maps: list[ir.AffineMap], memrefs: list[ir.Value]) -> None:
        statement, values = self.statement, self.values
        kinds = ["parallel"] * (len(statement.loops) - statement.reductions) + ["reduction"] * statement.reductions
        iterators = [ir.Attribute.parse(f"#linalg.iterator_type<{kind}>", context()) for kind in kinds]
        attributes = {
            **self.attributes,
            "indexing_maps": _maps_attr(maps),
            "iterator_types": ir.ArrayAttr.get(iterators, context()),
            "operandSegmentSizes": segments_attr((len(statement.inputs), 1)),
        }
        op = self.builder.op("linalg.generic", (), memrefs, attributes, 1)
        elements = (*statement.inputs, statement.output)
        types = [ir.MemRefType(memref.type).element_type for memref in memrefs]
        block = op.regions[0].blocks.append(*types, arg_locs=[self.builder.loc] * len(types))
        outer, self.builder.point = self.builder.point, ir.InsertionPoint(block)
        used = {part.symbol for part in parts(statement.value) if isinstance(part, Var)}
        for element, argument in zip(elements, block.arguments, strict=True):
            if element.symbol in used:
                values.scalars[element.symbol] = values.from_storage(argument, _scalar(element.symbol))
        self._positions(used)
        result = values.to_storage(values.value(statement.value), statement.value.type)
        values.place(statement.at)
        self.builder.op("linalg.yield", (), [result])
        self.builder.point = outer

    def _positions(self, used: set[Symbol]) -> None:
        """The loops that the value itself uses."""
        for dimension, loop in enumerate(self.statement.loops):
            if loop in used:
                number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context()), dimension)
                self.values.loops[loop] = self.builder.value("linalg.index", index_type(), (), {"dim": number})


def _scalar(symbol: Symbol) -> AlloType:
    assert isinstance(symbol.type, AlloType)
    return symbol.type


def _float_sum(result: object, terms: Sequence[object]) -> bool:
    """Whether sums of products of floats are taken in `result`, into which every float of `terms` extends."""
    if not isinstance(result, Float) or not all(isinstance(term, Float) for term in terms):
        return False
    return all(term == result or term.width < result.width for term in terms if isinstance(term, Float))


def _maps_attr(maps: list[ir.AffineMap]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.AffineMapAttr.get(one) for one in maps], context())
