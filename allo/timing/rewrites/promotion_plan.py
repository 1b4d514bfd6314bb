"""Plans of scalar promotion: which elements stay the same while a loop runs, and what keeps others from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir import ir

from ...ir.access import is_load, is_store
from ...ir.registers import are_registers
from ...ir.walk import LOOP_OPERATIONS, constant_bounds, induction_variable, operations, string_of, trip_count
from ...poly import Access, ElementPlace, ModelLoop, in_any_case, is_inside, may_be_one, place_of
from ..roles import Datapath
from .facts import FunctionFacts, ancestors, is_apart, is_before, is_certain, known_outside


@dataclass(frozen=True, slots=True)
class Promotion:
    """Accesses of one element while `loop` runs, or of one for each copy of the unrolled loops `copies` in it.

    `first_written`: no value of before is read. `may_not_run`: how often the loop runs is known at run time only.
    """

    loop: ir.Operation
    accesses: tuple[Access, ...]
    copies: tuple[ir.Operation, ...]
    first_written: bool
    may_not_run: bool

    @property
    def written(self) -> bool:
        return any(access.is_write for access in self.accesses)

    @property
    def label(self) -> str:
        return self.accesses[0].buffer.label


@dataclass(frozen=True, slots=True)
class Unpromoted:
    """Why an element that stays the same in a loop is not promoted."""

    access: Access
    reason: str


def promotions(seen: FunctionFacts, paths: list[Datapath]) -> Iterator[Promotion | Unpromoted]:
    """What can be promoted, out of as many loops as possible; of each array one element at a time."""
    for path in paths:
        planned: set[str] = set()
        for loop in _loops(path):
            if loop not in seen.loops:
                continue
            for found in _of_loop(seen, path, loop):
                if isinstance(found, Unpromoted):
                    yield found
                elif found.label not in planned:
                    planned.add(found.label)
                    yield found


def _loops(path: Datapath) -> Iterator[ir.Operation]:
    """The outermost loop over time, then the unrolled ones, outer before inner."""
    if path.time:
        yield path.time[0].op
    for op in path.body:
        if op.name in LOOP_OPERATIONS:
            yield op
        for region in op.regions:
            for block in region.blocks:
                yield from operations(block, *LOOP_OPERATIONS)


def _of_loop(seen: FunctionFacts, path: Datapath, loop: ir.Operation) -> Iterator[Promotion | Unpromoted]:
    known = seen.loops[loop]
    groups: dict[ElementPlace, list[Access]] = {}
    inside = list(seen.model.inside(known))
    time = {seen.loops[view.op].variable for view in path.time if view.op == loop or loop in ancestors(view.op)}
    fixed = time | {known.variable}
    for access in inside:
        place = place_of(access)
        if place is not None and not place.moving & fixed and _is_memory(access, known):
            groups.setdefault(place, []).append(access)
    for place, accesses in groups.items():
        accesses.sort(key=lambda access: seen.order[access.op])
        is_time = bool(path.time) and loop == path.time[0].op
        if not is_time and not any(access.is_write for access in accesses):
            continue  # copies share what they read
        yield _plan(seen, loop, place, accesses, inside)


def _is_memory(access: Access, loop: ModelLoop) -> bool:
    """Whether an access is of an array that is no register, and is not new in each iteration."""
    if access.buffer.is_stream or not access.buffer.shape or access.buffer.value is None:
        return False
    scope = {outer.variable for outer in access.buffer.scope}
    kind = ir.MemRefType(access.buffer.value.type)
    return loop.variable not in scope and scope <= set(access.variables[: loop.depth]) and not are_registers(kind)


def _plan(
    seen: FunctionFacts, loop: ir.Operation, place: ElementPlace, accesses: list[Access], inside: list[Access]
) -> Promotion | Unpromoted:
    first = accesses[0]
    copies = _copies(seen, loop, place, first)
    written = any(access.is_write for access in accesses)
    reason = _obstacle(seen, loop, copies, accesses, inside)
    if reason is not None:
        return Unpromoted(first, reason)
    certain = [access for access in accesses if is_certain(access.op, loop)]
    around = seen.around(loop)
    surely_runs = bool(trip_count(loop))
    exists = not copies and is_inside(seen.model, first, around)
    if not certain and (copies or not exists):
        return Unpromoted(first, f"it is not certain that {first.text} is accessed, nor that it exists")
    if not written and not surely_runs and not exists:
        return Unpromoted(first, f"the loop may not run, and {first.text} may not exist then")
    first_written = first.is_write and first in certain
    return Promotion(loop, tuple(accesses), copies, first_written, written and not surely_runs)


def _copies(seen: FunctionFacts, loop: ir.Operation, place: ElementPlace, access: Access) -> tuple[ir.Operation, ...]:
    """The loops in `loop` whose copies have elements of their own, outermost first."""
    inner = [outer for outer in ancestors(access.op) if outer in seen.loops and loop in ancestors(outer)]
    return tuple(outer for outer in reversed(inner) if seen.loops[outer].variable in place.moving)


def _obstacle(
    seen: FunctionFacts,
    loop: ir.Operation,
    copies: tuple[ir.Operation, ...],
    accesses: list[Access],
    inside: list[Access],
) -> str | None:
    """Why these accesses cannot be those of a register."""
    first = accesses[0]
    around = seen.around(loop)
    if loop.name not in ("affine.for", "scf.for"):
        return "how often a while loop runs is not known"
    if is_apart(loop) or is_apart(next(ancestors(loop))):
        return f"the loop is a stage or a processing element, which has {first.buffer.name} for itself"
    variables = tuple(induction_variable(copy) for copy in copies)
    if any(not (is_load(a.op) or is_store(a.op)) or not known_outside(a.op, loop, variables) for a in accesses):
        return f"the subscripts of {first.text} are computed in the loop"
    if not is_before(accessed_array(first), loop):
        return f"{first.buffer.name} is known in the loop only"
    if any(constant_bounds(copy) is None or (constant_bounds(copy) or (0, 0, 0))[2] != 1 for copy in copies):
        return f"the step of a loop around {first.text} is not 1"
    written = any(access.is_write for access in accesses)
    # What is written back is written also where conditions keep all accesses from running.
    touched = accesses if copies else [in_any_case(first, around)]
    for other in inside:
        if other in accesses or not (written or other.is_write):
            continue
        if any(may_be_one(access, other, around) for access in touched):
            return f"line {other.source.line} may touch the same element by {other.text}"
    for copy in copies if written else ():
        for sign in (1, -1):
            signs = {seen.loops[copy].variable: sign}
            if any(may_be_one(a, b, around, signs) for a in accesses for b in accesses):
                return f"copies of loop '{string_of(copy, 'allo.name') or '?'}' share elements of {first.buffer.name}"
    return None


def accessed_array(access: Access) -> ir.Value:
    """The array of a load or store."""
    return access.op.operands[0 if is_load(access.op) else 1]
