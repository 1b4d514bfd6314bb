"""Processes of dataflow regions: what runs at the same time, and which of them begin when others have ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mlir import ir

from .effects import Effects, Place, Touched
from .elements import SPATIAL, element_nests
from .module import Module
from .parts import Part
from .walk import LOOP_OPERATIONS, entry_block, operations, statements, string_of

DATAFLOW = "allo.dataflow"
CHECK = "allo.x_check"  # of a statement that looks whether something is as it should be: no process
AT_END = "allo.x_at_end"  # of a statement that waits for all processes before it
ELEMENT_OF = "allo.x_element"  # of a call of a processing element: the nest that was unfolded, whose elements are free
ELEMENT_POSITION = "allo.x_position"  # of such a call: the values of the loops that were unfolded
ELEMENT_NAME = "allo.x_name"  # of such a call: the name of the element, `PE_0_1`, whose function others may have too
TASK_NUMBER = "allo.x_task"  # of a process: its number in reports, and that of the element if it is one of several
APART_FROM = "allo.x_apart"  # of a process: the numbers of those before it that use other elements of arrays
LINKED = "allo.x_linked"  # of a process: streams say when it may use what others with this mark use too
PROCESS_MARKS = (CHECK, AT_END, ELEMENT_OF, ELEMENT_POSITION, ELEMENT_NAME, TASK_NUMBER, APART_FROM, LINKED)
_NO_PROCESS = frozenset({"memref.dealloc", "allo.assert"})


type Apart = Callable[[ir.Operation, ir.Operation], bool]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a region.

    `after` are the earlier processes that must have ended before it begins: those that write an array which it uses, or
    use one which it writes, unless the elements are known to be others. One that makes a value for others is no
    process, nor is a check.
    """

    op: ir.Operation
    is_process: bool
    after: tuple[ir.Operation, ...]


def concurrency_marks(part: Part) -> frozenset[str]:
    """What makes processes of the statements, or elements of the iterations, of a function or of loops in it."""
    return part.fact("marks", _concurrency_marks, any_layout=True)


def _concurrency_marks(symbol: ir.Operation) -> frozenset[str]:
    if symbol.name != "func.func" or not len(symbol.regions[0].blocks):
        return frozenset()
    found = {DATAFLOW} if DATAFLOW in symbol.attributes else set()
    for op in operations(symbol.regions[0].blocks[0], *LOOP_OPERATIONS):
        attributes = op.attributes
        found.update(mark for mark in (DATAFLOW, SPATIAL) if mark in attributes)
    return frozenset(found)


def region_blocks(function: ir.OpView) -> Iterator[ir.Block]:
    """The bodies of the dataflow regions of a function, inner ones first."""
    entry = entry_block(function)
    if entry is None:
        return
    for op in reversed(operations(entry, *LOOP_OPERATIONS)):
        if DATAFLOW in op.attributes:
            yield op.regions[0].blocks[0]
    if DATAFLOW in function.operation.attributes:
        yield entry


def is_region(block: ir.Block) -> bool:
    """Whether the statements of a block are the processes of a dataflow region."""
    return DATAFLOW in block.owner.operation.attributes


def region_statements(effects: Effects, block: ir.Block, are_apart: Apart | None = None) -> list[Statement]:
    """The statements of a region without its terminator, in the order of the text.

    `are_apart` tells of an earlier and a later process that share arrays whether they use other elements; if it is not
    given, marks do (`APART_FROM`).
    """
    known = are_apart or _marked_apart
    found: list[Statement] = []
    processes: list[ir.Operation] = []
    users = _Users()
    for op in statements(block)[:-1]:
        runs = is_process(op)
        own = effects.touched(op, streams=False)
        if not (runs or own.reads or own.writes or AT_END in op.attributes):
            found.append(Statement(op, False, ()))
            continue
        nest = string_of(op, ELEMENT_OF)
        before = range(len(processes)) if AT_END in op.attributes else sorted(users.before(own, nest))
        after = tuple(processes[number] for number in before)
        if AT_END not in op.attributes and runs:
            after = tuple(other for other in after if not known(other, op))
        found.append(Statement(op, runs, after))
        if runs:
            users.add(len(processes), own, nest)
            processes.append(op)
    return found


def _marked_apart(before: ir.Operation, op: ir.Operation) -> bool:
    number = string_of(before, TASK_NUMBER)
    return number is not None and number.split()[0] in (string_of(op, APART_FROM) or "").split()


class _Users:
    """The processes that read and that write each array, by number; those of elements of one nest together."""

    def __init__(self) -> None:
        self._reads: dict[Place, dict[str | None, list[int]]] = {}
        self._writes: dict[Place, dict[str | None, list[int]]] = {}

    def add(self, number: int, touched: Touched, nest: str | None) -> None:
        for places, users in ((touched.reads, self._reads), (touched.writes, self._writes)):
            for place in places:
                users.setdefault(place, {}).setdefault(nest, []).append(number)

    def before(self, touched: Touched, nest: str | None) -> set[int]:
        """The processes that must have ended before one of `nest`, if it is an element, does what `touched` says."""
        conflicts = [self._writes.get(place, {}) for place in touched.reads | touched.writes]
        conflicts += [self._reads.get(place, {}) for place in touched.writes]
        others = [users for found in conflicts for of, users in found.items() if nest is None or of != nest]
        return {number for users in others for number in users}


def is_process(op: ir.Operation) -> bool:
    """Whether a statement of a region is one of its processes."""
    return _makes_no_value(op) and op.name not in _NO_PROCESS and CHECK not in op.attributes


def _makes_no_value(op: ir.Operation) -> bool:
    """Arrays that a call returns are places for its results, as arguments are."""
    return not len(op.results) or (
        op.name == "func.call" and all(isinstance(result.type, ir.MemRefType) for result in op.results)
    )


def simulated_regions(module: Module) -> dict[ir.Operation, Statement]:
    """The statements of all regions of a module that use streams."""
    effects = Effects(module)
    found: dict[ir.Operation, Statement] = {}
    for function in module.functions():
        for block in region_blocks(function):
            if any(effects.touched(op).streams for op in statements(block)):
                found.update((statement.op, statement) for statement in region_statements(effects, block))
    return found


def spatial_loops(process: ir.Operation) -> list[ir.Operation]:
    """The loops of an unfolded nest whose iterations are processes of their own; outer ones first."""
    if process.name != "affine.for":
        return []
    around = process
    while around.name != "func.func":
        assert around.parent is not None
        around = around.parent.operation
    nests = [nest for nest in element_nests(around.opview) if nest.outermost.op == process]
    return [view.op for nest in nests if nest.obstacle() is None for view in nest.spatial]
