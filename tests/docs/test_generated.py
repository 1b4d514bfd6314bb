"""Generated pages are current, and pages written by hand agree with the tables of the code."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from allo.frontend.typing.tables import DEFAULT
from allo.ir.types import Int, UInt

from .pages import ROOT

WIDTHS = [(1, 1), (8, 8), (5, 12), (32, 7), (32, 64)]
OPERANDS = [(Int, Int), (Int, UInt), (UInt, Int), (UInt, UInt)]


def generator(name: str = "generate_primitives", folder: str = "docs") -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / folder / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pictures_are_current(tmp_path: Path) -> None:
    generator("generate_pictures").write(tmp_path)
    for picture in sorted(tmp_path.iterdir()):
        wanted = (ROOT / "docs" / "images" / picture.name).read_text()
        assert picture.read_text() == wanted, "run: python docs/generate_pictures.py"


def test_primitives_page_is_current() -> None:
    wanted = (ROOT / "docs" / "primitives.md").read_text()
    assert generator().page() == wanted, "run: python docs/generate_primitives.py"


def test_primitives_page_has_every_primitive() -> None:
    names = {path.stem for path in (ROOT / "allo" / "customize").glob("*.py")}
    assert set(generator().primitives()) <= names
    assert "split" in generator().primitives()


def test_tables_of_types_are_current() -> None:
    text = (ROOT / "docs" / "types.md").read_text()
    made = generator("generate_types", "tests/docs")
    assert re.findall(r"<!-- table (\w+) -->", text) == ["fixed", "integers", "unary", "promotion", "cpp"]
    assert made.page(text) == text, "run: python tests/docs/generate_types.py"


def type_rows() -> list[tuple[str, list[str]]]:
    """The integer rules of docs/types.md: an operator with the four types of its row."""
    rows = []
    text = (ROOT / "docs" / "types.md").read_text()
    for line in text[: text.index("## The rules of C++")].splitlines():
        cells = [cell.strip() for cell in line.replace("\\|", "OR").strip("|").split("|")]
        if len(cells) == 5 and all(re.match(r"`u?int\(", cell) for cell in cells[1:]):
            operators = [op.replace("OR", "|") for op in re.findall(r"`([^`]+)`", cells[0])]
            rows += [(operator, [cell.strip("`") for cell in cells[1:]]) for operator in operators]
    return rows


def test_types_page_has_every_operator() -> None:
    assert [operator for operator, _ in type_rows()] == [
        *("+", "-", "*", "/", "//", "%", "<<", ">>", "&", "|", "^", "min", "max"),
        "compare",
    ]


@pytest.mark.parametrize(
    ("operator", "cells"), type_rows(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_types_page_is_true(operator: str, cells: list[str]) -> None:
    for (left, right), cell in zip(OPERANDS, cells, strict=True):
        for a, b in WIDTHS:
            written = eval(cell, {"int": Int, "uint": UInt, "max": max, "min": min, "a": a, "b": b})
            assert written == DEFAULT.result(operator, left(a), right(b)), (operator, left, right, a, b)
