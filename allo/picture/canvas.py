"""Canvas: shapes in pixels that become one SVG text, readable on light and on dark pages.

Shapes have kinds, not colours. The text carries the colours of the kinds that it uses, and those for pages whose
reader prefers a dark scheme; its own background keeps it readable elsewhere. It needs no script and no other file.
"""

from __future__ import annotations

from html import escape

from .text import columns, printable

CHARACTER = 7  # pixels: the most that a character of the font takes
FONT = 11
# kind -> fill and stroke on light pages, fill and stroke on dark ones
KINDS: dict[str, tuple[str, str, str, str]] = {
    "paper": ("#ffffff", "none", "#16191f", "none"),
    "ink": ("#222222", "none", "#dfe3ea", "none"),
    "dim": ("#5c6470", "none", "#9aa4b2", "none"),
    "warn": ("#a33000", "none", "#ffa87d", "none"),
    "frame": ("none", "#a8adb5", "none", "#566070"),
    "line": ("none", "#555d68", "none", "#9aa4b2"),
    "head": ("#555d68", "none", "#9aa4b2", "none"),
    "same": ("none", "#9a7fb8", "none", "#8d78ad"),
    "hot": ("none", "#d1401f", "none", "#ff7b54"),
    "hot-head": ("#d1401f", "none", "#ff7b54", "none"),
    "array": ("#e6efff", "#6c87b8", "#22324f", "#7f9bd0"),
    "stream": ("#fff0cc", "#b08a30", "#4a3b14", "#d0ab55"),
    "nest": ("#e2f5e4", "#62986a", "#1e3d26", "#76b381"),
    "call": ("#f1e4f8", "#9270a6", "#3d2a4b", "#b494c8"),
    "statement": ("#f1f1f1", "#8a8a8a", "#30343b", "#8c95a3"),
    "busy": ("#4477aa", "none", "#5f93c9", "none"),
    "full": ("#e08a00", "none", "#f0a830", "none"),
    "empty": ("#cc3333", "none", "#ee6666", "none"),
    "track": ("#eef1f6", "none", "#232831", "none"),
    "area": ("#a9c8e6", "#4477aa", "#2c4f74", "#6fa3d8"),
    "curve": ("none", "#4477aa", "none", "#6fa3d8"),
    "added": ("#dcf3dd", "#62986a", "#1c3b24", "#76b381"),
    "removed": ("#fbe1de", "#b5655c", "#49221e", "#d98a80"),
    "same-row": ("#f1f3f6", "#c3c9d2", "#252a33", "#4c5564"),
    "dot": ("#8c95a3", "none", "#77818f", "none"),
    "best": ("#d1401f", "none", "#ff7b54", "none"),
}
# Banks of an array, and of a mesh: neighbours differ in light as well as in hue, and text is readable on all.
HUES = (
    ("#cfe2f9", "#24456b"), ("#fbdcb4", "#6a4515"), ("#cdeccf", "#245530"), ("#f6cdd6", "#6a2636"),
    ("#e0d5f5", "#47336d"), ("#f3efb6", "#56511a"), ("#c5ebea", "#1d5252"), ("#ead9cb", "#553d2a"),
)  # fmt: skip
KINDS.update({f"hue{n}": (light, "#8a929e", dark, "#77818f") for n, (light, dark) in enumerate(HUES)})


def text_width(text: str) -> int:
    """Pixels that a text takes at most."""
    return CHARACTER * columns(printable(text))


class Canvas:
    """Shapes in the order in which they are drawn; `svg` is the whole text."""

    def __init__(self) -> None:
        self._shapes: list[str] = []
        self._used = {"paper", "ink"}

    def rect(
        self, x: float, y: float, width: float, height: float, kind: str, *, title: str = "", radius: int = 0
    ) -> None:
        """A rectangle; `title` is what a reader sees who points at it."""
        corner = f' rx="{radius}"' if radius else ""
        place = f'x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}"'
        self._put(kind, f'<rect {place}{corner} class="{kind}"', "rect", title)

    def text(
        self, x: float, y: float, text: str, kind: str = "ink", *, anchor: str = "start", bold: bool = False
    ) -> None:
        """A line of text whose base line begins (or has its middle, or ends) at a point."""
        if not text:
            return
        style = ("" if anchor == "start" else f' text-anchor="{anchor}"') + (' font-weight="bold"' if bold else "")
        self._used.add(kind)
        place = f'x="{_number(x)}" y="{_number(y)}"'
        self._shapes.append(f'<text {place} class="{kind}"{style}>{escape(printable(text))}</text>')

    def path(self, path: str, kind: str, *, title: str = "", dashed: bool = False, width: float = 1) -> None:
        """A path, as SVG writes it."""
        style = ' stroke-dasharray="4 3"' if dashed else ""
        style += f' stroke-width="{_number(width)}"' if width != 1 else ""
        self._put(kind, f'<path d="{path}" class="{kind}"{style}', "path", title)

    def begin(self, title: str) -> None:
        """Open a group: the shapes up to `end` are one thing with a name."""
        self._shapes.append(f"<g><title>{escape(printable(title))}</title>")

    def end(self) -> None:
        self._shapes.append("</g>")

    def legend(self, x: int, y: int, entries: list[tuple[str, str]]) -> int:
        """A row with a swatch and a word for each kind (a line for kinds without a fill); where it ends."""
        for kind, word in entries:
            if KINDS[kind][0] == "none":
                self.path(f"M{x} {y - 4}h14", kind, dashed=kind == "same", width=2)
            else:
                self.rect(x, y - 10, 14, 11, kind, radius=3)
            self.text(x + 19, y, word, "dim")
            x += 19 + text_width(word) + 14
        return x

    def svg(self, width: float, height: float) -> str:
        """The picture, `width` and `height` pixels large."""
        w, h = _number(width), _number(height)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="allo-picture" width="{w}" height="{h}" '
            f'viewBox="0 0 {w} {h}" font-family="monospace" font-size="{FONT}">'
        )
        paper = f'<rect width="{w}" height="{h}" class="paper"/>'
        return "\n".join([head, self._style(), paper, *self._shapes, "</svg>", ""])

    def _put(self, kind: str, start: str, name: str, title: str) -> None:
        self._used.add(kind)
        self._shapes.append(f"{start}><title>{escape(printable(title))}</title></{name}>" if title else f"{start}/>")

    def _style(self) -> str:
        used = [kind for kind in KINDS if kind in self._used]
        light = "".join(_rule(kind, *KINDS[kind][:2]) for kind in used)
        dark = "".join(_rule(kind, *KINDS[kind][2:]) for kind in used)
        return f"<style>{light}\n@media(prefers-color-scheme:dark){{{dark}}}</style>"


def _rule(kind: str, fill: str, stroke: str) -> str:
    return f".allo-picture .{kind}{{fill:{fill};stroke:{stroke}}}"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
