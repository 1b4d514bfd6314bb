"""Tracebacks of errors that are the user's: the frames of the user, without those of this package."""

from __future__ import annotations

import dis
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from .errors import AlloError, InternalError

type _Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]

PACKAGE = str(Path(__file__).resolve().parent) + os.sep
_RAISE = dis.opmap["RAISE_VARARGS"]
_WHOLE = "ALLO_TRACEBACK"  # "full" in the environment: nothing is left out


def users_frames(error: BaseException) -> TracebackType | None:
    """The traceback of an error without the frames of this package; the whole one if that is what helps."""
    whole = error.__traceback__
    if os.environ.get(_WHOLE) == "full" or isinstance(error, InternalError):
        return whole
    if not isinstance(error, AlloError) and not _is_raised_here(whole):
        return whole
    frames: list[TracebackType] = []
    step = whole
    while step is not None:
        if not step.tb_frame.f_code.co_filename.startswith(PACKAGE):
            frames.append(step)
        step = step.tb_next
    found: TracebackType | None = None
    for frame in reversed(frames):
        found = TracebackType(found, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return found


def _is_raised_here(whole: TracebackType | None) -> bool:
    """Whether a `raise` of this package made the error, such as the TypeError of a wrong argument."""
    if whole is None:
        return False
    last = whole
    while last.tb_next is not None:
        last = last.tb_next
    code = last.tb_frame.f_code
    return code.co_filename.startswith(PACKAGE) and code.co_code[last.tb_lasti] == _RAISE


def _rendered(error: AlloError) -> list[str]:
    """What IPython prints of an error."""
    return "".join(traceback.format_exception(type(error), error, users_frames(error))).splitlines()


def show_users_frames() -> None:
    """Have Python and IPython print the errors of this package without its frames from now on."""
    before: _Hook = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, whole: TracebackType | None) -> None:
        shown = users_frames(error)
        before(kind, error.with_traceback(shown), shown)

    sys.excepthook = hook
    AlloError._render_traceback_ = _rendered  # type: ignore[attr-defined]
