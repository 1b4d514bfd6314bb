"""Elements that two positions of a task write, where subscripts do not show which they write."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from ...ir.access import accessed, callee_name, is_store
from ...ir.builder import Builder, index_type, string_attr
from ...ir.context import context, unknown_location
from ...ir.module import Module
from ...ir.processes import is_process, region_blocks, spatial_loops
from ...ir.streams import is_stream_type
from ...ir.walk import constant_bounds, entry_block, induction_variable, operations, statements
from ...poly import Access, may_meet
from .failures import require
from .flags import each_element
from .names import ArrayNames
from .subscripts import computed_subscripts

_EQUAL = 0  # of integers
_NAME = "written_by"


def track_writers(module: Module) -> None:
    """Put a check in front of stores of tasks, for arrays of which two positions may write one element, in place.

    Such an array gets another one beside it, which says who has written each element. What a task calls is not seen.
    """
    found = [
        (call, number, spatial)
        for function in module.functions()
        for block in region_blocks(function)
        for op in statements(block)[:-1]
        if is_process(op) and (spatial := spatial_loops(op))
        for call in operations(op.regions[0].blocks[0], "func.call")
        for number in _unseen(module, op, call)
    ]
    made: dict[tuple[ir.Operation, ir.Value], ir.Value] = {}
    for call, number, spatial in found:
        array, outermost = call.operands[number], spatial[0]
        if (outermost, array) not in made:
            made[outermost, array] = _nobody(Builder.before(outermost), array)
        _track(module, call, number, spatial, made[outermost, array])


def _unseen(module: Module, process: ir.Operation, call: ir.Operation) -> list[int]:
    """The arrays that a call is given of which another position may write an element that this one writes."""

    def writes(access: Access) -> bool:
        return access.is_write

    callee = module.function(callee_name(call))
    if entry_block(callee) is None:
        return []
    return [
        number
        for number, value in enumerate(call.operands)
        if isinstance(value.type, ir.MemRefType)
        and not is_stream_type(value.type)
        and value.type.has_static_shape
        and may_meet(module, value, process, process, writes)
    ]


def _number() -> ir.Type:
    return ir.IntegerType.get_signless(32, context())


def _nobody(builder: Builder, array: ir.Value) -> ir.Value:
    """An array of the shape of another one, of zeros: nobody has written anything."""
    kind = ir.MemRefType.get(array.type.shape, _number(), None, None, unknown_location())
    made = builder.alloc(kind, _NAME)
    each_element(
        builder, made, lambda inner, map, at: inner.affine_store(inner.constant(_number(), 0), made, map, at)
    )
    return made


def _track(
    module: Module, call: ir.Operation, number: int, spatial: Sequence[ir.Operation], writers: ir.Value
) -> None:  # fmt: skip
    """Give a task what says who has written the elements of an argument, and let its stores look there."""
    function = module.function(callee_name(call))
    entry = entry_block(function)
    assert entry is not None
    own = entry.add_argument(writers.type, unknown_location())
    name = ArrayNames(function).of(entry.arguments[number])
    position = _position(call, spatial, entry)
    for op in operations(entry):
        if is_store(op) and accessed(op) == entry.arguments[number]:
            builder = Builder.before(op)
            at = computed_subscripts(builder, op)
            me = _counted(builder, position)
            before = builder.load(own, at)
            holds = builder.value(
                "arith.ori", ir.IntegerType.get_signless(1, context()),
                [builder.compare(_EQUAL, before, builder.constant(_number(), 0)), builder.compare(_EQUAL, before, me)],
            )  # fmt: skip
            places = ", ".join(f"{{{k}}}" for k in range(len(at)))
            require(builder, holds, f"element [{places}] of {name} is written by another position, too", at)
            builder.store(me, own, at)
    attributes = function.operation.attributes
    inputs = [argument.type for argument in entry.arguments]
    results = list(ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value).results)
    attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results, context()), context())
    if "arg_attrs" in attributes:
        named = ir.DictAttr.get({"allo.name": string_attr(_NAME)}, context())
        attributes["arg_attrs"] = ir.ArrayAttr.get([*ir.ArrayAttr(attributes["arg_attrs"]), named], context())
    kept = {key: call.attributes[key] for key in call.attributes}
    made = Builder.before(call).op("func.call", [r.type for r in call.results], [*call.operands, writers], kept)
    for old, new in zip(call.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    call.erase()


def _position(
    call: ir.Operation, spatial: Sequence[ir.Operation], entry: ir.Block
) -> list[tuple[ir.Value, int]]:
    """The arguments that are the position, each with the positions that one step along it passes."""
    found, step = [], 1
    for loop in reversed(spatial):
        bounds = constant_bounds(loop)
        assert bounds is not None
        place = next((n for n, value in enumerate(call.operands) if value == induction_variable(loop)), None)
        if place is not None:
            found.append((entry.arguments[place], step))
        step *= bounds[1]
    return found


def _counted(builder: Builder, position: Sequence[tuple[ir.Value, int]]) -> ir.Value:
    """A number of the position, from 1 on."""
    total = builder.constant(index_type(), 1)
    for value, step in position:
        scaled = builder.value("arith.muli", index_type(), [value, builder.constant(index_type(), step)])
        total = builder.value("arith.addi", index_type(), [total, scaled])
    return builder.value("arith.index_cast", _number(), [total])
