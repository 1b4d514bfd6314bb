"""A kernel on a chip, called with NumPy arrays through the serial port of its board module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import DataflowError, RunTimeout, ToolError
from ..arguments.conversion import converted_arguments
from ..arguments.parameters import Parameter
from ..arguments.results import result_memory, result_value, returned
from .extents import OpenArguments
from .host import fetch, keep, pass_to
from .lowering.board import BoardModule, WordForm

type Transfer = Callable[[int, int], int]
type Words = npt.NDArray[Any]

_START, _RESET = 1, 2  # what is written to place 0
_RUNS, _HANGS = 1, 2  # what is read of it


class ChipMemories:
    """The memories of a board module, loaded and read as those of a simulation are."""

    def __init__(self, board: BoardModule, transfer: Transfer) -> None:
        self.form: WordForm = board.form
        self._places = board.places
        self._transfer = transfer

    def write(self, place: int, address: int, data: int) -> None:
        """Let a word be written."""
        self._exchanged(1, place, address, data)

    def control(self) -> int:
        """What place 0 says."""
        return self.words(0, 1)[0]

    def words(self, place: int, count: int) -> list[int]:
        """The first words of a place: each comes back with the next question."""
        asked = [self._exchanged(0, place, address, 0) for address in range(count)]
        return [*asked[1:], self._exchanged(0, 0, 0, 0)]

    def load(self, name: str, words: Words) -> None:
        """Fill the memory `name` (of an instance, with `.mem` behind it)."""
        place = self._places[name.removesuffix(".mem")]
        raw = np.ascontiguousarray(words)
        size = raw.nbytes // place.depth
        data, most = raw.tobytes(), (1 << place.width) - 1
        for address in range(place.depth):
            word = int.from_bytes(data[address * size : (address + 1) * size], "little")
            self.write(place.number, address, word & most)

    def read(self, name: str) -> Words:
        """The words of a memory or a result: unsigned numbers, those of more than 64 bits as rows of 32 each."""
        place = self._places[name.removesuffix(".mem")]
        size = next((size for size in (1, 2, 4, 8) if place.width <= 8 * size), -(-place.width // 32) * 4)
        most = (1 << place.width) - 1
        found = [(word & most).to_bytes(size, "little") for word in self.words(place.number, place.depth)]
        raw = np.frombuffer(b"".join(found), np.uint8)
        return raw.view(f"u{size}") if size <= 8 else raw.view(np.uint32).reshape(place.depth, -1)

    def width(self, name: str) -> int:
        """The bits of each word of a memory or a result."""
        return self._places[name.removesuffix(".mem")].width

    def _exchanged(self, write: int, place: int, address: int, data: int) -> int:
        form = self.form
        word = ((write << form.place | place) << form.address | address) << form.data | data
        back = self._transfer(word, form.bits)
        if not isinstance(back, int) or back < 0 or back >> form.bits:
            raise TypeError(f"a transfer of {form.bits} bits must give a number of as many bits, got {back!r}")
        return back & ((1 << form.data) - 1)


class ChipKernel:
    """A kernel on a chip; a call passes arrays by reference and returns results, as in simulation.

    `transfer(word, bits)` sends `bits` bits to the pins of the chip, the first digit first, with `select_n` low, and
    gives the number that came back meanwhile. Stateful variables keep their values until `reset`; FIFOs are empty when
    a call begins. A call raises DataflowError if the kernel hangs, RunTimeout if it still runs when it has been asked
    `polls` times, and ToolError for answers that the port does not give.
    """

    def __init__(
        self, name: str, board: BoardModule, parameters: Sequence[Parameter], results: Sequence[Any],
        transfer: Transfer, polls: int, opened: OpenArguments,
    ) -> None:  # fmt: skip
        self.name = name
        self._board, self._parameters, self._results = board, parameters, results
        self._memories = ChipMemories(board, transfer)
        self._polls, self._open = polls, opened
        self._fresh = True

    def reset(self) -> None:
        """Give Stateful variables their first values again, at the next call."""
        self._fresh = True

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        _, given, bring_back = converted_arguments(self.name, self._parameters, arguments, named)
        holders = self._open.in_hardware(self._parameters, given)
        outputs = [result_memory(result) for result in self._results]
        memories, board = self._memories, self._board
        memories.write(0, 0, _RESET)
        if self._fresh:
            for state in board.states:
                keep(state, memories)
            self._fresh = False
        for place, holder in zip(board.arguments, holders, strict=True):
            if place is not None:
                pass_to(place, holder, memories)
        memories.write(0, 0, _START)
        self._wait()
        for place, holder, parameter in zip(board.arguments, holders, self._parameters, strict=False):
            if place is not None and parameter.written:
                fetch(place, holder, memories)
        for found, output in zip(board.results, outputs, strict=True):
            fetch(found, output, memories)
        self._open.bring_back(self._parameters, given, holders)
        for action in bring_back:
            action()
        return returned([result_value(result, memory) for result, memory in zip(self._results, outputs, strict=True)])

    def _wait(self) -> None:
        for _ in range(self._polls):
            said = self._memories.control()
            if said & ~(_RUNS | _HANGS):
                raise ToolError(f"what is at the serial port answers {said:#x}, which '{self.name}' does not")
            if said & _HANGS:
                self._fresh = True
                raise DataflowError(
                    f"'{self.name}' hangs on the chip: all that runs waits",
                    hint="a call of the simulation says who waits where",
                )
            if not said & _RUNS:
                return
        self._fresh = True
        raise RunTimeout(f"'{self.name}' still runs on the chip", hint="give on_chip a greater polls=")
