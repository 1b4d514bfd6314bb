"""The tables of docs/polybench.md are what their scripts print today."""

from __future__ import annotations

import pytest

from polybench import (
    NAMES,
    document,
    load,
    points_rtl,
    reproduce_cpu,
    reproduce_fig12,
    reproduce_points,
    reproduce_rtl,
    reproduce_streams,
    reproduce_table3,
)
from polybench.in_c import is_available
from polybench.tables import in_markdown


def cells(table: str) -> list[list[str]]:
    """The rows of a table of Markdown, without its head."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def in_the_page(name: str) -> list[list[str]]:
    return cells(document.between(document.PAGE.read_text(encoding="utf-8"), name))


def without_times(rows: list[list[str]]) -> list[list[str]]:
    return [row[:-1] for row in rows]


def test_table_3() -> None:
    printed = cells(in_markdown(reproduce_table3.HEADER, reproduce_table3.rows()))
    assert without_times(in_the_page("table 3")) == without_times(printed)


@pytest.mark.slow
def test_points() -> None:
    printed = in_markdown(reproduce_points.HEADER, reproduce_points.rows())
    assert in_the_page("points") == cells(printed)


@pytest.mark.slow
def test_streams() -> None:
    printed = in_markdown(reproduce_streams.HEADER, reproduce_streams.rows())
    assert in_the_page("streams") == cells(printed)


def test_each_kernel_has_streams_or_a_reason() -> None:
    excused = [name.strip() for row in in_the_page("no streams") for name in row[0].split(",")]
    assert sorted([*excused, *(row[0] for row in in_the_page("streams"))]) == sorted(NAMES)
    assert [row[0] for row in in_the_page("streams")] == [
        name for name in NAMES if "streams" in load(name).designs
    ]


@pytest.mark.slow
def test_figure_12() -> None:
    printed = in_markdown(reproduce_fig12.HEADER, reproduce_fig12.rows())
    assert in_the_page("fig. 12") == cells(printed)


def test_what_was_simulated_is_right_and_complete() -> None:
    rows = reproduce_rtl.read()
    for row in rows:
        assert row.failure or (row.equal and row.simulated == row.predicted), row
    rows = [row for row in rows if row.design in reproduce_rtl.DESIGNS]
    assert [(row.kernel, row.design) for row in rows] == [
        (name, design) for name in NAMES for design in reproduce_rtl.DESIGNS
    ]
    shown = [(*row[:3], row[3].replace(",", "")) for row in in_the_page("rtl")]
    assert shown == [(row.kernel, row.design, row.size, str(row.simulated)) for row in rows if not row.failure]


def test_published_points_stand_beside_what_was_simulated() -> None:
    """No simulation is left out, and the ratio is that of the numbers in the row."""
    known = {(row.kernel, row.design): row.simulated for row in reproduce_rtl.read() if row.size == "MEDIUM"}
    rows = in_the_page("rtl points")
    named = {(row[0], row[5]) for row in rows}
    assert {key for key in known if key[1] not in reproduce_rtl.DESIGNS} <= named
    for row in rows:
        published, simulated, stated = (int(cell.replace(",", "") or 0) for cell in (row[4], row[8], row[9]))
        assert simulated == (known.get((row[0], row[5])) or 0)
        assert row[10] == str(round((simulated or stated) / published, 3))


def test_each_published_point_has_a_design_that_is_as_fast() -> None:
    """The last row of a point is the fastest of those that take no more DSPs, and fit the device."""
    last = {tuple(row[:5]): row for row in in_the_page("rtl points")}
    assert len(last) > 20
    for row in last.values():
        ours, theirs = int(row[6].replace(",", "")), int(row[2].replace(",", ""))
        assert ours <= theirs and float(row[10]) <= 1, row


@pytest.mark.slow
def test_what_was_simulated_is_what_the_page_says() -> None:
    assert in_the_page("rtl") == cells(reproduce_rtl.table())
    assert in_the_page("rtl points") == cells(in_markdown(points_rtl.HEADER, list(points_rtl.rows())))


@pytest.mark.parametrize(("kernel", "design"), [("trisolv", "vanilla"), ("atax", "best")])
def test_a_simulation_is_what_it_was(kernel: str, design: str) -> None:
    (known,) = (row for row in reproduce_rtl.read() if (row.kernel, row.design) == (kernel, design))
    again = reproduce_rtl.measured(kernel, design, known.size, count=False)
    assert (again.predicted, again.simulated, again.equal) == (known.predicted, known.simulated, True)


@pytest.mark.skipif(not is_available(), reason="needs gcc")
def test_times_are_in_the_columns_of_the_page() -> None:
    """Not their numbers, which are those of another day."""
    page = document.PAGE.read_text(encoding="utf-8")
    (name, *measured), *_ = cells(reproduce_cpu.table(["gemm"], "MINI", rounds=1))
    assert name == "gemm" and all(float(cell) > 0 for cell in measured)
    head = document.between(page, "cpu").split("\n\n")[-1].splitlines()[0]
    assert head == in_markdown(reproduce_cpu.HEADER, []).splitlines()[0]
    assert [row[0] for row in in_the_page("cpu")] == list(NAMES)
    scheduled = [row[0] for row in in_the_page("cpu") if row[-1]]
    assert scheduled == [name for name in NAMES if "cpu" in load(name).designs]


def test_summary_of_times() -> None:
    plain = ("a", 1.0, 1.1, 2.0, 4.0, 0.5, 0.25, "", "", "", "")
    scheduled = ("b", 1.0, 1.1, 1.0, 1.0, 1.0, 1.0, 0.4, 0.5, 2.5, 1.9)
    assert reproduce_cpu.summary([plain, scheduled]) == (
        "Median of 2 kernels without a schedule: 0.75 of the time of plain C, 0.62 of C with restrict (wanted: at most "
        "1.15). `cpu` designs at least 2 times as fast: 1 as plain C, 0 as C with restrict."
    )


def test_a_table_is_replaced_between_its_marks() -> None:
    text = "a\n<!-- x -->\nold\n<!-- end of x -->\nb"
    new = document.replaced(text, "x", "new")
    assert new == "a\n<!-- x -->\nnew\n<!-- end of x -->\nb"
    assert document.between(new, "x") == "new"
