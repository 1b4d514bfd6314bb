"""The command `python -m polybench`: evaluate the benchmarks, and write tables and a page."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from allo.errors import nearest

from .attachments import FOLDER, write_attachments
from .evaluation import CHECKS, Evaluation, Task
from .page import page
from .run import run, tasks
from .suite import NAMES, SIZES, load
from .tables import in_terminal, verdict, write

MODEL_ERROR = "docs/estimator.md compares them with published designs."
WIDTH = 160  # of what is written to a file
ORIGINAL_NAMES = {"2mm": "two_mm", "3mm": "three_mm"}


def main() -> int:
    """0 if no check failed, 1 if one did, 2 if the command is wrong, 130 if it was interrupted."""
    parser = _parser()
    options = parser.parse_args()
    console = Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(width=WIDTH)
    if options.command == "list":
        for name in NAMES:
            console.print(f"{name}: {', '.join(load(name).designs)}", highlight=False)
        return 0
    todo = _tasks(parser, options)
    executor = _executor(parser, options.executor)
    try:
        options.output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=options.output):
            pass  # it can be written: better known now than after the first design
        results = _run(todo, options, executor, console)
        write(results, options.output)
        with console.status("writing schedules, code and reports"):
            write_attachments(results, options.output)
        (options.output / "index.html").write_text(page(results, MODEL_ERROR), encoding="utf-8")
    except KeyboardInterrupt:
        console.print(
            f"interrupted; what is finished is in {options.output}, and the same command goes on from there"
        )
        return 130
    except OSError as problem:
        parser.error(f"--output {options.output}: {problem.strerror}: {problem.filename}")
    for table in in_terminal(results):
        console.print(table)
    console.print(f"written: {options.output}/results.csv, results.json, index.html, {FOLDER}/", highlight=False)
    failed = [(r, name) for r in results for name in r.failures]
    for result, name in failed:
        detail = result.checks[name].detail
        console.print(f"{result.kernel} {result.design} {result.size}, {name}: {detail}", markup=False)
    return 1 if failed else 0


def _run(
    todo: list[Task], options: argparse.Namespace, executor: Executor | None, console: Console
) -> list[Evaluation]:
    """With a bar that counts checks, and a line for what is newly known."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )
    with bar:
        line = bar.add_task("", total=sum(len(task.checks) for task in todo))

        def show(task: Task, result: Evaluation, known: bool) -> None:
            bar.update(line, advance=len(task.checks), description=task.kernel)
            if not known:
                name, checks = f"{task.kernel} {task.design} {task.size}", ", ".join(task.checks)
                style = "red" if result.failures else None
                bar.console.print(f"{name}: {checks}: {verdict(result)}", highlight=False, style=style)

        return run(
            todo,
            options.output,
            executor=executor,
            jobs=options.jobs,
            fresh=options.fresh,
            progress=show,
        )


class _Parser(argparse.ArgumentParser):
    """A mistake is one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m polybench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the benchmarks and their designs")
    command = commands.add_parser(
        "run", help="check, verify, estimate and time designs", description=run.__doc__
    )
    command.add_argument("--kernel", nargs="+", action="extend", help="names of `list`; default: all")
    command.add_argument("--size", nargs="+", action="extend", help=f"{', '.join(SIZES)}; default: MEDIUM")
    command.add_argument(
        "--design", nargs="+", action="extend", help="names of designs; default: vanilla best cpu"
    )
    command.add_argument("--check", nargs="+", action="extend", help=f"{', '.join(CHECKS)}; default: all")
    command.add_argument("--jobs", type=int, help="processes; default: one a core")
    command.add_argument("--output", type=Path, default=Path("polybench-results"), help="folder for results")
    command.add_argument("--fresh", action="store_true", help="do not go on from results in the folder")
    command.add_argument(
        "--executor",
        metavar="MODULE:FUNCTION",
        help="a function of yours that gives an executor with the interface of concurrent.futures",
    )
    return parser


def _tasks(parser: argparse.ArgumentParser, options: argparse.Namespace) -> list[Task]:
    """What is asked for; a mistake in it ends the command."""
    given = options.kernel or NAMES
    sizes, checks = options.size or ["MEDIUM"], options.check or CHECKS
    _expect(parser, "--kernel", [name.replace("-", "_") for name in given], (*NAMES, *ORIGINAL_NAMES))
    kernels = [ORIGINAL_NAMES.get(name, name.replace("-", "_")) for name in given]
    _expect(parser, "--size", sizes, SIZES)
    _expect(parser, "--check", checks, CHECKS)
    designs = list(dict.fromkeys(design for name in kernels for design in load(name).designs))
    _expect(parser, "--design", options.design or (), designs)
    if options.jobs is not None and options.jobs < 1:
        parser.error(f"--jobs {options.jobs}: must be at least 1")
    wanted = options.design or ["vanilla", "best", "cpu"]
    todo = tasks(kernels, sizes, wanted, checks)
    if not todo:
        parser.error(f"nothing to do: --check {' '.join(checks)} is not for --design {' '.join(wanted)}")
    return todo


def _expect(parser: argparse.ArgumentParser, option: str, given: Sequence[str], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            parser.error(
                f"{option} {name}: unknown; {nearest(name, known) or 'there are ' + ', '.join(known)}"
            )


def _executor(parser: argparse.ArgumentParser, name: str | None) -> Executor | None:
    if name is None:
        return None
    module, _, function = name.partition(":")
    if not function:
        parser.error(f"--executor {name}: say the function too, MODULE:FUNCTION")
    try:
        made: Any = getattr(importlib.import_module(module), function)()
    except (ImportError, AttributeError, ValueError) as problem:
        parser.error(f"--executor {name}: {problem}")
    if not hasattr(made, "submit"):
        parser.error(f"--executor {name}: a {type(made).__name__} has no `submit`")
    return made  # type: ignore[no-any-return]


if __name__ == "__main__":
    sys.exit(main())
