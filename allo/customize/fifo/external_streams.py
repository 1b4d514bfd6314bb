"""Streams of external kernels in `relay`: loops that pass the elements of an array on."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ...ir.access import accessed, callee_name, is_end
from ...ir.builder import Builder, affine_constant, affine_dim, string_attr
from ...ir.context import context
from ...ir.module import Module
from ...ir.names import unique_name
from ...ir.streams import SIDE, declared_sides
from ...ir.walk import entry_block, induction_variable, loops_of, operations
from ..function.calls import function_around
from ..function.signature import own_callee
from .accesses import create, stream_type

STANDS_FOR = "allo.x_call"  # of such a loop: the function whose call it belongs to


@dataclass(frozen=True, slots=True)
class Tap:
    """A call of an external kernel, the stream that it gets in place of an array, and the nest between the two."""

    call: ir.Operation
    position: int
    array: ir.Value
    stream: ir.Operation
    nest: ir.Operation


def open_calls(module: Module, array: ir.Value) -> list[Tap]:
    """Let external kernels that have streams in the place of `array` take streams, which nests fill and empty.

    It means the same: C++ gets the elements of an array in their order, and each once.
    """
    taps = []
    for use in list(array.uses):
        call = use.owner.operation
        if call.name != "func.call" or entry_block(module.function(callee_name(call))) is not None:
            continue
        positions = [k for k, operand in enumerate(call.operands) if operand == array]
        sides = declared_sides(module.function(callee_name(call)))
        if len(positions) == 1 and positions[0] in sides and ir.MemRefType(array.type).rank > 0:
            taps.append(_opened(module, call, positions[0], sides[positions[0]]))
    return taps


def _opened(module: Module, call: ir.Operation, position: int, side: str) -> Tap:
    array = call.operands[position]
    memref = ir.MemRefType(array.type)
    called = callee_name(call)
    declaration = own_callee(module, call)
    kind = stream_type(memref.element_type, memref.shape, -1)
    stream = create(Builder.before(call), kind, f"{called}_stream").owner.operation
    nests = {view.nest for view in loops_of(function_around(call))}
    name = unique_name(f"{called}_{side}", nests)
    builder = Builder.before(call)
    if side == "out":
        following = list(call.block.operations)
        after = next(k for k, op in enumerate(following) if op.operation == call) + 1
        builder = Builder(ir.InsertionPoint(following[after].operation), call.location)
    nest: ir.Operation | None = None
    for d, extent in enumerate(memref.shape):
        attributes: dict[str, ir.Attribute] = {"allo.name": string_attr(f"{name}_{d}")}
        if d == 0:
            attributes |= {"allo.nest": string_attr(name), STANDS_FOR: string_attr(called)}
        bounds = [
            (ir.AffineMap.get(0, 0, [affine_constant(n)], context()), list[ir.Value]()) for n in (0, extent)
        ]
        loop = builder.affine_for(bounds[0], bounds[1], 1, attributes)
        nest = nest or loop
        builder = Builder(ir.InsertionPoint.at_block_terminator(loop.regions[0].blocks[0]), call.location)
    assert nest is not None
    _pass_elements(builder, array, stream.results[0], nest, side)
    tap = Tap(call, position, array, stream, nest)
    _give(declaration, tap, stream.results[0])
    return tap


def _pass_elements(
    builder: Builder, array: ir.Value, stream: ir.Value, nest: ir.Operation, side: str
) -> None:
    """One element of the array goes into the stream, or comes from it, in each iteration of the nest."""
    loops = [nest, *operations(nest.regions[0].blocks[0], "affine.for")]
    rank = len(loops)
    identity = ir.AffineMap.get(rank, 0, [affine_dim(d) for d in range(rank)], context())
    variables = [induction_variable(loop) for loop in loops]
    if side == "in":
        builder.put(stream, builder.affine_load(array, identity, variables))
    else:
        builder.affine_store(builder.get(stream), array, identity, variables)


def close_calls(module: Module, taps: list[Tap]) -> None:
    """Give the kernels the FIFOs themselves, or else their arrays back; what fills an array for others stays."""
    for tap in taps:
        inside = operations(tap.nest.regions[0].blocks[0])
        uses_array = any(tap.array in list(op.operands) for op in inside)
        streams = {accessed(op) for op in inside if is_end(op)}
        others = [stream for stream in streams if stream != tap.stream.results[0]]
        declaration = module.function(callee_name(tap.call))
        if uses_array and others:  # the array is kept for others, beside the FIFO
            del tap.nest.attributes[STANDS_FOR]
            continue
        _give(declaration, tap, tap.array if uses_array else others[0])
        tap.nest.erase()
        tap.stream.erase()


def _give(declaration: ir.OpView, tap: Tap, value: ir.Value) -> None:
    """Pass `value`, a stream or an array; the declaration takes its type."""
    tap.call.operands[tap.position] = value
    attributes = declaration.operation.attributes
    signature = ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value)
    inputs = list(signature.inputs)
    inputs[tap.position] = value.type
    changed = ir.FunctionType.get(inputs, signature.results, context())
    attributes["function_type"] = ir.TypeAttr.get(changed, context())
    marks = list(ir.ArrayAttr(attributes["arg_attrs"]))
    mark = {entry.name: entry.attr for entry in ir.DictAttr(marks[tap.position])}
    mark.pop("llvm.readonly", None)
    if isinstance(value.type, ir.MemRefType) and mark[SIDE] == string_attr("in"):
        mark["llvm.readonly"] = ir.UnitAttr.get(context())
    marks[tap.position] = ir.DictAttr.get(mark, context())
    attributes["arg_attrs"] = ir.ArrayAttr.get(marks, context())
