"""Drawings of a schedule: its dataflow graph with figures, its loop trees, the banks of an array."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from ..compose.graph import DataflowGraph, dataflow_graph
from ..compose.pictured import pictured
from ..customize.step.handles import Buffer
from ..dataflow.timed.figures import RunFigures
from ..dataflow.timed.pictures import stream_details
from ..errors import ScheduleError, counted, nearest
from ..estimate.report.result import Estimate
from ..estimate.report.timeline_picture import room
from ..ir.array_graph import ArrayRole
from ..ir.module import Module
from ..ir.partitions import divisions_of
from ..ir.recursion import reads_programs
from ..ir.walk import annotations_of, buffers_of, loops_of
from ..layout import Banks, PartitionLayout
from ..picture.drawing import Drawing
from ..picture.graph import Vertex, dot, svg
from ..picture.grid import Cell, grid
from ..picture.trees import TreeRow, trees
from ..poly import trips_of

if TYPE_CHECKING:
    from ..customize import Schedule

__all__ = ["Drawing", "draw", "draw_banks", "draw_loops"]

_ROWS, _COLUMNS = 24, 32  # elements of an array that are drawn

type Told = dict[str, tuple[tuple[str, ...], int]]  # lines, and cycles waited


@reads_programs
def draw(schedule: Schedule, figures: RunFigures | Estimate | None = None) -> Drawing:
    """The picture of `schedule` as it is now: arrays and streams, what writes and reads them, and what is one array.

    With `figures` of the design, those of a timed run (`built.timing`) or of an estimate (`s.report("u280")`), tasks
    have their cycles, FIFOs what is waited for them. Raises ScheduleError for figures of another design.
    """
    functions = schedule.ir.names()
    graph = dataflow_graph(schedule.ir)
    vertices, flows, same = pictured(graph)
    remark = ""
    if figures is not None:
        if not isinstance(figures, RunFigures | Estimate):
            raise ScheduleError(
                f"the figures of a picture are those of a run or of an estimate, got {type(figures).__name__}",
                hint='give built.timing of a timed build, or s.report("u280")',
            )
        if figures.top != schedule.top_func_name:
            raise ScheduleError(f"these are figures of '{figures.top}', and the design is '{schedule.top_func_name}'")
        tasks, streams = _of_run(figures) if isinstance(figures, RunFigures) else _of_estimate(figures)
        vertices = _with_figures(graph, vertices, tasks, streams)
        how = "simulated" if isinstance(figures, RunFigures) else "estimated"
        remark = f"{figures.cycles} cycles of {figures.top} on {figures.target}, {how}"
    return Drawing(dot(vertices, flows, same, functions), svg(vertices, flows, same, functions, remark))


def _of_run(run: RunFigures) -> tuple[Told, Told]:
    """The lines of tasks and of streams, by their names, those of a grid or an array as one."""
    tasks: Told = {}
    for name in dict.fromkeys(task.position_of or task.name for task in run.tasks):
        own = [task for task in run.tasks if (task.position_of or task.name) == name]
        many = [f"{len(own)} positions"] if len(own) > 1 else []
        tasks[name] = (*many, f"{min(t.begin for t in own)} to {max(t.end for t in own)}"), 0
    streams: Told = {}
    for name in dict.fromkeys(channel.element_of or channel.name for channel in run.channels):
        channels = [channel for channel in run.channels if (channel.element_of or channel.name) == name]
        streams[name] = stream_details(channels), sum(channel.full + channel.empty for channel in channels)
    return tasks, streams


def _of_estimate(estimate: Estimate) -> tuple[Told, Told]:
    """The same of an estimate; loop nests, `"function:nest"`, have cycles too."""
    nests = ((f"{loop.function}:{loop.nest}", loop.latency) for loop in estimate.loops if not loop.level)
    cycles = [*((function.name, function.latency) for function in estimate.functions), *nests]
    tasks: Told = {name: ((f"{'?' if n is None else n} cycles",), 0) for name, n in cycles}
    streams: Told = {}
    for timeline in (timeline for function in estimate.functions for timeline in function.timelines):
        for link in timeline.links:
            stalls = timeline.stalls(link)
            streams[link.name] = (*room(link), *([f"{stalls} cycles waited"] if stalls else [])), stalls
    return tasks, streams


def _with_figures(
    graph: DataflowGraph, vertices: Mapping[str, Vertex], tasks: Told, streams: Told
) -> Mapping[str, Vertex]:
    """Tasks with their cycles; streams, where they are made, with their stalls in place of their depth."""
    most = max((waited for _, waited in streams.values()), default=0)
    found = dict(vertices)
    for name, vertex in vertices.items():
        node = graph.nodes.get(name)
        task = f"{vertex.function}:{vertex.label}" if vertex.kind == "nest" else vertex.label
        if vertex.kind in ("call", "nest") and task in tasks:
            found[name] = replace(vertex, details=tasks[task][0])
        elif node is not None and node.role is ArrayRole.LOCAL and vertex.kind == "stream" and vertex.label in streams:
            lines, waited = streams[vertex.label]
            told = (*vertex.details[:1], *lines) if lines else vertex.details
            found[name] = replace(vertex, details=told, heat=waited / most if waited else 0.0)
    return found


@reads_programs
def draw_loops(schedule: Schedule, k: int | None = None) -> Drawing:
    """The nests of all functions before and after step `k` (the first is 0); without one, before and after all steps.

    Raises ScheduleError if there is no such step.
    """
    first, last = (0, len(schedule.steps)) if k is None else (k, k + 1)
    before = list(_branches(schedule.state(first)))
    after = list(_branches(schedule.state(last)))
    if first == last:
        return Drawing("", trees([(schedule.top_func_name, before)]))
    what = f"after {counted(last, 'step')}" if k is None else f"after step {k}, {schedule.steps[k].name}"
    return Drawing("", trees([("before", before), (what, after)]))


def _branches(module: Module) -> Iterator[TreeRow]:
    for function in module.functions():
        yield TreeRow(0, function.name.value)
        for view in loops_of(function):
            if view.parent is None:
                yield TreeRow(1, view.nest)
            marks = "  ".join(annotations_of(view.op))
            text = f"{view.name}  {marks}" if marks else view.name
            yield TreeRow(len(view.chain) + 1, text, f"{trips_of(view.op)} x")


@reads_programs
def draw_banks(schedule: Schedule, array: str | Buffer) -> Drawing:
    """In which bank each element of `array` lies (`"A"`, `"f:A"` or a handle); of large arrays the first elements.

    Arrays of more than two dimensions are cut at 0 in all but the last two. Raises ScheduleError if there is none of
    the name, and for one whose extents are known at run time.
    """
    name = str(array)
    if name not in schedule.buffers:
        raise ScheduleError(
            f"the schedule has no array '{name}'",
            hint=nearest(name, schedule.buffers) or f"its arrays are {', '.join(schedule.buffers)}",
        )
    buffer = schedule.buffers[name]
    value = buffers_of(schedule.ir.function(buffer.func))[buffer.name]
    kind = value.type
    shape = tuple(kind.shape) if hasattr(kind, "shape") and kind.has_static_shape else ()
    if not shape:
        raise ScheduleError(f"'{name}' has no banks to draw: it is no array of known extents")
    return Drawing("", _banks(str(buffer), shape, Banks.read(divisions_of(kind))))


def _banks(name: str, shape: tuple[int, ...], divisions: tuple[Banks, ...]) -> str:
    layout = PartitionLayout.of(shape, divisions)

    def bank(subscripts: tuple[int, ...]) -> int:
        found = 0
        for division, extent, subscript in zip(layout.dims, shape, subscripts, strict=True):
            found = found * division.count(extent) + (division.bank(extent, subscript) or 0)
        return found

    height, width = (1, *shape)[-2:]
    fixed = (0,) * (len(shape) - 2)
    columns = range(min(width, _COLUMNS))
    rows = []
    for row in range(min(height, _ROWS)):
        places = [(*fixed, row, column)[-len(shape) :] for column in columns]
        cells = [Cell((str(b),), b, f"{list(place)} is in bank {b}") for place in places for b in (bank(place),)]
        rows.append((str(row) if len(shape) > 1 else "", cells))
    drawn = len(columns) * len(rows)
    text = ", ".join(map(str, layout.dims))
    remarks = [f"{prod(shape)} elements in {layout.banks} banks ({text}); each cell has the number of its bank"]
    remarks += [f"{drawn} of them are drawn"] if drawn < prod(shape) else []
    return grid(f"banks of {name}{list(shape)}", [str(column) for column in columns], rows, remarks, 26)
