"""A primitive is one file and one line of the table: all that is done with steps works for one of a test, too."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

import allo
from allo import Schedule, ScheduleError
from allo.customize.primitives import Primitives
from allo.ir.types import int32
from tests.compose.checks import assert_faithful
from tests.customize.reverse import reverse

PACKAGE = Path(allo.__file__).parent


@pytest.fixture(autouse=True)
def entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Primitives, "reverse", reverse, raising=False)


def add(A: int32[8, 8], B: int32[8, 8]):
    for i, j in allo.grid(8, 8):
        B[i, j] += A[i, j] + 1


def twice(A: int32[8, 8], B: int32[8, 8]):
    add(A, B)
    add(A, B)


def reversed_rows(kernel: Callable[..., None] = add) -> Schedule:
    s = allo.customize(kernel)
    s.pipeline(s.reverse("i"))
    return s


def test_it_is_applied_printed_replayed_stored_and_undone() -> None:
    s = reversed_rows()
    assert s.pseudocode().splitlines()[1:3] == [
        "    for i.reversed in range(8):  # pipeline=1",
        "        for j in range(8):",
    ]
    assert str(s.steps) == 's.reverse("add:S_i_j_0.i")\ns.pipeline("add:S_i_j_0.i.reversed")\n'
    assert_faithful(add, s)
    s.undo(2)
    assert str(s.module) == str(allo.customize(add).module)


def test_it_is_an_operation() -> None:
    text = reversed_rows().to_mlir()
    assert text[text.index("  allo.schedule") :] == (
        "  allo.schedule {\n"
        '    %0 = allo.loop "add" "S_i_j_0.i"\n'
        '    %reverse = allo.step "reverse"(%0)\n'
        '    allo.step "pipeline"(%reverse)\n'
        "  }\n"
        "}\n"
    )


def test_a_handle_may_be_left_out() -> None:
    s = allo.customize(add)
    s.reverse("i", also="j")
    assert str(s.steps) == 's.reverse("add:S_i_j_0.i", also="add:S_i_j_0.j")\n'
    assert [view.name for view in s.ir.loops("add")] == ["i.reversed", "j.reversed"]
    assert 'allo.step "reverse"(%0) {also = "add:S_i_j_0.j"}' in s.to_mlir()
    assert_faithful(add, s)
    composed = allo.customize(twice)
    composed.compose(s)
    assert_faithful(twice, composed)


def test_it_is_composed() -> None:
    s = allo.customize(twice)
    s.compose(reversed_rows())
    assert str(s.steps[0]) == 's.reverse("add:S_i_j_0.i")'
    assert_faithful(twice, s)


def test_it_is_shown_by_verify_and_diff() -> None:
    s = reversed_rows()
    assert s.verify()
    assert s.diff(0).splitlines()[0] == '# step 0: s.reverse("add:S_i_j_0.i")'


def test_its_refusals_name_it_and_change_nothing() -> None:
    s = allo.customize(add)
    with pytest.raises(ScheduleError) as refused:
        s.reverse("i", by=2)
    assert "reverse: loop 'i' does not count by 2" in str(refused.value)
    assert not s.steps
    with pytest.raises(ScheduleError) as refused:
        s.replay('s.revers("i")')
    assert "did you mean 'reverse'?" in str(refused.value)


def package_with(folder: Path, primitive: Path) -> None:
    """The package with one file and one line of the table more."""
    shutil.copytree(PACKAGE / "customize", folder / "allo/customize", ignore=shutil.ignore_patterns("__pycache__"))
    for part in PACKAGE.iterdir():
        if part.name != "customize":
            (folder / "allo" / part.name).symlink_to(part)
    shutil.copy(primitive, folder / "allo/customize")
    table, name = folder / "allo/customize/primitives.py", primitive.stem
    table.write_text(table.read_text().replace("    # isort: on", f"    from .{name} import {name}\n    # isort: on"))


def test_it_is_one_file_and_one_line(tmp_path: Path) -> None:
    package_with(tmp_path, Path(__file__).with_name("reverse.py"))
    program = tmp_path / "program.py"
    program.write_text(
        dedent(
            """\
            import allo
            from allo.ir.types import int32

            def add(A: int32[8, 8], B: int32[8, 8]):
                for i, j in allo.grid(8, 8):
                    B[i, j] += A[i, j] + 1

            def twice(A: int32[8, 8], B: int32[8, 8]):
                add(A, B)
                add(A, B)

            s = allo.customize(add)
            s.pipeline(s.reverse("i"))
            print(s.steps, end="")
            assert "reverse" in allo.Schedule.primitives() and s.verify()
            composed, again = allo.customize(twice), allo.customize(add)
            composed.compose(s)
            again.replay(str(s.steps))
            stored = allo.Schedule.from_mlir(s.to_mlir())
            for other in (composed, again, stored):
                assert str(other.steps) == str(s.steps) and "i.reversed" in other.pseudocode() and other.verify()
            """
        )
    )
    run = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert not run.stderr
    assert run.stdout == 's.reverse("add:S_i_j_0.i")\ns.pipeline("add:S_i_j_0.i.reversed")\n'
