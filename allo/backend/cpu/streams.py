"""Streams on a CPU: their numbers for the run-time library, and the error of a call that would wait for ever."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from mlir import ir

from allo import _mlir

from ...errors import DataflowError, RunTimeout
from ...ir.context import context
from ...ir.effects import Effects
from ...ir.module import Module
from ...ir.run_report import RunFacts
from ...ir.streams import uses_streams
from ...ir.walk import LOOP_OPERATIONS, operations
from ...poly import ROOM, always_ends
from ...poly.apart import mark_apart
from ..arguments.calling import call, runtime_function
from ..arguments.simulated import Again, Stopped, hang_error, shown_progress
from ..checked.failures import CheckFailed
from .components import Threads

PARALLEL = "allo.parallel"


class _Request(ctypes.Structure):
    """`StreamRequest` of the run-time library."""

    _fields_ = (
        ("function", ctypes.c_void_p),
        ("arguments", ctypes.c_void_p),
        ("progress", ctypes.c_void_p),
    )


class _PartsRequest(ctypes.Structure):
    """`PartsRequest` of the run-time library."""

    _fields_ = (
        ("call", _Request),
        ("parts", ctypes.c_int64),
        ("offsets", ctypes.c_void_p),
        ("statements", ctypes.c_int64),
        ("owners", ctypes.c_void_p),
    )


@cache
def _library() -> Any:
    library = ctypes.CDLL(_mlir.runtime_library())
    library.allo_stream_free_message.argtypes = [ctypes.c_void_p]
    library.allo_stream_state.restype = ctypes.c_char_p
    return library


def call_with_streams(
    address: int, packed: Any, can_stop: bool, facts: RunFacts, again: Again, timeout: float | None = None
) -> None:
    """Call machine code that may use streams; DataflowError if something waited for ever.

    What ends the call otherwise tells where it was.
    """
    with shown_progress(facts.top) as progress:
        request = _Request(address, ctypes.cast(packed, ctypes.c_void_p), progress)
        try:
            found = call(
                runtime_function("allo_stream_call"), ctypes.byref(request), None, address, can_stop, timeout
            )
        except (KeyboardInterrupt, RunTimeout, CheckFailed) as error:
            Stopped(facts, lambda: _library().allo_stream_state().decode()).tell(error)
            raise
    if found:
        report = ctypes.string_at(found).decode()
        _library().allo_stream_free_message(found)
        raise hang_error(report, facts, again)


def call_on_threads(
    threads: Threads, address: int, packed: Any, can_stop: bool, facts: RunFacts, timeout: float | None
) -> bool:
    """Call machine code on several threads; False if something hung or a check failed, which a call on one tells."""
    offsets, owners = threads.tables()
    with shown_progress(facts.top) as progress:
        request = _PartsRequest(
            _Request(address, ctypes.cast(packed, ctypes.c_void_p), progress), threads.count,
            ctypes.cast(offsets, ctypes.c_void_p), len(offsets), ctypes.cast(owners, ctypes.c_void_p),
        )  # fmt: skip
        try:
            done = call(
                runtime_function("allo_stream_call_parts"), ctypes.byref(request), None, address, can_stop, timeout
            )
        except (KeyboardInterrupt, RunTimeout) as error:
            Stopped(facts, lambda: _library().allo_stream_state().decode()).tell(error)
            raise
    return bool(done)


def prepare_streams(module: Module, source: Module, *, unbounded: bool) -> RunFacts | None:
    """Give the streams and tasks of `module` the numbers by which the run-time library tells of them; None if there are
    no streams.

    With `unbounded`, streams hold any number of elements. In `source`, of which it was made, tasks wait as in it.
    """
    if not any(uses_streams(function) for function in module.functions()):
        return None
    _refuse_stream_arguments(module)
    _run_in_order(module)
    room = 0 if unbounded else ROOM if always_ends(source) else 1
    kind = ir.IntegerType.get_signless(64, context())
    module.mlir.operation.attributes["allo.x_room"] = ir.IntegerAttr.get(kind, room)
    facts = RunFacts.number(module)
    mark_apart(module)
    return facts


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
