"""Decides where the text of a kernel comes from and what its free names mean."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from ..errors import KernelError, Location

Position = tuple[int, int, int]  # line, column (from 0), end column, in the file


@dataclass(frozen=True, slots=True)
class KernelSource:
    """A kernel: its syntax tree with the lines of the file, and the values of its free names."""

    function: FunctionType | None  # None for a kernel that is defined in another one
    tree: ast.FunctionDef
    file: str
    line_shift: int
    names: Mapping[str, Any]

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
        own = getattr(node, "lineno", self.tree.lineno)
        column = getattr(node, "col_offset", 0)
        same_line = getattr(node, "end_lineno", own) == own
        end = (getattr(node, "end_col_offset", None) or 0) if same_line else column + 1
        return own + self.line_shift, column, end

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
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise _unreadable(function) from None
    indented = lines[0][:1].isspace()  # dedent would stop at a comment or a string in column 0
    tree = ast.parse("".join(["if True:\n", *lines] if indented else lines)).body[0]
    definition = tree.body[0] if isinstance(tree, ast.If) else tree
    before = first - (2 if indented else 1)
    if not isinstance(definition, ast.FunctionDef):
        if function.__code__.co_filename == "<string>":  # what Python found is another text of this name
            raise _unreadable(function)
        raise _no_def(function, definition.lineno + before)
    file = inspect.getsourcefile(function) or function.__code__.co_filename
    return KernelSource(function, definition, file, before, free_names(function))


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
    """What the free names of `function` are bound to: closure over enclosing call over globals over builtins."""
    names: dict[str, Any] = dict(vars(builtins))
    names.update(function.__globals__)
    names.update(_enclosing_locals(function))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # not bound yet: a name that is assigned later in the enclosing function
            continue
    return names


def _enclosing_locals(function: FunctionType) -> Mapping[str, Any]:
    """The variables of the call that defines `function`, if it still runs: annotations are in no closure."""
    frame = sys._getframe(1)
    while frame is not None:
        if any(constant is function.__code__ for constant in frame.f_code.co_consts):
            return frame.f_locals
        frame = frame.f_back  # type: ignore[assignment]
    return {}
