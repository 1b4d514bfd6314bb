"""Pages for a browser and parts of notebooks: one style, for light and dark, without scripts or other files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

_NAMES = ("ink", "paper", "dim", "line", "row", "code", "binds")
_LIGHT = ("#222", "#fff", "#5c6470", "#a8adb5", "#f5f7fa", "#eef0fa", "#a33000")
_DARK = ("#dfe3ea", "#16191f", "#9aa4b2", "#566070", "#1f242d", "#262d3a", "#ffa87d")
_MOST_COLUMNS = 16  # of numbers, which are aligned at the right
_NUMBER = re.compile(r"[-+]?[\d.,]*( %)?")
_RULES = f"""
{", ".join(f"table.n{n} :is(td, th):nth-child({n})" for n in range(1, _MOST_COLUMNS + 1))} {{ text-align: right; }}
""" + """
table { border-collapse: collapse; margin: .5em 0 1em; } th, td { padding: .15em .7em; text-align: left; }
th { border-bottom: 1px solid var(--line); font-weight: 600; } tr:nth-child(even) { background: var(--row); }
table.figures { display: block; width: max-content; max-width: 100%; overflow-x: auto; }
table.figures td { white-space: nowrap; } table.words td:last-child { white-space: normal; min-width: 20em; }
table.figures td:first-child { font-family: ui-monospace, monospace; white-space: pre; }
summary { cursor: pointer; font-weight: 600; font-size: 1.1em; } code { background: var(--code); padding: 0 .3em; }
.bar { background: var(--code); height: .6em; width: 12em; display: inline-block; }
.bar i { background: #47a; height: 100%; display: block; } .binds { color: var(--binds); } .note { color: var(--dim); }
.picture, .wide { overflow-x: auto; margin: .5em 0; }
pre { overflow-x: auto; }
.panes { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(34em, 100%), 1fr)); gap: 1em; }
.panes > div { min-width: 0; } .panes h3 { margin: .3em 0; }
.panes pre { overflow: auto; max-height: 40em; margin: 0; padding: .6em; background: var(--row); font-size: 12px; }
"""


def page(title: str, body: Iterable[str]) -> str:
    """A whole page."""
    style = (
        f":root {{ color-scheme: light dark; {_colors(_LIGHT)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {_colors(_DARK)} }} }}\n"
        "body { font: 14px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 90em; padding: 0 1em;"
        f" color: var(--ink); background: var(--paper); }}{_RULES}"
    )
    start = '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    head = f"<title>{escape(title)}</title>\n<style>\n{style}</style></head><body>"
    return "\n".join([start, head, *body, "</body></html>", ""])


def _colors(values: Sequence[str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in zip(_NAMES, values, strict=True))


def fragment(body: Iterable[str]) -> str:
    """A part of another page, such as a notebook, whose style it leaves alone."""
    own = f"{_colors(_LIGHT)} color: var(--ink); background: var(--paper); padding: .5em;"
    style = f"<style>.allo-page {{ {own} @media (prefers-color-scheme: dark) {{ {_colors(_DARK)} }}{_RULES}}}</style>"
    return "\n".join(["<div class=allo-page>", style, *body, "</div>"])


def table(header: Iterable[str], rows: Iterable[Sequence[str]], *, figures: bool = False) -> str:
    """Cells of HTML. Columns of numbers are aligned as such; in tables of `figures` the first column is a name."""
    header, rows = tuple(header), tuple(rows)
    head = "".join(f"<th>{cell}</th>" for cell in header)
    body = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    columns = enumerate(zip(*rows, strict=True), 1)
    numbers = [f"n{n}" for n, cells in columns if n > 1 and all(map(_NUMBER.fullmatch, cells))]
    words = not numbers or numbers[-1] != f"n{len(header)}"
    kinds = " ".join([*(["figures", *(["words"] if words else [])] if figures else []), *numbers])
    return f"<table class='{kinds}'><tr>{head}</tr>\n{body}</table>"


def picture(svg: str) -> str:
    """A picture that scrolls where the page is narrow."""
    return f"<div class=picture>{svg}</div>"


def panes(texts: Iterable[tuple[str, str]]) -> str:
    """Texts with titles side by side, as many as the page is wide for."""
    shown = "".join(f"<div><h3>{escape(title)}</h3><pre>{escape(text)}</pre></div>\n" for title, text in texts)
    return f"<div class=panes>\n{shown}</div>"
