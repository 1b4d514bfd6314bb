"""What editors and type checkers know of schedules and kernels: generated stubs, signatures, the types of results."""

from __future__ import annotations

import ast
import inspect
import os
import pydoc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import allo
from allo.ir.types import int32
from tests.docs.test_generated import generator

ROOT = Path(allo.__file__).resolve().parents[1]
FILES: dict[str, Callable[[], str]] = generator("generate_stubs", "scripts").FILES


@pytest.mark.parametrize("file", FILES)
def test_stubs_are_current(file: str) -> None:
    assert (ROOT / file).read_text() == FILES[file](), "run: python scripts/generate_stubs.py"


def methods(file: str) -> dict[str, set[str]]:
    """The parameters of each method of the one class in a file, `*` and `**` too."""
    found: dict[str, set[str]] = {}
    tree = ast.parse((ROOT / file).read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = {a.arg for a in [*node.args.args, *node.args.kwonlyargs]}
            found.setdefault(node.name, set()).update(names)
    return found


def test_uses_have_types() -> None:
    code, stub = methods("allo/customize/uses.py"), methods("allo/customize/uses.pyi")
    assert code.keys() == stub.keys()
    assert stub["build"] == code["build"]
    for name, function in (("verify", allo.verify), ("report", allo.estimate)):
        options = {n for n in inspect.signature(function).parameters if n not in ("a", "b", "design")}
        assert stub[name] == options | {"self"}


def kernel(A: int32[8]):
    for i in range(8):
        A[i] = 0


def test_help_shows_the_whole_signature() -> None:
    s = allo.customize(kernel)
    shown = " ".join(pydoc.plain(pydoc.render_doc(s.pipeline)).split())
    assert "pipeline( loop: 'Loop | str', initiation_interval: 'int' = 1, rewind: 'bool' = False ) -> 'None'" in shown
    shown = " ".join(pydoc.plain(pydoc.render_doc(allo.Schedule.reorder)).split())
    assert "reorder( self, *loops: 'Loop | str | Sequence[Loop | str]'" in shown


GOOD = """\
import allo
from allo import Estimate, HLSModule, LLVMModule
from allo.ir.types import Stream, float32, index, int32

M, N = 4, 8

def gemm(A: float32[M, N], B: float32[N, 2 * M], n: int32) -> float32[M]:
    C: float32[M] = 0
    x: int32 = 3
    for i, j in allo.grid(M, N):
        C[i] += A[i, j] * B[j, 0] * n
        x = x + 1
    return C

def passed(A: float32[M], pipe: Stream[float32, 4], words: Stream[int32, 8, 4]) -> float32:
    words.put(words.peek())
    if not pipe.full() and pipe.try_put(A[0]):
        x, ok = pipe.try_get()
    return pipe.get()

s = allo.customize(gemm, instantiate=[float32, 4])
outer, inner = s.split("j", 2)
s.pipeline(inner, initiation_interval=2)
s.reorder(outer, "i")
module: LLVMModule = s.build()
code: HLSModule = s.build(target="vhls")
estimate: Estimate = s.report(target="u280")
loops = s.report().loops
"""
BAD = """\
s.pipeline("j", ii=2)
s.split("j")
s.build(mode=3)
s.report().cycles
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program_of_stubs.py"
    path.write_text(GOOD + BAD)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_checkers_find_these_mistakes_and_no_others(program: Path, checker: str) -> None:
    own = ["--pythonpath", sys.executable] if checker == "pyright" else ["--cache-dir", str(program.parent)]
    command = [sys.executable, "-m", checker, *own, program.name]
    environment = {**os.environ, "MYPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=program.parent, capture_output=True, text=True, env=environment)
    if checker == "pyright" and "error:" not in done.stdout:
        pytest.skip(f"pyright does not start here: {done.stderr.strip().splitlines()[-1:]}")
    wrong = {line.split(":")[1] for line in done.stdout.replace("  /", "/").splitlines() if "error:" in line}
    first = GOOD.count("\n") + 1
    assert wrong == {str(line) for line in range(first, first + 4)}, done.stdout
