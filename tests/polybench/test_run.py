"""`python -m polybench run`: results of each design, resumed, in any executor, with failures named."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from allo.ir.types import float32
from polybench import Design, evaluation, load
from polybench.__main__ import _parser, _tasks, main
from polybench.evaluation import Evaluation, Task, evaluate
from polybench.in_c import is_available
from polybench.page import page
from polybench.run import run, tasks
from polybench.tables import rows, write

ROOT = Path(__file__).resolve().parents[2]
QUICK = ("cpu",)
DESIGNS = ("vanilla", "best", "cpu")


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
    chosen = tasks(["gemm", "adi"], ["MINI"], ["vanilla", "dsp194"], QUICK)
    assert [task.name for task in chosen if task.kernel == "gemm"] == [
        "gemm-vanilla-MINI",
        "gemm-dsp194-MINI",
    ]


def test_the_commands_of_the_page_ask_for_what_there_is() -> None:
    text = (ROOT / "docs" / "polybench.md").read_text()
    commands = re.findall(r"^    python -m polybench (run.*?)(?:#.*)?$", text, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        assert _tasks(_parser(), _parser().parse_args(command.split()))


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
    both, known = done([replace(chosen, checks=("cpu", "c"))], tmp_path, executor=threads)
    assert known == [True, False] and list(both[0].checks) == ["cpu", "c"]
    (only_one,), known = done([chosen], tmp_path, executor=threads)
    assert known == [True] and list(only_one.checks) == ["cpu"]
    (tmp_path / "atax-vanilla-MINI.json").write_text("{")
    assert done([chosen], tmp_path, executor=threads)[1] == [False]


def test_a_failed_check_is_done_again(tmp_path: Path, threads: Executor) -> None:
    (chosen,) = tasks(["atax"], ["MINI"], ["vanilla"], ("cpu", "c"))
    done([chosen], tmp_path, executor=threads)
    file = tmp_path / "atax-vanilla-MINI.json"
    found = json.loads(file.read_text())
    found["checks"]["c"]["status"] = "failed"
    file.write_text(json.dumps(found))
    times: list[tuple[str, ...]] = []
    run(
        [chosen],
        tmp_path,
        executor=threads,
        progress=lambda task, _, old: times.append((*task.checks, str(old))),
    )
    assert times == [("cpu", "True"), ("c", "False")]


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


class Elsewhere:
    """A client whose futures are of a class of its own, as dask's: a callback, and a result."""

    def submit(self, function: Any, *arguments: Any) -> Any:
        class Result:
            def add_done_callback(self, called: Any) -> None:
                called(self)

            def result(self) -> Any:
                return function(*arguments)

        return Result()


def test_futures_of_another_library(tmp_path: Path) -> None:
    client: Any = Elsewhere()
    (result,) = run(tasks(["atax"], ["MINI"], ["best"], QUICK), tmp_path, executor=client)
    assert result.checks["cpu"].status == "passed"


class Closed:
    """A client that takes nothing any more."""

    def submit(self, *_: Any) -> Any:
        raise RuntimeError("this client is closed")


def test_a_closed_client_costs_all_tasks(tmp_path: Path) -> None:
    client: Any = Closed()
    results = run(tasks(["atax", "bicg"], ["MINI"], ["best"], QUICK), tmp_path, executor=client)
    assert [r.checks["compile"].detail for r in results] == ["RuntimeError: this client is closed"] * 2


def test_an_interrupt_cancels_what_an_executor_has_not_begun(tmp_path: Path, threads: Executor) -> None:
    chosen = tasks(["atax", "bicg", "mvt", "gemm"], ["MINI"], ["vanilla"], QUICK)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(chosen, tmp_path, executor=threads, progress=interrupted)
    threads.shutdown()
    assert [path.name for path in tmp_path.iterdir()] == ["atax-vanilla-MINI.json"]


def test_an_executor_by_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    given = [
        "polybench",
        "run",
        "--kernel",
        "atax",
        "--size",
        "MINI",
        "--check",
        "cpu",
        "--output",
        str(tmp_path),
    ]
    monkeypatch.setattr(sys, "argv", [*given, "--executor", "concurrent.futures:ThreadPoolExecutor"])
    assert main() == 0
    assert "atax best MINI: cpu: ok\n" in capsys.readouterr().out


def test_a_lost_machine_costs_its_task(tmp_path: Path) -> None:
    (result,) = run(tasks(["atax"], ["MINI"], ["best"], QUICK), tmp_path, executor=Dying())
    assert (result.failures, result.checks["compile"].detail) == (
        ["compile"],
        "ConnectionError: the machine is gone",
    )


def test_files_and_page(tmp_path: Path, threads: Executor) -> None:
    chosen = tasks(["bicg"], ["MINI"], ["vanilla", "best", "cpu"], ("cpu", "estimate", "time"))
    results = run(chosen, tmp_path, executor=threads)
    write(results, tmp_path)
    lines = (tmp_path / "results.csv").read_text().splitlines()
    assert [line.split(",")[:4] for line in lines[1:]] == [["bicg", d, "MINI", "yes"] for d in DESIGNS]
    assert [r["extents"] for r in json.loads((tmp_path / "results.json").read_text())] == [[38, 42]] * 3
    text = page(results, "The error is known.")
    headings = ["Speed-up over vanilla (estimated cycles)", "Times as fast as C on one core (measured)"]
    assert all(f"<h2>{heading}</h2>" in text for heading in headings)
    assert text.count("<svg") == 3 and "The error is known." in text
    assert page(results, "The error is known.") == text


