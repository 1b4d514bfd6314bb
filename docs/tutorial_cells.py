"""Tutorials as they run: cells with what they print and draw, as pages of the site and as notebooks."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any


@dataclass(frozen=True)
class Cell:
    """A part of a tutorial. `picture` is the SVG of its last expression, `printed` the text of that and all else."""

    title: str
    prose: str
    code: str
    printed: str
    picture: str


@dataclass(frozen=True)
class Tutorial:
    """A tutorial that has run from its first to its last line."""

    name: str
    what: str
    cells: tuple[Cell, ...]

    def page(self, folder: Path, stem: str) -> str:
        """Markdown; pictures become files of `folder`."""
        parts = [f"# {self.name}", f"{self.what}."]
        for number, cell in enumerate(self.cells):
            parts += [f"## {cell.title}", cell.prose]
            parts += [f"```python\n{cell.code}\n```"] if cell.code else []
            parts += [f"```text\n{cell.printed}\n```"] if cell.printed else []
            if cell.picture:
                (folder / f"{stem}_{number}.svg").write_text(cell.picture, encoding="utf-8")
                parts.append(f"![What the last line shows]({stem}_{number}.svg)")
        return "\n\n".join(filter(None, parts)) + "\n"

    def notebook(self) -> str:
        """The same as a notebook (nbformat 4.5)."""
        cells: list[dict[str, Any]] = [_markdown("head", f"# {self.name}\n\n{self.what}.")]
        for number, cell in enumerate(self.cells):
            cells.append(_markdown(f"text-{number}", f"## {cell.title}\n\n{cell.prose}".strip()))
            outputs: list[dict[str, Any]] = []
            if cell.printed:
                outputs.append({"output_type": "stream", "name": "stdout", "text": f"{cell.printed}\n"})
            if cell.picture:
                outputs.append({"output_type": "display_data", "data": {"image/svg+xml": cell.picture}, "metadata": {}})
            cells.append({
                "id": f"code-{number}", "cell_type": "code", "execution_count": number + 1, "metadata": {},
                "source": cell.code, "outputs": outputs,
            })  # fmt: skip
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        made = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
        return json.dumps(made, indent=1) + "\n"


def _markdown(name: str, text: str) -> dict[str, Any]:
    return {"id": name, "cell_type": "markdown", "metadata": {}, "source": text}


def tutorial(path: Path, root: Path) -> Tutorial:
    """Run a tutorial; names of files below `root` are told without it."""
    heading, *texts = re.split(r"^# %% ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    title = re.findall(r'"""(.*?)\.?\n', heading)[0]
    name, _, what = title.partition(": ")
    return Tutorial(name, what[:1].upper() + what[1:], tuple(_cells(path, root, texts, heading.count("\n"))))


def _cells(path: Path, root: Path, texts: list[str], line: int) -> Iterator[Cell]:
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    for text in texts:
        title, _, rest = text.partition("\n")
        prose = re.match(r"(#.*\n)*", rest)
        assert prose is not None
        code = rest[prose.end() :].strip("\n")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            last = _run("\n" * line + f"#{text}", str(path), vars(module))
        draw = getattr(last, "_repr_svg_", None)
        told = printed.getvalue().replace(f"{root}/", "").rstrip()
        text_of = re.sub(r"^# ?", "", prose[0], flags=re.MULTILINE).strip()
        yield Cell(title.strip().rstrip("."), text_of, code, told, draw() if draw is not None else "")
        line += text.count("\n")


def _run(text: str, file: str, names: dict[str, Any]) -> Any:
    """Run a cell; the value of its last statement if that is an expression."""
    tree = ast.parse(text, file)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, file, "exec"), names)
    return eval(compile(ast.Expression(last.value), file, "eval"), names) if last is not None else None
