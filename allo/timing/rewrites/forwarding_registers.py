"""Forwarding registers: a load of what was stored a constant number of iterations before takes it from registers."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ...ir.access import access_map, accessed, is_affine_access, is_store, stored, subscripts
from ...ir.builder import Builder, index_type
from ...ir.context import context, unknown_location
from ...ir.module import Module
from ...ir.names import unique_name
from ...ir.walk import constant_bounds, induction_variable, location_of, statements
from ...poly import Access, may_be_one, place_of
from ..roles import Datapath
from .facts import FunctionFacts, ancestors, is_apart, known_outside, names_in
from .record import Rewrite

NAME = "allo-forwarding-registers"


@dataclass(frozen=True, slots=True)
class _Forward:
    """`load` reads what `store` has written `distance` iterations of `loop` before."""

    load: Access
    store: Access
    loop: ir.Operation
    distance: int


def forwarding_registers(module: Module, function: str, datapaths: list[Datapath], depth: int) -> list[Rewrite]:
    """Rewrite one function, for distances of up to `depth` iterations."""
    seen = FunctionFacts(module, function)
    found: list[Rewrite] = []
    plans: list[_Forward] = []
    for path in datapaths:
        if len(path.time) != 1:
            continue  # registers in front of an inner loop would take the pipeline apart
        loop = path.time[0].op
        inside = list(seen.model.inside(seen.loops[loop])) if loop in seen.loops else []
        for load in inside:
            plan = _forward(seen, loop, load, inside)
            if plan is None:
                continue
            where = f"{plan.load.text} was stored {plan.distance} iterations before"
            done = plan.distance <= depth
            if done:
                plans.append(plan)
            what = f"{where}, and comes from registers" if done else f"{where}, more than the {depth} asked for"
            found.append(Rewrite(NAME, function, what, location_of(load.op), done))
    taken = names_in(module, function)
    for plan in plans:
        _write(plan, taken)
    return found


def _forward(seen: FunctionFacts, loop: ir.Operation, load: Access, inside: list[Access]) -> _Forward | None:
    bounds = constant_bounds(loop)
    if bounds is None or load.is_write or not is_affine_access(load.op) or load.op.block != loop.regions[0].blocks[0]:
        return None
    if is_apart(loop) or is_apart(next(ancestors(loop))) or place_of(load) is None or not load.subscripts:
        return None
    writes = [other for other in inside if other.is_write and other.buffer.label == load.buffer.label]
    around = seen.around(loop)
    meeting = [write for write in writes if may_be_one(write, load, around)]
    if len(meeting) != 1:
        return None
    store = meeting[0]
    if not is_store(store.op) or store.op.block != load.op.block or not is_affine_access(store.op):
        return None
    scope = {outer.op for outer in load.buffer.scope}
    variable = (induction_variable(loop),)
    if loop in scope or not known_outside(load.op, loop, variable):
        return None
    distance = _distance(store, load, seen.loops[loop].variable, bounds[2])
    trip = -(-(bounds[1] - bounds[0]) // bounds[2])
    return None if distance is None or not 0 < distance < trip else _Forward(load, store, loop, distance)


def _distance(store: Access, load: Access, variable: int, step: int) -> int | None:
    """How many iterations after the store the load reads its element; None if that is not the same for all."""
    if place_of(store) is None:
        return None
    found: set[int] = set()
    for one, other in zip(store.subscripts, load.subscripts, strict=True):
        difference = one - other
        moves = dict(one.terms).get(variable, 0) * step
        if not difference.is_constant:
            return None
        if not moves:
            if difference.constant:
                return None
            continue
        if difference.constant % moves:
            return None
        found.add(difference.constant // moves)
    return found.pop() if len(found) == 1 else None


def _write(plan: _Forward, taken: set[str]) -> None:
    load, store, loop = plan.load.op, plan.store.op, plan.loop
    lower, _, step = constant_bounds(loop) or (0, 0, 1)
    builder = Builder(ir.InsertionPoint(loop), load.location)
    array, place, operands = accessed(load), access_map(load), subscripts(load)
    assert place is not None
    kind = ir.MemRefType.get([], ir.MemRefType(array.type).element_type, loc=unknown_location())
    nothing = ir.AffineMap.get(0, 0, [], context())
    registers = []
    for age in range(1, plan.distance + 1):  # a register for the value of so many iterations ago
        first = builder.constant(index_type(), lower + (plan.distance - age) * step)  # the iteration that reads it
        made = builder.affine_load(array, place, [first if v == induction_variable(loop) else v for v in operands])
        register = builder.alloc(kind, unique_name(f"{plan.load.buffer.name}_before_{age}", taken))
        builder.affine_store(made, register, nothing, [])
        registers.append(register)
    end = statements(loop.regions[0].blocks[0])[-1]
    builder.point = ir.InsertionPoint(end)
    for older, newer in zip(registers[:0:-1], registers[-2::-1], strict=True):
        builder.affine_store(builder.affine_load(newer, nothing, []), older, nothing, [])
    builder.affine_store(stored(store), registers[0], nothing, [])
    builder.point = ir.InsertionPoint(load)
    load.results[0].replace_all_uses_with(builder.affine_load(registers[-1], nothing, []))
    load.erase()

