"""What a prompt and a notebook show of public objects, what is logged, and what an uncaught error shows."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
import time
from pathlib import Path

import pytest

import allo
from allo import messages, tracebacks
from allo.errors import InternalError
from allo.ir import types
from allo.ir.types import float32
from allo.target import load_target


def gemm(A: float32[8, 8], B: float32[8, 8], C: float32[8, 8]):
    for i, j, k in allo.grid(8, 8, 8, name="product"):
        C[i, j] += A[i, k] * B[k, j]


def shorter(A: float32[8, 8], B: float32[8, 8], C: float32[8, 8]):
    for i, j, k in allo.grid(8, 8, 7, name="product"):
        C[i, j] += A[i, k] * B[k, j]


@pytest.fixture(scope="module")
def s() -> allo.Schedule:
    made = allo.customize(gemm)
    made.split("i", 2)
    return made


def test_version() -> None:
    assert allo.__version__ == "0.1.0" or allo.__version__[0].isdigit()


def test_what_a_prompt_shows(s: allo.Schedule) -> None:
    step = 's.split("gemm:product.i", factor=2)'
    arguments = "A: float32[8, 8], B: float32[8, 8], C: float32[8, 8]"
    assert repr(s) == f"Schedule of 'gemm', 1 step\n  {step}"
    assert repr(s.steps) == f"<Steps>\n{step}" and repr(s.steps[0]) == f"<Step {step}>"
    assert repr(s.get_loops()).splitlines()[:3] == ["gemm", "  product:", "    i.outer"]
    assert repr(s.diff(0)) == str(s.diff(0)) and repr(s.diff(0)).startswith(f"# step 0: {step}\n@@")
    assert repr(s.graph) == "<DataflowGraph of 3 arrays and no edge>"
    assert repr(s.draw()) == f"<Drawing of {len(s.draw().svg):,} characters; save('picture.svg') writes it>"
    assert repr(s.build()) == f"<LLVMModule gemm({arguments})>"
    assert repr(s.build(target="vhls")).startswith("<HLSModule gemm: ")
    assert repr(s.verify()).startswith("Equivalent: 'gemm' and the schedule of 'gemm' with ")
    assert repr(allo.verify(gemm, shorter)).startswith("Different: ")
    assert repr(load_target("u280")) == "<Fpga u280: AMD Alveo U280, 300 MHz>"
    assert repr(types.Stateful[float32[4]]) == "Stateful[float32[4]]" and repr(types.ConstExpr) == "ConstExpr"
    assert repr(s.ir) == "<FinishedModule of 'gemm': gemm>"
    assert repr(s.report()) == str(s.report()) and repr(s.report(target="u280")) == str(s.report(target="u280"))


def test_what_a_notebook_shows(s: allo.Schedule) -> None:
    shown = {
        "schedule": (s, 's.split(&quot;gemm:product.i&quot;, factor=2)'),
        "steps": (s.steps, "s.split("),
        "diff": (s.diff(0), '#1a7f37">+    for i.outer in range(4, name=&quot;product&quot;):</span>'),
        "loops": (s.get_loops(), "i.outer"),
        "nest": (s.get_loops().product, "i.outer"),
        "graph": (s.graph, "<svg "),
        "report": (s.report(), "bytes read"),
        "estimate": (s.report(target="u280"), "<h1>gemm on u280 at 300 MHz</h1>"),
    }
    for name, (value, part) in shown.items():
        text = value._repr_html_()
        assert part in text, name
        assert "<body" not in text and "<html" not in text, name
    assert "\nbody {" not in s.report(target="u280")._repr_html_()  # the style of the notebook stays


def test_the_logger_tells_steps_builds_and_proofs(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "allo"):
        s = allo.customize(gemm)
        s.pipeline("k")
        s.build()
        s.verify()
    read, *texts = [record.getMessage() for record in caplog.records]
    assert read.startswith("reading the kernel 'gemm': ")
    assert texts[0] == 'gemm: step 0: s.pipeline("gemm:product.k")'
    assert texts[1].startswith("building 'gemm' for llvm: ")
    assert texts[2].startswith("verifying 'gemm' against 'gemm': ")
    assert {record.name for record in caplog.records} == {"allo"}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("is_terminal", "switch", "shown"), [(True, "", True), (False, "", False), (True, "0", False)])
def test_progress(monkeypatch: pytest.MonkeyPatch, is_terminal: bool, switch: str, shown: bool) -> None:
    stream = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(messages, "_AFTER", 0.01)
    monkeypatch.setenv("ALLO_PROGRESS", switch)
    with messages.working("waiting"), messages.working("inside of it"):
        time.sleep(0.05)  # longer than what is shown at once
    assert stream.getvalue() == ("\rwaiting ... 0 s\r               \r" if shown else "")


def test_progress_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(messages, "_AFTER", 0.01)
    with messages.working("running 'top'", so_far=lambda: "7 elements passed"):
        time.sleep(0.1)
    assert "\rrunning 'top' ... 0 s, 7 elements passed" in stream.getvalue()


def test_progress_of_what_is_short() -> None:
    stream, before = Terminal(), sys.stderr
    sys.stderr = stream
    try:
        with messages.working("nothing"):
            pass
    finally:
        sys.stderr = before
    assert not stream.getvalue()


PROGRAM = """\
import allo
from allo.ir.types import int32

def kernel(A: int32[8]):
    for i in range(8):
        A[i] = 0

def mine():
    allo.customize(kernel).split("j", 2)

mine()
"""


def test_an_uncaught_error_shows_the_frames_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
    frames = [line for line in done.stderr.splitlines() if line.startswith("  File")]
    assert frames == [f'  File "{path}", line 11, in <module>', f'  File "{path}", line 9, in mine']
    assert done.stderr.endswith(
        f'allo.errors.ScheduleError: File "{path}", line 9: split: function \'kernel\' has no loop \'j\'\n'
        '    allo.customize(kernel).split("j", 2)\n'
        "  hint: its loops are i\n"
    )


def caught(action) -> Exception:
    with pytest.raises(allo.AlloError) as error:
        action()
    return error.value


def files(error: Exception) -> set[str]:
    found, step = set(), tracebacks.users_frames(error)
    while step is not None:
        found.add(step.tb_frame.f_code.co_filename)
        step = step.tb_next
    return found


def test_frames(monkeypatch: pytest.MonkeyPatch, s: allo.Schedule) -> None:
    error = caught(lambda: s.split("x", 2))
    own = str(Path(allo.__file__).parent)
    assert files(error) == {__file__}
    assert f"{own}/" not in "\n".join(error._render_traceback_())  # what IPython asks for
    monkeypatch.setenv("ALLO_TRACEBACK", "full")
    assert any(file.startswith(own) for file in files(error))


def test_frames_of_wrong_arguments(s: allo.Schedule) -> None:
    """Errors of Python that the package raises on purpose, and those that just happen in it."""
    own = str(Path(allo.__file__).parent)
    for action in (lambda: s.splitt("i", 2), lambda: s.build()(3), lambda: s.report(frequency=3)):
        with pytest.raises((AttributeError, TypeError)) as error:
            action()
        assert files(error.value) == {__file__}
    with pytest.raises(TypeError) as error:
        allo.errors.counted("1", "fault")
    assert any(file.startswith(own) for file in files(error.value))


def test_an_internal_error_keeps_all_frames() -> None:
    def fails() -> None:
        raise InternalError("no reason")

    from allo.ir.recursion import reads_programs

    error = caught(reads_programs(fails))
    assert any(file.startswith(str(Path(allo.__file__).parent)) for file in files(error))
