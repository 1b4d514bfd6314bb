"""Reduction updates: writes that only update their element (`x += e`, `x = max(x, e)`), in any order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from mlir import ir

from ..ir.access import access_map, accessed, is_load, is_store, stored, subscripts
from ..ir.walk import statements
from .model import Access

KINDS = {
    "arith.addi": "add",
    "arith.subi": "add",
    "arith.addf": "add",
    "arith.subf": "add",
    "allo.fixed_add": "add",
    "allo.fixed_sub": "add",
    "arith.muli": "mul",
    "arith.mulf": "mul",
    "arith.andi": "and",
    "arith.ori": "or",
    "arith.xori": "xor",
    "arith.maxsi": "maxs",
    "arith.maxui": "maxu",
    "arith.minsi": "mins",
    "arith.minui": "minu",
    "arith.maximumf": "maxf",
    "arith.minimumf": "minf",
}
_CHOICES = {  # predicates of comparisons: whether `a p b ? a : b` is the greater one, and of which order
    "arith.cmpi": {2: ("min", "s"), 3: ("min", "s"), 4: ("max", "s"), 5: ("max", "s")}
    | {6: ("min", "u"), 7: ("min", "u"), 8: ("max", "u"), 9: ("max", "u")},
    "arith.cmpf": {2: ("max", "f"), 3: ("max", "f"), 4: ("min", "f"), 5: ("min", "f")}
    | {8: ("max", "f"), 9: ("max", "f"), 10: ("min", "f"), 11: ("min", "f")},
}
_LEFT_ONLY = frozenset({"arith.subi", "arith.subf", "allo.fixed_sub"})
_CASTS = frozenset(
    {"arith.extsi", "arith.extui", "arith.trunci", "arith.extf", "arith.truncf", "allo.sign_cast", "allo.fixed_cast"}
)
_PURE = ("arith.", "math.", "allo.fixed_", "allo.sign_", "affine.apply", "memref.alloc")
_FIXED = re.compile(r"!allo\.u?fixed<(\d+), (-?\d+)(, [^>]*)?>")


@dataclass(frozen=True, slots=True)
class Update:
    """`store` puts into an element what `load` read there, combined with values that do not depend on it.

    Updates of one `kind` may be exchanged; `exact`: the result is then the same to the last bit. `single`: one
    operation combines, whatever is compared. `path` are the operations from the load to the store, if no variables are
    on the way; nothing else uses them.
    """

    kind: str
    exact: bool
    load: ir.Operation
    store: ir.Operation
    single: bool = True
    path: tuple[ir.Operation, ...] = ()


class Reductions(StrEnum):
    """Which updates of one element may be exchanged: none, those whose result stays the same, or all."""

    ORDERED = "ordered"
    EXACT = "exact"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Exchange:
    """Two accesses belong to updates that may be exchanged; `exact`: without a change of the result."""

    exact: bool


def exchangeable(
    updates: Mapping[ir.Operation, Update], first: ir.Operation, second: ir.Operation
) -> Exchange | None:
    """None unless both accesses are part of updates of one kind."""
    one, other = updates.get(first), updates.get(second)
    if one is None or other is None or one.kind != other.kind:
        return None
    return Exchange(one.exact and other.exact)


def updates_of(accesses: list[Access]) -> dict[ir.Operation, Update]:
    """The updates among the accesses, by their loads and by their stores."""
    found: dict[ir.Operation, Update] = {}
    for access in accesses:
        if access.is_write and is_store(access.op):
            update = update_of(access.op)
            if update is not None:
                found[update.load] = found[update.store] = update
    return found


def update_of(store: ir.Operation) -> Update | None:
    """What a store updates, if it does nothing but that."""
    found = _path(stored(store), store, None)
    if found is None or not any(op.name in KINDS for op in found.path) or _uses_outside(found):
        return _choice(store) or _guarded(store)
    combiners = [op for op in found.path if op.name in KINDS]
    kind = KINDS[combiners[0].name]
    if kind[:3] in ("max", "min") and any(op.name not in KINDS and op.name != "allo.sign_cast" for op in found.path):
        return None  # what is wrapped after the comparison does not keep its order
    element = ir.MemRefType(accessed(store).type).element_type
    if isinstance(element, ir.IntegerType) and (wrapped := _wrapped(found.path, element.width)) is not None:
        if not wrapped:
            return None
        kind = f"{kind} {wrapped}"
    is_exact, path = _is_exact(kind, element, found.path), () if found.scalars else found.path
    return Update(kind, is_exact, found.load, store, len(combiners) == 1, path)


@dataclass(frozen=True, slots=True)
class _Path:
    """What is done to the value that `load` reads, the first operation first."""

    path: tuple[ir.Operation, ...]
    load: ir.Operation
    scalars: tuple[ir.Operation, ...] = ()  # stores and loads of variables on the way


def _path(value: ir.Value, store: ir.Operation, kind: str | None) -> _Path | None:
    """How a value is made of what the element was: by casts and operations of one kind, which nothing else uses."""
    if isinstance(value.owner, ir.Block) or len(list(value.uses)) != 1:
        return None
    op = value.owner.operation
    if is_load(op):
        return _Path((), op) if _same_element(op, store) else _through_scalar(op, store, kind)
    own = KINDS.get(op.name)
    if op.name not in _CASTS and (own is None or kind not in (None, own)):
        return None
    for operand in list(op.operands)[: 1 if op.name in _CASTS or op.name in _LEFT_ONLY else 2]:
        found = _path(operand, store, own or kind)
        if found is not None:
            return replace(found, path=(*found.path, op))
    return None


def _through_scalar(load: ir.Operation, store: ir.Operation, kind: str | None) -> _Path | None:
    """The path to the value that a variable of one iteration was given last."""
    array = accessed(load)
    made = None if isinstance(array.owner, ir.Block) else array.owner.operation
    if made is None or made.block != load.block or not _is_scalar(array):
        return None
    given: ir.Operation | None = None
    for op in _between(made, load):
        if is_store(op) and accessed(op) == array:
            given = op
        elif _may_write(op, array):
            given = None
    found = None if given is None else _path(stored(given), store, kind)
    if found is None or given is None:
        return None
    return replace(found, scalars=(*found.scalars, given, load))


def _uses_outside(path: _Path) -> bool:
    """Whether a variable on the path is used for something else."""
    own = list(path.scalars)
    return any(use.owner.operation not in own for op in own for use in accessed(op).uses)


def _wrapped(path: tuple[ir.Operation, ...], width: int) -> str | None:
    """The casts behind the first value of fewer bits than the element has, which tell the values that it may keep.

    None if there is no such value, empty if there are combinations behind it: their carries depend on the order.
    """
    types = [op.results[0].type for op in path]
    first = next((k for k, t in enumerate(types) if isinstance(t, ir.IntegerType) and t.width < width), None)
    if first is None:
        return None
    behind = path[first:]
    is_plain = all(op.name in _CASTS for op in behind)
    return " ".join(f"{op.name} {op.results[0].type}" for op in behind) if is_plain else ""


def _choice(store: ir.Operation) -> Update | None:
    """`x = e if e > x else x`, a comparison and a choice of what it compares."""
    value = stored(store)
    select = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if select is None or select.name != "arith.select" or len(list(value.uses)) != 1:
        return None
    compare = _comparison(select.operands[0])
    if compare is None:
        return None
    left, right = list(compare.operands)
    if list(select.operands)[1:] not in ([left, right], [right, left]):
        return None
    own = _old_element(compare, store)
    if own is None or len(list(own.results[0].uses)) != 2 or own.block != store.block:
        return None
    return _chosen(compare, list(select.operands)[1] == left, own, store)


def _guarded(store: ir.Operation) -> Update | None:
    """`if e > x: x = e`, with nothing else in the branch but what makes `e` again."""
    branch = store.block.owner.operation
    if branch.name != "scf.if" or len(branch.results) or store.block != branch.regions[0].blocks[0]:
        return None
    if any(block.operations[0].operation.name != "scf.yield" for block in branch.regions[1].blocks):
        return None
    compare = _comparison(branch.operands[0])
    own = None if compare is None else _old_element(compare, store)
    if compare is None or own is None or len(list(own.results[0].uses)) != 1:
        return None
    is_left = compare.operands[1] == own.results[0]
    new = compare.operands[0 if is_left else 1]
    inside = [op for op in statements(store.block) if op.name != "scf.yield" and op != store]
    if any(_may_write(op, accessed(store)) for op in inside) or not _is_made_alike(new, stored(store)):
        return None
    return _chosen(compare, is_left, own, store)


def _comparison(flag: ir.Value) -> ir.Operation | None:
    """The comparison that makes a flag which nothing else uses."""
    op = None if isinstance(flag.owner, ir.Block) else flag.owner.operation
    return op if op is not None and op.name in _CHOICES and len(list(flag.uses)) == 1 else None


def _old_element(compare: ir.Operation, store: ir.Operation) -> ir.Operation | None:
    """The side of a comparison that is the value of the element before the store."""
    sides = [value.owner.operation for value in compare.operands if not isinstance(value.owner, ir.Block)]
    found = [op for op in sides if is_load(op) and op.block == compare.block and _same_element(op, store)]
    return found[0] if len(found) == 1 else None


def _chosen(compare: ir.Operation, is_left: bool, load: ir.Operation, store: ir.Operation) -> Update | None:
    """The update to the left side of a comparison where it holds, or to the right one."""
    known = _CHOICES[compare.name].get(ir.IntegerAttr(compare.attributes["predicate"]).value)
    if known is None:
        return None
    side, order = known
    kind = side if is_left else {"max": "min", "min": "max"}[side]
    return Update(f"{kind} of {order}", order != "f", load, store, single=False)


def _same_element(load: ir.Operation, store: ir.Operation) -> bool:
    """Whether both are of one element, by subscripts made in the same way, and nothing writes it in between."""
    one_map, other_map = access_map(load), access_map(store)
    if accessed(load) != accessed(store) or (one_map is None) != (other_map is None) or one_map != other_map:
        return False
    one, other = subscripts(load), subscripts(store)
    alike = len(one) == len(other) and all(_is_made_alike(a, b) for a, b in zip(one, other, strict=True))
    return alike and _is_unwritten(load, store)


def _is_made_alike(one: ir.Value, other: ir.Value) -> bool:
    """Whether values are the same: of the same operations on elements that nothing writes in between."""
    if one == other:
        return True
    if isinstance(one.owner, ir.Block) or isinstance(other.owner, ir.Block):
        return False
    left, right = one.owner.operation, other.owner.operation
    if left.name != right.name or str(left.attributes) != str(right.attributes) or one.type != other.type:
        return False
    if is_load(left):
        if not _is_unwritten(left, right):
            return False
    elif not left.name.startswith("arith."):
        return False
    pairs = list(zip(left.operands, right.operands, strict=False))
    return len(left.operands) == len(right.operands) and all(_is_made_alike(a, b) for a, b in pairs)


def _is_unwritten(load: ir.Operation, last: ir.Operation) -> bool:
    """Whether nothing writes what a load reads until `last`, which stands behind it, in its block or below."""
    array = accessed(load)
    while last.block != load.block:
        for op in statements(last.block):
            if op == last:
                break
            if _may_write(op, array):
                return False
        if last.block.owner.operation.name not in ("scf.if", "affine.if"):
            return False
        last = last.block.owner.operation
    return last in (between := list(_between(load, last, end=True))) and not any(
        _may_write(op, array) for op in between[:-1]
    )


def _between(first: ir.Operation, last: ir.Operation, *, end: bool = False) -> Iterator[ir.Operation]:
    """The operations of a block from behind `first` to before `last`, or with it (`end`)."""
    inside = False
    for op in statements(first.block):
        if op == last:
            if end:
                yield op
            return
        if inside:
            yield op
        inside = inside or op == first


def _is_scalar(array: ir.Value) -> bool:
    """Whether an array is a variable that is made here, so that no other name means it."""
    is_made = not isinstance(array.owner, ir.Block) and array.owner.operation.name == "memref.alloc"
    return is_made and ir.MemRefType(array.type).rank == 0


def _may_write(op: ir.Operation, array: ir.Value) -> bool:
    if op.name in ("scf.if", "affine.if"):
        inside = [inner for region in op.regions for block in region.blocks for inner in statements(block)]
        return any(_may_write(inner, array) for inner in inside if inner.name not in ("scf.yield", "affine.yield"))
    if is_store(op):
        written = accessed(op)
        return written == array or not (_is_scalar(written) or _is_scalar(array))
    return not is_load(op) and not op.name.startswith(_PURE)


def _is_exact(kind: str, element: ir.Type, path: tuple[ir.Operation, ...]) -> bool:
    """Integers wrap, and fixed-point numbers are cut off below their last bit, whatever the order of the sums."""
    if kind in ("maxf", "minf"):
        return True
    types = [op.results[0].type for op in path]
    if isinstance(element, ir.IntegerType | ir.IndexType):
        return all(isinstance(found, ir.IntegerType | ir.IndexType) for found in types)
    own = _FIXED.fullmatch(str(element))
    if own is None or own[3] or kind != "add":  # rounding and saturation depend on the order
        return False
    wide = [_FIXED.fullmatch(str(found)) for found in types]
    width, fraction = int(own[1]), int(own[2])
    return all(
        match is not None
        and int(match[2]) >= fraction
        and int(match[1]) - int(match[2]) >= width - fraction
        and not match[3]
        for match in wide
    )
