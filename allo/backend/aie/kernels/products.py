"""Products of matrices in nests of loops: their extents, the type of their factors, and what is beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from mlir import ir

from ....ir.access import access_map, accessed, is_affine_access, is_load, is_store, stored, subscripts
from ....ir.walk import induction_variable, operations, statements, trip_count

_CASTS = ("arith.ext", "arith.trunc", "allo.sign_cast")


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """`batch` products of matrices, `rows x terms` and `terms x columns`, of elements of type `element`.

    `beside` are the other statements of the nest, those of one body with how often it runs.
    """

    element: str
    rows: int
    terms: int
    columns: int
    batch: int
    beside: tuple[tuple[int, tuple[ir.Operation, ...]], ...]

    @property
    def multiplications(self) -> int:
        """How many products of elements are summed."""
        return self.batch * self.rows * self.terms * self.columns


def product_in(loop: ir.Operation) -> MatrixProduct | None:
    """The product of matrices that a nest of loops with constant bounds computes; None if it is none.

    One product of two elements is added to one element. Loops that only one factor depends on are over rows and
    columns, if each of their iterations has sums of its own; loops whose iterations add to the same sums are over
    terms; others make many products.
    """
    found = [op for op in operations(loop.regions[0].blocks[0], "arith.muli", "arith.mulf") if factors_of(op)]
    if len(found) != 1:
        return None
    factors, total, loops = factors_of(found[0]), sum_of(found[0]), _loops(found[0], loop)
    if factors is None or total is None or loops is None:
        return None
    first, second = factors
    element = str(first.results[0].type)
    if str(second.results[0].type) != element:
        return None
    sizes = {"rows": 1, "columns": 1, "terms": 1, "batch": 1}
    over_terms: list[ir.Operation] = []
    for own in loops:
        kind = _role(own, first, second, total)
        if kind is None:
            return None
        over_terms += [own] if kind == "terms" else []
        trips = trip_count(own)
        if trips is None:
            return None
        sizes[kind] *= trips
    outer = loops[: len(loops) - len(over_terms)]
    is_mixed = loops[len(outer) :] != over_terms and _beside(loops, loops[:-1], total)
    if is_mixed or min(sizes["rows"], sizes["columns"], sizes["terms"]) < 2:
        return None
    return MatrixProduct(element, **sizes, beside=_beside(loops, outer, total))


def has_product(block: ir.Block) -> bool:
    """Whether products of elements of two arrays are summed in a block."""
    return any(factors_of(op) and sum_of(op) for op in operations(block, "arith.muli", "arith.mulf"))


def factors_of(product: ir.Operation) -> tuple[ir.Operation, ir.Operation] | None:
    """The loads of two arrays that are multiplied."""
    loads = [behind_casts(value) for value in product.operands]
    if any(load is None or not is_load(load) or not is_affine_access(load) for load in loads):
        return None
    first, second = (load for load in loads if load is not None)
    return first, second


def behind_casts(value: ir.Value) -> ir.Operation | None:
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if not op.name.startswith(_CASTS):
            return op
        value = op.operands[0]
    return None


def sum_of(product: ir.Operation) -> ir.Operation | None:
    """The store of the sum that a product is added to, read in the same iteration."""
    add = _only_user(product)
    if add is None or add.name not in ("arith.addi", "arith.addf"):
        return None
    store = _only_user(add)
    if store is None or not is_store(store) or not is_affine_access(store) or behind_casts(stored(store)) != add:
        return None
    for value in add.operands:
        load = behind_casts(value)
        if load is not None and is_load(load) and is_affine_access(load) and accessed(load) == accessed(store):
            same = access_map(load) == access_map(store) and subscripts(load) == subscripts(store)
            return store if same and load.block == store.block else None
    return None


def _only_user(op: ir.Operation) -> ir.Operation | None:
    while True:
        users = [use.owner.operation for use in op.results[0].uses]
        if len(users) != 1:
            return None
        if not users[0].name.startswith(_CASTS):
            return users[0]
        op = users[0]


def _loops(inner: ir.Operation, outermost: ir.Operation) -> list[ir.Operation] | None:
    """The loops around an operation, outer ones first; None if something else is around it."""
    found: list[ir.Operation] = []
    while not found or found[0] != outermost:
        inner = inner.parent.operation
        if inner.name != "affine.for":
            return None
        found.insert(0, inner)
    return found


def _role(loop: ir.Operation, first: ir.Operation, second: ir.Operation, total: ir.Operation) -> str | None:
    """What a loop is over; None if the nest is no product for it, such as a sum over all rows of one."""
    variable = induction_variable(loop)
    in_first, in_second = (variable in subscripts(load) for load in (first, second))
    others = [
        op for op in operations(loop.regions[0].blocks[0])
        if is_store(op) and op != total and accessed(op) == accessed(total)
    ]  # fmt: skip
    is_apart = variable in subscripts(total) or (bool(others) and all(map(_begins, others)))
    if in_first != in_second:
        return ("rows" if in_first else "columns") if is_apart else None
    if not in_first:
        return None
    if is_apart:
        return "batch"
    return None if others else "terms"


def _begins(store: ir.Operation) -> bool:
    """Whether a store begins a sum: with a constant, or with what another array has."""
    made = behind_casts(stored(store))
    if made is None or made.name == "arith.constant":
        return made is not None
    return is_load(made) and accessed(made) != accessed(store)


def _beside(
    loops: Sequence[ir.Operation], outer: Sequence[ir.Operation], total: ir.Operation
) -> tuple[tuple[int, tuple[ir.Operation, ...]], ...]:
    """What is in the outer loops beside the next one: neither what begins the sum, nor the store of a sum that has an
    array of its own, which a kernel does itself."""
    found = []
    sums = accessed(total)
    is_kept = not isinstance(sums.owner, ir.Block)
    for k, loop in enumerate(outer):
        own = [op for op in statements(loop.regions[0].blocks[0])[:-1] if op != loops[k + 1]]
        own = [op for op in own if not ((is_store(op) or is_load(op)) and accessed(op) == sums)]
        stores = [op for op in own if is_store(op)]
        if is_kept and k == len(outer) - 1 and stores:
            own.remove(stores[-1])
        if own:
            found.append((prod(trip_count(around) or 1 for around in outer[: k + 1]), tuple(own)))
    return tuple(found)
