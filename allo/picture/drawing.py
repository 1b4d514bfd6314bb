"""Drawings: pictures that notebooks show, that files hold, and that print as text where there is one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture as SVG, and graphs in the language DOT too; a notebook shows it by itself."""

    dot: str
    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing of {len(self.svg):,} characters; save('picture.svg') writes it>"

    def save(self, path: str | Path) -> None:
        """Write the picture: SVG for a name that ends in `.svg`; a graph as DOT for `.dot` or `.gv`. ValueError for
        another."""
        texts = {".dot": self.dot, ".gv": self.dot, ".svg": self.svg}
        texts = {ending: text for ending, text in texts.items() if text}
        file = Path(path)
        if file.suffix not in texts:
            raise ValueError(f"cannot draw to '{path}': the name must end in {', '.join(texts)}")
        file.write_text(texts[file.suffix], encoding="utf-8")


class DrawnText(str):
    """A text that is also a picture: printed as it is, shown by notebooks as `drawing`."""

    __slots__ = ("drawing",)

    def __new__(cls, text: str, svg: str) -> DrawnText:
        made = super().__new__(cls, text)
        made.drawing = Drawing("", svg)
        return made

    drawing: Drawing

    def __reduce__(self) -> tuple[type[DrawnText], tuple[str, str]]:
        return DrawnText, (str(self), self.drawing.svg)

    def _repr_svg_(self) -> str:
        return self.drawing.svg

    def save(self, path: str | Path) -> None:
        """Write the picture, as `Drawing.save`."""
        self.drawing.save(path)
