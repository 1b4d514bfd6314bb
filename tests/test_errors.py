"""How errors are written: the place, the line, the caret, notes and hints."""

from __future__ import annotations

from pathlib import Path

import pytest

from allo.errors import (
    AlloError,
    Diagnostic,
    InternalError,
    KernelError,
    Location,
    Note,
    counted,
    nearest,
)


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "source.py"
    path.write_text("def kernel():\n    total = first + second\n\n\tx = 1\n")
    return str(path)


def test_place_without_column() -> None:
    assert str(Location("a.py", 3)) == 'File "a.py", line 3'


def test_place_with_column() -> None:
    assert str(Location("a.py", 3, 7)) == 'File "a.py", line 3, column 7'


def test_carets_lie_below_the_columns(source: str) -> None:
    assert Location(source, 2, 13, 18).excerpt("") == "total = first + second\n        ^^^^^"


def test_one_caret_without_end(source: str) -> None:
    assert Location(source, 2, 5).excerpt("  ") == "  total = first + second\n  ^"


def test_carets_end_with_the_line(source: str) -> None:
    assert Location(source, 2, 21, 99).excerpt("") == "total = first + second\n                ^^^^^^"


def test_no_caret_without_column(source: str) -> None:
    assert Location(source, 2).excerpt("") == "total = first + second"


def test_indentation_by_tabs(source: str) -> None:
    assert Location(source, 4, 2, 3).excerpt("") == "x = 1\n^"


@pytest.mark.parametrize("line", [3, 99])
def test_nothing_of_an_empty_or_missing_line(source: str, line: int) -> None:
    assert Location(source, line, 1).excerpt() == ""


def test_whole_error(source: str) -> None:
    note = Note("'first' is declared here", Location(source, 1, 1, 4))
    error = AlloError("no such name", at=Location(source, 2, 13, 18), hint="declare it", notes=[note])
    assert str(error).replace(source, "source.py") == (
        'File "source.py", line 2, column 13: no such name\n'
        "    total = first + second\n"
        "            ^^^^^\n"
        "  note: 'first' is declared here\n"
        '    File "source.py", line 1, column 1\n'
        "      def kernel():\n"
        "      ^^^\n"
        "  hint: declare it"
    )


def test_error_without_place() -> None:
    error = AlloError("no such loop", hint="see get_loops()", notes=[Note("the loops are i, j")])
    assert str(error) == "no such loop\n  note: the loops are i, j\n  hint: see get_loops()"


def test_place_whose_source_is_gone() -> None:
    assert str(AlloError("wrong", at=Location("gone.py", 7, 3))) == 'File "gone.py", line 7, column 3: wrong'


def test_collected_errors_follow_the_source_once() -> None:
    late, early = (Diagnostic(text, Location("a.py", line)) for text, line in (("late", 9), ("early", 2)))
    error = KernelError.collected([late, early, late])
    assert str(error) == 'File "a.py", line 2: early\n\nFile "a.py", line 9: late'
    assert error.args == ("early",)


def test_faults_of_ours_ask_for_a_report() -> None:
    assert str(InternalError("a fault")) == "internal error, please report it: a fault"


@pytest.mark.parametrize(
    ("name", "hint"), [("gird", "did you mean 'grid'?"), ("rnage", "did you mean 'range'?"), ("xyz", None)]
)
def test_nearest(name: str, hint: str | None) -> None:
    assert nearest(name, ["grid", "range"]) == hint


@pytest.mark.parametrize(("number", "text"), [(0, "no loop"), (1, "1 loop"), (2, "2 loops")])
def test_counted(number: int, text: str) -> None:
    assert counted(number, "loop") == text
