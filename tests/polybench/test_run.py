"""`python -m polybench run`: results of each design, resumed, in any executor, with failures named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from allo.ir.types import float32
from polybench import Design, evaluation, load
from polybench.evaluation import Evaluation, Task, evaluate
from polybench.page import page
from polybench.run import run, tasks
from polybench.tables import rows, write

ROOT = Path(__file__).resolve().parents[2]
QUICK = ("cpu",)


def done(*arguments: Any, **options: Any) -> tuple[list[Evaluation], list[bool]]:
    """The results, and which of them were known before."""
    known: list[bool] = []
    results = run(*arguments, progress=lambda _, __, old: known.append(old), **options)
    return results, known


@pytest.fixture
def threads() -> Any:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_a_task_for_each_design_that_there_is() -> None:
    chosen = tasks(["gemm", "adi"], ["MINI"], ["vanilla", "dsp220"], QUICK)
    assert [task.name for task in chosen if task.kernel == "gemm"] == ["gemm-vanilla-MINI", "gemm-dsp220-MINI"]


def test_results_are_kept_and_not_computed_again(tmp_path: Path, threads: Executor) -> None:
    chosen = tasks(["atax"], ["MINI"], ["vanilla", "best"], QUICK)
    first, known = done(chosen, tmp_path, executor=threads)
    assert [r.checks["cpu"].status for r in first] == ["passed", "passed"]
    assert known == [False, False]
    assert done(chosen, tmp_path, executor=threads) == (first, [True, True])
    assert done(chosen, tmp_path, executor=threads, fresh=True)[1] == [False, False]


def test_other_checks_and_broken_files_are_computed_again(tmp_path: Path, threads: Executor) -> None:
    (chosen,) = tasks(["atax"], ["MINI"], ["vanilla"], QUICK)
    done([chosen], tmp_path, executor=threads)
    assert done([replace(chosen, checks=("cpu", "c"))], tmp_path, executor=threads)[1] == [False]
    (tmp_path / "atax-vanilla-MINI.json").write_text("{")
    assert done([chosen], tmp_path, executor=threads)[1] == [False]


def with_design(name: str, design: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    original = load(name)
    changed = replace(original, designs={"vanilla": design})
    monkeypatch.setattr(evaluation, "load", lambda wanted: changed if wanted == name else load(wanted))


def test_a_wrong_design_fails_its_check(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(size: str) -> Any:
        right = load("bicg").kernel(size)

        def bicg(A: float32[42, 38], s: float32[38], q: float32[42], p: float32[38], r: float32[42]):
            for i in range(42):
                q[i] = r[i] + 1

        assert right.__name__ == "bicg"
        return bicg

    with_design("bicg", Design(wrong), monkeypatch)
    found = evaluate(Task("bicg", "vanilla", "MINI", QUICK))
    assert found.failures == ["cpu"]
    assert found.checks["cpu"].detail.endswith("rounding explains 2e-05")


def test_a_check_that_raises_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> tuple[str, str]:
        raise ValueError("no luck")

    monkeypatch.setattr(evaluation, "_on_cpu", broken)
    found = evaluate(Task("atax", "vanilla", "MINI", ("cpu", "c")))
    assert (found.checks["cpu"].status, found.checks["cpu"].detail) == ("error", "ValueError: no luck")
    assert found.checks["c"].status in ("passed", "skipped")


class Dying(Executor):
    """An executor whose machines are gone."""

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(ConnectionError("the machine is gone"))
        return future


def test_a_lost_machine_costs_its_task(tmp_path: Path) -> None:
    (result,) = run(tasks(["atax"], ["MINI"], ["best"], QUICK), tmp_path, executor=Dying())
    assert (result.failures, result.checks["compile"].detail) == (["compile"], "ConnectionError: the machine is gone")


def test_files_and_page(tmp_path: Path, threads: Executor) -> None:
    results = run(tasks(["atax"], ["MINI"], ["vanilla", "best"], QUICK), tmp_path, executor=threads)
    write(results, tmp_path)
    assert (tmp_path / "results.csv").read_text().splitlines()[1].startswith("atax,vanilla,MINI,yes,")
    assert [r["extents"] for r in json.loads((tmp_path / "results.json").read_text())] == [[38, 42]] * 2
    text = page(results, "The error is known.")
    assert text.count("<svg") == 2 and "The error is known." in text
    assert page(results, "The error is known.") == text


def test_evaluations_survive_json() -> None:
    found = evaluate(Task("atax", "best", "MINI", QUICK))
    assert Evaluation.from_json(json.loads(json.dumps(found.as_json()))) == found
    assert rows([found])[0]["cpu"] == "yes"


def test_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "polybench", "run", "--kernel", "atax", "--size", "MINI"]
    command += ["--check", "cpu", "--jobs", "1", "--output", str(tmp_path / "results")]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "COLUMNS": "120"})
    assert ended.returncode == 0, ended.stderr
    assert "atax best MINI: ok" in ended.stdout
    assert (tmp_path / "results" / "index.html").exists()


def test_an_executor_that_is_not_there(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "polybench", "run", "--executor", "nowhere:client", "--output", str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (1, "--executor nowhere:client: No module named 'nowhere'\n")


