"""Output of the command: colours on a terminal, plain text in pipes and with NO_COLOR, files."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import TextIO

from .. import tracebacks
from .designs import DesignFailed, WrongCommand

_OF_PYTHON = ("<frozen ",)  # frames of the machinery of imports


def _is_coloured(stream: TextIO) -> bool:
    if not stream.isatty():
        return False
    from rich.console import Console

    console = Console(file=stream)
    return console.is_terminal and not console.no_color and not console.is_dumb_terminal


def show(text: object, language: str) -> None:
    """Print a result; `language` is what Pygments calls its syntax."""
    shown = str(text)
    if not _is_coloured(sys.stdout):
        print(shown)
        return
    from rich.console import Console
    from rich.syntax import Syntax

    syntax = Syntax("", language, theme="ansi_dark", background_color="default")
    coloured = syntax.highlight(shown)
    coloured.rstrip()
    Console().print(coloured, soft_wrap=True)


def complain(text: str) -> None:
    """Print an error; on a terminal, its first line, the caret and the hints stand out."""
    if not _is_coloured(sys.stderr):
        print(text, file=sys.stderr)
        return
    from rich.console import Console
    from rich.text import Text

    coloured = Text(text)
    coloured.highlight_regex(r"(?m)^\S.*$", "bold")
    coloured.highlight_regex(r"(?m)^ +\^+$", "bold red")
    coloured.highlight_regex(r"(?m)^  hint: .*$|; did you mean .*$", "cyan")
    coloured.highlight_regex(r"^allo:", "bold red")
    Console(stderr=True).print(coloured, soft_wrap=True)


def tell(text: str) -> None:
    """Print what is no result on stderr, so that pipes get the result only."""
    print(text, file=sys.stderr)


def write(file: Path, text: str) -> None:
    """Write a result to a file. Raises WrongCommand if that cannot be."""
    try:
        file.write_text(text)
    except OSError as error:
        raise WrongCommand(f"cannot write '{file}': {error.strerror}") from None


def complain_of_design(failed: DesignFailed) -> None:
    """Print the error of a file with its frames, without those that led to it."""
    error = failed.__cause__
    assert error is not None
    if isinstance(error, SystemExit):
        complain(f"allo: the file ended the process: sys.exit({error.code!r})")
        return
    lines = traceback.format_exception(type(error), error, _frames_of_design(error.__traceback__))
    complain("".join(lines).rstrip())


def _frames_of_design(whole: TracebackType | None) -> TracebackType | None:
    step = whole
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if not file.startswith((tracebacks.PACKAGE, *_OF_PYTHON)):
            return step
        step = step.tb_next
    return None  # such as a SyntaxError, which says itself where it is
