"""Stages around an array: the loop nests and calls that write it, and those that read it."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ...errors import Location, Note, ScheduleError
from ...ir.access import callee_name, is_access
from ...ir.module import Module
from ...ir.walk import entry_block, location_of, string_of
from ...poly import Access, Model, extract
from ..function.calls import function_around
from ..step.handles import Buffer, Function, Nest


@dataclass(frozen=True, slots=True)
class Stage:
    """A statement beside the allocation of an array; `value` is the array inside of it.

    A stage is a loop nest, a single statement, or a call; then `value` is an argument of the callee, or of the function
    that this passes the array on to, and nothing else: `calls` are the calls on the way, from `op` on, each with the
    position of the array among its arguments. `fixed` is the number of loops of `model` around the stage.
    """

    op: ir.Operation
    callee: str | None
    value: ir.Value
    model: Model
    fixed: int
    writes: tuple[Access, ...]
    reads: tuple[Access, ...]
    calls: tuple[tuple[ir.Operation, int], ...] = ()

    @property
    def name(self) -> str:
        """How messages call it."""
        if self.function is not None:
            return f"function '{self.function}'"
        nest = string_of(self.op, "allo.nest") or string_of(self.op, "allo.name")
        if nest is not None:
            return f"nest '{nest}'"
        place = location_of(self.op)
        return f"the statement at line {place.line}" if place else "a statement"

    @property
    def function(self) -> str | None:
        """The function that it calls, or that its loop stands for."""
        return self.callee or string_of(self.op, "allo.x_call")

    @property
    def note(self) -> Note:
        return Note(f"{self.name} is here", location_of(self.op))

    def is_called(self, part: Function | Nest) -> bool:
        """Whether a user's name means this stage."""
        if isinstance(part, Function):
            return self.function == part.name
        return self.function is None and string_of(self.op, "allo.nest") == part.name


def stages_of(module: Module, buffer: Buffer, value: ir.Value, model: Model | None = None) -> list[Stage]:
    """The stages that use a local array, in the order of the text; raises ScheduleError where `read_stages` refuses."""
    stages = read_stages(module, buffer, value, model)
    if isinstance(stages, ScheduleError):
        raise stages
    return stages


def read_stages(
    module: Module, buffer: Buffer, value: ir.Value, model: Model | None = None
) -> list[Stage] | ScheduleError:
    """The stages that use a local array, in the order of the text, or the refusal of uses that are not accesses.

    `model` is that of the function, if it is known.
    """
    allocation = value.owner.operation
    home = allocation.block
    statements: list[ir.Operation] = []
    for use in value.uses:
        op = use.owner.operation
        while op.block != home:
            op = op.parent.operation
        if op.name == "func.return":
            place = Note("it is returned here", location_of(op))
            return ScheduleError(f"'{buffer.name}' is returned, and NumPy has no FIFO", notes=[place])
        if op not in statements:
            statements.append(op)
    statements = [op.operation for op in home.operations if op.operation in statements]
    if model is None and any(op.name != "func.call" for op in statements):
        model = extract(function_around(allocation), using=value)
    stages: list[Stage] = []
    for op in statements:
        stage = _stage(module, buffer, value, model, op)
        if isinstance(stage, Stage):
            stage = _refusal(stage, buffer) or stage
        if isinstance(stage, ScheduleError):
            return stage
        stages.append(stage)
    return stages


def _stage(
    module: Module, buffer: Buffer, value: ir.Value, model: Model | None, op: ir.Operation
) -> Stage | ScheduleError:
    if op.name != "func.call":
        assert model is not None
        known = model.buffer(value)
        label = "" if known is None else known.label
        accesses = [a for a in model.accesses if a.buffer.label == label and _is_inside(a.op, op)]
        fixed = len(_loops_around(op))
        return Stage(op, None, value, model, fixed, *_sides(accesses))
    followed = _followed(module, buffer, op, value)
    if isinstance(followed, ScheduleError):
        return followed
    calls, argument = followed
    function = function_around(argument.owner.operations[0].operation)
    inner = extract(function)
    known = inner.buffer(argument)
    accesses = [] if known is None else [a for a in inner.accesses if a.buffer.label == known.label]
    return Stage(op, callee_name(op), argument, inner, 0, *_sides(accesses), calls)


