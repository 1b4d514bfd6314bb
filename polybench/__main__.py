"""The command `python -m polybench`: evaluate the benchmarks, and write tables and a page."""

from __future__ import annotations

import argparse
import importlib
import sys
from concurrent.futures import Executor
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .evaluation import CHECKS, Evaluation, Task
from .page import page
from .run import run, tasks
from .suite import NAMES, SIZES, load
from .tables import in_terminal, write

MODEL_ERROR = "docs/estimator.md compares them with published designs."


def main() -> int:
    """0 if no check failed, 1 if one did, 2 if the command is wrong."""
    options = _parser().parse_args()
    console = Console()
    if options.command == "list":
        for name in NAMES:
            console.print(f"{name}: {', '.join(load(name).designs)}", highlight=False)
        return 0
    todo = tasks(options.kernel or NAMES, options.size or ["MEDIUM"], options.design, options.check)
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console
    )
    with bar:
        line = bar.add_task("", total=len(todo))

        def show(task: Task, result: Evaluation, known: bool) -> None:
            verdict = f"[red]{', '.join(result.failures)} failed[/red]" if result.failures else "ok"
            bar.update(line, advance=1, description=task.kernel)
            if not known:
                bar.console.print(f"{task.kernel} {task.design} {task.size}: {verdict}", highlight=False)

        results = run(
            todo,
            options.output,
            executor=_executor(options.executor),
            jobs=options.jobs,
            fresh=options.fresh,
            progress=show,
        )
    console.print(in_terminal(results))
    write(results, options.output)
    (options.output / "index.html").write_text(page(results, MODEL_ERROR), encoding="utf-8")
    console.print(f"written: {options.output}/results.csv, results.json, index.html", highlight=False)
    failed = [(r, name) for r in results for name in r.failures]
    for result, name in failed:
        console.print(f"{result.kernel} {result.design} {result.size}, {name}: {result.checks[name].detail}")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m polybench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the benchmarks and their designs")
    command = commands.add_parser("run", help="check, verify and estimate designs", description=run.__doc__)
    command.add_argument("--kernel", action="append", choices=NAMES, help="may be repeated; default: all")
    command.add_argument("--size", action="append", choices=SIZES, help="may be repeated; default: MEDIUM")
    command.add_argument(
        "--design", nargs="+", default=["vanilla", "best"], help="names of designs; default: vanilla best"
    )
    command.add_argument("--check", nargs="+", choices=CHECKS, default=list(CHECKS), help="default: all")
    command.add_argument("--jobs", type=int, help="processes; default: one a core")
    command.add_argument("--output", type=Path, default=Path("polybench-results"), help="folder for results")
    command.add_argument("--fresh", action="store_true", help="do not go on from results in the folder")
    command.add_argument(
        "--executor",
        metavar="MODULE:FUNCTION",
        help="a function of yours that gives an executor with the interface of concurrent.futures",
    )
    return parser


def _executor(name: str | None) -> Executor | None:
    if name is None:
        return None
    module, _, function = name.partition(":")
    try:
        made = getattr(importlib.import_module(module), function)()
    except (ImportError, AttributeError, ValueError) as problem:
        sys.exit(f"--executor {name}: {problem}")
    if not hasattr(made, "submit"):
        sys.exit(f"--executor {name}: a {type(made).__name__} has no `submit`")
    return made  # type: ignore[no-any-return]


if __name__ == "__main__":
    sys.exit(main())
