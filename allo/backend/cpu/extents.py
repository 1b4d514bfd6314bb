"""Arrays of run-time extents in machine code: an address, and each extent that is not in the type."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from ...ir.access import callee_name
from ...ir.builder import Builder, index_type, segments_attr
from ...ir.context import context, unknown_location
from ...ir.module import Module
from ...ir.walk import entry_block, operations

_DYNAMIC = ir.ShapedType.get_dynamic_size()


def pass_extents(module: Module) -> None:
    """Replace each argument `memref<?x8xf32>` by `memref<1xf32>, index` behind the other arguments, also in calls."""
    moved: dict[str, list[int]] = {}
    for function in module.functions():
        positions = [position for position, t in enumerate(_inputs(function)) if is_run_time(t)]
        if positions and entry_block(function) is not None:
            moved[function.name.value] = positions
    if not moved:
        return
    for function in module.functions():
        entry = entry_block(function)
        for op in operations(entry) if entry is not None else ():
            if op.name == "func.call":
                callee = callee_name(op)
                if callee in moved:
                    _pass(op, moved[callee])
    for function in module.functions():
        if function.name.value in moved:
            _receive(function, moved[function.name.value])


def is_run_time(kind: ir.Type) -> bool:
    """Whether `kind` is an array with an extent that is not in its type."""
    return isinstance(kind, ir.MemRefType) and not kind.has_static_shape


def _inputs(function: ir.OpView) -> list[ir.Type]:
    signature = ir.FunctionType(ir.TypeAttr(function.operation.attributes["function_type"]).value)
    return list(signature.inputs)


def _base_type(array: ir.MemRefType) -> ir.MemRefType:
    return ir.MemRefType.get([1], array.element_type, loc=unknown_location())


def _open_dimensions(array: ir.MemRefType) -> list[int]:
    return [dimension for dimension, extent in enumerate(array.shape) if extent == _DYNAMIC]


def _pass(call: ir.Operation, positions: Sequence[int]) -> None:
    """Give the addresses and extents of the arguments at `positions` to a call."""
    builder = Builder.before(call)
    operands = [operand for position, operand in enumerate(call.operands) if position not in positions]
    for position in positions:
        array = call.operands[position]
        kind = ir.MemRefType(array.type)
        operands.append(_recast(builder, array, _base_type(kind), [1], [1]))
        for dimension in _open_dimensions(kind):
            number = builder.constant(index_type(), dimension)
            operands.append(builder.value("memref.dim", index_type(), [array, number]))
    attributes = {name: call.attributes[name] for name in call.attributes}
    replacement = builder.op("func.call", [result.type for result in call.results], operands, attributes)
    for old, new in zip(call.results, replacement.results, strict=True):
        old.replace_all_uses_with(new)
    call.erase()


def _receive(function: ir.OpView, positions: Sequence[int]) -> None:
    """Make the arguments at `positions` of an address and extents."""
    block = function.regions[0].blocks[0]
    builder = Builder(ir.InsertionPoint.at_block_begin(block), function.operation.location)
    for position in positions:
        argument = block.arguments[position]
        kind = ir.MemRefType(argument.type)
        base = block.add_argument(_base_type(kind), unknown_location())
        extents = {d: block.add_argument(index_type(), unknown_location()) for d in _open_dimensions(kind)}
        strides: list[int | ir.Value] = []
        step: int | ir.Value = 1
        for dimension in reversed(range(len(kind.shape))):
            strides.insert(0, step)
            step = _times(builder, step, extents.get(dimension, kind.shape[dimension]))
        sizes = [extents.get(dimension, extent) for dimension, extent in enumerate(kind.shape)]
        array = _recast(builder, base, kind, sizes, strides)
        argument.replace_all_uses_with(array)
        for loop in _parallel_loops(block):  # a body that becomes a function takes the address and the extents
            inner = Builder(ir.InsertionPoint.at_block_begin(loop.regions[0].blocks[0]), loop.location)
            again = _recast(inner, base, kind, sizes, strides)
            for op in operations(loop.regions[0].blocks[0]):
                for number, operand in enumerate(op.operands):
                    if operand == array:
                        op.operands[number] = again
    nothing = ir.DictAttr.get({}, context())
    attributes = function.operation.attributes
    has_marks = "arg_attrs" in attributes
    marks = list(ir.ArrayAttr(attributes["arg_attrs"])) if has_marks else [nothing] * len(block.arguments)
    for position in reversed(positions):
        block.erase_argument(position)
        del marks[position]
    marks += [nothing] * (len(block.arguments) - len(marks))
    signature = ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value)
    inputs = [argument.type for argument in block.arguments]
    changed = ir.FunctionType.get(inputs, list(signature.results), context())
    attributes["function_type"] = ir.TypeAttr.get(changed, context())
    attributes["arg_attrs"] = ir.ArrayAttr.get(marks[: len(inputs)], context())


def _parallel_loops(block: ir.Block) -> list[ir.Operation]:
    """The parallel loops that are in no other one."""
    found: list[ir.Operation] = []
    for op in block.operations:
        if "allo.parallel" in op.operation.attributes:
            found.append(op.operation)
        else:
            found += [loop for region in op.operation.regions for inner in region for loop in _parallel_loops(inner)]
    return found


def _times(builder: Builder, left: int | ir.Value, right: int | ir.Value) -> int | ir.Value:
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    values = [builder.constant(index_type(), v) if isinstance(v, int) else v for v in (left, right)]
    return builder.value("arith.muli", index_type(), values)


def _recast(
    builder: Builder,
    source: ir.Value,
    result: ir.MemRefType,
    sizes: Sequence[int | ir.Value],
    strides: Sequence[int | ir.Value],
) -> ir.Value:
    """`memref.reinterpret_cast` of the memory of `source`, from its first element on."""

    def static(values: Sequence[int | ir.Value]) -> ir.Attribute:
        return ir.DenseI64ArrayAttr.get([v if isinstance(v, int) else _DYNAMIC for v in values], context())

    dynamic = [[v for v in values if not isinstance(v, int)] for values in (sizes, strides)]
    attributes = {
        "static_offsets": static([0]),
        "static_sizes": static(sizes),
        "static_strides": static(strides),
        "operandSegmentSizes": segments_attr((1, 0, len(dynamic[0]), len(dynamic[1]))),
    }
    return builder.value("memref.reinterpret_cast", result, [source, *dynamic[0], *dynamic[1]], attributes)
