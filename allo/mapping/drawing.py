"""Drawing of a plan as text and as a picture: tiles with what they run, FIFOs with the bytes that they move."""

from __future__ import annotations

from collections.abc import Iterator

from ..picture import aligned
from ..picture.drawing import DrawnText
from ..picture.grid import Cell, grid
from .plan import ArrayPlan
from .routes import Route


def drawn(plan: ArrayPlan) -> DrawnText:
    """The array from its uppermost row to the shim tiles, then a line for each FIFO.

    In the picture, cores that run the same tasks look alike.
    """
    placed = [*zip(plan.mapping.cores, plan.placement.tiles, strict=True)]
    used = {(tile.column, tile.row): core.name for core, tile in placed}
    tasks = {core.name: tuple(node.task for node in core.pattern) for core, _ in placed}
    groups = {kind: number for number, kind in enumerate(dict.fromkeys(tasks.values()))}
    last = max(column for column, _ in [*used, *((route.shim, 0) for route in plan.routes)])
    columns = range(last + 1)
    first = plan.array.first_core_row
    rows = [("", *(f"column {column}" for column in columns))]
    for row in reversed(range(first, max((row for _, row in used), default=first) + 1)):
        rows.append((f"row {row}", *(used.get((column, row), ".") for column in columns)))
    rows.append(("memory", *(_hubs(plan, column) for column in columns)))
    rows.append(("shim", *(_shims(plan, column) for column in columns)))
    cells = [
        (name, [Cell(("" if text == "." else text,), groups.get(tasks.get(text, ()))) for text in own])
        for name, *own in rows[1:]
    ]
    lines = [*_lines(plan)]
    picture = grid(f"{len(used)} cores of {plan.array.name}", rows[0][1:], cells, lines, 60)
    return DrawnText("\n".join([*aligned(rows), "", *lines]), picture)


def _hubs(plan: ArrayPlan, column: int) -> str:
    return " ".join(route.name for route in plan.routes if route.hub == column) or "."


def _shims(plan: ArrayPlan, column: int) -> str:
    own = [f"{'in' if route.to_core else 'out'} {route.name}" for route in plan.routes if route.shim == column]
    return ", ".join(own) or "."


def _lines(plan: ArrayPlan) -> Iterator[str]:
    for route in plan.routes:
        yield from _route(plan, route)
    for fifo in plan.fifos.streams:
        how = f"shared memory of {fifo.memory}" if fifo.shared else f"DMA, ports {plan.routing.of(fifo.stream.name)}"
        ends = " -> ".join(f"{core} {plan.placement.tile(core)}" for core in (fifo.producer, fifo.consumer))
        count = fifo.stream.tokens // fifo.stream.block
        more = f" and {len(fifo.names) - 1} more" if len(fifo.names) > 1 else ""
        yield f"{fifo.stream.name}{more}: {ends}, {count} x {fifo.bytes:,} bytes, depth {fifo.depth}, by {how}"
    for own in plan.fifos.internal:
        yield f"{own.stream.name}: within {own.core}, {own.bytes:,} bytes"


def _route(plan: ArrayPlan, route: Route) -> Iterator[str]:
    shim = f"shim ({route.shim}, 0)"
    near = shim if route.hub is None else f"memory tile ({route.hub}, 1)"
    if route.hub is not None:
        ends = f"{shim} -> {near}" if route.to_core else f"{near} -> {shim}"
        moved = f"{route.rounds} x {route.bytes:,} bytes, depth {route.hub_depth}"
        yield f"{route.name}: {ends}, {moved}, ports {plan.routing.of(route.name)}"
    for fifo in route.fifos:
        cores = ", ".join(f"{core} {plan.placement.tile(core)}" for core in fifo.cores)
        ends = f"{near} -> {cores}" if route.to_core else f"{cores} -> {near}"
        stays = ", stays there" if fifo.resident else ""
        moved = f"{len(fifo.objects)} x {fifo.bytes:,} bytes, depth {fifo.depth}{stays}"
        yield f"{fifo.name}: {ends}, {moved}, ports {plan.routing.of(fifo.name)}"
