"""Loops that a simulation watches: the monitor of each, and what the schedule says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mlir import ir

from ....errors import Location
from ....ir.walk import location_of
from ....timing.control import tree
from ....timing.control.loop_spans import LoopSpan, Place
from .function import FunctionHardware


@dataclass(frozen=True, slots=True)
class WatchedLoop:
    """A loop, or a nest that is one pipeline, in one instance of its function.

    `monitor` is the path of its monitor; `interval` the cycles from iteration to iteration, of a pipeline; `span` when
    it begins first and ends last (None: data decide).
    """

    name: str
    at: Location | None
    monitor: str
    interval: int | None
    span: LoopSpan | None


def watched_loops(kernel: FunctionHardware, spans: Mapping[Place, LoopSpan]) -> tuple[WatchedLoop, ...]:
    """The loops of a kernel, and of what it calls."""
    return tuple(_loops(kernel, "kernel", (), spans))


def _loops(
    function: FunctionHardware, path: str, calls: tuple[ir.Operation, ...], spans: Mapping[Place, LoopSpan]
) -> Iterator[WatchedLoop]:
    for monitor in function.monitors:
        node = monitor.node
        views, interval = (node.loops, node.interval) if isinstance(node, tree.Pipeline) else ((node.view,), None)
        name = f"{function.tree.name}:{', '.join(view.name for view in views)}"
        span = spans.get((calls, node.view.op))
        yield WatchedLoop(name, location_of(node.view.op), f"{path}.{monitor.name}", interval, span)
    for op, name, callee in function.calls:
        yield from _loops(callee, f"{path}.{name}", (*calls, op), spans)
