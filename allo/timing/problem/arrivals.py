"""When copies of the sink of a dependence may start, from when those of its source do: tables of picoseconds."""

from __future__ import annotations

from functools import cache
from math import prod

import numpy as np

from .problem import Move, Passing, Precedence, Problem, Table

NEVER = -(1 << 60)  # when a copy arrives that waits for none


def arrival(problem: Problem, dependence: Precedence, starts: Table, interval: int) -> Table:
    """The ps before which copies of the sink do not start, from those at which copies of the source do."""
    source, period = problem.operations[dependence.source], problem.period
    match dependence.passing:
        case Passing.VALUE if source.latency:  # a register: the result is there at a clock edge
            found = starts // period * period + source.latency * period + source.delay
        case Passing.VALUE:
            found = starts + source.delay
        case Passing.FORWARD:
            found = starts
        case Passing.CYCLES:
            found = starts // period * period + dependence.cycles * period
    loops = problem.operations[dependence.sink].loops
    link = dependence.distance == 0 and dependence.source >= dependence.sink
    if dependence.tree:
        found = _through_tree(found, dependence.tree, problem.trips)
    for move in dependence.moves:
        if move.loop in loops:
            only_first = move.high == 1 - problem.trips[move.loop] and move.loop not in source.loops
            found = _moved(found, move, problem.trips[move.loop], link or only_first)
    for loop, entries in enumerate(found.shape):
        if entries > 1 and loop not in loops:
            found = found.max(axis=loop, keepdims=True)
    return found - dependence.distance * interval * period


def _moved(table: Table, move: Move, trip: int, apart: bool) -> Table:
    """The latest of the copies that each copy waits for; where all are alike they stay so, unless taken `apart`."""
    axis, low, high = move.loop, move.low, move.high
    if table.shape[axis] == 1:
        if (low <= 0 <= high) or (trip > 1 and not apart):
            return table
        sinks: Table = np.arange(trip).reshape([trip if n == axis else 1 for n in range(table.ndim)])
        exists = (sinks - low >= 0) & (sinks - high < trip)
        expanded: Table = np.where(exists, table, np.full_like(table, NEVER))
        return expanded
    if low > 1 - trip and high < trip - 1 and low != high:
        shifts = np.stack([_shifted(table, axis, step) for step in range(low, high + 1)])
        return shifts.max(axis=0)
    if low == high:
        return _shifted(table, axis, low)
    if low <= 1 - trip and high >= trip - 1:
        return table.max(axis=axis, keepdims=True)
    if high >= trip - 1:
        return _shifted(np.maximum.accumulate(table, axis=axis), axis, low, most=trip - 1)
    backwards = np.flip(np.maximum.accumulate(np.flip(table, axis), axis=axis), axis)
    return _shifted(backwards, axis, high, least=0)


def _shifted(table: Table, axis: int, step: int, least: int | None = None, most: int | None = None) -> Table:
    """Copy `c` in the place of copy `c + step`; those beyond the ends are the ends if these are given."""
    places, missing = _places(table.shape[axis], step, least, most)
    found = table.take(places, axis=axis)
    if missing is not None:
        found[(slice(None),) * axis + (missing,)] = NEVER
    return found


@cache
def _places(size: int, step: int, least: int | None, most: int | None) -> tuple[Table, slice | None]:
    """The copy that each copy of an axis takes the place of, and those for which there is none."""
    places = np.arange(size) - step
    if (least, most) != (None, None):
        places = np.clip(places, least, most)
    missing = np.flatnonzero((places < 0) | (places >= size))
    where = slice(int(missing[0]), int(missing[-1]) + 1) if missing.size else None
    return np.clip(places, 0, size - 1), where


def _through_tree(table: Table, loops: tuple[int, ...], trips: tuple[int, ...]) -> Table:
    """What each copy of a tree waits for: what it joins."""
    shape = [trips[n] if n in loops else size for n, size in enumerate(table.shape)]
    full = np.moveaxis(np.broadcast_to(table, shape), loops, range(len(loops)))
    count = prod(trips[n] for n in loops)
    flat = full.reshape(count, -1)
    left, right = joined(count)
    never = np.full((1, flat.shape[1]), NEVER)
    flat = np.concatenate([flat, never])
    found: Table = np.maximum(flat[left], flat[right]).reshape(full.shape)
    return np.moveaxis(found, range(len(loops)), loops)


@cache
def joined(count: int) -> tuple[Table, Table]:
    """The copies that each copy of a tree joins; `count` where there is none."""
    left, right = np.full(count, count), np.full(count, count)
    if count > 1:
        left[0] = 1 << (count - 1).bit_length() - 1
    for copy in range(1, count):
        size = (copy & -copy) >> 1
        if size:
            left[copy] = copy - size
            while size and copy + size >= count:
                size >>= 1
            right[copy] = copy + size if size else count
    return left, right
