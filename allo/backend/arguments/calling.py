"""A call of compiled code: Ctrl-C stops it, and a check that fails ends it."""

from __future__ import annotations

import ctypes
import signal
import threading
from functools import cache
from typing import Any

from allo import _mlir

from ...errors import RunTimeout, ToolError
from ..checked.failures import CheckFailed

_DONE, _STOPPED, _LATE, _BUSY = 0, 1, 3, 4
_TOLD = ctypes.c_int64 * 5  # the number of a check and its values


@cache
def _library() -> Any:
    library = ctypes.CDLL(_mlir.runtime_library())
    pointer = ctypes.c_void_p
    library.allo_call.argtypes = [pointer, pointer, pointer, pointer, ctypes.c_int, ctypes.c_int64, pointer]
    library.allo_call.restype = ctypes.c_int
    return library


def runtime_function(name: str) -> int:
    """The address of a function of the run-time library."""
    address = ctypes.cast(getattr(_library(), name), ctypes.c_void_p).value
    assert address is not None
    return address


def is_stopped_by_interrupts() -> bool:
    """Whether Ctrl-C ends what this thread runs: Python raises KeyboardInterrupt in the main thread, and only if the
    program has no handler of its own."""
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def call(
    function: int, first: Any, second: Any, code: int, can_stop: bool, timeout: float | None = None
) -> int:
    """The pointer that `function(first, second)` returns; `code` is an address in the kernel that it runs.

    Raises KeyboardInterrupt if it `can_stop` and Ctrl-C was pressed, RunTimeout after `timeout` seconds, CheckFailed if
    a check of the kernel has failed.
    """
    told = _TOLD()
    nanoseconds = 0 if timeout is None else max(1, round(timeout * 1e9))
    outcome = _library().allo_call(function, first, second, code, can_stop, nanoseconds, told)
    if outcome == _DONE:
        return told[0]
    if outcome == _STOPPED:
        raise KeyboardInterrupt
    if outcome == _LATE:
        raise RunTimeout(f"the run was stopped: it took longer than {timeout:g} s", hint="give it a longer timeout=")
    if outcome == _BUSY:
        raise ToolError(
            "the time of a run is limited while another one runs that Ctrl-C or a limit may stop",
            hint="run one after the other, or without timeout=",
        )
    raise CheckFailed(told[0], tuple(told[1:]))
