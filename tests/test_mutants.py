"""Faults that are planted to see whether tests notice: their catalogue, where they are, which tests reach them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks.mutants import Outcome, Result, table
from benchmarks.mutation import propose
from benchmarks.mutation.catalogue import PACKAGES, ROOT, Fault, chosen, read, toml
from benchmarks.mutation.reach import Reach, digest

SOURCE = '''"""A file."""


def first(a: int, b: int) -> int:
    if a < b and a != 3:
        return max(a, b)
    values = [a, b][:1]
    return divide(a, b) + values[0]
'''


def fault(before: str, after: str = "x") -> Fault:
    return Fault("one", "allo/poly/file.py", before, after)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "allo" / "poly").mkdir(parents=True)
    (tmp_path / "allo" / "poly" / "file.py").write_text(SOURCE)
    return tmp_path


def test_no_fault_is_stale() -> None:
    """What moved is planted where it is now; what is gone leaves the catalogue."""
    assert not [fault.id for fault in read() if fault.lines(ROOT) is None]


def test_the_catalogue_names_each_fault_once_and_says_who_should_notice() -> None:
    assert all((ROOT / "tests" / folder).is_dir() for folders in PACKAGES.values() for folder in folders)
    faults = read()
    assert len(faults) >= 200
    assert (
        len({fault.id for fault in faults})
        == len({(f.file, f.before, f.after) for f in faults})
        == len(faults)
    )
    assert all((ROOT / "tests" / folder).is_dir() for fault in faults for folder in fault.folders)
    assert {fault.package for fault in faults} == set(PACKAGES)
    assert all((ROOT / test).is_file() for fault in faults for test in fault.tests)


def test_a_fault_says_which_lines_change(tree: Path) -> None:
    assert fault("if a < b and a != 3:", "if a < b:").lines(tree) == (5, 5)
    assert fault("        return max(a, b)\n    values =", "        return max(a, b)\n    value =").lines(
        tree
    ) == (7, 7)
    assert fault("a < b").lines(tree) == (5, 5)


@pytest.mark.parametrize("before", ["a <= b", "return ", "b"])
def test_a_fault_whose_text_is_gone_or_not_the_only_one_is_stale(tree: Path, before: str) -> None:
    assert fault(before).lines(tree) is None


def test_planting_changes_one_place(tree: Path) -> None:
    fault("a < b", "a <= b").apply(tree)
    assert (tree / "allo" / "poly" / "file.py").read_text() == SOURCE.replace("a < b", "a <= b")


def test_proposed_faults_can_be_planted(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(propose, "ROOT", tree)
    made = list(propose.faults_of(tree / "allo" / "poly" / "file.py"))
    texts = {one.after for one in made}
    assert {"if a <= b and a != 3:", "if a < b:", "if a != 3:", "if False:", "return min(a, b)"} <= texts
    assert {
        "return divide(b, a) + values[0]",
        "return divide(a, b) - values[0]",
        "values = [a, b][:2]",
    } <= texts
    for one in made:
        assert one.lines(tree) is not None
        changed = SOURCE.replace(one.before, one.after)
        assert changed != SOURCE and ast.parse(changed)


def test_an_entry_is_read_as_it_was_written(tmp_path: Path) -> None:
    faults = [
        fault("a < b", "a <= b"),
        Fault("two", "allo/ir/x.py", "'a'", "'b'"),
        Fault("3", "allo/ir/x.py", "a\nb", "c"),
        Fault("4", "allo/ir/x.py", "a", "b", tests=("tests/one.py", "tests/two.py")),
    ]
    path = tmp_path / "faults.toml"
    path.write_text("\n".join(map(toml, faults)))
    assert read([path]) == faults


def test_some_of_the_faults() -> None:
    faults = [Fault(str(k), f"allo/{'poly' if k % 2 else 'ir'}/x.py", "a", str(k)) for k in range(20)]
    assert [f.id for f in chosen(faults, "allo/ir", [], 0, 0)] == [str(k) for k in range(0, 20, 2)]
    assert [f.id for f in chosen(faults, "", ["7", "2"], 0, 0)] == ["2", "7"]
    some = chosen(faults, "", [], 5, 1)
    assert len(some) == 5 and some == chosen(faults, "", [], 5, 1) != chosen(faults, "", [], 5, 2)
    with pytest.raises(SystemExit, match="no fault has the name 99"):
        chosen(faults, "", ["99"], 0, 0)


def test_the_tests_that_reach_a_line(tmp_path: Path) -> None:
    source = tmp_path / "x.py"
    source.write_text("a = 1\n")
    record = Reach(
        ["t.py::a", "t.py::b"],
        [1.0, 2.0],
        {"x.py": {3: 0b10, 4: 0b01}},
        {"x.py": {1}},
        {"x.py": digest(source)},
    )
    record.store(tmp_path / "record")
    record = Reach.load(tmp_path / "record")
    assert record.of("x.py", digest(source), 3, 3) == {"t.py::b"}
    assert record.of("x.py", digest(source), 3, 4) == {"t.py::a", "t.py::b"}
    assert record.of("x.py", digest(source), 5, 9) == set()
    assert record.of("x.py", digest(source), 1, 3) is None  # what modules do when they are read concerns all
    assert record.of("x.py", "another text", 3, 3) is None


def test_faults_that_nothing_can_show_do_not_count() -> None:
    outcomes = [
        Outcome.NOTICED,
        Outcome.ENDED,
        Outcome.NOTICED,
        Outcome.SURVIVED,
        Outcome.EQUIVALENT,
        Outcome.STALE,
    ]
    results = [Result(str(k), "allo/poly", outcome) for k, outcome in enumerate(outcomes)]
    assert table(results).splitlines()[-1] == "| all | 6 | 3 | 1 | 1 | 1 | 75 % |"
