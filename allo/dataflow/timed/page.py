"""Timed runs as a page in a browser: bars of tasks, the graph, occupancies; without scripts or other files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from ...picture.page import fragment as part
from ...picture.page import page as whole
from ...picture.page import picture, table
from .figures import RunFigures
from .pictures import fills, gantt, graph
from .table import CHANNELS, TASKS, binding, channel_rows, headline, task_rows


def page(run: RunFigures) -> str:
    """The whole page, the same text for the same run."""
    return whole(f"{run.top}: {run.cycles} cycles", _content(run))


def fragment(run: RunFigures) -> str:
    """The page as a part of another, such as a notebook."""
    return part(_content(run))


def _content(run: RunFigures) -> list[str]:
    return [
        f"<h1>{escape(run.top)} on {escape(run.target)}</h1>",
        f"<p>{_marked(headline(run))}.</p>",
        *(f"<p>{escape(line)}</p>" for line in binding(run)),
        *(f"<p class=note>{escape(note)}.</p>" for note in run.notes),
        "<h2>Tasks</h2>",
        *_picture(gantt(run)),
        _table(TASKS, task_rows(run)),
        *_streams(run),
    ]


def _streams(run: RunFigures) -> list[str]:
    if not run.channels:
        return []
    return [
        "<h2>Streams</h2>",
        *_picture(graph(run)),
        "<p class=note>The redder and thicker a line, the longer the ends of its stream wait.</p>",
        _table(CHANNELS, channel_rows(run)),
        "<h2>Occupancy</h2>",
        *_picture(fills(run)),
    ]


def _picture(found: tuple[str, str]) -> list[str]:
    drawn, remark = found
    return [picture(drawn), *([f"<p class=note>{escape(remark)}</p>"] if remark else [])]


def _marked(text: str) -> str:
    """Text with *emphasis*."""
    parts = escape(text).split("*")
    return "".join(f"<em>{part}</em>" if n % 2 else part for n, part in enumerate(parts))


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return table(header, ([escape(cell) for cell in row] for row in rows))
