"""Tasks of a program as errors tell of them: names, positions, and the lines at which they put and get."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir import ir

from ..errors import Location
from .access import callee_name, is_at_stream
from .builder import string_attr
from .context import context
from .module import Module
from .processes import ELEMENT_OF, ELEMENT_POSITION, TASK_NUMBER, is_process, region_blocks, spatial_loops
from .walk import constant_bounds, entry_block, location_of, operations, statements, string_of

SITE_NUMBER = "allo.x_end"  # of a put or get: the place of its line, counted from 1


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """A process of a region, or an unfolded nest of them whose loops take these values."""

    name: str
    loops: tuple[range, ...]

    def element(self, index: int) -> str:
        """The name with the position that has this number, counted row by row."""
        position: list[int] = []
        for values in reversed(self.loops):
            index, place = divmod(index, len(values))
            position.insert(0, values[place])
        return at_position(self.name, position)


def at_position(name: str, position: list[int] | tuple[int, ...]) -> str:
    """A task as errors call it."""
    return f"{name}[{', '.join(map(str, position))}]" if position else name


def number_tasks(module: Module) -> tuple[TaskFacts, ...]:
    """Give each process of the regions of `module` a number; what is known of them, by number."""
    found = [op for function in module.functions() for block in region_blocks(function) for op in _processes(block)]
    for number, op in enumerate(found):
        op.attributes[TASK_NUMBER] = string_attr(str(number))
    return tuple(task_facts(op) for op in found)


def _processes(block: ir.Block) -> Iterator[ir.Operation]:
    return (op for op in statements(block)[:-1] if is_process(op))


def number_sites(module: Module) -> tuple[Location | None, ...]:
    """Give each use of a stream in `module` a number from 1 on; their lines."""
    kind = ir.IntegerType.get_signless(64, context())
    found: list[Location | None] = [None]
    for function in module.functions():
        entry = entry_block(function)
        for op in operations(entry) if entry is not None else ():
            if is_at_stream(op):
                op.attributes[SITE_NUMBER] = ir.IntegerAttr.get(kind, len(found))
                found.append(location_of(op))
    return tuple(found)


def task_facts(op: ir.Operation) -> TaskFacts:
    """What is known of a process."""
    if ELEMENT_POSITION in op.attributes:  # a call that `instantiate` has made
        place = [int(ir.IntegerAttr(value).value) for value in ir.ArrayAttr(op.attributes[ELEMENT_POSITION])]
        return TaskFacts(string_of(op, ELEMENT_OF) or callee_name(op), tuple(range(v, v + 1) for v in place))
    loops = []
    for loop in spatial_loops(op):
        bounds = constant_bounds(loop)
        assert bounds is not None
        loops.append(range(*bounds))
    name = string_of(op, "allo.nest") or string_of(op, "allo.name")
    if name is None and op.name == "func.call":
        name = callee_name(op)
    if name is None:
        at = location_of(op)
        name = f"the statement at line {at.line}" if at is not None else "a statement"
    return TaskFacts(name, tuple(loops))
