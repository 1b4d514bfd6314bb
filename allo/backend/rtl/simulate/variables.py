"""Many variables of a simulation, which are set and read at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .model import Simulation, Words


class SimulatedVariables:
    """Variables of at most 64 bits that are no arrays, by their names; those of a grid are elements of one array."""

    def __init__(self, model: Simulation, names: Sequence[str]) -> None:
        self._count = len(names)
        arrays: dict[int, tuple[Words, list[int], list[int]]] = {}
        for number, name in enumerate(names):
            words, index = model.element(name)
            _, numbers, places = arrays.setdefault(id(words), (words, [], []))
            numbers.append(number)
            places.append(index)
        self._arrays = [(words, np.array(numbers), np.array(places)) for words, numbers, places in arrays.values()]

    def set(self, value: int) -> None:
        """Let all be a number."""
        for words, _, places in self._arrays:
            words[places] = value

    def read(self) -> npt.NDArray[Any]:
        """All, in the order of the names: integers without signs."""
        found = np.zeros(self._count, np.uint64)
        for words, numbers, places in self._arrays:
            found[numbers] = words[places]
        return found
