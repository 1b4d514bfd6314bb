"""Drawings of the dataflow graph of a schedule: DOT text, and SVG with a box for each function."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..compose.graph import dataflow_graph
from ..compose.pictured import pictured
from ..ir.recursion import reads_programs
from ..picture import dot, svg

if TYPE_CHECKING:
    from ..customize import Schedule


@dataclass(frozen=True, slots=True)
class Drawing:
    """The picture of a dataflow graph; a notebook shows it by itself."""

    dot: str
    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing of {self.svg.count('<g>')} arrays and uses; save('graph.svg') writes it>"

    def save(self, path: str | Path) -> None:
        """Write the picture: DOT for a name that ends in `.dot` or `.gv`, SVG for `.svg`. ValueError for another."""
        texts = {".dot": self.dot, ".gv": self.dot, ".svg": self.svg}
        file = Path(path)
        if file.suffix not in texts:
            raise ValueError(f"cannot draw to '{path}': the name must end in {', '.join(texts)}")
        file.write_text(texts[file.suffix])


@reads_programs
def draw(schedule: Schedule) -> Drawing:
    """The picture of `schedule` as it is now: arrays and streams, what writes and reads them, and what is one array."""
    functions = schedule.ir.names()
    vertices, flows, same = pictured(dataflow_graph(schedule.ir))
    return Drawing(dot(vertices, flows, same, functions), svg(vertices, flows, same, functions))
