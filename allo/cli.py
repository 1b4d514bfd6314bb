"""The `allo` command: print, check, apply and build what is in files."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from .customize import Schedule, customize
from .customize.step.text import parse_steps
from .equivalence import verify
from .errors import AlloError, counted, nearest
from .estimate import estimate
from .frontend.read.source import belongs_to_a_library
from .verify import Different, Equivalent

_DESIGN = "a kernel, a schedule or a function that makes one, as `file.py:name`; or a module, `file.mlir`"
_EXIT_REFUSED, _EXIT_USAGE = 1, 2
_EXIT_DIFFERENT, _EXIT_UNKNOWN, _EXIT_BAD_INPUT = 1, 2, 3  # of `check`

type _Command = Callable[[argparse.Namespace], int | None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 0, 1 if Allo refuses the input, 2 if the command itself is wrong.

    That of `check` is 0 if the schedule is equivalent to its kernel, 1 if it is different, 2 if that is unknown, 3 if
    Allo refuses the input, the file raises an error of its own or the command is wrong.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    is_check = given[:1] == ["check"]
    try:
        options = _parser().parse_args(given)
        run: _Command = options.run
        code = run(options)
        sys.stdout.flush()
        return code or 0
    except SystemExit as end:
        if is_check and end.code == _EXIT_USAGE:
            raise SystemExit(_EXIT_BAD_INPUT) from None
        raise
    except AlloError as error:
        print(error, file=sys.stderr)
        return _EXIT_BAD_INPUT if is_check else _EXIT_REFUSED
    except _UsageError as error:
        print(f"allo: {error}", file=sys.stderr)
        return _EXIT_BAD_INPUT if is_check else _EXIT_USAGE
    except BrokenPipeError:  # the reader of the output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception:
        if not is_check:  # Python's own exit code of an error is that of a difference
            raise
        traceback.print_exc()
        return _EXIT_BAD_INPUT
    return 0


class _UsageError(Exception):
    """The command names something that is not there."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="allo", description="Print, check, apply and build schedules.")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, run: _Command, text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.add_argument("design", help=_DESIGN)
        sub.add_argument(
            "--link", action="append", default=[], metavar="FILE",
            help="C++ or a shared object with functions that a module only declares; it runs in this process",
        )  # fmt: skip
        sub.set_defaults(run=run)
        return sub

    shown = command("print", _print, "print the module after all steps")
    form = shown.add_mutually_exclusive_group()
    form.add_argument("--loops", action="store_true", help="the loop nests of all functions as a tree")
    form.add_argument("--python", action="store_true", help="the functions as Python-like text")
    form.add_argument("--report", action="store_true", help="trip counts, bytes moved, arrays and their banks")
    form.add_argument("--diff", type=int, metavar="K", help="what step K (the first is 0) changed")
    checked = command("check", _check, "apply all steps and verify the result; the exit code is the answer")
    checked.add_argument("--against", metavar="DESIGN", help="compare with this, not with the unscheduled kernel")
    checked.add_argument("--reassociate", action="store_true", help="sums of floats may be added in any order")
    checked.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="(default: 60)")
    checked.add_argument("--json", action="store_true", help="print the answer as JSON")
    applied = command("apply", _apply, "apply steps and print the module")
    applied.add_argument("--steps", type=Path, help="a file of printed steps to apply behind those of the design")
    applied.add_argument("-o", "--output", type=Path, help="write the module to this file")
    steps = command("steps", _steps, "print the steps as Python, or as operations of MLIR behind the module")
    steps.add_argument("--mlir", action="store_true", help="as operations; `allo apply` takes this text")
    estimated = command("estimate", _estimate, "cycles and resources on hardware, estimated, with what binds them")
    estimated.add_argument("--target", default="u280", help="a description of hardware, by name or as a TOML file")
    estimated.add_argument("--frequency", type=float, metavar="MHZ", help="a clock other than that of the target")
    estimated.add_argument("--auto-pipeline", action="store_true", help="pipeline innermost loops, as Vitis HLS does")
    estimated.add_argument("--memory", help="where arguments lie, such as HBM (default: on the chip)")
    shape = estimated.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="as JSON")
    shape.add_argument("--html", type=Path, metavar="FILE", help="as a page with the tree of loops")
    built = command("build", _build, "build for a target")
    built.add_argument("--target", help="the target (default: the CPU)")
    built.add_argument("--mode", help="the mode of the target")
    built.add_argument("--project", help="the folder of the project")
    built.add_argument("--config", action="append", metavar="NAME=VALUE", help="a setting, such as frequency=250")
    return parser


def load(design: str, link: Sequence[str] = ()) -> Schedule:
    """The schedule that `file.py:name` or `file.mlir` means; `link` has functions that the latter declares."""
    path, colon, name = design.rpartition(":")
    if not colon or path == "":
        path, name = design, ""
    file = Path(path)
    if not file.is_file():
        raise _UsageError(f"there is no file '{path}'")
    if file.suffix != ".py":
        return Schedule.from_mlir(file, link=link)
    if link:
        raise _UsageError(f"--link is for modules; '{path}' says itself what its kernels call")
    found = vars(_imported(file.resolve()))
    if name not in found:
        known = [n for n, value in found.items() if _is_design(value)]
        hint = nearest(name, known) or f"it defines {', '.join(known) or 'no kernel and no schedule'}"
        raise _UsageError(f"'{path}' has no '{name}'; {hint}" if name else f"say what of '{path}': {path}:name; {hint}")
    return _schedule(found[name], name)


