"""Texts as HTML, tables as text, and how wide and how printable a text is."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from unicodedata import east_asian_width


def preformatted(text: str) -> str:
    """A text as a notebook shows it: with its lines and columns."""
    return f'<pre style="line-height: 1.3">{escape(text)}</pre>'


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows with aligned columns, the first a header."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]


def printable(text: str) -> str:
    """A text on one line, with names for characters that are not shown, and that XML does not allow."""
    return "".join(letter if letter.isprintable() else f"<U+{ord(letter):04X}>" for letter in text)


def columns(text: str) -> int:
    """How many characters wide a printable text is in a font of one width; letters of East Asia take two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
