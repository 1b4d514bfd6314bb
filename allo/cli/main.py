"""Entry of the command: its options are read, what they ask for is done, and what goes wrong becomes an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass

import typer

from ..errors import AlloError, InternalError, nearest
from .actions import REFUSED
from .commands import app
from .designs import STDIN, TYPED, DesignFailed, WrongCommand
from .output import complain, complain_of_design

_WRONG_OPTIONS = typer.BadParameter.__mro__[2]  # the errors of typer that a user may meet; it has no name for them


@dataclass(frozen=True, slots=True)
class ExitCodes:
    """What the command ends with: if Allo refuses the input, a file raises an error, or the command is wrong."""

    refused: int
    failed: int
    usage: int


_CODES, _OF_CHECK = ExitCodes(1, 1, 2), ExitCodes(REFUSED, REFUSED, REFUSED)
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 0, 1 if Allo refuses the input or its file fails, 2 if the command is wrong.

    That of `check` is 0 if the schedule is equivalent to its kernel, 1 if it is different, 2 if that is unknown, 3 if
    Allo refuses the input, the file raises an error of its own or the command is wrong. Ctrl-C ends it with 130.
    """
    typed = f"{STDIN}:"  # a design, which typer would take for an option
    whole = sys.argv[1:] if arguments is None else arguments
    given = [f"{TYPED}{word[1:]}" if word.startswith(typed) else word for word in whole]
    codes = _OF_CHECK if given[:1] == ["check"] else _CODES
    try:
        return _run(given, codes)
    except BrokenPipeError:  # the reader of the output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        complain("allo: interrupted")
        return _INTERRUPTED


def _run(given: list[str], codes: ExitCodes) -> int:
    try:
        action = app(given, prog_name="allo", standalone_mode=False)
        code = action() if callable(action) else action  # an option such as --help has done all
        sys.stdout.flush()
        return code or 0
    except InternalError:
        traceback.print_exc()  # to be reported
        return codes.failed
    except AlloError as error:
        complain(str(error))
        return codes.refused
    except DesignFailed as failed:
        complain_of_design(failed)
        return codes.failed
    except WrongCommand as error:
        complain(f"allo: {error}")
        return codes.usage
    except typer.Abort:
        raise KeyboardInterrupt from None
    except Exception as error:
        if isinstance(error, BrokenPipeError):
            raise
        if not isinstance(error, _WRONG_OPTIONS):
            traceback.print_exc()  # Python's own exit code of an error is that of a difference
            return codes.failed
        complain(_wrong_options(error))
        return codes.usage


def _wrong_options(error: Exception) -> str:
    """The message of typer in the form of ours, with the option that is near."""
    name = getattr(error, "option_name", None)
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "allo"
    if name is not None and hasattr(error, "possibilities"):
        hint = nearest(name, error.possibilities or ())
        text = f"there is no option '{name}'" + (f"; {hint}" if hint else "")
    else:
        told = str(getattr(error, "format_message", lambda: error)()).rstrip(".")
        text = told[:1].lower() + told[1:]
    return f"allo: {text} (see {command} --help)"


if __name__ == "__main__":
    sys.exit(main())
