"""Program of the process that runs programs for the verifier: it compiles and calls what it is sent."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

from ..backend.cpu import LLVMModule
from ..errors import AlloError
from ..ir.module import Module
from ..ir.recursion import reads_programs
from ..verify import Program, Stuck
from ..verify.check import fault

_KEPT = 24  # the modules used last; compiled code is a few hundred kilobytes


@reads_programs
def serve(descriptor: int) -> None:
    """Answer requests until the other end closes: `(what, ...)` -> `(what, value)`.

    `("run", number, text or None, arguments)` gives `"ran"` with the arguments and results, `"failed"` with a message,
    or `"unknown"` for a number without a text that is not known yet; `("compare", a, b, options)` gives `"compared"`.
    """
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a program prints is not an answer
    connection = Connection(descriptor)
    modules: dict[int, LLVMModule] = {}
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):  # nobody asks any more
        while True:
            what, *request = connection.recv()
            connection.send(_compared(*request) if what == "compare" else _answer(modules, *request))


def _end_with_parent(parent: int) -> None:
    """End this process after the one that started it, even in a program that never ends (calls let threads run)."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _compared(a: Program, b: Program, options: dict[str, Any]) -> tuple[str, Any]:
    from ..verify.concrete import Limit, compare

    limit = Limit(memory=options.pop("memory"))
    try:
        return "compared", compare(a, b, limit=limit, **options)
    except MemoryError:
        return "compared", Stuck("too large for the memory of this machine")
    except Exception as error:
        return "compared", fault(error)


def _answer(
    modules: dict[int, LLVMModule], number: int, text: str | None, arguments: tuple[Any, ...]
) -> tuple[str, Any]:
    try:
        if number not in modules:
            if text is None:
                return "unknown", None
            modules[number] = LLVMModule(Module.parse(text), unbounded=True)  # see `hang_of`
            if len(modules) > _KEPT:
                del modules[next(iter(modules))]
        built = modules[number] = modules.pop(number)
        returned = built(*arguments)
    except Exception as error:
        text = error.diagnostics[0].message if isinstance(error, AlloError) else str(error)
        return "failed", f"{type(error).__name__}: {text}"
    results = returned if isinstance(returned, tuple) else () if returned is None else (returned,)
    return "ran", (tuple(arguments), results)
