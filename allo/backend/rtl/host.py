"""Arguments, results and states of a call in the memories of a simulation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from ..arguments.parameters import Array
from .lowering.top import HostArray, KeptArray


class Memories(Protocol):
    """Those of a simulation, or of a chip: all words of one at once, by its name."""

    def load(self, name: str, words: Array) -> None: ...
    def read(self, name: str) -> Array: ...
    def width(self, name: str) -> int: ...


def pass_to(place: HostArray | str, holder: Array, model: Memories) -> None:
    """Bring an argument into its memories."""
    if isinstance(place, str):
        model.load(f"{place}.mem", _words(holder, 1))
        return
    bank_of, address_of = (numbers.reshape(-1) for numbers in place.array.positions())
    _load(place, _words(holder, bank_of.size), bank_of, address_of, model)


def keep(state: KeptArray, model: Memories) -> None:
    """Bring what a state is at first into its memories."""
    width = state.place.array.memory.width
    size = next((size for size in (1, 2, 4, 8) if width <= 8 * size), -(-width // 32) * 4)
    data = b"".join((bits & ((1 << width) - 1)).to_bytes(size, "little") for bits in state.contents)
    pass_to(state.place, np.frombuffer(data, np.uint8), model)


def fetch(place: HostArray | str, holder: Array, model: Memories) -> None:
    """Bring what memories hold into an argument, or a result."""
    if isinstance(place, str):
        words = _words(holder, 1)
        words[...] = _extended(model.read(place), 1, words, model.width(place) if holder.dtype.kind == "i" else None)
        return
    bank_of, address_of = (numbers.reshape(-1) for numbers in place.array.positions())
    words = _words(holder, bank_of.size)
    width = place.array.memory.width if holder.dtype.kind == "i" else None
    for name, chosen in _by_bank(place, bank_of):
        read = model.read(f"{name}.mem")
        words[chosen] = _extended(read, len(read), words, width)[address_of[chosen]]


def _load(place: HostArray, words: Array, bank_of: Array, address_of: Array, model: Memories) -> None:
    for name, chosen in _by_bank(place, bank_of):
        made = np.zeros((place.array.depth, *words.shape[1:]), words.dtype)
        made[address_of[chosen]] = words[chosen]
        model.load(f"{name}.mem", made)


def _by_bank(place: HostArray, bank_of: Array) -> Iterator[tuple[str, Array]]:
    """The memory of each bank, and the numbers of its elements."""
    order = np.argsort(bank_of, kind="stable")
    names = list(place.banks.items())
    banks = np.array([bank for bank, _ in names], np.int64)
    first, last = (np.searchsorted(bank_of[order], banks, side=side) for side in ("left", "right"))
    for (_, name), start, end in zip(names, first, last, strict=True):
        yield name, order[start:end]


def _words(holder: Array, count: int) -> Array:
    """The bits of `count` elements in place, as unsigned numbers; those of more than 64 as rows of 32 each."""
    size = holder.nbytes // max(count, 1) or holder.dtype.itemsize
    raw = np.asarray(holder).reshape(-1).view(np.uint8).reshape(count, size)
    return raw.view(np.uint32) if size > 8 else raw.view(f"u{size}").reshape(count)


def _extended(read: Array, count: int, words: Array, width: int | None) -> Array:
    """What was read in words of a holder, with the signs of integers that are narrower (`width` bits)."""
    if words.ndim == 2:
        made = np.zeros((count, words.shape[1]), np.uint32)
        rows = read.reshape(count, -1).view(np.uint32).reshape(count, -1)
        made[:, : rows.shape[1]] = rows
        return made
    found = read.reshape(count).astype(words.dtype)
    size = words.dtype.itemsize * 8
    if width is not None and width < size:
        signed = (found << words.dtype.type(size - width)).view(f"i{size // 8}") >> (size - width)
        found = signed.view(words.dtype)
    return found
