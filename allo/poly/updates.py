"""Reduction updates: writes that only update their element (`x += e`), by operations that may run in any order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from mlir import ir

from ..ir.access import accessed, is_load, is_same_element, is_store, stored
from ..ir.walk import statements
from .model import Access

_KINDS = {
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
_LEFT_ONLY = frozenset({"arith.subi", "arith.subf", "allo.fixed_sub"})
_WIDENING = frozenset({"arith.extsi", "arith.extui", "arith.extf", "allo.sign_cast", "allo.fixed_cast"})
_NARROWING = frozenset({"arith.trunci", "arith.truncf", "allo.sign_cast", "allo.fixed_cast"})
_FIXED = re.compile(r"!allo\.u?fixed<(\d+), (-?\d+)(, [^>]*)?>")


@dataclass(frozen=True, slots=True)
class Update:
    """`store` puts into an element what `load` read there, combined with a value that does not depend on it.

    Updates of one `kind` may be exchanged; `exact`: the result is then the same to the last bit.
    """

    kind: str
    exact: bool
    load: ir.Operation
    store: ir.Operation


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
            update = _update(access.op)
            if update is not None:
                found[update.load] = found[update.store] = update
    return found


def _update(store: ir.Operation) -> Update | None:
    narrowed = _through(stored(store), _NARROWING)
    combiner = narrowed[-1]
    if combiner is None or combiner.name not in _KINDS:
        return None
    sides = [0] if combiner.name in _LEFT_ONLY else [0, 1]
    for side in sides:
        widened = _through(combiner.operands[side], _WIDENING)
        load = widened[-1]
        if load is None or not _same_element(load, store):
            continue
        casts = [op for op in (*narrowed[:-1], *widened[:-1]) if op is not None]
        kind = _KINDS[combiner.name]
        if kind[:3] in ("max", "min") and any(op.name != "allo.sign_cast" for op in casts):
            return None  # what is wrapped after the comparison does not keep its order
        element = ir.MemRefType(accessed(store).type).element_type
        return Update(kind, _is_exact(kind, element, combiner, casts), load, store)
    return None


def _through(value: ir.Value, casts: frozenset[str]) -> list[ir.Operation | None]:
    """The casts behind a value and what they convert, which nothing else uses; None at the end if something does."""
    found: list[ir.Operation | None] = []
    while True:
        if isinstance(value.owner, ir.Block) or len(list(value.uses)) != 1:
            return [*found, None]
        op = value.owner.operation
        found.append(op)
        if op.name not in casts:
            return found
        value = op.operands[0]


def _same_element(load: ir.Operation, store: ir.Operation) -> bool:
    return (
        is_same_element(load, store)
        and load.block == store.block
        and not any(_may_write(op) for op in _between(load, store))
    )


def _between(load: ir.Operation, store: ir.Operation) -> Iterator[ir.Operation]:
    inside = False
    for op in statements(load.block):
        if op == store:
            return
        if inside:
            yield op
        inside = inside or op == load


def _may_write(op: ir.Operation) -> bool:
    return not is_load(op) and not op.name.startswith(("arith.", "math.", "allo.fixed_", "allo.sign_"))


def _is_exact(kind: str, element: ir.Type, combiner: ir.Operation, casts: list[ir.Operation]) -> bool:
    """Integers wrap, and fixed-point numbers are cut off below their last bit, whatever the order of the sums."""
    if kind in ("maxf", "minf"):
        return True
    if isinstance(element, ir.IntegerType | ir.IndexType):
        return isinstance(combiner.results[0].type, ir.IntegerType | ir.IndexType)
    own = _FIXED.fullmatch(str(element))
    if own is None or own[3] or kind != "add":  # rounding and saturation depend on the order
        return False
    types = [str(combiner.results[0].type), *(str(op.results[0].type) for op in casts)]
    wide = [_FIXED.fullmatch(text) for text in types]
    width, fraction = int(own[1]), int(own[2])
    return all(
        match is not None
        and int(match[2]) >= fraction
        and int(match[1]) - int(match[2]) >= width - fraction
        and not match[3]
        for match in wide
    )
