"""Linear program of the delays between processes, StreamTensor section 5.3.4, and the depths that they ask for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import InternalError
from ..replay import Replayed
from ..trace import Trace
from .curves import CurveTable, Numbers, TraceCurves, curves_of, most_tokens

type Pairs = np.ndarray[tuple[int, int], np.dtype[np.int64]]


@dataclass(frozen=True, slots=True, eq=False)
class LinearDepths:
    """Depths of the FIFOs `curves.fifos` of a trace, and what they come from.

    `at_first` and `at_last` are the elements that wait when the first one is got and the last one is put; `waits_for`
    is the FIFO whose first element lets the consumer begin; `circles` marks FIFOs of processes that wait for one
    another, whose elements are those of a run; `factor` is by how much producers are slowed down.
    """

    curves: TraceCurves
    depths: Numbers
    at_first: Numbers
    at_last: Numbers
    waits_for: Numbers
    circles: Numbers
    factor: Numbers


def linear_depths(trace: Trace, free: Replayed, *, conservative: bool) -> LinearDepths:
    """The depths of a linear program; `free` is a run in which no FIFO is ever full.

    Processes put and get at their own rates (the Normal policy), or all take as long as the slowest that they are
    connected with (Conservative), StreamTensor section 5.3.3.
    """
    curves = curves_of(trace)
    count = len(trace.processes)
    pairs = [(p, q) for q, process in enumerate(trace.processes) for p in process.after]
    after: Pairs = np.array(pairs, np.int64).reshape(-1, 2)
    lengths = np.array([process.length for process in trace.processes], np.float64)
    groups, circle = _components(count, curves, after)
    factors = _slowest(groups, lengths) / np.maximum(lengths, 1) if conservative else np.ones(count)
    timed = _as_run(curves, free, circle)
    puts, gets = timed.puts.stretched(factors[curves.sources]), timed.gets.stretched(factors[curves.sinks])
    inside = circle[curves.sources] == circle[curves.sinks]
    thresholds = np.where(inside, 0, timed.puts.first + 1 - timed.gets.first)
    sources = np.concatenate([circle[curves.sources], circle[after[:, 0]]])
    sinks = np.concatenate([circle[curves.sinks], circle[after[:, 1]]])
    bounds = np.concatenate([thresholds, np.where(circle[after[:, 0]] == circle[after[:, 1]], 0, lengths[after[:, 0]])])
    weights = np.concatenate([np.ones(len(thresholds)), np.zeros(len(after))])
    begins = least_delays(count, sources, sinks, bounds, weights)
    at_first, at_last = most_tokens(
        puts.shifted(begins[circle[curves.sources]]), gets.shifted(begins[circle[curves.sinks]])
    )
    slack = begins[circle[curves.sinks]] - begins[circle[curves.sources]] - thresholds
    depths = np.maximum(1, np.maximum(at_first, at_last)).astype(np.int64)
    return LinearDepths(
        curves, depths, at_first, at_last, _last_to_come(curves, slack), inside, factors[curves.sources]
    )


def least_delays(count: int, sources: Numbers, sinks: Numbers, thresholds: Numbers, weights: Numbers) -> Numbers:
    """Begins of `count` processes, such that the weighted sum of all delays is least (equation 3).

    The sink of each pair begins `thresholds` cycles after its source or later, which may be negative. StreamTensor
    demands that each path between two processes is as long as the longest of them (equations 4 and 5), with a delay
    for each FIFO; here a process has one begin, from which that follows, and there are as many rows as FIFOs. The
    matrix is that of a graph, so that begins are whole numbers. Raises InternalError for a circle that needs time.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    if not len(sources):
        return np.zeros(count)
    rows, ones = np.arange(len(sources)), np.ones(len(sources))
    places = (np.concatenate([rows, rows]), np.concatenate([sources, sinks]))
    matrix = coo_array((np.concatenate([ones, -ones]), places), shape=(len(sources), count)).tocsr()
    costs = np.bincount(sinks, weights, count) - np.bincount(sources, weights, count)
    found = linprog(costs, A_ub=matrix, b_ub=-thresholds, bounds=(0, None), method="highs")
    if found.status != 0:
        raise InternalError(f"the linear program of delays has no solution: {found.message}")
    begins: Numbers = np.round(found.x)
    return begins


def _components(count: int, curves: TraceCurves, after: Pairs) -> tuple[Numbers, Numbers]:
    """Of each process, the number of the processes it is connected with, and a process that stands for the circle
    in which it is."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    sources, sinks = (np.concatenate(pair) for pair in ((curves.sources, after[:, 0]), (curves.sinks, after[:, 1])))
    graph = coo_array((np.ones(len(sources)), (sources, sinks)), shape=(count, count)).tocsr()
    groups: Numbers = connected_components(graph, directed=False)[1]
    _, circles = connected_components(graph, directed=True, connection="strong")
    stands = np.full(count, count, np.int64)
    np.minimum.at(stands, circles, np.arange(count))
    return groups, stands[circles]


def _slowest(groups: Numbers, lengths: Numbers) -> Numbers:
    """Of each process, how long the slowest of its group takes."""
    found = np.zeros(len(lengths))
    np.maximum.at(found, groups, lengths)
    return found[groups]


def _as_run(curves: TraceCurves, free: Replayed, circle: Numbers) -> TraceCurves:
    """The curves with those of processes in a circle as they were in a run, from the begin of the first of them.

    What they wait for there is no delay of one begin to another.
    """
    members = np.bincount(circle, minlength=len(circle)) > 1
    if not members.any():
        return curves
    base = np.full(len(circle), np.iinfo(np.int64).max)
    tables = []
    puts, gets = free.trace.puts, free.trace.gets
    for ends, events, table in ((curves.sources, puts, curves.puts), (curves.sinks, gets, curves.gets)):
        chosen = np.flatnonzero(members[circle[ends]])
        first, last = table.first.copy(), table.last.copy()
        for row in chosen.tolist():
            first[row], last[row] = free.times[events[curves.fifos[row]][[0, -1]]]
        np.minimum.at(base, circle[ends[chosen]], first[chosen].astype(np.int64))
        tables.append((chosen, ends, first, last, table))
    made = []
    for chosen, ends, first, last, table in tables:
        first[chosen] -= base[circle[ends[chosen]]]
        last[chosen] -= base[circle[ends[chosen]]]
        made.append(CurveTable(first, last, table.count, table.burst))
    return replace(curves, puts=made[0], gets=made[1])


def _last_to_come(curves: TraceCurves, slack: Numbers) -> Numbers:
    """Of each FIFO, that among those into its consumer whose first element comes last."""
    order = np.lexsort((curves.fifos, slack, curves.sinks))
    sinks = curves.sinks[order]
    first = np.flatnonzero(np.diff(sinks, prepend=-1))
    of_sink = dict(zip(sinks[first].tolist(), curves.fifos[order][first].tolist(), strict=True))
    return np.array([of_sink[sink] for sink in curves.sinks.tolist()], np.int64)
