"""Bus of a simulated design: models of memory, of a host and of streams at its AXI interfaces."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .model import Simulation

type Bytes = npt.NDArray[np.uint8]

_SOURCE, _SINK, _MEMORY, _HOST = b"i", b"o", b"m", b"h"  # as in driver.cpp
_WRITE, _WAIT, _READ = b"w", b"i", b"r"


class Bus:
    """What is attached to a design with `bus=True`; `control` are its ports of AXI4-Lite.

    A run is described anew each time: regions of memory, words of streams, and the registers that are written before
    and read after it. A violation of the protocol ends it: `failure` of the run names the port and the rule.
    """

    def __init__(self, model: Simulation, control: str) -> None:
        self._model = model
        self._handle, self._library = model._handle, _declared(model._library)
        self._models: dict[str, int] = {}
        self._kept: list[Bytes] = []
        self._attach(_HOST, control, ())

    def attach_memory(self, name: str, word_bits: int, latency: int, interval: Fraction) -> None:
        """A memory of words: `latency` cycles to the first one of a burst, `interval` from one to the next."""
        facts = (word_bits, max(1, latency), interval.numerator, interval.denominator)
        self._attach(_MEMORY, name, facts)

    def attach_stream(self, name: str, word_bits: int, *, is_source: bool) -> None:
        """A source or a sink of words."""
        self._attach(_SOURCE if is_source else _SINK, name, (word_bits,))

    def begin(self, seed: int | None) -> None:
        """Describe a run; with a seed, all models wait at random."""
        self._kept.clear()
        self._library.allo_bus_begin(self._handle, self._scope, -1 if seed is None else seed)

    def add_region(self, name: str, base: int, data: Bytes, used: int, *, reads: bool, writes: bool) -> None:
        """Memory at an address of a port, in place: whole words, of which an array takes the first `used` bytes."""
        self._kept.append(data)
        region = self._library.allo_bus_region
        region(self._handle, name.encode(), base, data.ctypes.data, data.size, used, reads, writes)

    def set_stream(self, name: str, data: Bytes, words: int) -> None:
        """The words that come from a source, or go into a sink, in place."""
        self._kept.append(data)
        self._library.allo_bus_stream(self._handle, self._models[name], data.ctypes.data, words)

    def write(self, address: int, value: int) -> None:
        """Write a register, after what has been said before."""
        self._library.allo_bus_step(self._handle, _WRITE, address, value)

    def wait(self) -> None:
        """Wait for the interrupt."""
        self._library.allo_bus_step(self._handle, _WAIT, 0, 0)

    def read(self, addresses: Iterable[int]) -> None:
        """Read registers."""
        for address in addresses:
            self._library.allo_bus_step(self._handle, _READ, address, 0)

    def found(self, number: int) -> int:
        """What read number `number` of the run has given."""
        return int(self._library.allo_bus_found(self._handle, number))

    def counts(self, name: str) -> tuple[int, int, int, int]:
        """Of the run: bursts and words that were read, and those that were written."""
        counts = (ctypes.c_uint64 * 4)()
        self._library.allo_bus_counts(self._handle, self._models[name], counts)
        return counts[0], counts[1], counts[2], counts[3]

    @property
    def _scope(self) -> bytes:
        return f"TOP.{self._model.top}".encode()

    def _attach(self, kind: bytes, name: str, facts: tuple[int, ...]) -> None:
        given = (ctypes.c_uint64 * 4)(*facts)
        attach = self._library.allo_bus_attach
        self._models[name] = attach(self._handle, kind, name.encode(), b"TOP.TOP", self._scope, given)


def _declared(library: Any) -> Any:
    handle, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64
    numbers = ctypes.POINTER(number)
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "allo_bus_attach": (ctypes.c_int, [handle, ctypes.c_char, text, text, text, numbers]),
        "allo_bus_begin": (None, [handle, text, ctypes.c_int64]),
        "allo_bus_region": (None, [handle, text, number, handle, number, number, ctypes.c_int, ctypes.c_int]),
        "allo_bus_stream": (None, [handle, ctypes.c_int, handle, number]),
        "allo_bus_step": (None, [handle, ctypes.c_char, number, number]),
        "allo_bus_found": (number, [handle, number]),
        "allo_bus_counts": (None, [handle, ctypes.c_int, numbers]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
