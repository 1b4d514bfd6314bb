"""Memory of results, which is used again when no array is in it."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LINE, _PAGE = 64, 4096  # bytes of a line of the cache, of a page


class ResultMemory:
    """Blocks of memory for arrays, at most `most` bytes of them, in use or not.

    The C library gives large blocks back to the system, which then maps them anew, page by page, at the next call.
    A block is free again when the last array in it has died, views of others included, in whichever thread that is.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0  # bytes of all blocks
        self._free: dict[int, list[memoryview]] = {}  # by their bytes; only what is atomic is done with these lists
        self._making = Lock()  # for `held`: no array dies while it is locked and asks for it

    def empty(self, size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """A flat array; one of a page or more begins with a line of the cache, so that no vector is in two of them."""
        wanted = size * dtype.itemsize
        if wanted < _PAGE:
            return np.empty(size, dtype)
        count = -(-wanted // _PAGE) * _PAGE
        try:
            block = self._free[count].pop()
        except (KeyError, IndexError):
            if not self._has_room(count):
                return _aligned(wanted).view(dtype)
            block = memoryview(_aligned(count))
        return np.frombuffer(_Lease(self, block), dtype, size)

    def take_back(self, block: memoryview) -> None:
        """A block in which no array is."""
        self._free.setdefault(block.nbytes, []).append(block)

    def _has_room(self, count: int) -> bool:
        """Whether there is room for one more block, if need be in the place of some that are free."""
        with self._making:
            for size in list(self._free):
                while self.held + count > self.most and self._free[size]:
                    try:
                        self._free[size].pop()
                    except IndexError:  # another thread had use for it
                        break
                    self.held -= size
            if self.held + count > self.most:
                return False
            self.held += count
            return True


class _Lease:
    """A block while arrays are in it: they keep what gave them their memory."""

    __slots__ = ("block", "memory")

    def __init__(self, memory: ResultMemory, block: memoryview) -> None:
        self.memory, self.block = memory, block

    def __buffer__(self, flags: int) -> memoryview:
        return self.block

    def __del__(self) -> None:
        self.memory.take_back(self.block)


def _aligned(count: int) -> NDArray[np.uint8]:
    memory = np.empty(count + _LINE, np.uint8)
    first = -memory.ctypes.data % _LINE
    return memory[first : first + count]
