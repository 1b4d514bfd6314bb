"""If-conversion: stores under conditions on data become selects between old and new values."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from mlir import ir

from ...ir.access import access_map, accessed, is_copy, is_store, stored, subscripts
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
    """Replace each `scf.if` whose branches only compute, load and store, in place; whether there was one of `form`.

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
    return all(
        i.name == "scf.yield" or ((i.name.startswith(_PLAIN) or i.name in _MOVED) and not _stays(i)) for i in inner
    )


def _stays(op: ir.Operation) -> bool:
    """Whether an operation must not run unless its branch does."""
    return is_copy(op) or op.name == "memref.dealloc"


def _convert(op: ir.Operation, form: Guards) -> bool:
    """Replace a branch; whether terms were chosen."""
    condition, has_terms = op.operands[0], False
    yielded: list[list[ir.Value]] = []
    for number, region in enumerate(op.regions):
        for block in region:
            for store in list(filter(is_store, operations(block))):
                if form is Guards.TERMS and _merge_terms(store, condition, number == 0):
                    has_terms = True
                else:
                    _merge(store, condition, number == 0)
            statements = [i.operation for i in block.operations]
            yielded.append(list(statements[-1].operands))
            for statement in statements[:-1]:
                statement.move_before(op)
    builder = Builder.before(op)
    for number, result in enumerate(op.results):
        chosen = builder.value("arith.select", result.type, [condition, yielded[0][number], yielded[1][number]])
        result.replace_all_uses_with(chosen)
    op.erase()
    return has_terms


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
    if any(not isinstance(op.results[0].type, ir.IntegerType) for op in update.path):
        return False
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