def test_published_points_are_drawn_at_their_size_only() -> None:
    found = [evaluate(Task("mvt", "vanilla", size, ("estimate",))) for size in ("MINI", "MEDIUM")]
    assert "mvt, MEDIUM: cycles against DSPs" in page(found, "") and "cycles against" not in page(
        found[:1], ""
    )


def test_checks_are_for_some_designs() -> None:
    chosen = tasks(["gemm"], ["MINI"], DESIGNS)
    assert {task.design: task.checks for task in chosen} == {
        "vanilla": ("cpu", "c", "csim", "verify", "estimate", "time"),
        "best": ("cpu", "csim", "verify", "estimate"),
        "cpu": ("cpu", "verify", "time"),
    }
    assert [task.design for task in tasks(["gemm"], ["MINI"], DESIGNS, ("c",))] == ["vanilla"]


@pytest.mark.skipif(not is_available(), reason="needs gcc")
@pytest.mark.parametrize("design", ["vanilla", "cpu"])
def test_times_are_those_of_pairs(design: str) -> None:
    found = evaluate(Task("gemm", design, "MINI", ("time",)))
    timing = found.timing
    assert timing is not None and timing.rounds == 7
    assert min(timing.milliseconds, timing.c, timing.restrict, timing.of_c, timing.of_restrict) > 0
    assert rows([found])[0]["of C"] == round(timing.of_c, 3)


def test_evaluations_survive_json() -> None:
    found = evaluate(Task("atax", "best", "MINI", QUICK))
    assert Evaluation.from_json(json.loads(json.dumps(found.as_json()))) == found
    assert rows([found])[0]["cpu"] == "yes"


def command(*arguments: Any) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "polybench", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "120"}
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, env=environment, timeout=300)


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    arguments = [
        "run",
        "--kernel",
        "atax",
        "--size",
        "MINI",
        "--check",
        "cpu",
        "time",
        "--jobs",
        1,
        "--output",
        tmp_path,
    ]
    ended = command(*arguments)
    assert ended.returncode == 0, ended.stderr
    lines = [line for line in ended.stdout.splitlines() if line.startswith("atax")]
    assert sorted(lines[:3]) == [
        "atax best MINI: cpu: ok",
        "atax vanilla MINI: cpu: ok",
        "atax vanilla MINI: time: ok",
    ]
    assert (tmp_path / "index.html").exists()
    again = command(*arguments)
    assert again.returncode == 0 and "atax best MINI: cpu: ok" not in again.stdout


INTERRUPTIBLE = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # which jobs in the background of a shell do not have
runpy.run_module("polybench", run_name="__main__")
"""


def test_an_interrupt_keeps_what_is_finished(tmp_path: Path) -> None:
    arguments = ["run", "--size", "MINI", "--check", "cpu", "--jobs", 2, "--output", tmp_path]
    line = [sys.executable, "-c", INTERRUPTIBLE, *map(str, arguments)]
    begun = subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert begun.stdout is not None
    while ": ok" not in begun.stdout.readline():
        assert begun.poll() is None
    begun.send_signal(signal.SIGINT)
    output, errors = begun.communicate(timeout=60)
    assert (begun.returncode, errors) == (130, "")
    message = f"interrupted; what is finished is in {tmp_path}, and the same command goes on from there"
    assert message in output.replace("\n", " ").replace("  ", " ")
    kept = list(tmp_path.iterdir())
    assert kept and all(re.fullmatch(r"\w+-\w+-MINI\.json", path.name) for path in kept)
    for path in kept:  # whole, as any file that a later run goes on from
        found = Evaluation.from_json(json.loads(path.read_text()))
        assert list(found.checks) == ["cpu"] and not found.failures


KNOWN_CHECKS = "cpu, c, csim, verify, estimate, time"
MISTAKES = {
    ("--kernel", "gem"): "--kernel gem: unknown; did you mean 'gemm'?",
    ("--kernel", "3mn"): "--kernel 3mn: unknown; did you mean '3mm'?",
    ("--size", "BIG"): "--size BIG: unknown; there are MINI, SMALL, MEDIUM, LARGE, EXTRALARGE",
    ("--design", "bst"): "--design bst: unknown; did you mean 'best'?",
    ("--check", "proof"): f"--check proof: unknown; there are {KNOWN_CHECKS}",
    ("--design", "best", "--check", "c", "time"): "nothing to do: --check c time is not for --design best",
    ("--jobs", "0"): "--jobs 0: must be at least 1",
    ("--output", "/dev/null"): "--output /dev/null: File exists: /dev/null",
    ("--output", "/dev/null/x"): "--output /dev/null/x: Not a directory: /dev/null/x",
    ("--executor", "nowhere:client"): "--executor nowhere:client: No module named 'nowhere'",
    ("--executor", "os:nothing"): "--executor os:nothing: module 'os' has no attribute 'nothing'",
    ("--executor", "os"): "--executor os: say the function too, MODULE:FUNCTION",
    ("--executor", "os:getcwd"): "--executor os:getcwd: a str has no `submit`",
}


@pytest.mark.parametrize("arguments", MISTAKES, ids=" ".join)
def test_a_mistake_is_one_line(
    arguments: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    given = ["polybench", "run", "--kernel", "gemm", "--size", "MINI", "--output", str(tmp_path), *arguments]
    monkeypatch.setattr(sys, "argv", given)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr() == ("", f"python -m polybench: {MISTAKES[arguments]}\n")


def test_a_file_of_results_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "gemm-vanilla-MINI.json"
    file.mkdir()
    given = [
        "polybench",
        "run",
        "--kernel",
        "gemm",
        "--size",
        "MINI",
        "--check",
        "cpu",
        "--output",
        str(tmp_path),
    ]
    monkeypatch.setattr(sys, "argv", given)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"python -m polybench: --output {tmp_path}: Is a directory: {file}\n"
