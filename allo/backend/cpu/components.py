"""Tasks of a region that have nothing to do with one another, and the threads that run them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import islpy as isl
import numpy as np
from mlir import ir

from ...errors import TargetError
from ...frontend.emit.given_code import EXTERNAL, LINKED
from ...ir.effects import Effects
from ...ir.module import Module
from ...ir.processes import DATAFLOW, TASK_NUMBER, Statement, region_statements, spatial_loops
from ...ir.streams import is_stream_type
from ...ir.walk import constant_bounds, entry_block, operations, string_of
from ...poly import may_meet, task_uses

_MOST_THREADS = 1024
_MOST_POINTS = 500_000  # pairs of a position and an element of an array of streams that are looked at

type _Task = tuple[int, int]  # the number of the statement, and that of the element


@dataclass(frozen=True, slots=True)
class Threads:
    """Which of `count` threads runs each task of the region that a kernel is, by statement and element."""

    count: int
    owners: dict[int, tuple[int, ...]]

    def tables(self) -> tuple[Any, Any]:
        """For each statement where the owners of its elements begin, or -1; and these."""
        offsets, parts = [-1] * (max(self.owners) + 1), list[int]()
        for statement, owners in self.owners.items():
            offsets[statement] = len(parts)
            parts += owners
        return (ctypes.c_int64 * len(offsets))(*offsets), (ctypes.c_int32 * len(parts))(*parts)


def threads_of(module: Module, wanted: Any) -> Threads | None:
    """The threads for the tasks of `module`, whose processes have numbers; None if one has to run them all.

    Raises TargetError unless `wanted` is a number of threads.
    """
    if isinstance(wanted, bool) or not isinstance(wanted, int) or not 1 <= wanted <= _MOST_THREADS:
        raise TargetError(f"threads must be a number from 1 to {_MOST_THREADS}, got {wanted!r}")
    region = _region(module)
    if wanted == 1 or region is None:
        return None
    components = _components(module, *region)
    loads = [0] * min(wanted, len(components))
    if len(loads) < 2:
        return None
    owner: dict[_Task, int] = {}
    for tasks in sorted(components, key=len, reverse=True):  # those of one size stay in the order of the text
        part = loads.index(min(loads))
        loads[part] += len(tasks)
        owner |= dict.fromkeys(tasks, part)
    owners: dict[int, list[int]] = {}
    for statement, element in sorted(owner):
        owners.setdefault(statement, []).append(owner[statement, element])
    return Threads(len(loads), {statement: tuple(parts) for statement, parts in owners.items()})


def _region(module: Module) -> tuple[ir.Block, list[Statement]] | None:
    """The region that the kernel is, and its statements, if each thread may go through it by itself."""
    top = module.function(module.top).operation
    entry = entry_block(top.opview)
    if entry is None or DATAFLOW not in top.attributes or ir.FunctionType(top.opview.type).results:
        return None
    keep_state = (
        any(mark in function.operation.attributes for mark in (EXTERNAL, LINKED)) for function in module.functions()
    )
    changing = [op for op in module.mlir.body.operations if op.operation.name == "memref.global"]
    if any(keep_state) or any("constant" not in op.operation.attributes for op in changing):
        return None
    effects = Effects(module)
    found = region_statements(effects, entry)
    for statement in found:
        touched = effects.touched(statement.op)
        if not statement.is_process and (statement.after or touched.writes or touched.streams):
            return None
    return entry, found


def _components(module: Module, block: ir.Block, found: Sequence[Statement]) -> list[list[_Task]]:
    """The tasks of a region, together where one may use what another one does; the first ones first."""
    processes = [statement for statement in found if statement.is_process]
    tasks = {statement.op: list(_tasks(statement.op)) for statement in processes}
    joined = _Joined([task for own in tasks.values() for task in own])
    for statement in processes:
        for other in statement.after:
            joined.join([*tasks[other], *tasks[statement.op]])
    effects = Effects(module)
    touches = {op: effects.touched(op) for op in tasks}
    for value in _shared(block):
        for op, own in tasks.items():
            touched = touches[op]
            if value in touched.streams:
                _join_streams(module, value, op, own, joined)
            elif value in touched.writes and len(own) > 1 and _may_share(module, value, op):
                joined.join(own)
    return joined.groups()


def _may_share(module: Module, array: ir.Value, op: ir.Operation) -> bool:
    """Whether two positions of a task may use one element that one of them writes."""
    return may_meet(module, array, op, op, lambda _: True) or not list(task_uses(module, op, array, lambda _: True))


def _join_streams(module: Module, value: ir.Value, op: ir.Operation, own: Sequence[_Task], joined: _Joined) -> None:
    """Join the positions of a task with the stream, or the streams of an array, that each of them uses."""
    uses = list(task_uses(module, op, value, lambda _: True))
    number = dict(zip(_positions(op), own, strict=True))
    extents = list(value.type.shape) if isinstance(value.type, ir.MemRefType) else []

    def visit(place: tuple[int, ...], element: tuple[int, ...]) -> None:
        joined.join([number[place], (value, element)])

    for use in uses:
        relation = _within(use.relation, extents)
        if relation.is_single_valued() or len(own) * prod(extents) <= _MOST_POINTS:
            _each(relation, visit)
        else:
            uses = []
    if not uses:
        joined.join([*own, *((value, element) for element in product(*map(range, extents)))])


def _within(relation: isl.Map, extents: Sequence[int]) -> isl.Map:
    for dimension, extent in enumerate(extents):
        zero, last = (isl.Val.int_from_si(isl.DEFAULT_CONTEXT, n) for n in (0, extent - 1))
        relation = relation.lower_bound_val(isl.dim_type.out, dimension, zero)
        relation = relation.upper_bound_val(isl.dim_type.out, dimension, last)
    return relation


def _each(relation: isl.Map, visit: Callable[[tuple[int, ...], tuple[int, ...]], None]) -> None:
    inputs, outputs = relation.dim(isl.dim_type.in_), relation.dim(isl.dim_type.out)

    def on_point(point: isl.Point) -> None:
        values = [point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(inputs + outputs)]
        visit(tuple(values[:inputs]), tuple(values[inputs:]))

    relation.wrap().flatten().foreach_point(on_point)


def _positions(op: ir.Operation) -> list[tuple[int, ...]]:
    bounds = [constant_bounds(loop) for loop in spatial_loops(op)]
    return list(product(*(range(*known) for known in bounds if known is not None)))


def _tasks(op: ir.Operation) -> Iterator[_Task]:
    number = int(string_of(op, TASK_NUMBER) or -1)
    return ((number, element) for element in range(len(_positions(op))))


def _shared(block: ir.Block) -> list[ir.Value]:
    """The arrays and streams that processes of a region may have in common."""
    made = [result for op in operations(block) if op.block == block for result in op.results]
    found = [*block.arguments, *made]
    return [value for value in found if isinstance(value.type, ir.MemRefType) or is_stream_type(value.type)]


class _Joined:
    """Tasks, and what they use, in groups that become fewer."""

    def __init__(self, tasks: Sequence[_Task]) -> None:
        self._tasks = list(dict.fromkeys(tasks))
        self._numbers: dict[Any, int] = {task: number for number, task in enumerate(self._tasks)}
        self._pairs: list[tuple[int, int]] = []

    def join(self, members: Sequence[Any]) -> None:
        numbers = [self._numbers.setdefault(member, len(self._numbers)) for member in members]
        self._pairs += ((numbers[0], other) for other in numbers[1:])

    def groups(self) -> list[list[_Task]]:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        count, ends = len(self._numbers), np.array(self._pairs, np.int64).reshape(-1, 2)
        graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
        found: dict[int, list[_Task]] = {}
        for task, group in zip(self._tasks, connected_components(graph, directed=False)[1].tolist(), strict=False):
            found.setdefault(group, []).append(task)
        return list(found.values())
