"""Stack of a simulation: arrays on chip are variables of functions, and may be large."""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import prod
from typing import Any

from mlir import ir

from ....errors import ToolError
from ....ir.mlir_types import from_mlir
from ....ir.module import Module
from ....ir.streams import is_stream_type
from ....ir.types import TensorType
from ....ir.walk import entry_block, operations
from ....ir.words import container_bits

_USUAL = 4 << 20  # what fits the stack that a thread has anyway, with room to spare
_ROOM = 8 << 20
_lock = threading.Lock()  # the size of stacks is a setting of the whole process


def stack_bytes(module: Module) -> int:
    """An upper bound of the bytes that the arrays of all functions and of the interface take."""
    total = 0
    for function in module.functions():
        entry = entry_block(function)
        if entry is None:
            continue
        if function.name.value == module.top:
            total += sum(_bytes(argument.type) for argument in entry.arguments)
        for op in operations(entry, "memref.alloc", "func.return"):
            total += sum(_bytes(value.type) for value in (*op.results, *op.operands))
    return total


def _bytes(kind: ir.Type) -> int:
    if not isinstance(kind, ir.MemRefType) or is_stream_type(kind.element_type):
        return 0
    type_ = from_mlir(kind)
    assert isinstance(type_, TensorType)
    return prod(type_.shape) * max(1, container_bits(type_.element) // 8)


def run_with_stack(size: int, action: Callable[[], Any]) -> None:
    """Run `action`, in a thread of its own if it needs more stack than usual; errors are raised here."""
    if size <= _USUAL:
        action()
        return
    errors: list[BaseException] = []

    def guarded() -> None:
        try:
            action()
        except BaseException as error:
            errors.append(error)

    with _lock:
        before = threading.stack_size()
        try:
            threading.stack_size(-(-(2 * size + _ROOM) // 4096) * 4096)
            thread = threading.Thread(target=guarded, name="allo-csim")
            thread.start()
        except (RuntimeError, ValueError):
            raise ToolError(
                f"the arrays of the kernel need a stack of {2 * size >> 20} MiB, and there is no such thread",
                hint="simulate with smaller arrays",
            ) from None
        finally:
            threading.stack_size(before)
    thread.join()
    if errors:
        raise errors[0]
