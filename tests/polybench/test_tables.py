"""The tables of docs/polybench.md are what their scripts print today."""

from __future__ import annotations

import pytest

from polybench import document, reproduce_fig12, reproduce_points, reproduce_table3


def cells(table: str) -> list[list[str]]:
    """The rows of a table of Markdown, without its head."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def in_the_page(name: str) -> list[list[str]]:
    return cells(document.between(document.PAGE.read_text(encoding="utf-8"), name))


def without_times(rows: list[list[str]]) -> list[list[str]]:
    return [row[:-1] for row in rows]


def test_table_3() -> None:
    printed = cells(reproduce_table3.in_markdown(reproduce_table3.HEADER, reproduce_table3.rows()))
    assert without_times(in_the_page("table 3")) == without_times(printed)


@pytest.mark.slow
def test_points() -> None:
    printed = reproduce_points.in_markdown(reproduce_points.HEADER, reproduce_points.rows())
    assert in_the_page("points") == cells(printed)


@pytest.mark.slow
def test_figure_12() -> None:
    printed = reproduce_fig12.in_markdown(reproduce_fig12.HEADER, reproduce_fig12.rows())
    assert in_the_page("fig. 12") == cells(printed)


def test_a_table_is_replaced_between_its_marks() -> None:
    text = "a\n<!-- x -->\nold\n<!-- end of x -->\nb"
    new = document.replaced(text, "x", "new")
    assert new == "a\n<!-- x -->\nnew\n<!-- end of x -->\nb"
    assert document.between(new, "x") == "new"
