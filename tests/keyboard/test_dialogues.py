"""Dialogues at the keyboard, on a pseudo-terminal: help, completion, errors, Ctrl-C, exit codes."""

# ruff: noqa: E501 - what is typed and answered is not wrapped

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .terminal import ANSI, Session, python, shell

DESIGN = """\
import allo
from allo.ir.types import float32, int32

def gemm(A: float32[8, 8], B: float32[8, 8], C: float32[8, 8]):
    for i, j, k in allo.grid(8, 8, 8, name="product"):
        C[i, j] += A[i, k] * B[k, j]

def shorter(A: float32[8, 8], B: float32[8, 8], C: float32[8, 8]):
    for i, j, k in allo.grid(8, 8, 7, name="product"):
        C[i, j] += A[i, k] * B[k, j]

def endless(A: int32[1]):
    while A[0] < 1:
        A[0] *= 1

def broken(A: int32[4]):
    A[0] = x + y

def tiled():
    s = allo.customize(gemm)
    s.split("i", 2)
    return s
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keyboard")
    (path / "design.py").write_text(DESIGN)
    (path / "wrong.py").write_text("def f(:\n    pass\n")
    (path / "leaves.py").write_text("import sys\nsys.exit(1)\n")
    (path / "waits.py").write_text("import time\nprint('waiting', flush=True)\ntime.sleep(60)\n")
    (path / "steps.txt").write_text('s.split("i", 2)\ns.pipeline("x")\n')
    return path


@pytest.fixture(scope="module")
def prompt(folder: Path) -> Iterator[Session]:
    """A prompt at which the design is imported."""
    session = python(folder)
    session.type("import numpy as np, allo; from design import *; s = allo.customize(gemm); r = tiled()")
    yield session
    session.child.close(force=True)


@pytest.fixture(scope="module")
def command(folder: Path) -> Iterator[Session]:
    session = shell(folder)
    yield session
    session.child.close(force=True)


# what is typed at the prompt of Python, and parts of the answer, in their order
AT_THE_PROMPT = {
    "the version": ("allo.__version__", ["'0."]),
    "help of a primitive": ("help(s.pipeline)", ["pipeline(", "loop: 'Loop | str'", "initiation_interval: 'int' = 1"]),
    "help of a list": ("help(s.reorder)", ["*loops: 'Loop | str | Sequence[Loop | str]'", "Permute `loops`"]),
    "help of build": ("help(s.build)", ["Make something that runs"]),
    "a schedule": ("r", ["Schedule of 'gemm', 1 step\n", 's.split("gemm:product.i", factor=2)']),
    "its steps": ("r.steps", ["<Steps>\n", "s.split("]),
    "its loops": ("r.get_loops()", ["gemm\n  product:\n    i.outer\n      i.inner\n"]),
    "a diff": ("r.diff(0)", ["# step 0: ", "-    for i in range(8", "+    for i.outer in range(4"]),
    "the graph": ("s.graph", ["<DataflowGraph of 3 arrays and no edge>"]),
    "a build": ("s.build()", ["<LLVMModule gemm(A: float32[8, 8], "]),
    "a report": ("s.report()", ["trips", "bytes read", "layout"]),
    "an estimate": ("s.report(target='u280')", ["gemm on u280 at 300 MHz; all figures are *estimated*"]),
    "a proof": ("r.verify()", ["Equivalent: "]),
    "a difference": ("allo.verify(gemm, shorter)", ["Different: ", "C[0, 0] differs"]),
    "hasattr": ("hasattr(s.get_loops(), 'product'), hasattr(s.get_loops(), 'nothing')", ["(True, False)"]),
    "a loop that is not there": (
        "s.split('x', 2)", ["Traceback", 'File "<stdin>", line 1', "split: function 'gemm' has no loop 'x'\n", "its loops"],
    ),
    "a handle of another schedule": (
        "allo.customize(endless).partition(s.A)", ["the buffer 'gemm:A' is of another schedule: ", "hint: give handles"],
    ),
    "a parameter that is none": (
        "s.pipeline('j', ii=2)", ["got an unexpected keyword argument 'ii'", "hint: use s.pipeline(loop, "],
    ),
    "a primitive that is mistyped": ("s.splitt('i', 2)", ["did you mean 'split'?\n"]),
    "a replay of what was replaced": (
        "r.replay('s.unroll(\"gemm:product.i\", factor=2)')", ["any more: step 0, s.split(", "this is step 0 of the replay"],
    ),
    "a kernel with two mistakes": ("allo.customize(broken)", ["KernelError", "line 17"]),
    "a wrong argument": ("s.build()(np.zeros((8, 8)))", ["TypeError: ", "gemm"]),
    "the logger": (
        "import logging; logging.basicConfig(level=logging.INFO, force=True); m = s.build()",
        ["INFO:allo:building 'gemm' for llvm: "],
    ),
    "progress": ("allo.messages._AFTER = 0.0; m = s.build(target='vhls')", ["building 'gemm' for vhls ... 0 s\r"]),
}  # fmt: skip


@pytest.mark.parametrize("name", AT_THE_PROMPT)
def test_at_the_prompt(prompt: Session, name: str) -> None:
    typed, wanted = AT_THE_PROMPT[name]
    found = prompt.type(typed)
    at = 0
    for part in wanted:
        assert part in found[at:], found
        at = found.index(part, at)
    assert "allo/" not in found, "frames of the package"
    assert found.count("did you mean") + found.count("Did you mean") <= 1


@pytest.mark.parametrize(
    ("start", "wanted"),
    [("s.pip", "eline("), ("s.get_lo", "ops("), ("allo.custo", "mize("), ("loops.pro", "duct")],
)
def test_completion_at_the_prompt(prompt: Session, start: str, wanted: str) -> None:
    prompt.type("loops = s.get_loops()")
    assert prompt.complete(start, wanted).endswith(start + wanted)


def test_interrupts_end_a_call_and_not_the_session(prompt: Session) -> None:
    prompt.child.sendline("print('run', 'ning'); allo.customize(endless).build()(np.zeros(1, np.int32))")
    prompt.child.expect_exact("'ning')")
    found = prompt.interrupt("run ning")
    assert "KeyboardInterrupt" in found
    assert prompt.type("1 + 1") == "2\n"


# what is typed at the shell, its exit code, and parts of the answer
AT_THE_SHELL = {
    "the version": ("allo --version", 0, ["allo 0.", "MLIR"]),
    "help": ("allo --help", 0, ["Usage:", "print", "check", "draw", "estimate", "build"]),
    "help of a command": ("allo check --help", 0, ["--against", "--certificate", "a design or the command is refused"]),
    "a command that is mistyped": ("allo chek design.py:gemm", 2, ["no such command 'chek'. Did you mean 'check'?"]),
    "an option that is mistyped": ("allo check --agianst a design.py:gemm", 3, ["did you mean '--against'?"]),
    "a name that is mistyped": ("allo print design.py:gem", 2, ["'design.py' has no 'gem'; did you mean 'gemm'?"]),
    "loops": ("allo print --loops design.py:tiled", 0, ["i.outer"]),
    "equivalent": ("allo check design.py:tiled", 0, ["equivalent to the unscheduled kernel"]),
    "different": ("allo check design.py:gemm --against design.py:shorter", 1, ["C[0, 0] differs"]),
    "unknown": ("allo check design.py:tiled --timeout 0", 2, ["Unknown"]),
    "a kernel that is refused": ("allo check design.py:broken", 3, ["design.py", "line 17", "^"]),
    "a SyntaxError": ("allo check wrong.py:f", 3, ["wrong.py", "SyntaxError"]),
    "a file that leaves": ("allo check leaves.py:f", 3, ["ended the process: sys.exit(1)"]),
    "steps that do not fit": ("allo apply design.py:gemm --steps steps.txt", 1, ["steps.txt", "line 2", "step 1 of the replay"]),
    "a drawing": ("allo draw design.py:gemm -o graph.svg", 0, []),
    "an estimate": ("allo estimate design.py:gemm", 0, ["gemm on u280 at 300 MHz"]),
    "a project": (
        "allo build design.py:gemm --target vitis_hls --mode csyn --project out", 0, ["the project is in", "run next: make -C"],
    ),
    "completion of commands": ("_ALLO_COMPLETE=complete_bash COMP_WORDS='allo est' COMP_CWORD=1 allo", 0, ["estimate"]),
    "completion of files": ("_ALLO_COMPLETE=complete_bash COMP_WORDS='allo print des' COMP_CWORD=2 allo", 0, ["design.py"]),
    "no colours in files": ("allo print design.py:gemm > module.mlir", 0, []),
}  # fmt: skip


@pytest.mark.parametrize("name", AT_THE_SHELL)
def test_at_the_shell(command: Session, folder: Path, name: str) -> None:
    typed, code, wanted = AT_THE_SHELL[name]
    found = ANSI.sub("", command.type(typed))
    assert found.endswith(f"[exit code {code}]\n"), found
    for part in wanted:
        assert part in found or part in " ".join(found.split())  # lines break where the terminal ends
    assert "allo/cli" not in found
    if name == "a drawing":
        assert (folder / "graph.svg").read_text().startswith("<svg ")
    if name == "no colours in files":
        assert (folder / "module.mlir").read_text().startswith("module attributes")


def test_colours(command: Session) -> None:
    assert "\x1b[" in command.type("allo print --python design.py:gemm")
    assert "\x1b[" in command.type("allo print design.py:gem")
    assert "\x1b[" not in command.type("NO_COLOR=1 allo print --python design.py:gemm")
    assert "\x1b[" not in command.type("NO_COLOR=1 allo print design.py:gem")


def test_ctrl_c_ends_a_command(command: Session) -> None:
    command.child.sendline("allo check waits.py:f")
    found = ANSI.sub("", command.interrupt("waiting"))
    assert found.endswith("allo: interrupted\n[exit code 130]\n")


def test_a_module_from_stdin(command: Session) -> None:
    command.child.sendline("allo print --loops -")
    command.child.expect_exact("\n")
    command.child.sendline("func.func @f(%x: memref<4xf32>) { affine.for %i = 0 to 4 { affine.for %j = 0 to 2 {} } return }")
    command.child.sendeof()
    found = command.answer()
    assert "f\n  S_i_0:\n    i\n      j\n" in ANSI.sub("", found) and "[exit code 0]" in found


def test_there_are_enough_dialogues() -> None:
    assert len(AT_THE_PROMPT) + len(AT_THE_SHELL) >= 40
