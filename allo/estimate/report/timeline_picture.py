"""Timelines as pictures: bars of parts over the cycles, and the graph of stages with what connects them."""

from __future__ import annotations

from ...picture.bars import Bar, BarRow, bars
from ...picture.graph import Vertex, svg
from ...timing.control.timeline import StageLink, Timeline, TimelinePart
from .timeline_table import waits

_WIDTH = 480  # pixels of all cycles


def chart(timeline: Timeline) -> str:
    """A bar for each part; empty if it is not known how long they take."""
    whole = timeline.cycles
    return bars([_row(part) for part in timeline.parts], whole, _WIDTH) if whole else ""


def _row(part: TimelinePart) -> BarRow:
    assert part.begin is not None and part.end is not None
    stalls = waits(part.stalls)
    remark = f"{part.begin} to {part.end}" + (f", waits {stalls}" if stalls else "")
    return BarRow(part.name, (Bar(part.begin, max(part.end, part.begin), "busy", remark),), remark)


def graph(timeline: Timeline) -> str:
    """The stages with their cycles, and between them FIFOs with what they hold and what would do, and arrays."""
    vertices: dict[str, Vertex] = {}
    flows = []
    most = max((timeline.stalls(link) for link in timeline.links), default=0)
    for number, part in enumerate(timeline.parts):
        told = () if part.begin is None or part.end is None else (f"{part.begin} to {part.end}",)
        vertices[f"stage {number}"] = Vertex(f"stage {number}", part.name, "call", timeline.of, told)
    for number, link in enumerate(timeline.links):
        stalls = timeline.stalls(link)
        name, kind = f"link {number}", "stream" if link.kind == "FIFO" else "array"
        details = (*room(link), *([f"{stalls} cycles waited"] if stalls else []))
        vertices[name] = Vertex(name, link.name, kind, timeline.of, details, stalls / most if stalls else 0.0)
        flows += [(f"stage {link.producer}", name), (name, f"stage {link.consumer}")]
    return svg(vertices, flows, (), (timeline.of,), "cycles are estimated")


def room(link: StageLink) -> tuple[str, ...]:
    """What a FIFO holds, and what it would have to hold so that nobody waits."""
    if link.depth is None:
        return ()
    needed = f", {link.needed} would do" if link.needed is not None and link.needed > link.depth else ""
    return (f"depth {link.depth}{needed}",)
