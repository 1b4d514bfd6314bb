"""The example programs do what they print."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """An example as a module; what it does to the environment is undone after the test."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name", "steps"), [("gemm", "gemm_steps"), ("jacobi_2d", "jacobi_steps")])
def test_demo_schedules_are_right(
    name: str, steps: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    demo = load("demo", monkeypatch)
    plain, scheduled, s = demo.scheduled_and_not(name, getattr(demo, steps), "SMALL", lambda text: None)
    assert plain.steps == 0 and scheduled.steps >= 6
    assert demo.speedup(plain, scheduled) > 5
    page = demo.write_picture([plain, scheduled], [s], tmp_path).read_text()
    assert page.count("<svg ") == 2 and f"{scheduled.cycles:,}" in page
    assert "</html>" in (tmp_path / f"{name}.html").read_text()
    assert plain.max_error < 1e-5 and scheduled.max_error < 1e-5


def test_demo_shows_what_each_step_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    demo = load("demo", monkeypatch)
    shown: list[str] = []
    demo.scheduled_and_not("gemm", demo.gemm_steps, "MINI", shown.append)
    text = "\n".join(shown)
    assert re.search(r'1\. scale .*\n   s\.pipeline\("gemm:S_i_0\.j"\)\n     -      j\n', text)
    assert "+      j  (pipeline=1)" in text


@pytest.mark.slow
def test_demo_simulates_what_it_scheduled(monkeypatch: pytest.MonkeyPatch) -> None:
    demo = load("demo", monkeypatch)
    _, _, s = demo.scheduled_and_not("gemm", demo.gemm_steps, "MINI", lambda text: None)
    told = demo.simulated("gemm", s, "MINI").splitlines()
    assert "the bits are those of the CPU" in told[-2]
    cycles = re.fullmatch(r"gemm scheduled: ([\d,]+) cycles, simulated; ([\d,]+) were predicted", told[-1])
    assert cycles is not None and cycles[1] == cycles[2]


def test_demo_cuts_long_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    demo = load("demo", monkeypatch)
    lines = demo.changes("", "\n".join(f"line {n}" for n in range(50)))
    assert len(lines) == demo.SHOWN_LINES + 1 and lines[-1] == "  ... and 42 more lines"


def test_gemm_cpu_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    gemm_cpu = load("gemm_cpu", monkeypatch)
    *_, error = gemm_cpu.compare(gemm_cpu.schedule().build(), rounds=1)
    assert error < 1e-3  # sums of 1024 products of standard normal numbers, added in another order


@pytest.mark.slow
def test_gemm_cpu_reaches_half_of_numpy() -> None:
    command = [sys.executable, str(EXAMPLES / "gemm_cpu.py")]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    ratio = re.search(r"^ratio +([0-9.]+) of numpy", text, re.MULTILINE)
    assert ratio is not None and float(ratio[1]) >= 0.5


@pytest.mark.slow
def test_a_network_becomes_stages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    load("cnn/residual", monkeypatch).main(["--project", str(tmp_path / "project")])
    told = capsys.readouterr().out
    assert "23 arrays between layers became streams; 0 go through memory\n3,044 of 9,232 bytes" in told
    assert (tmp_path / "project" / "kernel.cpp").read_text().count("hls::stream<") >= 23


@pytest.mark.slow
def test_a_quantised_network_becomes_stages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    load("cnn/residual", monkeypatch).main(["--weights", "4"])
    told = capsys.readouterr().out
    assert "all 17 layers are within 0.25 of their largest element" in told
    assert "26 arrays between layers became streams; 0 go through memory\n1,109 of 5,204 bytes" in told
    assert told.endswith("results are those of the quantised network in NumPy, bit by bit\n")


@pytest.mark.slow
def test_a_language_model_becomes_an_accelerator(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    load("llm/generate", monkeypatch).main(["--streams", "2"])
    told = capsys.readouterr().out
    assert told.startswith("machine code says 33 tokens as PyTorch does: 5 16 11")
    assert "39 arrays between layers became streams; 3 go through memory" in told
    assert "generator, 33 tokens behind 1 on u55c at 300 MHz; all figures are *estimated*" in told
    assert told.endswith("the accelerator says 2 of them, simulated\n")
