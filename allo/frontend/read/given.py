"""Kernels that a program gives as texts, and meanings that it gives to their free names."""

from __future__ import annotations
import __future__

import linecache
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

from ...errors import KernelError, Location

PACKAGE = str(Path(__file__).resolve().parents[2])

_GIVEN: ContextVar[Mapping[str, Any]] = ContextVar("given")


@contextmanager
def given_names(names: Mapping[str, Any] | None) -> Iterator[None]:
    """Free names of kernels that are read inside mean first what `names` say."""
    token = _GIVEN.set({} if names is None else names)
    try:
        yield
    finally:
        _GIVEN.reset(token)


def names_given() -> Mapping[str, Any]:
    """The names that a program has given for the kernel that is being read."""
    return _GIVEN.get({})


def kernel_of_text(text: str) -> FunctionType:
    """The last function that a text defines. Its names are those of who asks for it, and those given.

    Raises KernelError for a text that is no program of Python, or defines no function.
    """
    name = f"<kernel {sha256(text.encode()).hexdigest()[:12]}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name  # for sources and error messages
    names = {**_users_globals(), **names_given(), "__name__": "__main__"}
    try:
        code = compile(text, name, "exec", __future__.annotations.compiler_flag, dont_inherit=True)
    except SyntaxError as error:
        at = Location(name, error.lineno or 1, error.offset or 1)
        raise KernelError(f"the text is no program of Python: {error.msg}", at=at) from None
    before = dict(names)
    exec(code, names)
    made = [value for key, value in names.items() if isinstance(value, FunctionType) and before.get(key) is not value]
    if not made:
        raise KernelError("the text defines no kernel", hint="it is `def kernel(A: int32[4]): ...`")
    return made[-1]


def _users_globals() -> Mapping[str, Any]:
    """The global names of the program that calls this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return {} if frame is None else frame.f_globals
