"""If-conversion: stores under conditions on data become selects between old and new values."""

from __future__ import annotations

from mlir import ir

from ...ir.access import access_map, accessed, is_copy, is_store, stored, subscripts
from ...ir.builder import Builder
from ...ir.module import Module
from ...ir.walk import entry_block, operations

_PLAIN = ("arith.", "math.", "affine.", "allo.fixed_", "allo.struct_", "memref.")
_MOVED = frozenset(
    f"allo.{name}" for name in ("sign_cast", "bitcast", "element_cast", "get_bit", "set_bit", "get_slice", "set_slice")
)


def select_instead_of_branching(module: Module) -> bool:
    """Replace each `scf.if` whose branches only compute, load and store, in place; whether there was one.

    What a branch stores becomes `select(condition, new, old)`. Branches are then computed in all iterations, which
    changes no value of memory; subscripts outside of an array have no effect there, for what they read is dropped.
    """
    entries = [entry for function in module.functions() if (entry := entry_block(function)) is not None]
    found = False
    for op in [op for entry in entries for op in reversed(operations(entry, "scf.if"))]:
        if _is_plain(op):
            _convert(op)
            found = True
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


def _convert(op: ir.Operation) -> None:
    condition = op.operands[0]
    yielded: list[list[ir.Value]] = []
    for number, region in enumerate(op.regions):
        for block in region:
            for store in list(filter(is_store, operations(block))):
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


def _merge(store: ir.Operation, condition: ir.Value, is_then: bool) -> None:
    builder = Builder.before(store)
    new, places = stored(store), access_map(store)
    array, operands = accessed(store), subscripts(store)
    old = builder.load(array, operands) if places is None else builder.affine_load(array, places, operands)
    both = [new, old] if is_then else [old, new]
    store.operands[0] = builder.value("arith.select", new.type, [condition, *both])
