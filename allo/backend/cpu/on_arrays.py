"""Calls of machine code that takes arrays alone, with what is passed prepared at the first one."""

from __future__ import annotations

import ctypes
from typing import Any

from ..arguments.calling import call, is_stopped_by_interrupts
from ..arguments.parameters import Array

_POINTER_SIZE = ctypes.sizeof(ctypes.c_void_p)


class DirectCall:
    """The call of `function`, of an engine that has to stay, with `count` arrays; any number of threads may make it."""

    def __init__(self, function: int, engine: Any, count: int) -> None:
        self._function, self._engine, self._count = function, engine, count
        self._type = ctypes.c_void_p * (2 * count)
        self._ready: list[tuple[Any, int]] = []  # what no call uses now

    def __call__(self, arrays: tuple[Array, ...], timeout: float | None) -> None:
        """Call it; raises what `call` raises."""
        try:
            passed = self._ready.pop()
        except IndexError:
            passed = self._prepared()
        slots, first = passed
        slots[: self._count] = [address(array) for array in arrays]
        call(self._function, first, None, self._function, is_stopped_by_interrupts(), timeout)
        self._ready.append(passed)

    def _prepared(self) -> tuple[Any, int]:
        """Room for the addresses of arrays, and behind them the addresses of these, which machine code is given."""
        slots, count = self._type(), self._count
        first = ctypes.addressof(slots)
        slots[count:] = [first + k * _POINTER_SIZE for k in range(count)]
        return slots, first + count * _POINTER_SIZE


def address(array: Array) -> int:
    """Where the elements of an array are."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):  # read-only, or of a type that buffers of Python do not have: takes longer
        return int(array.ctypes.data)
