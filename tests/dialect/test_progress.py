"""Progress of the C++ build on the terminal, which pip hides."""

import importlib.util
import io
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).resolve().parents[2] / "mlir" / "allo-dialect" / "cmake" / "progress.py"


@pytest.fixture(scope="module")
def progress() -> ModuleType:
    spec = importlib.util.spec_from_file_location("progress_of_build", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_tenth_is_told_once(progress: ModuleType) -> None:
    terminal, told = io.StringIO(), -1
    for line in ["-- Configuring", "[0/2] x", "[1/40] a", "[2/40] b", "[4/40] c", "[5/40] d", "[40/40] e"]:
        told = progress.tell(line, told, terminal)
    assert terminal.getvalue() == (
        "\r  allo: 10 % of the C++ part (4 of 40 targets)\n\r  allo: 100 % of the C++ part (40 of 40 targets)\n"
    )


def test_output_and_status_pass(progress: ModuleType, capfd: pytest.CaptureFixture[str]) -> None:
    program = "import sys; print('[1/2] made', flush=True); sys.exit(3)"
    assert progress.run_with_progress([sys.executable, "-c", program], {}) == 3
    assert capfd.readouterr().out == "[1/2] made\n"
