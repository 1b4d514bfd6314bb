"""Pictures: the only writer of SVG, and the texts and tables that are shown beside them."""

from .text import aligned, preformatted, printable

__all__ = ["aligned", "preformatted", "printable"]