def _is_design(value: object) -> bool:
    """Whether a value may be a kernel or a schedule, and no function that a file has imported from a library."""
    if isinstance(value, FunctionType):
        return not belongs_to_a_library(value) and value.__module__ not in sys.stdlib_module_names
    return isinstance(value, Schedule)


def _imported(file: Path) -> ModuleType:
    """The Python module that `file` is: one of a package if there is an `__init__.py` beside it."""
    root, name = file.parent, file.stem
    while (root / "__init__.py").is_file():
        root, name = root.parent, f"{root.name}.{name}"
    sys.path.insert(0, str(root))
    if "." in name:
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    return module


def _schedule(value: Any, name: str) -> Schedule:
    if isinstance(value, Schedule):
        return value
    if not callable(value):
        raise _UsageError(f"'{name}' is a value of type {type(value).__name__}, neither a schedule nor a kernel")
    if _makes_schedule(value):
        made = value()
        if isinstance(made, Schedule):
            return made
        raise _UsageError(f"'{name}()' gave a value of type {type(made).__name__}, not a schedule")
    return customize(value)


def _makes_schedule(function: Callable[..., Any]) -> bool:
    """Can it be called without arguments, and does it not say that its result is another thing?"""
    signature = inspect.signature(function)
    result = getattr(signature.return_annotation, "__name__", str(signature.return_annotation))
    open_ends = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return result.rpartition(".")[2] in ("_empty", "Schedule") and all(
        p.default is not p.empty or p.kind in open_ends for p in signature.parameters.values()
    )


def _print(options: argparse.Namespace) -> None:
    schedule = load(options.design, options.link)
    if options.loops:
        for function in schedule.ir.functions():
            print(schedule.get_loops(function.name.value))
    elif options.python:
        print(schedule.pseudocode())
    elif options.report:
        print(schedule.report())
    elif options.diff is not None:
        print(schedule.diff(options.diff))
    else:
        print(schedule.module)


def _estimate(options: argparse.Namespace) -> None:
    found = estimate(
        load(options.design, options.link), options.target, frequency=options.frequency,
        auto_pipeline=options.auto_pipeline, memory=options.memory,
    )  # fmt: skip
    if options.html is not None:
        _write(options.html, found.to_html())
    else:
        print(found.to_json() if options.json else found)


def _check(options: argparse.Namespace) -> int:
    schedule = load(options.design, options.link)
    against = _against(options) or schedule.state(0)
    settings = {"reassociate": options.reassociate, "timeout": options.timeout}
    result = verify(against, schedule, **settings)
    if options.json:
        print(result.to_json())
    else:
        print(f"{schedule.top_func_name}: the kernel is valid; {counted(len(schedule.steps), 'step')} accepted")
        proven = f"equivalent to {options.against or 'the unscheduled kernel'}"
        print(f"{proven}, by {result.method}" if isinstance(result, Equivalent) else result)
    if isinstance(result, Equivalent):
        return 0
    return _EXIT_DIFFERENT if isinstance(result, Different) else _EXIT_UNKNOWN


def _against(options: argparse.Namespace) -> Schedule | None:
    if options.against is None:
        return None
    is_module = Path(options.against).suffix == ".mlir"
    return load(options.against, options.link if is_module else ())


def _apply(options: argparse.Namespace) -> None:
    schedule = load(options.design, options.link)
    if options.steps is not None:
        if not options.steps.is_file():
            raise _UsageError(f"there is no file '{options.steps}'")
        text = options.steps.read_text()
        schedule.replay(parse_steps(text, Schedule.primitives(), str(options.steps)))
    text = f"{schedule.module}\n"
    if options.output is None:
        print(text, end="")
        return
    _write(options.output, text)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text)
    except OSError as error:
        raise _UsageError(f"cannot write '{file}': {error.strerror}") from None


def _steps(options: argparse.Namespace) -> None:
    schedule = load(options.design, options.link)
    print(schedule.to_mlir() if options.mlir else schedule.steps, end="")


def _build(options: argparse.Namespace) -> None:
    schedule = load(options.design, options.link)
    configs = _settings(options.config) if options.config else None
    built = schedule.build(target=options.target, mode=options.mode, project=options.project, configs=configs)
    print(built)


def _settings(entries: Sequence[str]) -> dict[str, Any]:
    """`NAME=VALUE` as settings; a value is JSON, or else text."""
    settings: dict[str, Any] = {}
    for entry in entries:
        name, sign, text = entry.partition("=")
        if not sign:
            raise _UsageError(f"--config {entry}: write it as NAME=VALUE")
        try:
            settings[name] = json.loads(text)
        except ValueError:
            settings[name] = text
    return settings


if __name__ == "__main__":
    sys.exit(main())
