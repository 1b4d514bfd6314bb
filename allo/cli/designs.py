"""Designs that the command names: kernels and schedules of Python files, modules of MLIR, both also from stdin."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import linecache
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from ..customize import Schedule, customize
from ..errors import AlloError, nearest
from ..frontend.read.source import belongs_to_a_library

STDIN = "-"
TYPED = "<stdin>"  # the file of a design that is not in a file


class WrongCommand(Exception):
    """The command names something that is not there."""


class DesignFailed(Exception):
    """The file of a design raised an error of its own, its cause."""


def load(design: str, link: Sequence[str] = ()) -> Schedule:
    """The schedule that `file.py:name` or `file.mlir` means, `-:name` and `-` from stdin.

    `link` has functions that a module declares.
    """
    path, name = split_name(design)
    if path == STDIN:
        text = read(STDIN)
        if not name:
            return Schedule.from_mlir(text, link=link)
    elif not Path(path).is_file():
        raise WrongCommand(f"there is no file '{path}'")
    elif Path(path).suffix != ".py":
        read(path)
        return Schedule.from_mlir(Path(path), link=link)
    if link:
        raise WrongCommand(f"--link is for modules; '{path}' says itself what its kernels call")
    with _errors_of_design():
        found = vars(_typed(text) if path == STDIN else _imported(Path(path).resolve()))
    if name not in found:
        known = [n for n, value in found.items() if _is_design(value)]
        hint = nearest(name, known) or f"it defines {', '.join(known) or 'no kernel and no schedule'}"
        told = f"'{path}' has no '{name}'; {hint}" if name else f"say what of '{path}': {path}:name; {hint}"
        raise WrongCommand(told)
    return _schedule(found[name], name)


def read(path: str) -> str:
    """The text of a file, or of stdin. Raises WrongCommand if there is none."""
    if path != STDIN and not Path(path).is_file():
        raise WrongCommand(f"there is no file '{path}'")
    try:
        return sys.stdin.read() if path == STDIN else Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise WrongCommand(f"cannot read '{TYPED if path == STDIN else path}': {why}") from None


def split_name(design: str) -> tuple[str, str]:
    """The path and the name of a design; a path may have colons."""
    path, colon, name = design.rpartition(":")
    found = (path, name) if colon and path else (design, "")
    return (STDIN, found[1]) if found[0] == TYPED else found


def completions(incomplete: str) -> list[str]:
    """What a shell may complete a design to: files, and behind a colon what a file defines, which is not run."""
    path, name = split_name(incomplete)
    if path == incomplete and not incomplete.endswith(":"):
        folder, prefix = Path(path).parent, "" if path.endswith("/") else Path(path).name
        folder = Path(path) if path.endswith("/") else folder
        found = sorted(folder.glob(f"{prefix}*")) if folder.is_dir() else []
        return [f"{p}/" if p.is_dir() else str(p) for p in found if p.is_dir() or p.suffix in (".py", ".mlir")]
    try:
        body = ast.parse(Path(path).read_text()).body
    except (OSError, SyntaxError, ValueError):
        return []
    names = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    assigned = [node.targets for node in body if isinstance(node, ast.Assign)]
    names += [target.id for targets in assigned for target in targets if isinstance(target, ast.Name)]
    return [f"{path}:{found}" for found in names if found.startswith(name)]


@contextmanager
def _errors_of_design() -> Iterator[None]:
    """What a file of the user raises, and its `sys.exit`, is neither an answer nor a fault of the command."""
    try:
        yield
    except (AlloError, KeyboardInterrupt):
        raise
    except (Exception, SystemExit) as error:
        raise DesignFailed from error


def _is_design(value: object) -> bool:
    """Whether a value may be a kernel or a schedule, and no function that a file has imported from a library."""
    if isinstance(value, FunctionType):
        return not belongs_to_a_library(value) and value.__module__ not in sys.stdlib_module_names
    return isinstance(value, Schedule)


def _typed(text: str) -> ModuleType:
    """The Python module that stdin has."""
    linecache.cache[TYPED] = (len(text), None, text.splitlines(keepends=True), TYPED)
    module = ModuleType("design_of_stdin")
    module.__file__ = TYPED
    sys.modules[module.__name__] = module
    exec(compile(text, TYPED, "exec"), vars(module))
    return module


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
        raise WrongCommand(f"'{name}' is a value of type {type(value).__name__}, neither a schedule nor a kernel")
    if _makes_schedule(value):
        with _errors_of_design():
            made = value()
        if isinstance(made, Schedule):
            return made
        raise WrongCommand(f"'{name}()' gave a value of type {type(made).__name__}, not a schedule")
    return customize(value)


def _makes_schedule(function: Callable[..., Any]) -> bool:
    """Can it be called without arguments, and does it not say that its result is another thing?"""
    signature = inspect.signature(function)
    result = getattr(signature.return_annotation, "__name__", str(signature.return_annotation))
    open_ends = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return result.rpartition(".")[2] in ("_empty", "Schedule") and all(
        p.default is not p.empty or p.kind in open_ends for p in signature.parameters.values()
    )
