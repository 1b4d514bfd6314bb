"""Decides what a get from an empty stream means on a CPU: the call of the kernel ends with an error that names it."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from mlir import ir

from allo import _mlir

from ...errors import DataflowError
from ...ir.module import Module
from ...ir.streams import uses_streams
from ...ir.tasks import order_tasks
from .calling import call, runtime_function


@cache
def _library() -> Any:
    library = ctypes.CDLL(_mlir.runtime_library())
    library.allo_stream_free_message.argtypes = [ctypes.c_void_p]
    return library


def call_with_streams(address: int, packed: Any, can_stop: bool) -> None:
    """Call machine code that may use streams; DataflowError if one was empty at a get."""
    found = call(runtime_function("allo_stream_call"), address, packed, address, can_stop)
    if found:
        message = ctypes.string_at(found).decode()
        _library().allo_stream_free_message(found)
        raise DataflowError(
            message, hint="put as many elements into it as are taken out, in a task that runs before"
        )


def prepare_streams(module: Module) -> bool:
    """Order the tasks of `module`, in place; whether it uses streams, so that calls of it need a `caller`."""
    if not any(uses_streams(function) for function in module.functions()):
        return False
    _refuse_stream_arguments(module)
    order_tasks(module)
    return True


def _refuse_stream_arguments(module: Module) -> None:
    """Raises DataflowError if the kernel takes or returns a stream: NumPy has none."""
    top = module.function(module.top)
    signature = ir.FunctionType(ir.TypeAttr(top.operation.attributes["function_type"]).value)
    for kind in (*signature.inputs, *signature.results):
        if "!allo.stream" in str(kind):
            raise DataflowError(
                f"'{module.top}' has a stream in its signature ({kind}) and cannot be called from Python",
                hint="build a kernel that makes the stream itself and calls this one",
            )
