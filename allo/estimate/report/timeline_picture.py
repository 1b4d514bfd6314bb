"""Timelines as SVG: bars of parts over the cycles, and the graph of stages with what connects them."""

from __future__ import annotations

from html import escape

from ...picture import Vertex, svg
from ...timing.control.timeline import Timeline, TimelinePart
from .timeline_table import label, waits

_CHARACTER, _LINE, _WIDTH = 7, 22, 480  # pixels: width of a character, height of a row, width of all cycles


def chart(timeline: Timeline) -> str:
    """A bar for each part; empty if it is not known how long they take."""
    whole = timeline.cycles
    if not whole:
        return ""
    left = (max(len(part.name) for part in timeline.parts) + 2) * _CHARACTER
    right = (max(len(_remark(part)) for part in timeline.parts) + 2) * _CHARACTER
    rows = [_row(part, number * _LINE, left, whole) for number, part in enumerate(timeline.parts)]
    width, height = left + _WIDTH + right, _LINE * len(rows)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="monospace" font-size="11">'
    )
    return "\n".join([head, *rows, "</svg>"])


def _row(part: TimelinePart, top: int, left: int, whole: int) -> str:
    assert part.begin is not None and part.end is not None
    first, last = (left + cycle * _WIDTH / whole for cycle in (part.begin, part.end))
    text = f'y="{top + 15}"'
    return (
        f'<text x="0" {text}>{escape(part.name)}</text>'
        f'<rect x="{first:.1f}" y="{top + 4}" width="{max(last - first, 1):.1f}" height="14" fill="#47a"/>'
        f'<text x="{left + _WIDTH + _CHARACTER}" {text}>{escape(_remark(part))}</text>'
    )


def _remark(part: TimelinePart) -> str:
    stalls = waits(part.stalls)
    return f"{part.begin} to {part.end}" + (f", waits {stalls}" if stalls else "")


def graph(timeline: Timeline) -> str:
    """The stages, and between them FIFOs with their depths and what would be needed, and arrays."""
    vertices: dict[str, Vertex] = {}
    flows = []
    for number, part in enumerate(timeline.parts):
        vertices[f"stage {number}"] = Vertex(f"stage {number}", part.name, "call", timeline.of)
    for number, link in enumerate(timeline.links):
        stalls = timeline.stalls(link)
        text = label(link) + (f", {stalls} cycles" if stalls else "")
        name, kind = f"link {number}", "stream" if link.kind == "FIFO" else "array"
        vertices[name] = Vertex(name, text, kind, timeline.of)
        flows += [(f"stage {link.producer}", name), (name, f"stage {link.consumer}")]
    return svg(vertices, flows, (), (timeline.of,))
