"""Source of a kernel: its text with file and lines, and the values of its free names."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import sys
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from types import CodeType, FrameType, FunctionType
from typing import Any

from ...errors import KernelError, Location
from .given import PACKAGE, names_given

_INSTALLED = {"site-packages", "dist-packages"}  # folders of libraries, wherever they are
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})

Position = tuple[int, int, int]  # line, column (from 0), end column, in the file


@dataclass(frozen=True, slots=True)
class KernelSource:
    """A kernel: its syntax tree with the lines of the file, and the values of its free names."""

    function: FunctionType | None  # None for a kernel that is defined in another one
    tree: ast.FunctionDef
    file: str
    line_shift: int
    names: Mapping[str, Any]
    length: int  # characters of its text, or of the one that it is in

    @property
    def name(self) -> str:
        return self.tree.name

    @property
    def forgets_enclosing_names(self) -> bool:
        """Are its annotations texts, which nothing keeps the variables of the function around the kernel for?"""
        function = self.function
        if function is None or "<locals>" not in function.__qualname__:
            return False
        return bool(function.__code__.co_flags & annotations.compiler_flag)

    def position(self, node: ast.AST) -> Position:
        """Where `node` stands in the file."""
        try:
            own, column, last, end = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        except AttributeError:  # a node that was made here, or the arguments of a function
            own, column, last, end = self.tree.lineno, 0, getattr(node, "end_lineno", self.tree.lineno), 0
        return own + self.line_shift, column, (end or 0) if last == own else column + 1

    def location(self, position: Position) -> Location:
        """The place of an error, in characters: the syntax tree counts bytes of UTF-8."""
        line, start, end = position
        text = linecache.getline(self.file, line).encode()
        columns = (len(text[:place].decode(errors="ignore")) if text else place for place in (start, end))
        return Location(self.file, line, *(column + 1 for column in columns))


def read_kernel(function: Callable[..., Any]) -> KernelSource:
    """Parse the source of `function`; KernelError if it has none or is not a `def`."""
    if not isinstance(function, FunctionType):
        raise KernelError(
            f"a kernel must be a Python function, got a value of type {type(function).__name__}",
            hint="pass a function written with `def`, neither a method nor the result of a call",
        )
    if function.__name__ == "<lambda>":
        raise _no_def(function, function.__code__.co_firstlineno)
    try:
        own = inspect.unwrap(function)
        lines, first = inspect.findsource(own)
    except (OSError, TypeError):
        raise _unreadable(function) from None
    definition, before, length = _definition(lines, first, getattr(own, "__code__", None))
    if not isinstance(definition, ast.FunctionDef):
        if function.__code__.co_filename == "<string>":  # what Python found is another text of this name
            raise _unreadable(function)
        raise _no_def(function, definition.lineno + before)
    file = inspect.getsourcefile(function) or function.__code__.co_filename
    return KernelSource(function, definition, file, before, free_names(function), length)


def _definition(lines: list[str], first: int, code: CodeType | None) -> tuple[ast.stmt, int, int]:
    """The statement that begins in line `first` of a file, how many lines its tree counts too few, and its length."""
    text = lines[first]
    margin = len(text) - len(text.lstrip())
    last = max((line for *_, line in code.co_lines() if line), default=0) if code is not None else 0
    end = next((n for n in range(max(first + 1, last), len(lines)) if _starts_within(lines[n], margin)), len(lines))
    block = lines[first:end]
    try:
        tree = _parsed("".join(block), indented=margin > 0)
    except SyntaxError:  # the next line that looks like a statement is inside of a string or brackets of this one
        block = inspect.getblock(lines[first:])
        tree = _parsed("".join(block), indented=margin > 0)
    length = sum(map(len, block))
    return (tree.body[0], first - 1, length) if isinstance(tree, ast.If) else (tree, first, length)


def _starts_within(line: str, margin: int) -> bool:
    """Whether a statement that begins in `line` does not belong to one with that margin before it."""
    text = line.lstrip()
    return bool(text) and text[0] != "#" and len(line) - len(text) <= margin


@lru_cache(maxsize=256)
def _parsed(text: str, *, indented: bool) -> ast.stmt:
    """The first statement; below an `if` if it is indented: dedent would stop at a comment or a string in column 0.

    Texts that several kernels have, as those that one function makes, share a tree, which nobody changes.
    """
    return ast.parse(f"if True:\n{text}" if indented else text).body[0]


def belongs_to_a_library(function: object) -> bool:
    """Whether `function` is one of Allo or NumPy, which is no kernel; the templates of allo.library are kernels."""
    path = (getattr(function, "__module__", None) or "").split(".")
    return path[0] in ("allo", "numpy") and path[:2] != ["allo", "library"]


def _unreadable(function: FunctionType) -> KernelError:
    return KernelError(
        f"the source of kernel '{function.__name__}' cannot be read",
        hint="define the kernel with `def` in a file or a notebook cell, not in exec() or the bare prompt",
    )


def _no_def(function: FunctionType, line: int) -> KernelError:
    return KernelError(
        f"kernel '{function.__name__}' is not a `def` statement",
        at=Location(function.__code__.co_filename, line),
        hint="lambdas and async functions cannot be kernels; write `def`",
    )


def free_names(function: FunctionType) -> Mapping[str, Any]:
    """What the free names of `function` are bound to: closure over enclosing call over globals over builtins.

    What Python would not find is looked for in the variables of who asks for the kernel, and of who called them; what
    they give by name stands before all.
    """
    return {**_callers_locals(), **_own_names(function), **names_given()}


def is_of_callers(function: FunctionType, name: str) -> bool:
    """Whether `name` has a value only where the kernel is asked for."""
    return name not in _own_names(function)


def _own_names(function: FunctionType) -> dict[str, Any]:
    names: dict[str, Any] = dict(vars(builtins))
    names.update(function.__globals__)
    names.update(_enclosing_locals(function))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # not bound yet: a name that is assigned later in the enclosing function
            continue
    return names


def _callers_locals() -> dict[str, Any]:
    """The variables of the functions of the user that are calling this package, the nearest over those around it."""
    found: dict[str, Any] = {}
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(PACKAGE):
            if file.startswith(_LIBRARIES) or not _INSTALLED.isdisjoint(PurePath(file).parts):
                break  # a test runner, a notebook: their variables are not the user's
            if frame.f_locals is not frame.f_globals:
                found = {**frame.f_locals, **found}
        frame = frame.f_back
    return found


def knows_enclosing_names(function: FunctionType) -> bool:
    """Whether the variables of the function around `function` can be read: the call that defines it still runs."""
    return _enclosing_frame(function) is not None


def _enclosing_locals(function: FunctionType) -> Mapping[str, Any]:
    """The variables of the call that defines `function`, if it still runs: annotations are in no closure."""
    frame = _enclosing_frame(function)
    return {} if frame is None else frame.f_locals


def _enclosing_frame(function: FunctionType) -> FrameType | None:
    """The call that defines `function`, if it still runs."""
    code, frame = function.__code__, sys._getframe(1)
    while frame is not None:
        constants = frame.f_code.co_consts
        if code in constants and any(constant is code for constant in constants):
            return frame
        frame = frame.f_back  # type: ignore[assignment]
    return None
