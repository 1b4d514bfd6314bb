"""Decides what an unfolded loop nest is as hardware: one function for each processing element, `PE_0_1`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from mlir import ir

from ..errors import TargetError
from ..ir.access import is_affine_load
from ..ir.builder import Builder, index_type, string_attr
from ..ir.context import context
from ..ir.elements import ElementNest, element_nests
from ..ir.module import Module
from ..ir.names import unique_name
from ..ir.passes import run_passes
from ..ir.processes import ELEMENT_OF
from ..ir.streams import is_stream_type
from ..ir.walk import (
    LoopView,
    argument_names,
    constant_bounds,
    entry_block,
    operations,
    string_of,
)
from ..poly.formula import compile_set


def instantiate(module: Module) -> Module:
    """A copy of `module` in which each nest with `allo.spatial` loops is a call of one function an element.

    The function of element (0, 1) of nest `PE` is called `PE_0_1`: the nest with these loops gone and conditions on
    the position decided. It takes the FIFOs that it uses, not arrays of them. If the nest is nothing but one call of
    `f`, the elements are the copies `f_0_1` of `f`.
    """
    result = module.clone()
    for function in list(result.functions()):
        for nest in element_nests(function):
            _replace(result, function, _checked(nest))
    return result


def _call(nest: ElementNest) -> ir.Operation | None:
    """The call that a nest consists of, if it does."""
    innermost = nest.spatial[-1]
    statements = [op.operation for op in innermost.body.operations][:-1]
    calls = [op for op in statements if op.name == "func.call"]
    others = [op for op in statements if op not in calls and not op.name.startswith(("arith.", "affine.apply"))]
    only = len(calls) == 1 and not others and len(innermost.chain) == len(nest.spatial)
    return calls[0] if only else None


def _checked(nest: ElementNest) -> ElementNest:
    obstacle = nest.obstacle()
    if obstacle is not None:
        raise TargetError(
            f"nest '{nest.outermost.nest}' has no processing elements: {obstacle.reason}",
            at=obstacle.at,
            hint="unfold loops with constant bounds and with nothing between them",
        )
    return nest


def _replace(module: Module, function: ir.OpView, nest: ElementNest) -> None:
    """Put calls of the elements in the place of a nest."""
    taken = set(module.names())
    call = _call(nest)
    name = nest.outermost.nest if call is None else str(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
    for place in product(*map(range, nest.extents)):
        symbol = unique_name("_".join([name, *map(str, place)]), taken)
        if call is not None:
            made = _copy_callee(module, nest, call, place, symbol)
        else:
            made = _outline(function, nest, place, symbol)
        made.attributes[ELEMENT_OF] = string_attr(nest.outermost.nest)
    nest.outermost.op.erase()
    if call is not None and name != module.top and not any(_calls(f, name) for f in module.functions()):
        module.function(name).operation.erase()


def _calls(function: ir.OpView, name: str) -> bool:
    entry = entry_block(function)
    calls = operations(entry, "func.call") if entry is not None else ()
    return any(ir.FlatSymbolRefAttr(call.attributes["callee"]).value == name for call in calls)


def _position(view: LoopView, number: int) -> int:
    bounds = constant_bounds(view.op)
    assert bounds is not None
    return bounds[0] + number * bounds[2]


def _copy_callee(
    module: Module, nest: ElementNest, call: ir.Operation, place: tuple[int, ...], symbol: str
) -> ir.Operation:
    """A copy of the function that an element calls, and its call."""
    callee = module.function(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
    copy = callee.operation.clone(ir.InsertionPoint(callee.operation))
    copy.attributes["sym_name"] = string_attr(symbol)
    made = next(op for op in _at_place(nest, place, nest.outermost.op) if op.name == "func.call")
    made.attributes["callee"] = ir.FlatSymbolRefAttr.get(symbol, context())
    return made


def _at_place(nest: ElementNest, place: tuple[int, ...], before: ir.Operation) -> list[ir.Operation]:
    """A copy of the nest without its spatial loops, in front of `before`: its statements for one element."""
    copy = nest.outermost.op.clone(ir.InsertionPoint(before))
    loops = [copy, *(op for op in operations(copy.regions[0].blocks[0]) if "allo.spatial" in op.attributes)]
    spatial = [op for op in loops if "allo.spatial" in op.attributes]
    found = [copy]
    for loop, view, number in zip(spatial, nest.spatial, place, strict=True):
        value = Builder.before(loop).constant(index_type(), _position(view, number))
        body = loop.regions[0].blocks[0]
        body.arguments[0].replace_all_uses_with(value)
        statements = [op.operation for op in body.operations][:-1]
        for op in statements:
            op.move_before(loop)
        if loop in found:
            at = found.index(loop)
            found[at : at + 1] = [value.owner.operation, *statements]
        loop.erase()
    return found


def _outline(function: ir.OpView, nest: ElementNest, place: tuple[int, ...], symbol: str) -> ir.Operation:
    """A function of the statements for one element, and its call."""
    entry = entry_block(function)
    assert entry is not None
    names = dict(zip(entry.arguments, argument_names(function), strict=True))
    statements = _at_place(nest, place, nest.outermost.op)
    inputs = captured(statements)
    builder = Builder(ir.InsertionPoint(function.operation), nest.outermost.op.location)
    made = builder.op("func.func", (), (), {"sym_name": string_attr(symbol), **signature_attributes([], [])}, 1)
    block = made.regions[0].blocks.append()
    arguments = [block.add_argument(value.type, made.location) for value in inputs]
    builder.point = ir.InsertionPoint(block)
    end = builder.op("func.return")
    for op in statements:
        op.move_before(end)
    mapping = dict(zip(inputs, arguments, strict=True))
    for op in operations(block):
        for number, operand in enumerate(op.operands):
            if operand in mapping:
                op.operands[number] = mapping[operand]
    passed = [_Passed(value, _name(value, names)) for value in inputs]
    made.attributes["function_type"] = signature_attributes([a.type for a in arguments], [])["function_type"]
    run_passes("func.func(allo-compose-affine)", made)
    _decide(block)
    for op in operations(block, "arith.constant"):
        if not any(len(list(result.uses)) for result in op.results):
            op.erase()
    call = Builder.before(nest.outermost.op)
    passed = _take_streams(block, passed, call)
    taken: set[str] = set()
    labels = [unique_name(item.name, taken) for item in passed]
    for name, attribute in signature_attributes([a.type for a in block.arguments], labels).items():
        made.attributes[name] = attribute
    callee = ir.FlatSymbolRefAttr.get(symbol, context())
    return call.op("func.call", (), [item.value for item in passed], {"callee": callee})


@dataclass(frozen=True, slots=True)
class _Passed:
    """What a call passes, and the name of the argument."""

    value: ir.Value
    name: str


def signature_attributes(kinds: list[ir.Type], names: list[str]) -> dict[str, ir.Attribute]:
    """The attributes of a function without results that takes arguments of these types and names."""
    found: dict[str, ir.Attribute] = {
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(kinds, [], context()), context())
    }
    if names:
        marks = [ir.DictAttr.get({"allo.name": string_attr(name)}, context()) for name in names]
        found["arg_attrs"] = ir.ArrayAttr.get(marks, context())
    return found


def captured(statements: list[ir.Operation]) -> list[ir.Value]:
    """The values that statements use and do not make; constants are copied in front of them."""
    inner = [i for op in statements for r in op.regions for b in r.blocks for i in operations(b)]
    everything = [*statements, *inner]
    made = {result for op in everything for result in op.results}
    made |= {a for op in everything for r in op.regions for b in r.blocks for a in b.arguments}
    found: dict[ir.Value, None] = {}
    for op in everything:
        for number, operand in enumerate(op.operands):
            if operand in made:
                continue
            if not isinstance(operand.owner, ir.Block) and operand.owner.operation.name == "arith.constant":
                copy = operand.owner.operation.clone(ir.InsertionPoint(statements[0]))
                statements.insert(0, copy)
                op.operands[number] = copy.results[0]
                made.add(copy.results[0])
            else:
                found[operand] = None
    return list(found)


def _name(value: ir.Value, names: dict[ir.Value, str]) -> str:
    if isinstance(value.owner, ir.Block):
        return names.get(value, "arg")
    return string_of(value.owner.operation, "allo.name") or "arg"


def _decide(block: ir.Block) -> None:
    """Replace conditions without operands by the statements that they choose."""
    for op in [op for op in operations(block) if op.name == "affine.if" and not len(op.operands)]:
        formula, equalities = compile_set(op.attributes["condition"])
        values = [form.constant for form in formula.results if form is not None]
        holds = all(v == 0 if equality else v >= 0 for v, equality in zip(values, equalities, strict=True))
        region = op.regions[0 if holds else 1]
        for inner in [i.operation for b in region.blocks for i in list(b.operations)[:-1]]:
            inner.move_before(op)
        op.erase()


def _take_streams(block: ir.Block, passed: list[_Passed], call: Builder) -> list[_Passed]:
    """Let a function take the streams that it uses in place of arrays of streams."""
    kept: list[_Passed] = []
    added: list[_Passed] = []
    for position, item in reversed(list(enumerate(passed))):
        argument = block.arguments[position]
        loads = [use.owner.operation for use in argument.uses]
        fixed = all(is_affine_load(op) and len(op.operands) == 1 for op in loads)
        if not isinstance(item.value.type, ir.MemRefType) or not is_stream_type(item.value.type) or not fixed:
            kept.insert(0, item)
            continue
        made: dict[ir.Attribute, ir.Value] = {}
        own: list[_Passed] = []
        for load in sorted(loads, key=lambda op: str(op.attributes["map"])):
            access = load.attributes["map"]
            if access not in made:
                made[access] = block.add_argument(load.results[0].type, load.location)
                subscripts = ir.AffineMapAttr(access).value
                place = [str(ir.AffineConstantExpr(e).value) for e in subscripts.results]
                stream = call.affine_load(item.value, subscripts, [])
                own.append(_Passed(stream, "_".join([item.name, *place])))
            load.results[0].replace_all_uses_with(made[access])
            load.erase()
        added = [*added, *own]
        block.erase_argument(position)
    return [*kept, *added]
