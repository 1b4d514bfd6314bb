"""Positions of a task that have a function of their own, as conditions around the calls in the nest of its grid."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property

from mlir import ir

from ...errors import Note, ScheduleError
from ...ir.access import callee_name
from ...ir.elements import SPATIAL
from ...ir.module import Module
from ...ir.processes import DATAFLOW
from ...ir.walk import constant_bounds, induction_variable, location_of, operations
from ...poly.formula import compile_set, evaluate, satisfies
from .calls import calls_of, function_around

type Box = tuple[range, ...]  # the positions, one range a dimension of the grid

_TASK = re.compile(r"(?P<task>[^\[\]]+)\[(?P<places>[^\[\]]*)\]\s*")
_PLACE = re.compile(r"\s*(?:(?P<one>-?\d+)|(?P<first>-?\d+)?\s*:\s*(?P<end>-?\d+)?)\s*")


def split_positions(given: str) -> tuple[str, str] | None:
    """`"gemm[0, 1]"` as the task and its positions; None if it names no positions."""
    found = _TASK.fullmatch(given)
    return (found["task"], found["places"]) if found else None


@dataclass(frozen=True, slots=True)
class Grid:
    """The grid of a task: the loop of each dimension, none where the position is a number, and the values."""

    task: str
    loops: tuple[ir.Operation | None, ...]
    values: Box

    def box(self, places: str) -> Box:
        """The positions that `"0, 1:3"` means. Raises ScheduleError for those that are not of the grid."""
        texts = places.split(",")
        if len(texts) != len(self.values):
            axes = "dimension" if len(self.values) == 1 else "dimensions"
            raise ScheduleError(
                f"'{self.task}[{places}]' has {len(texts)} subscripts, and the grid of task '{self.task}' "
                f"has {len(self.values)} {axes}: {self.shown}",
                hint="write a number, or a slice such as 0:2 or :, for each dimension",
            )
        return tuple(self._axis(places, axis, text) for axis, text in enumerate(texts))

    def _axis(self, places: str, axis: int, text: str) -> range:
        values, found = self.values[axis], _PLACE.fullmatch(text)
        if found is None:
            raise ScheduleError(
                f"'{text.strip()}' in '{self.task}[{places}]' is no position and no slice of positions",
                hint="write a number, or a slice such as 0:2 or :, for each dimension",
            )
        if found["one"] is not None:
            first, end = int(found["one"]), int(found["one"]) + 1
        else:
            first = values.start if found["first"] is None else int(found["first"])
            end = values.stop if found["end"] is None else int(found["end"])
        if first >= end:
            raise ScheduleError(
                f"'{text.strip()}' in '{self.task}[{places}]' is no position", hint=f"the grid is {self.shown}"
            )
        if not values.start <= first < end <= values.stop:
            raise ScheduleError(
                f"'{self.task}[{places}]' is outside the grid of task '{self.task}': dimension {axis} has the "
                f"positions {values.start} to {values.stop - 1}",
                hint=f"the grid is {self.shown}",
            )
        return range(first, end)

    @property
    def shown(self) -> str:
        """The extents, for messages."""
        return " x ".join(str(len(values)) for values in self.values)

    def places(self, box: Box) -> str:
        """Some positions as users write them."""
        return ", ".join(map(_place, box, self.values))

    def name(self, box: Box) -> str:
        """What the function of some positions is called."""
        return f"{self.task}[{self.places(box)}]"


def _place(box: range, values: range) -> str:
    if len(box) == 1:
        return str(box.start)
    return ":" if box == values else f"{box.start}:{box.stop}"


class Positions:
    """The functions that the positions of a task have."""

    def __init__(self, module: Module, task: str) -> None:
        calls = calls_of(module, task)
        at = location_of(module.function(task).operation)
        notes = [Note(f"'{task}' is declared here", at)] if at is not None else []
        if len(calls) != 1:
            reason = f"it is called at {len(calls)} places" if calls else "nothing in the module calls it"
            raise ScheduleError(f"'{task}' is no task with positions: {reason}", notes=notes)
        self.call = calls[0]
        self.nest = _around(self.call)
        grid = _grid(task, self.call, self.nest)
        if grid is None:
            raise ScheduleError(
                f"'{task}' is no task with positions: it is not called once at each position of a grid",
                hint='positions are those of tasks: @df.kernel(mapping=[2, 2]), "gemm[0, 1]:k"',
                notes=notes,
            )
        self.grid = grid

    @cached_property
    def calls(self) -> list[ir.Operation]:
        """The calls of all functions that positions have."""
        if not self.nest:
            return [self.call]
        found = operations(self.nest[0].regions[0].blocks[0], "func.call")
        task = self.grid.task
        return [call for call in found if task in (callee_name(call), *(split_positions(callee_name(call)) or ())[:1])]

    def holder(self, box: Box) -> tuple[ir.Operation, bool]:
        """The call of the function that some positions have, and whether it is theirs alone.

        Raises ScheduleError if they have several.
        """
        several = []
        for call in self.calls:
            around = [(self._condition(op), is_inside) for op, is_inside in _conditions(call)]
            met = [_meets(box, condition) for condition, _ in around]
            if all(found is is_inside for found, (_, is_inside) in zip(met, around, strict=True)):
                return call, _size(box) == self._positions(around)
            if not any(found is (not is_inside) for found, (_, is_inside) in zip(met, around, strict=True)):
                several.append(callee_name(call))
        if not several:
            raise ScheduleError(
                f"the positions '{self.grid.name(box)}' have no function: it was inlined into the nest of the grid",
                hint=f"take the step on '{self.grid.name(box)}' before",
            )
        listed = " and ".join(f"'{name}'" for name in several)
        raise ScheduleError(
            f"the positions '{self.grid.name(box)}' have no function in common any more: they are some of {listed}",
            hint="name positions of one of them, or change each of them",
        )

    def _positions(self, around: list[tuple[Box, bool]]) -> int:
        """How many positions have the call that has these conditions around it, inner ones first."""
        number = _size(self.grid.values)
        for condition, is_inside in reversed(around):
            number = _size(condition) if is_inside else number - _size(condition)
        return number

    def _condition(self, op: ir.Operation) -> Box:
        """The positions at which a condition holds."""
        formula, equalities = compile_set(op.attributes["condition"])
        axes = [self.grid.loops.index(_loop_of(operand)) for operand in op.operands]
        box = list(self.grid.values)
        for number, equality in enumerate(equalities):
            axis = next(axis for k, axis in enumerate(axes) if _depends(op, number, k))
            kept = []
            for value in box[axis]:
                found = evaluate(formula, [value if axis == other else 0 for other in axes])
                kept += [value] if satisfies(found[number : number + 1], [equality]) else []
            box[axis] = range(kept[0], kept[-1] + 1) if kept else range(0)
        return tuple(box)


def is_task(module: Module, name: str, dimensions: int) -> bool:
    """Whether a function is a task on a grid of so many dimensions."""
    try:
        return len(Positions(module, name).grid.values) == dimensions
    except ScheduleError:
        return False


def _loop_of(variable: ir.Value) -> ir.Operation:
    loop: ir.Operation = variable.owner.owner.operation
    return loop


def _depends(op: ir.Operation, number: int, operand: int) -> bool:
    """Whether a constraint of a condition is about this operand of it."""
    formula, _ = compile_set(op.attributes["condition"])
    result = formula.results[number]
    return result is not None and operand + 1 in [variable for variable, _ in result.terms]


def _size(box: Box) -> int:
    return math.prod(map(len, box))


def _meets(box: Box, other: Box) -> bool | None:
    """Whether a box is inside another one; None if a part of it is."""
    shared = [range(max(a.start, b.start), min(a.stop, b.stop)) for a, b in zip(box, other, strict=True)]
    return False if not all(shared) else True if tuple(shared) == box else None


def _around(call: ir.Operation) -> list[ir.Operation]:
    """The spatial loops around a call, outermost first."""
    found: list[ir.Operation] = []
    parent = call.parent
    while parent is not None and parent.name in ("affine.for", "affine.if"):
        op = parent.operation
        if op.name == "affine.for":
            if SPATIAL not in op.attributes:
                return []
            found.insert(0, op)
        parent = op.parent
    return found


def _conditions(call: ir.Operation) -> list[tuple[ir.Operation, bool]]:
    """The conditions around a call in its nest, inner ones first, and whether it is where they hold."""
    found = []
    op = call
    while op.parent is not None and op.parent.name == "affine.if":
        parent = op.parent.operation
        found.append((parent, op.block == parent.regions[0].blocks[0]))
        op = parent
    return found


def _grid(task: str, call: ir.Operation, nest: list[ir.Operation]) -> Grid | None:
    """The grid over which a function is called with its position first."""
    variables = {induction_variable(loop): loop for loop in nest}
    bounds = {loop: constant_bounds(loop) for loop in nest}
    loops: list[ir.Operation | None] = []
    values: list[range] = []
    for operand in call.operands:
        if operand in variables:
            loop = variables[operand]
            known = bounds[loop]
            if known is None or known[2] != 1 or known[0] >= known[1]:
                return None
            loops.append(loop)
            values.append(range(known[0], known[1]))
        elif (constant := _index_constant(operand)) is not None:
            loops.append(None)
            values.append(range(constant, constant + 1))
        else:
            break
    is_whole = bool(values) and len({loop for loop in loops if loop is not None}) == len(nest)
    is_whole = is_whole and (bool(nest) or DATAFLOW in function_around(call).operation.attributes)
    is_plain = all(_is_box(op, variables) for op, _ in _conditions(call))
    return Grid(task, tuple(loops), tuple(values)) if is_whole and is_plain else None


def _is_box(op: ir.Operation, variables: dict[ir.Value, ir.Operation]) -> bool:
    """Whether each constraint of a condition is about one loop of the grid."""
    formula, equalities = compile_set(op.attributes["condition"])
    operands = range(len(op.operands))
    return (
        not len(op.results)
        and not formula.quotients
        and all(operand in variables for operand in op.operands)
        and all(sum(_depends(op, number, k) for k in operands) == 1 for number in range(len(equalities)))
    )


def _index_constant(value: ir.Value) -> int | None:
    made = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if made is None or made.name != "arith.constant" or not isinstance(value.type, ir.IndexType):
        return None
    return int(ir.IntegerAttr(made.attributes["value"]).value)
