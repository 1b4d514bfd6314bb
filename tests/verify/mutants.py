"""Random faults in the IR of a correct program: bounds, subscripts, constants, operands, guards, buffers, streams."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mlir import ir

from allo.errors import InternalError
from allo.ir.affine_sets import constraints_of
from allo.ir.builder import Builder, affine_dim
from allo.ir.context import context
from allo.ir.module import Module
from allo.ir.walk import constant_bounds, entry_block, induction_variable, operations, string_of

_SWAPPED = ("arith.subf", "arith.subi", "arith.divf", "arith.divsi", "arith.remsi", "arith.cmpf", "arith.cmpi")
_REPLACED = {
    "arith.addf": "arith.subf",
    "arith.subf": "arith.addf",
    "arith.mulf": "arith.addf",
    "arith.divf": "arith.mulf",
    "arith.addi": "arith.subi",
    "arith.muli": "arith.addi",
    "arith.maximumf": "arith.minimumf",
    "arith.maxsi": "arith.minsi",
}
_MEMORY = ("affine.load", "affine.store")


@dataclass(frozen=True)
class Mutant:
    """A program with one fault, what it is, and its line in the text of the kernel."""

    kind: str
    what: str
    module: Module


def mutants(module: Module, count: int, seed: int) -> Iterator[Mutant]:
    """`count` different programs with one fault each (fewer if there are not so many)."""
    draw = random.Random(seed)
    seen = {str(module)}
    for _ in range(count * 20):
        if len(seen) > count:
            return
        kind = draw.choice(list(FAULTS))
        copy = module.clone()
        everything = [
            op
            for function in copy.functions()
            if (entry := entry_block(function)) is not None
            for op in operations(entry)
        ]
        what = FAULTS[kind](everything, draw)
        if what is None or str(copy) in seen:
            continue
        try:
            copy.verify()
        except InternalError:
            continue
        seen.add(str(copy))
        yield Mutant(kind, what, copy)


def _pick(found: list[ir.Operation], draw: random.Random) -> ir.Operation | None:
    return draw.choice(found) if found else None


def _described(op: ir.Operation) -> str:
    name = string_of(op, "allo.name")
    line = op.location.start_line if op.location.is_a_file() else 0
    return f"{op.name}{f' {name}' if name else ''} of line {line}"


def _with_results(old: ir.AffineMap, results: list[ir.AffineExpr]) -> ir.AffineMapAttr:
    return ir.AffineMapAttr.get(ir.AffineMap.get(old.n_dims, old.n_symbols, results, context()))


def bound(found: list[ir.Operation], draw: random.Random) -> str | None:
    """A loop begins or ends one iteration too early or too late."""
    loop = _pick([op for op in found if op.name == "affine.for"], draw)
    if loop is None:
        return None
    side, change = draw.choice(["lowerBoundMap", "upperBoundMap"]), draw.choice([-1, 1])
    bounds = ir.AffineMapAttr(loop.attributes[side]).value
    loop.attributes[side] = _with_results(bounds, [result + change for result in bounds.results])
    return f"{side} {change:+} in {_described(loop)}"


def subscript(found: list[ir.Operation], draw: random.Random) -> str | None:
    """An access is one element off, has two subscripts swapped, or uses another loop."""
    op = _pick([op for op in found if op.name in _MEMORY and _results(op)], draw)
    if op is None:
        return None
    access, results = ir.AffineMapAttr(op.attributes["map"]).value, _results(op)
    place = draw.randrange(len(results))
    how = draw.choice(["off", "swapped", "other"])
    if how == "swapped" and len(results) > 1:
        other = draw.choice([k for k in range(len(results)) if k != place])
        results[place], results[other] = results[other], results[place]
    elif how == "other" and access.n_dims > 1:
        results[place] = affine_dim(draw.randrange(access.n_dims))
    else:
        results[place] = results[place] + draw.choice([-1, 1])
    op.attributes["map"] = _with_results(access, results)
    return f"subscript {place} in {_described(op)}"


def _results(op: ir.Operation) -> list[ir.AffineExpr]:
    return list(ir.AffineMapAttr(op.attributes["map"]).value.results)


def constant(found: list[ir.Operation], draw: random.Random) -> str | None:
    """A number is another one."""
    op = _pick([op for op in found if op.name == "arith.constant" and _is_number(op)], draw)
    if op is None:
        return None
    kind = op.results[0].type
    builder = Builder.before(op)
    if isinstance(kind, ir.FloatType):
        old = ir.FloatAttr(op.attributes["value"]).value
        new: float = draw.choice([old + 1, old - 1, old * 2]) if old else 1.0
    else:
        old = ir.IntegerAttr(op.attributes["value"]).value
        new = old + 1 if kind != ir.IntegerType.get_signless(1, context()) else 1 - abs(old)
    op.results[0].replace_all_uses_with(builder.constant(kind, new))
    described = _described(op)
    op.erase()
    return f"{old} is {new} in {described}"


def _is_number(op: ir.Operation) -> bool:
    kind = op.results[0].type
    return len(list(op.results[0].uses)) > 0 and isinstance(kind, ir.FloatType | ir.IntegerType | ir.IndexType)


def operands(found: list[ir.Operation], draw: random.Random) -> str | None:
    """Two operands are swapped."""
    op = _pick([op for op in found if op.name in (*_SWAPPED, "arith.select")], draw)
    if op is None:
        return None
    first = 1 if op.name == "arith.select" else 0
    left, right = op.operands[first], op.operands[first + 1]
    op.operands[first], op.operands[first + 1] = right, left
    return f"operands of {_described(op)}"


def operation(found: list[ir.Operation], draw: random.Random) -> str | None:
    """Another operation on the same operands."""
    op = _pick([op for op in found if op.name in _REPLACED], draw)
    if op is None:
        return None
    made = Builder.before(op).value(_REPLACED[op.name], op.results[0].type, list(op.operands))
    op.results[0].replace_all_uses_with(made)
    described = _described(op)
    op.erase()
    return f"{described} is {made.owner.operation.name}"


def guard(found: list[ir.Operation], draw: random.Random) -> str | None:
    """A condition is dropped, or one off."""
    op = _pick([op for op in found if op.name in ("affine.if", "scf.if") and not len(op.results)], draw)
    if op is None:
        return None
    described = _described(op)
    if op.name == "affine.if" and draw.random() < 0.5:
        sides, equal = constraints_of(op.attributes["condition"])
        rows = list(sides.results)
        place = draw.randrange(len(rows))
        rows[place] = rows[place] + draw.choice([-1, 1])
        made = ir.IntegerSet.get(sides.n_dims, sides.n_symbols, rows, list(equal), context())
        op.attributes["condition"] = ir.IntegerSetAttr.get(made)
        return f"one off in the condition of {described}"
    for inner in list(op.regions[0].blocks[0].operations)[:-1]:
        inner.operation.move_before(op)
    op.erase()
    return f"no condition of {described}"


def statement(found: list[ir.Operation], draw: random.Random) -> str | None:
    """A store is missing."""
    op = _pick([op for op in found if op.name in ("affine.store", "memref.store")], draw)
    if op is None:
        return None
    described = _described(op)
    op.erase()
    return f"no {described}"


def stale(found: list[ir.Operation], draw: random.Random) -> str | None:
    """A loop that fills a local array runs in the first iteration of the loop around it only."""
    loop = _pick([op for op in found if op.name == "affine.for" and _fills_buffer(op)], draw)
    if loop is None:
        return None
    parent = loop.parent.operation
    bounds = constant_bounds(parent)
    assert bounds is not None
    first = ir.IntegerSet.get(1, 0, [affine_dim(0) - bounds[0]], [True], context())
    branch = Builder.before(loop).affine_if(first, [induction_variable(parent)], False)
    then = branch.regions[0].blocks[0]
    loop.move_before(then.operations[len(then.operations) - 1].operation)
    return f"only once: {_described(loop)}"


def _fills_buffer(loop: ir.Operation) -> bool:
    parent = loop.parent.operation
    if parent.name != "affine.for" or constant_bounds(parent) is None:
        return False
    stores = [op for op in operations(loop.regions[0].blocks[0]) if op.name == "affine.store"]
    targets = [op.operands[1] for op in stores]
    return bool(targets) and all(
        not isinstance(t.owner, ir.Block) and t.owner.operation.name == "memref.alloc" for t in targets
    )


def order(found: list[ir.Operation], draw: random.Random) -> str | None:
    """Two nested loops around an end of a stream are exchanged."""
    pairs = [op for op in found if op.name == "affine.for" and _exchangeable(op)]
    outer = _pick(pairs, draw)
    if outer is None:
        return None
    inner = _inner(outer)
    assert inner is not None
    for side in ("lowerBoundMap", "upperBoundMap", "step"):
        one, other = outer.attributes[side], inner.attributes[side]
        outer.attributes[side], inner.attributes[side] = other, one
    first, second = induction_variable(outer), induction_variable(inner)
    for op in operations(inner.regions[0].blocks[0]):
        for place, value in enumerate(list(op.operands)):
            if value in (first, second):
                op.operands[place] = second if value == first else first
    return f"order of the loops of {_described(outer)}"


def _inner(loop: ir.Operation) -> ir.Operation | None:
    body = [op.operation for op in loop.regions[0].blocks[0].operations][:-1]
    return body[0] if len(body) == 1 and body[0].name == "affine.for" else None


def _exchangeable(outer: ir.Operation) -> bool:
    inner = _inner(outer)
    if inner is None or constant_bounds(outer) is None or constant_bounds(inner) is None:
        return False
    return any(op.name in ("allo.stream_put", "allo.stream_get") for op in operations(inner.regions[0].blocks[0]))


def token(found: list[ir.Operation], draw: random.Random) -> str | None:
    """An element is put into a stream twice, or not at all."""
    op = _pick([op for op in found if op.name == "allo.stream_put"], draw)
    if op is None:
        return None
    described = _described(op)
    if draw.random() < 0.5:
        op.clone(ir.InsertionPoint(op))
        return f"twice: {described}"
    op.erase()
    return f"no {described}"


type Fault = Callable[[list[ir.Operation], random.Random], str | None]

FAULTS: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        *(bound, subscript, constant, operands, operation, guard, statement, stale, order, token),
    )
}
