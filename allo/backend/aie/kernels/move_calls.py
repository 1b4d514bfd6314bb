"""Moves of whole arrays in functions of tasks: calls that stand for them, until DMA engines or loops do them."""

from __future__ import annotations

from mlir import ir

from ....ir.access import callee_name
from ....ir.builder import Builder, affine_constant, affine_dim, string_attr, unit_attr
from ....ir.context import context
from ....ir.module import Module
from ....ir.names import unique_name
from ....ir.walk import induction_variable
from ....layout import ArrayMove

_MOVE = "allo.x_move"  # of a declaration: the digits of the move that calls of it stand for


def write_move(module: Module, builder: Builder, source: ir.Value, target: ir.Value, move: ArrayMove) -> ir.Operation:
    """Write the call that moves `source` to `target`."""
    name = unique_name("move", set(module.names()))
    digits = [number for d in move.digits for number in (d.extent, d.source, d.target)]
    reads = ir.DictAttr.get({"llvm.readonly": unit_attr()}, context())
    kinds = [source.type, target.type]
    attributes: dict[str, ir.Attribute] = {
        "sym_name": string_attr(name), "sym_visibility": string_attr("private"),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(kinds, [], context()), context()),
        "arg_attrs": ir.ArrayAttr.get([reads, ir.DictAttr.get({}, context())], context()),
        _MOVE: ir.DenseI64ArrayAttr.get(digits, context()),
    }  # fmt: skip
    Builder(ir.InsertionPoint(module.mlir.body), builder.loc).op("func.func", (), (), attributes, 1)
    return builder.op("func.call", (), [source, target], {"callee": ir.FlatSymbolRefAttr.get(name, context())})


def move_in(module: Module, op: ir.Operation) -> ArrayMove | None:
    """The move that a statement stands for."""
    if op.name != "func.call":
        return None
    declared = module.function(callee_name(op)).operation
    if _MOVE not in declared.attributes:
        return None
    numbers = list(ir.DenseI64ArrayAttr(declared.attributes[_MOVE]))
    return ArrayMove.of(numbers[::3], numbers[1::3], numbers[2::3])


def erase_move(module: Module, call: ir.Operation) -> None:
    """Erase a call that stands for a move, and its declaration."""
    declared = module.function(callee_name(call)).operation
    call.erase()
    declared.erase()


def lower_move(module: Module, call: ir.Operation) -> ir.Operation:
    """Write the loops of a move in the place of its call; the outermost one."""
    move = move_in(module, call)
    assert move is not None
    source, target = call.operands
    outer, inner, variables = None, Builder.before(call), list[ir.Value]()
    zero = ir.AffineMap.get_constant(0, context())
    marks = {"allo.nest": string_attr("move"), "allo.name": string_attr("i0")}
    for depth, digit in enumerate(move.digits):
        end = ir.AffineMap.get_constant(digit.extent, context())
        loop = inner.affine_for((zero, []), (end, []), 1, marks if not depth else {
            "allo.name": string_attr(f"i{depth}")
        })  # fmt: skip
        outer = outer or loop
        variables.append(induction_variable(loop))
        inner = Builder(ir.InsertionPoint.at_block_terminator(loop.regions[0].blocks[0]), call.location)
    from_, to = (affine_constant(0), affine_constant(0))
    for k, digit in enumerate(move.digits):
        from_, to = from_ + affine_dim(k) * digit.source, to + affine_dim(k) * digit.target
    count = len(variables)
    value = inner.affine_load(source, ir.AffineMap.get(count, 0, [from_], context()), variables)
    inner.affine_store(value, target, ir.AffineMap.get(count, 0, [to], context()), variables)
    erase_move(module, call)
    assert outer is not None
    return outer
