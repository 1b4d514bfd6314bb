"""Timed runs as a page in a browser: bars of tasks, the graph, occupancies; without scripts or other files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from .figures import RunFigures
from .pictures import fills, gantt, graph
from .table import CHANNELS, TASKS, binding, channel_rows, headline, task_rows

_STYLE = """
body { font: 14px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 75em; color: #222; padding: 0 1em; }
table { border-collapse: collapse; margin: .5em 0 1em; } th, td { padding: .15em .7em; text-align: left; }
th { border-bottom: 1px solid #999; font-weight: 600; } tr:nth-child(even) { background: #f5f7fa; }
.picture { overflow-x: auto; margin: .5em 0; } .note { color: #666; }
"""


def page(run: RunFigures) -> str:
    """The whole page, the same text for the same run."""
    return "\n".join([
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f"<title>{escape(run.top)}: {run.cycles} cycles</title>",
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{escape(run.top)} on {escape(run.target)}</h1>",
        f"<p>{_marked(headline(run))}.</p>",
        *(f"<p>{escape(line)}</p>" for line in binding(run)),
        *(f"<p class=note>{escape(note)}.</p>" for note in run.notes),
        "<h2>Tasks</h2>",
        *_picture(gantt(run)),
        "<p class=note>Blue: at work. Orange: waits for room. Red: waits for elements.</p>",
        _table(TASKS, task_rows(run)),
        *_streams(run),
        "</body></html>",
        "",
    ])  # fmt: skip


def _streams(run: RunFigures) -> list[str]:
    if not run.channels:
        return []
    return [
        "<h2>Streams</h2>",
        *_picture(graph(run)),
        "<p class=note>The redder and thicker a stream, the longer its ends wait; bold names bind the total.</p>",
        _table(CHANNELS, channel_rows(run)),
        "<h2>Occupancy</h2>",
        *_picture(fills(run)),
    ]


def _picture(found: tuple[str, str]) -> list[str]:
    picture, remark = found
    return [f"<div class=picture>{picture}</div>", *([f"<p class=note>{escape(remark)}</p>"] if remark else [])]


def _marked(text: str) -> str:
    """Text with *emphasis*."""
    parts = escape(text).split("*")
    return "".join(f"<em>{part}</em>" if n % 2 else part for n, part in enumerate(parts))


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{cell}</th>" for cell in header)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>\n{body}</table>"
