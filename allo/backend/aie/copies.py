"""Arrays of tasks that are copies of arguments which nobody writes: their readers read the argument."""

from __future__ import annotations

from mlir import ir

from ...ir.access import access_map, accessed, is_affine_access, is_load, is_store, stored, subscripts
from ...ir.builder import Builder, affine_dim
from ...ir.walk import constant_bounds, entry_block, induction_variable, operations, statement_of, statements


def without_copies(function: ir.OpView) -> None:
    """Let loads of such arrays be loads of what they are copies of, in place; the arrays and the copying go."""
    entry = entry_block(function)
    assert entry is not None
    for array in operations(entry, "memref.alloc"):
        store = _only_store(array)
        source = _copied(store, array) if store is not None else None
        if store is not None and source is not None:
            for load in [use.owner.operation for use in array.results[0].uses if use.owner.operation != store]:
                _read(source, load)
            statement_of(store).erase()
            array.erase()


def _only_store(array: ir.Operation) -> ir.Operation | None:
    """The store to an array that is written by one, before it is read; None if that is not so."""
    users = [use.owner.operation for use in array.results[0].uses]
    stores = [op for op in users if is_store(op)]
    loads = [op for op in users if is_load(op)]
    if len(stores) != 1 or len(stores) + len(loads) != len(users) or not all(map(is_affine_access, users)):
        return None
    order = {op: number for number, op in enumerate(statements(array.block))}
    places = [order.get(statement_of(op)) for op in (stores[0], *loads)]
    known = [place for place in places if place is not None]
    return stores[0] if len(known) == len(places) and all(known[0] < place for place in known[1:]) else None


def _copied(store: ir.Operation, array: ir.Operation) -> ir.Operation | None:
    """The load of an argument that a store copies to all places of an array, in a nest of its own."""
    load = stored(store).owner
    if isinstance(load, ir.Block) or not is_load(load.operation) or load.operation.block != store.block:
        return None
    load = load.operation
    source = accessed(load)
    is_argument = isinstance(source.owner, ir.Block) and source.owner == array.block
    if not is_argument or not is_affine_access(load) or any(not is_load(use.owner.operation) for use in source.uses):
        return None
    shape = list(ir.MemRefType(array.results[0].type).shape)
    loops: list[ir.Operation] = []
    around = store
    while len(loops) < len(shape):
        inner, around = around, around.parent.operation
        own = [op for op in statements(around.regions[0].blocks[0])[:-1]] if around.name == "affine.for" else []
        if own != ([inner] if loops else [load, store]):
            return None
        loops.insert(0, around)
    variables = [induction_variable(loop) for loop in loops]
    is_whole = [constant_bounds(loop) for loop in loops] == [(0, extent, 1) for extent in shape]
    identity = ir.AffineMap.get_identity(len(shape), store.context)
    in_order = access_map(store) == identity and subscripts(store) == variables
    known = all(value in variables for value in subscripts(load))
    return load if is_whole and in_order and known and around == statement_of(store) else None


def _read(source: ir.Operation, load: ir.Operation) -> None:
    """Let a load read what has been copied to its place by the load `source`."""
    own, copied = access_map(load), access_map(source)
    assert own is not None and copied is not None
    variables: list[ir.Value] = []
    around = source
    while around.parent.operation.name == "affine.for":
        around = around.parent.operation
        variables.insert(0, induction_variable(around))
    places = [affine_dim(variables.index(value)) for value in subscripts(source)]
    named = ir.AffineMap.get(len(variables), 0, places, source.context)
    results = [expr.compose(named).compose(own) for expr in copied.results]
    builder = Builder.before(load)
    made = ir.AffineMap.get(own.n_dims, own.n_symbols, results, load.context)
    value = builder.value(
        "affine.load", load.results[0].type, [accessed(source), *subscripts(load)], {"map": ir.AffineMapAttr.get(made)}
    )
    load.results[0].replace_all_uses_with(value)
    load.erase()