def _followed(
    module: Module, buffer: Buffer, call: ir.Operation, value: ir.Value
) -> tuple[tuple[tuple[ir.Operation, int], ...], ir.Value] | ScheduleError:
    """The calls through which an array goes that functions only pass on, and the argument that it is in the end."""
    found: list[tuple[ir.Operation, int]] = []
    while True:
        name = callee_name(call)
        positions = [k for k, operand in enumerate(call.operands) if operand == value]
        if len(positions) > 1:
            return ScheduleError(
                f"'{buffer.name}' is passed to '{name}' twice in one call",
                notes=[Note("the call is here", location_of(call))],
            )
        entry = entry_block(module.function(name))
        if entry is None:
            return ScheduleError(
                f"'{buffer.name}' is passed to '{name}', whose body is not in the module",
                notes=[Note("the call is here", location_of(call))],
            )
        found.append((call, positions[0]))
        value = entry.arguments[positions[0]]
        users = [use.owner.operation for use in value.uses]
        if len(users) != 1 or users[0].name != "func.call" or users[0].block != entry:
            return tuple(found), value
        call = users[0]


def stages_inside(stage: Stage) -> list[Stage]:
    """What the statements of the function that a stage calls do to the array; of a nest, the stage itself."""
    if stage.callee is None:
        return [stage]
    owner = stage.value.owner
    statements = owner.operations if isinstance(owner, ir.Block) else []
    found: list[Stage] = []
    for op in (op.operation for op in statements):
        writes = tuple(access for access in stage.writes if _is_inside(access.op, op))
        reads = tuple(access for access in stage.reads if _is_inside(access.op, op))
        if writes or reads:
            found.append(Stage(op, None, stage.value, stage.model, 0, writes, reads))
    return found


def _sides(accesses: list[Access]) -> tuple[tuple[Access, ...], tuple[Access, ...]]:
    return tuple(a for a in accesses if a.is_write), tuple(a for a in accesses if not a.is_write)


def _refusal(stage: Stage, buffer: Buffer) -> ScheduleError | None:
    """Why an access of a stage cannot go through a FIFO, whatever the order of elements; None if all can."""
    for access in (*stage.writes, *stage.reads):
        place = access.source
        notes = [Note("the statement is here", Location(place.file, place.line, place.column))] if place.line else []
        if access.op.name.startswith("linalg."):
            return ScheduleError(
                f"{stage.name} is an operator on the whole array '{buffer.name}', not loops over its elements",
                hint="customize with lower_linalg=True, which makes loops of it",
                notes=notes,
            )
        if not is_access(access.op):
            return ScheduleError(
                f"{stage.name} passes '{buffer.name}' on, to a call or a view",
                hint="inline() the function that is called",
                notes=notes,
            )
        parallel = next((loop for loop in access.loops[stage.fixed :] if "allo.parallel" in loop.op.attributes), None)
        if parallel is not None:
            return ScheduleError(
                f"loop '{parallel.name}' of {stage.name} runs in parallel, but a FIFO has an order", notes=notes
            )
    return None


def _is_inside(op: ir.Operation, outer: ir.Operation) -> bool:
    while op != outer:
        parent = op.parent
        if parent is None:
            return False
        op = parent.operation
    return True


def _loops_around(op: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []
    parent = op.parent
    while parent is not None and parent.operation.name != "func.func":
        if parent.operation.name in ("affine.for", "scf.for", "scf.while"):
            found.append(parent.operation)
        parent = parent.operation.parent
    return found
