"""First values of an array, written by the nest that goes on with it instead of by a statement before that."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

from mlir import ir

from ...ir.access import accessed, is_store, stored
from ...ir.builder import Builder, affine_constant, affine_dim
from ...ir.context import context
from ...ir.walk import LoopView, annotations_of, constant_bounds, induction_variable, loops_of, operations
from ...poly import Model, extract, merge_violation, moved_past, wholly_overwritten
from ..function.calls import function_around
from .merge import chain_of, matching, merge_into
from .recompute import free_names
from .rewrite import only_child

_CONSTANTS = ("arith.constant", "allo.fixed_constant", "allo.sign_cast")
_LOOPS = ("affine.for", "affine.yield")


def first_values_of(statement: ir.Operation) -> ir.Value | None:
    """The array to which a statement gives constants, with nothing else in it; None if it is another statement."""
    blocks = [block for region in statement.regions for block in region.blocks]
    inside = [statement, *(op for block in blocks for op in operations(block))]
    stores = [op for op in inside if is_store(op)]
    if len(stores) != 1 or not all(op in stores or op.name in (*_LOOPS, *_CONSTANTS) for op in inside):
        return None
    array: ir.Value = accessed(stores[0])
    return array if _is_constant(stored(stores[0])) else None


def _is_constant(value: ir.Value) -> bool:
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name == "allo.sign_cast":
        value = value.owner.operation.operands[0]
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name in _CONSTANTS


def absorbed_by(
    statement: ir.Operation, block: Sequence[ir.Operation], model: Model | None = None
) -> ir.Operation | None:
    """The nest of a block that can begin with the first values that a statement gives; None if there is none.

    It is the next one that uses the array, a loop that surely runs and whose iterations run one after the other. With
    the `model` of the function it may be unfolded, if each processing element can begin with values of its own.
    """
    array = first_values_of(statement)
    if array is None:
        return None
    behind = block[list(block).index(statement) + 1 :]
    user = next((op for op in behind if _uses(op, array)), None)
    if user is None or user.name != "affine.for" or len(user.results):
        return None
    if _is_unfolded(user):
        if model is None or _merged_depth(model, *_chains(function_around(user), statement, user)) is None:
            return None
    elif set(_marks(user)) - _ONE_BY_ONE:
        return None
    bounds = constant_bounds(user)
    return user if bounds is not None and len(range(*bounds)) else None


_ONE_BY_ONE = {"pipeline", "unroll"}
_SPATIAL = "allo.spatial"


def _is_unfolded(loop: ir.Operation) -> bool:
    return _SPATIAL in loop.attributes


def _marks(op: ir.Operation) -> list[str]:
    return [mark.split("=")[0] for mark in annotations_of(op)]


def _uses(op: ir.Operation, array: ir.Value) -> bool:
    inner = (inside for region in op.regions for block in region.blocks for inside in operations(block))
    return any(operand == array for user in (op, *inner) for operand in user.operands)


def absorb(function: ir.OpView, statement: ir.Operation, nest: ir.Operation, *, merge_only: bool = False) -> bool:
    """Let `nest`, which `absorbed_by` has found, begin with the first values that `statement` gives.

    They are dropped if the nest overwrites them all unread; they are written in the iterations that go on with them if
    the loops are the same; else in the first iteration, unless `merge_only`: then nothing changes. Returns whether
    `statement` is gone.
    """
    model = extract(function, statement, nest)
    if wholly_overwritten(model, statement, nest):
        statement.erase()
        return True
    inner, outer = _chains(function, statement, nest)
    depth = _merged_depth(model, inner, outer)
    if depth is not None:
        merge_into(function, inner[:depth], outer[:depth])
        return True
    if merge_only or _is_unfolded(nest):
        return False
    _guard(function, statement, outer[0])
    return True


def one_writer(function: ir.OpView, writers: Sequence[ir.Operation]) -> bool:
    """Join the first two loop nests that write an array, in as many loops as may be; whether that was possible.

    The first one moves to the second, past all that stands between them.
    """
    first, second = writers[:2]
    if {first.name, second.name} != {"affine.for"}:
        return False
    model = extract(function, first, second)
    if moved_past(model, first, second) is not None:
        return False
    inner, outer = _chains(function, first, second)
    apart = _written_apart(model, inner, outer)
    depth = _merged_depth(model, inner[:apart], outer) if apart else None
    if depth is None:
        depth = _merged_depth(model, inner, outer)
    if depth is not None:
        merge_into(function, inner[:depth], outer[:depth])
    return depth is not None


def _written_apart(model: Model, first: list[LoopView], nest: list[LoopView]) -> int:
    """How many loops two nests have outside of all that give other elements of an array in the one than in the other.

    Only so many may be shared if each element is to come behind that before it in the array, as in a concatenation.
    """
    depth = min(len(first), len(nest))
    sides = [[loop.variable for loop in map(model.loop, [view.op for view in views])] for views in (first, nest)]
    stores = [[a for a in model.inside(model.loop(views[0].op)) if a.is_write] for views in (first, nest)]
    for one, other in product(*stores):
        if one.buffer.label == other.buffer.label:
            for mine, its in zip(one.subscripts, other.subscripts, strict=True):
                forms = [
                    {variables.index(v) if v in variables else depth: factor for v, factor in form.terms}
                    for form, variables in ((mine, sides[0]), (its, sides[1]))
                ]
                if forms[0] != forms[1] or mine.constant != its.constant:
                    depth = min([depth, *forms[0], *forms[1]])
    return depth


def _chains(
    function: ir.OpView, statement: ir.Operation, nest: ir.Operation
) -> tuple[list[LoopView], list[LoopView]]:
    views = loops_of(function)
    return chain_of(views, statement), chain_of(views, nest)


def _merged_depth(model: Model, first: list[LoopView], nest: list[LoopView]) -> int | None:
    """How many loops of a nest, the most, can begin with the body of another one; unfolded ones are among them."""
    fewest = max((depth for depth, view in enumerate(nest, 1) if _is_unfolded(view.op)), default=1)
    depths = range(min(len(nest), len(first)), fewest - 1, -1)
    return next((depth for depth in depths if _may_merge(model, first[:depth], nest[:depth])), None)


def _may_merge(model: Model, first: list[LoopView], nest: list[LoopView]) -> bool:
    together = {*_ONE_BY_ONE, "spatial"} if _is_unfolded(nest[0].op) else _ONE_BY_ONE
    marked = any(annotations_of(view.op) for view in first) or any(set(_marks(v.op)) - together for v in nest)
    directly = all(only_child(a, b) for a, b in pairwise(first))
    if marked or not directly or not matching(first, nest):
        return False
    return merge_violation(model, [view.op for view in first], [view.op for view in nest]) is None


def _guard(function: ir.OpView, statement: ir.Operation, outer: LoopView) -> None:
    """Run a statement in the first iteration of a loop."""
    bounds = constant_bounds(outer.op)
    assert bounds is not None
    if len(statement.regions):
        free_names(function, statement, outer)
    builder = Builder(ir.InsertionPoint.at_block_begin(outer.body), statement.location)
    first = ir.IntegerSet.get(1, 0, [affine_dim(0) - affine_constant(bounds[0])], [True], context())
    guard = builder.affine_if(first, [induction_variable(outer.op)], has_else=False)
    statement.move_before(guard.regions[0].blocks[0].operations[0])
    if "allo.nest" in statement.attributes:
        del statement.attributes["allo.nest"]
