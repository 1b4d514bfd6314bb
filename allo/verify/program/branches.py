"""If-conversion: stores under conditions on data become selects between old and new values, and what both branches put
into a stream one put of the value that is selected."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from itertools import takewhile

from mlir import ir

from ...ir.access import (
    access_map,
    accessed,
    base_of,
    is_affine_load,
    is_array,
    is_copy,
    is_end,
    is_put,
    is_store,
    stored,
    subscripts,
)
from ...ir.builder import Builder
from ...ir.module import Module
from ...ir.walk import entry_block, operations
from ...poly.updates import KINDS, update_of

_PLAIN = ("arith.", "math.", "affine.", "allo.fixed_", "allo.struct_", "memref.")
_MOVED = frozenset(
    f"allo.{name}" for name in ("sign_cast", "bitcast", "element_cast", "get_bit", "set_bit", "get_slice", "set_slice")
)
_NEUTRAL: dict[str, Callable[[int], int]] = {  # the value that changes none, of so many bits
    "arith.addi": lambda width: 0,
    "arith.subi": lambda width: 0,
    "arith.muli": lambda width: 1,
    "arith.andi": lambda width: -1,
    "arith.ori": lambda width: 0,
    "arith.xori": lambda width: 0,
    "arith.maxsi": lambda width: -(1 << (width - 1)),
    "arith.minsi": lambda width: (1 << (width - 1)) - 1,
    "arith.maxui": lambda width: 0,
    "arith.minui": lambda width: -1,
}


class Guards(StrEnum):
    """What becomes of a store under a condition.

    Of `x[i] += e` of integers (or products, minima, ...): VALUES `x[i] = select(condition, x[i] + e, x[i])`, as of
    other stores; TERMS `x[i] += select(condition, e, 0)`, so that a sum stays a sum.
    """

    VALUES = "values"
    TERMS = "terms"


def select_instead_of_branching(module: Module, form: Guards) -> bool:
    """Replace each `scf.if` whose branches only compute, load and store, and use the same streams in the same order, in
    place; whether there was one of `form`.

    Branches are then computed in all iterations, which changes no value of memory; subscripts outside of an array
    have no effect there, for what they read is dropped.
    """
    entries = [entry for function in module.functions() if (entry := entry_block(function)) is not None]
    found = False
    for op in [op for entry in entries for op in reversed(operations(entry, "scf.if"))]:
        if _is_plain(op):
            found |= _convert(op, form) or form is Guards.VALUES
    return found


def _is_plain(op: ir.Operation) -> bool:
    if any(isinstance(result.type, ir.MemRefType) for result in op.results):
        return False
    inner = [i for region in op.regions for block in region for i in operations(block)]
    ends = [i for i in inner if is_end(i)]
    if ends and _common_ends(op) is None:
        return False
    return all(
        i.name == "scf.yield" or is_end(i) or ((i.name.startswith(_PLAIN) or i.name in _MOVED) and not _stays(i))
        for i in inner
    )


def _common_ends(op: ir.Operation) -> list[tuple[ir.Operation, ir.Operation]] | None:
    """The puts and gets of both branches in pairs, if they use the same streams in the same order."""
    branches = [[i for block in region for i in operations(block) if is_end(i)] for region in op.regions]
    inside = [block for region in op.regions for block in region]
    if len(inside) != 2 or len(branches[0]) != len(branches[1]):
        return None
    pairs = list(zip(*branches, strict=True))
    if all(a.name == b.name and a.block in inside and b.block in inside and _same_stream(a, b) for a, b in pairs):
        return pairs
    return None


def _same_stream(one: ir.Operation, other: ir.Operation) -> bool:
    """Whether two operations surely use one stream: the same value, or the same element of an array."""
    first, second = accessed(one), accessed(other)
    if first == second:
        return True
    loads = [v.owner.operation for v in (first, second) if not isinstance(v.owner, ir.Block)]
    return (
        len(loads) == 2
        and all(map(is_affine_load, loads))
        and list(loads[0].operands) == list(loads[1].operands)
        and access_map(loads[0]) == access_map(loads[1])
    )


def _stays(op: ir.Operation) -> bool:
    """Whether an operation must not run unless its branch does."""
    return is_copy(op) or op.name == "memref.dealloc"


def _convert(op: ir.Operation, form: Guards) -> bool:
    """Replace a branch; whether terms were chosen."""
    condition, has_terms = op.operands[0], False
    pairs = _common_ends(op) or []
    joined = _join_stores(op, form)
    yielded: list[list[ir.Value]] = []
    for number, region in enumerate(op.regions):
        for block in region:
            for store in list(filter(is_store, operations(block))):
                if store in joined:
                    continue
                if form is Guards.TERMS and _merge_terms(store, condition, number == 0):
                    has_terms = True
                else:
                    _merge(store, condition, number == 0)
            statements = [i.operation for i in block.operations]
            yielded.append(list(statements[-1].operands))
            for statement in statements[:-1]:
                if not pairs:
                    statement.move_before(op)
    _join(op, pairs)
    builder = Builder.before(op)
    for number, result in enumerate(op.results):
        chosen = builder.value("arith.select", result.type, [condition, yielded[0][number], yielded[1][number]])
        result.replace_all_uses_with(chosen)
    op.erase()
    return has_terms


def _join_stores(op: ir.Operation, form: Guards) -> list[ir.Operation]:
    """Let one store do what each branch does last with an element, a choice between two values, not of the old one; it
    is that of the second branch."""
    joined: list[ir.Operation] = []
    stores = [[i for block in region for i in operations(block) if is_store(i)] for region in op.regions]
    for one in list(stores[0]):
        own = [[s for s in side if base_of(accessed(s)) == base_of(accessed(one))] for side in stores]
        if len(stores) < 2 or [len(side) for side in own] != [1, 1]:
            continue
        other = own[1][0]
        if form is Guards.TERMS and (update_of(one) is not None or update_of(other) is not None):
            continue
        known = _same_element(one, other, op) and _ends_before(one) <= _ends_before(other)  # the value of the first
        if known and not _is_read_after(one):
            value = Builder.before(other).value(
                "arith.select", stored(one).type, [op.operands[0], stored(one), stored(other)]
            )
            other.operands[0] = value
            joined.append(other)
            stores[0].remove(one)
            one.erase()
    return joined


def _same_element(one: ir.Operation, other: ir.Operation, branch: ir.Operation) -> bool:
    """Whether two stores, neither of them under more than the branch, are to one element."""
    return (
        all(store.block.owner.operation == branch for store in (one, other))
        and accessed(one) == accessed(other)
        and access_map(one) == access_map(other)
        and list(subscripts(one)) == list(subscripts(other))
    )


def _ends_before(store: ir.Operation) -> int:
    """How many puts and gets its branch does before."""
    before = takewhile(lambda op: op.operation != store, store.block.operations)
    return sum(is_end(op.operation) for op in before)


def _is_read_after(store: ir.Operation) -> bool:
    """Whether its branch uses the array again."""
    later = False
    for op in store.block.operations:
        if op.operation == store:
            later = True
        elif later and any(
            is_array(value.type) and base_of(value) == base_of(accessed(store)) for value in op.operation.operands
        ):
            return True
    return False


def _join(op: ir.Operation, pairs: list[tuple[ir.Operation, ir.Operation]]) -> None:
    """Let both branches run side by side up to each put and get, which is one for both."""
    blocks = [block for region in op.regions for block in region] if pairs else []
    for one, other in pairs:
        for block, end in zip(blocks, (one, other), strict=True):
            while block.operations[0].operation != end:
                block.operations[0].operation.move_before(op)
        one.move_before(op)
        if is_put(one):
            value = stored(one)
            both = [op.operands[0], value, stored(other)]
            one.operands[1] = Builder.before(one).value("arith.select", value.type, both)
        else:
            other.results[0].replace_all_uses_with(one.results[0])
        other.erase()
    for block in blocks:
        while len(block.operations) > 1:
            block.operations[0].operation.move_before(op)


def _merge(store: ir.Operation, condition: ir.Value, is_then: bool) -> None:
    builder = Builder.before(store)
    new, places = stored(store), access_map(store)
    array, operands = accessed(store), subscripts(store)
    old = builder.load(array, operands) if places is None else builder.affine_load(array, places, operands)
    both = [new, old] if is_then else [old, new]
    store.operands[0] = builder.value("arith.select", new.type, [condition, *both])


def _merge_terms(store: ir.Operation, condition: ir.Value, is_then: bool) -> bool:
    """Let an update of an integer add its terms under the condition only; whether it is one."""
    update = update_of(store)
    if update is None or not (update.path and update.exact):
        return False
    kinds = [op.results[0].type for op in update.path]
    if any(not isinstance(kind, ir.IntegerType) or kind.width < stored(store).type.width for kind in kinds):
        return False  # a value that is cut on the way is not the old one again
    if any(op.name in KINDS and op.name not in _NEUTRAL for op in update.path):
        return False
    kept = update.load.results[0]
    for op in update.path:
        if op.name in _NEUTRAL:
            place = 1 if op.operands[0] == kept else 0
            builder, term = Builder.before(op), op.operands[place]
            neutral = builder.constant(term.type, _NEUTRAL[op.name](ir.IntegerType(term.type).width))
            both = [term, neutral] if is_then else [neutral, term]
            op.operands[place] = builder.value("arith.select", term.type, [condition, *both])
        kept = op.results[0]
    return True
