"""Reduction trees: what unrolled copies add to one element is added up in a balanced tree, and then to the element."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from mlir import ir

from ...ir.access import is_load
from ...ir.builder import Builder, affine_constant, affine_dim, i32_attr, string_attr
from ...ir.context import context, unknown_location
from ...ir.module import Module
from ...ir.names import unique_name
from ...ir.partitions import with_divisions
from ...ir.walk import (
    LOOP_OPERATIONS,
    constant_bounds,
    induction_variable,
    location_of,
    operations,
    trip_count,
)
from ...poly import Access, Update, may_be_one, place_of, updates_of
from ..roles import Datapath
from .facts import FunctionFacts, ancestors, following, is_apart, known_outside, names_in
from .record import Rewrite

NAME = "allo-reduction-trees"
_SUMS = {"arith.subi": "arith.addi", "arith.subf": "arith.addf", "allo.fixed_sub": "allo.fixed_add"}


@dataclass(frozen=True, slots=True)
class _Tree:
    """The update of an element that stays the same in `loops`, all of whose copies it counts up."""

    update: Update
    loops: tuple[ir.Operation, ...]  # outermost first, each in the one before
    text: str

    @property
    def leaves(self) -> int:
        return prod(trip_count(loop) or 0 for loop in self.loops)


def reduction_trees(
    module: Module, function: str, datapaths: list[Datapath], reassociate: bool
) -> list[Rewrite]:
    """Rewrite one function: integers always, as they wrap; floats too if `reassociate`, which rounds otherwise."""
    seen = FunctionFacts(module, function)
    updates = updates_of(list(seen.model.accesses))
    found: list[Rewrite] = []
    trees: list[_Tree] = []
    for path in datapaths:
        for store in _stores(path, updates):
            tree = _tree(seen, updates[store], path)
            if isinstance(tree, _Tree) and not (updates[store].exact or reassociate):
                tree = f"{tree.text} is a sum of floats, whose order stays without reassociate=True"
            if isinstance(tree, str):
                found.append(Rewrite(NAME, function, tree, location_of(store), done=False))
            elif tree is not None:
                trees.append(tree)
                kind = f"{tree.leaves} values that copies combine with {tree.text} are combined in a tree"
                found.append(Rewrite(NAME, function, kind, location_of(store)))
    taken = names_in(module, function)
    for tree in trees:
        _Writer(tree, taken).write()
    return found


def _stores(path: Datapath, updates: dict[ir.Operation, Update]) -> list[ir.Operation]:
    found = []
    for op in path.body:
        inside = [inner for region in op.regions for block in region.blocks for inner in operations(block)]
        found += [inner for inner in inside if inner in updates and not is_load(inner)]
    return found


def _tree(seen: FunctionFacts, update: Update, path: Datapath) -> _Tree | str | None:
    """The tree of an update, why there is none, or None where no copies update one element."""
    if not update.path:
        return None  # a choice, or by way of a variable
    access = seen.access(update.store)
    place = None if access is None else place_of(access)
    if access is None or place is None:
        return None
    tops = {view.op for view in path.time}
    loops: list[ir.Operation] = []
    guarded = False
    for outer in ancestors(update.store):
        if outer in tops or outer.name not in (*LOOP_OPERATIONS, "affine.if", "scf.if"):
            break
        if outer.name not in LOOP_OPERATIONS:
            guarded = True
            continue
        if seen.loops[outer].variable in place.moving or guarded:
            break
        loops.insert(0, outer)
    loops = loops if prod(trip_count(loop) or 0 for loop in loops) > 1 else []
    scope = {loop.op for loop in access.buffer.scope}
    if not loops or scope & set(loops) or any(map(is_apart, loops)):
        return None
    outer = loops[0]
    if any((constant_bounds(loop) or (0, 0, 0))[2] != 1 for loop in loops):
        return f"the step of a loop around the update of {access.text} is not 1"
    if not known_outside(update.store, outer):
        return f"the subscripts of {access.text} are computed in the loop"
    if not update.single:
        return f"several operations combine {access.text} with something in each copy"
    other = _between(seen, access, update, outer)
    if other is not None:
        return f"{access.text} is used between two copies of its update, by line {other.source.line}"
    return _Tree(update, tuple(loops), access.text)


def _between(seen: FunctionFacts, access: Access, update: Update, outer: ir.Operation) -> Access | None:
    """Something else in the loop that may touch the element."""
    around = seen.around(outer)
    for other in seen.model.inside(seen.loops[outer]):
        if other.op not in (update.load, update.store) and may_be_one(other, access, around):
            return other
    return None


class _Writer:
    """Writes one tree."""

    def __init__(self, tree: _Tree, taken: set[str]) -> None:
        self.tree = tree
        self.update = tree.update
        self.taken = taken
        self.combiner = next(op for op in self.update.path if len(op.operands) == 2)
        self.value = _other(self.combiner, self.update)
        self.sum = _SUMS.get(self.combiner.name, self.combiner.name)

    def write(self) -> None:
        outer, update = self.tree.loops[0], self.update
        chain = [update.load, *update.path, update.store]
        builder = Builder(ir.InsertionPoint(outer), self.combiner.location)
        leaves = self._buffer(builder, self.tree.leaves)
        variables = [induction_variable(loop) for loop in self.tree.loops]
        builder.point = ir.InsertionPoint(update.store)
        builder.affine_store(self.value, leaves, self._place(), variables)
        builder.point = ir.InsertionPoint(following(outer))
        total = self._levels(builder, leaves)
        copies: dict[ir.Value, ir.Value] = {self.value: total}
        for op in chain:
            _copied(builder, op, copies)
        for op in reversed(chain):
            op.erase()

    def _place(self) -> ir.AffineMap:
        """The number of a copy: the loops as digits."""
        number = affine_constant(0)
        for position, loop in enumerate(self.tree.loops):
            lower, upper, _ = constant_bounds(loop) or (0, 0, 1)
            number = number * (upper - lower) + affine_dim(position) - lower
        return ir.AffineMap.get(len(self.tree.loops), 0, [number], context())

    def _buffer(self, builder: Builder, length: int) -> ir.Value:
        kind = ir.MemRefType.get([length], self.value.type, loc=unknown_location())
        name = unique_name("partial_sums", self.taken)
        return builder.alloc(with_divisions(kind, [("complete", 0)]), name)

    def _levels(self, builder: Builder, values: ir.Value) -> ir.Value:
        """The value that all combine to, pair by pair."""
        length = self.tree.leaves
        while length > 2:
            pairs = length // 2
            after = self._buffer(builder, length - pairs)
            bounds = [ir.AffineMap.get_constant(value, context()) for value in (0, pairs)]
            name = unique_name("pair", self.taken)
            attributes: dict[str, ir.Attribute] = {"allo.name": string_attr(name), "allo.unroll": i32_attr(0)}
            loop = builder.affine_for((bounds[0], []), (bounds[1], []), 1, attributes)
            point = builder.point
            builder.point = ir.InsertionPoint.at_block_terminator(loop.regions[0].blocks[0])
            variable = induction_variable(loop)
            both = [
                builder.affine_load(values, ir.AffineMap.get(1, 0, [affine_dim(0) * 2 + k], context()), [variable])
                for k in (0, 1)
            ]
            made = builder.value(self.sum, self.value.type, both)
            builder.affine_store(made, after, ir.AffineMap.get(1, 0, [affine_dim(0)], context()), [variable])
            builder.point = point
            if length % 2:
                ends = [ir.AffineMap.get_constant(n, context()) for n in (length - 1, pairs)]
                builder.affine_store(builder.affine_load(values, ends[0], []), after, ends[1], [])
            values, length = after, length - pairs
        ends = [ir.AffineMap.get_constant(k, context()) for k in range(length)]
        both = [builder.affine_load(values, end, []) for end in ends]
        return builder.value(self.sum, self.value.type, both)


def _other(combiner: ir.Operation, update: Update) -> ir.Value:
    """What is combined with the element, and not made of it."""
    before = update.path[update.path.index(combiner) - 1] if combiner != update.path[0] else update.load
    return next(value for value in combiner.operands if value != before.results[0])


def _copied(builder: Builder, op: ir.Operation, copies: dict[ir.Value, ir.Value]) -> None:
    """A copy of an operation on copies of its operands; that a sum does not wrap is not known of sums in a tree."""
    attributes = {name: value for name, value in op.attributes.items() if name != "overflowFlags"}
    operands = [copies.get(value, value) for value in op.operands]
    made = builder.op(op.name, [result.type for result in op.results], operands, attributes)
    for old, new in zip(op.results, made.results, strict=True):
        copies[old] = new
