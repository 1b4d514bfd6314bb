"""Streams on a CPU: their numbers for the run-time library, and the error of a call that would wait for ever."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

from mlir import ir

from allo import _mlir

from ...errors import DataflowError
from ...ir.context import context
from ...ir.effects import Effects
from ...ir.module import Module
from ...ir.stream_facts import StreamFacts, hang_error, number_streams
from ...ir.streams import uses_streams
from ...ir.walk import LOOP_OPERATIONS, operations
from ...poly import ROOM, always_ends
from ..arguments.calling import call, runtime_function

PARALLEL = "allo.parallel"


@cache
def _library() -> Any:
    library = ctypes.CDLL(_mlir.runtime_library())
    library.allo_stream_free_message.argtypes = [ctypes.c_void_p]
    return library


def call_with_streams(address: int, packed: Any, can_stop: bool, streams: Sequence[StreamFacts]) -> None:
    """Call machine code that may use `streams`; DataflowError if something waited for ever."""
    found = call(runtime_function("allo_stream_call"), address, packed, address, can_stop)
    if found:
        report = ctypes.string_at(found).decode()
        _library().allo_stream_free_message(found)
        raise hang_error(report, streams)


def prepare_streams(module: Module, *, unbounded: bool) -> tuple[StreamFacts, ...]:
    """Give each stream of `module` the number by which the run-time library tells of it; what it is, by number.

    With `unbounded`, streams hold any number of elements.
    """
    if not any(uses_streams(function) for function in module.functions()):
        return ()
    _refuse_stream_arguments(module)
    _run_in_order(module)
    room = 0 if unbounded else ROOM if always_ends(module) else 1
    kind = ir.IntegerType.get_signless(64, context())
    module.mlir.operation.attributes["allo.x_room"] = ir.IntegerAttr.get(kind, room)
    return number_streams(module)


def _run_in_order(module: Module) -> None:
    """Let parallel loops with streams in them run one iteration after the other: what waits at a FIFO lets a process of
    its own thread go on, and threads of a pool have none."""
    effects = Effects(module)
    for op in operations(module.mlir.body, *LOOP_OPERATIONS):
        if PARALLEL in op.attributes and effects.uses_streams(op):
            del op.attributes[PARALLEL]


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
