"""Simulated design: memories as NumPy arrays, runs with exact cycles."""

from __future__ import annotations

import ctypes
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ....errors import InternalError
from ....messages import working
from .build import Design, Waveform, model_library
from .outcome import SimulatedRun

type Words = npt.NDArray[Any]

_FIRST, _PAUSE = 1 << 14, 0.2  # cycles at first, and seconds, between looks at Ctrl-C
PATIENCE = 1 << 24  # cycles
_DONE, _STUCK, _LIMITED, _FAILED = range(4)  # as in driver.cpp


class VariablePlace(Protocol):
    """A variable of a design, and which of `count` equal parts of it; None: all."""

    @property
    def path(self) -> str: ...
    @property
    def index(self) -> int | None: ...
    @property
    def count(self) -> int: ...


class Simulation:
    """A design in simulation, after its reset.

    `files` are texts of SystemVerilog by file name. The module `top` has the inputs `clk`, `rst` and `start` and the
    outputs `done` and `stuck`, beside ports of its own. `visible` are the variables that can be loaded and read:
    pairs of a module and a variable of it, for all its instances.

    `random_state` seeds registers and memories with random contents instead of zeros. `waveform` is a file (`.vcd` or
    `.fst`) that all signals are written to. `grids` compiles loops over arrays of elements as loops. With a `bus`, the
    module has AXI interfaces in place of `start`, `done` and `stuck`, to which a `Bus` attaches models. `places` say
    where variables are, if a design with `grids` has other names for them than those which are asked for.
    """

    def __init__(
        self,
        files: Mapping[str, str],
        top: str,
        *,
        visible: Iterable[tuple[str, str]] = (),
        random_state: int | None = None,
        waveform: str | Path | None = None,
        grids: bool = False,
        bus: bool = False,
        places: Callable[[str], VariablePlace] | None = None,
    ) -> None:
        form = None if waveform is None else Waveform.of(Path(waveform))
        grids = grids or places is not None
        path = model_library(Design(files, top, tuple(dict.fromkeys(visible)), form, grids, bus))
        self._places, self._views = places, dict[str, tuple[Words, int]]()
        self._named = dict[str, tuple[Words, int]]()  # what was asked for
        self.top = top
        self._library = _loaded(path)
        seed = -1 if random_state is None else random_state % (1 << 31)
        name = b"" if waveform is None else str(Path(waveform).resolve()).encode()
        self._handle = self._library.allo_sim_new(seed, name)
        self._close = weakref.finalize(self, self._library.allo_sim_delete, self._handle)
        self.reset()

    def reset(self) -> None:
        """Hold `rst` for two cycles; memories keep their contents."""
        self._library.allo_sim_reset(self._handle)

    def close(self) -> None:
        """End the simulation, and the file of its waveform."""
        self._close()

    def view(self, name: str) -> Words:
        """The words of a variable, in place: `bank.mem` of an instance in the top module, or `limit`, one of its ports.

        Words of up to 64 bits are elements of the next wider unsigned type; wider ones are rows of `uint32`, least
        digits first. Bits beyond the width must be 0.
        """
        return self._view(name)[0]

    def load(self, name: str, words: npt.ArrayLike) -> None:
        """Set a variable; of negative and of wider numbers it takes the last bits, as many as it has."""
        place, bits = self._view(name)
        given = np.asarray(words)
        if place.ndim == 2 and given.ndim == 2 and given.shape[1] > place.shape[1]:
            given = given[:, : place.shape[1]]
        if given.size != place.size:
            raise InternalError(f"'{name}' has {place.size} words, not {given.size}")
        if given.dtype.kind not in "iub":
            given = given.view(f"u{given.dtype.itemsize}")
        given = given.reshape(place.shape)
        if place.ndim == 1:
            place[:] = given.astype(place.dtype) & place.dtype.type((1 << bits) - 1)
        else:
            place[:] = given.astype(np.uint32)
            if bits % 32:
                place[:, -1] &= np.uint32((1 << bits % 32) - 1)

    def read(self, name: str) -> Words:
        """A copy of the words of a variable."""
        return self.view(name).copy()

    def width(self, name: str) -> int:
        """The bits of each word of a variable."""
        return self._view(name)[1]

    def number(self, name: str) -> int:
        """The value of a variable that is no array."""
        words, _ = self._view(name)
        return int.from_bytes(words.tobytes(), "little")

    def element(self, name: str) -> tuple[Words, int]:
        """The words that hold a variable which is no array, and its place among them; those of a grid have the same."""
        if self._places is None:
            return self._array(name)[0], 0
        place = self._places(name)
        return self._array(place.path)[0], place.index or 0

    def run(self, limit: int | None = None, moved: Callable[[], int] | None = None) -> SimulatedRun:
        """Give `start` for a cycle and run until `done` or `stuck`, at most `limit` cycles.

        A run without a limit is over when `moved` has given the same number for `PATIENCE` cycles.
        """
        return self._run(limit, begin=True, moved=moved)

    def resume(self, limit: int | None = None) -> SimulatedRun:
        """Go on with a run that was at its limit; the cycles are those from here."""
        return self._run(limit, begin=False)

    def _run(self, limit: int | None, begin: bool, moved: Callable[[], int] | None = None) -> SimulatedRun:
        cycles = ctypes.c_uint64(0)
        ended, some = _LIMITED, _FIRST
        last, since, idle = -1, 0, False
        with working(f"simulating '{self.top}'", so_far=lambda: f"{cycles.value:,} cycles"):
            while ended == _LIMITED and not idle and (limit is None or cycles.value < limit):
                most = some if limit is None else min(some, limit - cycles.value)
                before = time.perf_counter()
                ended = self._library.allo_sim_run(self._handle, int(begin), most, ctypes.byref(cycles))
                begin = False
                if time.perf_counter() - before < _PAUSE / 2:
                    some *= 2
                if moved is not None and limit is None and ended == _LIMITED:
                    idle = (now := moved()) == last and cycles.value - since >= PATIENCE
                    last, since = now, since if now == last else cycles.value
        failure = self._library.allo_sim_output(self._handle).decode(errors="replace").strip()
        limited = ended == _LIMITED and not idle
        return SimulatedRun(cycles.value, ended == _STUCK, limited, idle, failure if ended == _FAILED else None)

    def _view(self, name: str) -> tuple[Words, int]:
        """The words of a variable, and the bits of each."""
        if name not in self._named:
            self._named[name] = self._placed(name)
        return self._named[name]

    def _placed(self, name: str) -> tuple[Words, int]:
        if self._places is None:
            return self._whole(name)
        place = self._places(name)
        words, bits = self._array(place.path)
        return (words if place.index is None else words.reshape(place.count, -1, *words.shape[1:])[place.index]), bits

    def _array(self, path: str) -> tuple[Words, int]:
        if path not in self._views:
            self._views[path] = self._whole(path)
        return self._views[path]

    def _whole(self, name: str) -> tuple[Words, int]:
        instance, _, variable = name.rpartition(".")
        scope = f"TOP.{self.top}.{instance}" if instance else "TOP.TOP"  # where the ports of the top are
        facts = (ctypes.c_uint64 * 3)()
        variable_of = self._library.allo_sim_variable
        address = variable_of(self._handle, scope.encode(), variable.encode(), facts)
        if not address and not instance:
            address = variable_of(self._handle, f"TOP.{self.top}".encode(), variable.encode(), facts)
        if not address:
            raise InternalError(f"the simulation of '{self.top}' shows no '{name}'")
        size, total, bits = facts
        storage = (ctypes.c_char * total).from_address(address)
        if bits <= 64:
            return np.frombuffer(storage, f"u{size}"), bits
        return np.frombuffer(storage, np.uint32).reshape(-1, size // 4), bits


@cache
def _loaded(path: Path) -> Any:
    library = ctypes.CDLL(str(path))
    handle, text = ctypes.c_void_p, ctypes.c_char_p
    numbers = ctypes.POINTER(ctypes.c_uint64)
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "allo_sim_new": (handle, [ctypes.c_int64, text]),
        "allo_sim_delete": (None, [handle]),
        "allo_sim_reset": (None, [handle]),
        "allo_sim_variable": (handle, [handle, text, text, numbers]),
        "allo_sim_run": (ctypes.c_int, [handle, ctypes.c_int, ctypes.c_uint64, numbers]),
        "allo_sim_output": (text, [handle]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
