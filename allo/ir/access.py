"""One operation by itself: which array or stream it uses, at which subscripts, and what it does there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir import ir

from .linalg import indexing_maps, is_structured, output_count
from .streams import is_stream_type

_LOADS = ("affine.load", "memref.load")
_STORES = ("affine.store", "memref.store")
ACCESSES = (*_LOADS, *_STORES)  # for `operations`
WAITING = ("allo.stream_put", "allo.stream_get", "allo.stream_peek")  # at a stream, for `operations`
# whether a stream has room is a matter of the side that puts, whether it has elements of the side that gets
_PUTTING = frozenset({"allo.stream_put", "allo.stream_try_put", "allo.stream_full"})
_GETTING = frozenset({"allo.stream_get", "allo.stream_try_get", "allo.stream_peek", "allo.stream_empty"})
_LOOKING = frozenset({"allo.stream_empty", "allo.stream_full", "allo.stream_peek"})
_IN_TIME = (_PUTTING | _GETTING).difference(WAITING)
# what is another look at an array: its elements in other types, places or extents
VIEWS = frozenset({
    "memref.cast", "memref.subview", "memref.collapse_shape", "memref.expand_shape", "memref.reinterpret_cast",
    "memref.reshape", "memref.transpose", "memref.view", "memref.memory_space_cast", "memref.realloc",
    "memref.assume_alignment", "memref.extract_strided_metadata", "allo.element_cast",
})  # fmt: skip
_NO_EFFECT = VIEWS | {
    "func.return", "memref.dim", "memref.dealloc", "memref.prefetch", "memref.extract_aligned_pointer_as_index",
    "affine.prefetch", "affine.yield", "scf.yield", "scf.condition",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Effect:
    """What is done to the array or stream that is one operand, or to the constant or state `symbol` of the module.

    Arrays are read and written: all elements if `whole_read` or `whole_write`, else any of them. Of streams, and of
    arrays of streams, the end that puts or the end that gets is used.
    """

    operand: int
    reads: bool = False
    writes: bool = False
    puts: bool = False
    gets: bool = False
    whole_read: bool = False
    whole_write: bool = False
    symbol: str = ""


def effects_of(op: ir.Operation) -> tuple[Effect, ...]:
    """What an operation does, without what is inside of it; what is not known, a call too, may do anything."""
    name = op.name
    if name.startswith(("arith.", "math.")) or name in _NO_EFFECT:
        return ()
    if name in _LOADS:
        return (Effect(0, reads=True),) if reads_element(op) else ()
    if name in _STORES:
        return (Effect(1, writes=True),)
    if name in _PUTTING:
        return (Effect(0, puts=True),)
    if name in _GETTING:
        return (Effect(0, gets=True),)
    if name == "memref.copy":
        return (Effect(0, reads=True, whole_read=True), Effect(1, writes=True, whole_write=True))
    if is_structured(op):
        return _of_structured(op)
    return tuple(_anything(k, value.type) for k, value in enumerate(op.operands) if is_array(value.type))


def _anything(operand: int, kind: ir.Type) -> Effect:
    streams = is_stream_type(kind)
    return Effect(operand, reads=not streams, writes=not streams, puts=streams, gets=streams)


def _of_structured(op: ir.Operation) -> tuple[Effect, ...]:
    """An operand is read if the body uses its elements; all of them are met if each is at a place of its own."""
    first_output = len(op.operands) - output_count(op)
    elements = op.regions[0].blocks[0].arguments
    found = []
    for k, (value, places) in enumerate(zip(op.operands, indexing_maps(op), strict=True)):
        if is_array(value.type):
            reads = k < len(elements) and any(True for _ in elements[k].uses)
            writes, whole = k >= first_output, places.is_projected_permutation
            found.append(Effect(k, reads, writes, whole_read=reads and whole, whole_write=writes and whole))
    return tuple(found)


def is_array(kind: ir.Type) -> bool:
    """Whether values of a type are arrays, scalar variables or streams."""
    return isinstance(kind, ir.MemRefType) or is_stream_type(kind)


# -- loads and stores --------------------------------------------------------------------------------------


def is_load(op: ir.Operation) -> bool:
    """Whether `op` takes one element out of an array, which may be a stream."""
    return op.name in _LOADS


def reads_element(op: ir.Operation) -> bool:
    """Whether `op` loads a value; the streams of an array of them are not values."""
    return is_load(op) and not is_stream_type(op.results[0].type)


def is_store(op: ir.Operation) -> bool:
    """Whether `op` writes one element of an array."""
    return op.name in _STORES


def is_access(op: ir.Operation) -> bool:
    """Whether `op` is a load or a store."""
    return op.name in ACCESSES


def is_affine_access(op: ir.Operation) -> bool:
    """Whether `op` is a load or store whose subscripts are an affine map; else each is an operand."""
    return op.name in ("affine.load", "affine.store")


def is_affine_load(op: ir.Operation) -> bool:
    """Whether `op` is a load whose subscripts are an affine map."""
    return bool(op.name == "affine.load")


def is_copy(op: ir.Operation) -> bool:
    """Whether `op` copies a whole array to another one."""
    return bool(op.name == "memref.copy")


def accessed(op: ir.Operation) -> ir.Value:
    """The array of a load or store; the stream of a put, a get or a question."""
    return op.operands[1 if op.name in _STORES else 0]


def stored(op: ir.Operation) -> ir.Value:
    """What a store writes, or a put puts."""
    return op.operands[0 if op.name in _STORES else 1]


def subscripts(access: ir.Operation) -> list[ir.Value]:
    """The operands of a load or store that say which element; those of its map, if it has one."""
    return list(access.operands)[2 if access.name in _STORES else 1 :]


def access_map(access: ir.Operation) -> ir.AffineMap | None:
    """The subscripts of a load or store over `subscripts`; None if they are those."""
    return ir.AffineMapAttr(access.attributes["map"]).value if is_affine_access(access) else None


# -- streams -----------------------------------------------------------------------------------------------


def is_put(op: ir.Operation) -> bool:
    """Whether `op` puts an element into a stream, once there is room."""
    return bool(op.name == "allo.stream_put")


def is_get(op: ir.Operation) -> bool:
    """Whether `op` takes an element out of a stream, once there is one."""
    return bool(op.name == "allo.stream_get")


def is_end(op: ir.Operation) -> bool:
    """Whether `op` is a put or a get."""
    return op.name in ("allo.stream_put", "allo.stream_get")


def may_put(op: ir.Operation) -> bool:
    """Whether `op` puts an element into a stream, or tries to."""
    return op.name in ("allo.stream_put", "allo.stream_try_put")


def may_get(op: ir.Operation) -> bool:
    """Whether `op` takes an element out of a stream, or tries to."""
    return op.name in ("allo.stream_get", "allo.stream_try_get")


def moves_element(op: ir.Operation) -> bool:
    """Whether an element of a stream goes through `op`, if there is one: all but questions."""
    return is_at_stream(op) and op.name not in ("allo.stream_empty", "allo.stream_full")


def is_peek(op: ir.Operation) -> bool:
    """Whether `op` reads the oldest element of a stream, once there is one, and leaves it there."""
    return bool(op.name == "allo.stream_peek")


def sees_element(op: ir.Operation) -> bool:
    """Whether `op` has the oldest element of a stream, once there is one: a get or a peek."""
    return op.name in ("allo.stream_get", "allo.stream_peek")


def waits_at_stream(op: ir.Operation) -> bool:
    """Whether `op` waits for room in a stream, or for an element: a put, a get or a peek."""
    return op.name in WAITING


def looks(op: ir.Operation) -> bool:
    """Whether `op` only looks what is in a stream: whether it is empty, whether it is full, which element is next."""
    return op.name in _LOOKING


def asks_stream(op: ir.Operation) -> bool:
    """Whether what `op` finds in a stream depends on when it runs: it asks if a get or a put would wait, or tries."""
    return op.name in _IN_TIME


def is_at_stream(op: ir.Operation) -> bool:
    """Whether `op` uses an end of a stream."""
    return puts_side(op) or gets_side(op)


def puts_side(op: ir.Operation) -> bool:
    """Whether `op` is done by who puts into a stream."""
    return op.name in _PUTTING


def gets_side(op: ir.Operation) -> bool:
    """Whether `op` is done by who gets from a stream."""
    return op.name in _GETTING


def makes_stream(op: ir.Operation) -> bool:
    """Whether `op` makes a stream, or an array of streams."""
    return op.name in ("allo.stream_create", "memref.alloc") and is_stream_type(op.results[0].type)


# -- what a value stands for -------------------------------------------------------------------------------


def is_view(op: ir.Operation) -> bool:
    """Whether the first result of `op` is another look at its first operand."""
    return op.name in VIEWS


def base_of(value: ir.Value) -> ir.Value:
    """The array or stream that `value` is, is a look at, or, for a stream of an array of streams, is taken from."""
    while not isinstance(owner := value.owner, ir.Block):
        op = owner.operation
        name = op.name
        if name not in VIEWS and not (name in _LOADS and is_stream_type(value.type)):
            return value
        value = op.operands[0]
    return value


def uses_of(value: ir.Value) -> Iterator[ir.OpOperand]:
    """The uses of an array, and of all looks at it."""
    for use in value.uses:
        yield use
        if is_view(use.owner.operation) and not use.operand_number:
            yield from uses_of(use.owner.operation.results[0])


def global_name(value: ir.Value) -> str | None:
    """The constant or state of the module that `value` is the address of."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "memref.get_global":
        return None
    return str(ir.FlatSymbolRefAttr(value.owner.operation.attributes["name"]).value)


def callee_name(call: ir.Operation) -> str:
    """The name of the function that a `func.call` calls."""
    return str(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
