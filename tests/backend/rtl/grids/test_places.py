"""Tables of places in arrays: by a formula where they are rows, else number by number."""

from __future__ import annotations

import re

import numpy as np

from allo.backend.rtl.grids.text import GridText


def table(column: tuple[int, ...]) -> tuple[list[str], list[int]]:
    """The lines of a table of places, and the places that they give."""
    text = GridText(set())
    assert text.place(column) == "places_0[p]"
    lines = list(text.tables())
    if len(lines) == 1:
        (numbers,) = re.findall(r"'{(.*)}", lines[0])
        return lines, [int(one) for one in numbers.split(",")][: len(column)]
    (formula,) = re.findall(r"\] = (.*);", lines[1])
    return lines, [eval(formula.replace("/", "//"), {"p": p}) for p in range(len(column))]


def test_rows_have_a_formula() -> None:
    inner = tuple(8 * i + j + 9 for i in range(6) for j in range(6))
    lines, places = table(inner)
    assert lines == [
        "  int places_0 [0:63];",
        "  initial for (int p = 0; p < 36; p++) places_0[p] = 8 * (p / 6) + 1 * (p % 6) + 9;",
    ]
    assert places == list(inner)


def test_rows_that_are_cut() -> None:
    draw = np.random.default_rng(5)
    for _ in range(100):
        rows, length, step, between, first = (int(n) for n in draw.integers(3, 9, 5))
        whole = [first + 20 * between * i + step * j for i in range(rows) for j in range(length)]
        cut = tuple(whole[int(draw.integers(length)) : len(whole) - int(draw.integers(length))])
        lines, places = table(cut)
        assert len(lines) == 2 and places == list(cut)


def test_other_places_stand_there() -> None:
    draw = np.random.default_rng(6)
    for count in (3, 4, 17, 40):
        column = tuple(int(n) for n in draw.permutation(count + 2)[:count])
        _, places = table(column)
        assert places == list(column)
    lines, places = table((0, 1, 2, 8, 9, 10, 17, 18, 19))
    assert len(lines) == 1 and places == [0, 1, 2, 8, 9, 10, 17, 18, 19]
