"""Elements that are left in the FIFOs of a simulated design when it is done."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.hang import RunningTask
from ...ir.left_over import AllLeftOver, LeftOver
from .lowering.waits import PlacedFifo, PlacedWait, counted
from .simulate import Simulation


class FifoCounters:
    """The numbers of puts and gets of a call in the FIFOs of a simulation."""

    def __init__(self, model: Simulation, places: Sequence[PlacedWait]) -> None:
        self._model, self._places = model, places
        self._fifos = list({fifo.path: fifo for place in places for fifo in place.fifos.values()}.values())

    def start(self) -> None:
        """Count from 0 on."""
        for fifo in self._fifos:
            for name in _names(fifo):
                self._model.load(name, 0)

    def moved(self) -> int:
        """How many puts and gets there have been."""
        return sum(self._model.number(name) for fifo in self._fifos for name in _names(fifo))

    def left_over(self) -> AllLeftOver | None:
        """What is in FIFOs; None if they are empty."""
        found = []
        for fifo in self._fifos:
            puts, gets = map(self._model.number, _names(fifo))
            if puts != gets:
                found.append(self._left_over(fifo, puts, gets))
        return AllLeftOver(tuple(found)) if found else None

    def _left_over(self, fifo: PlacedFifo, puts: int, gets: int) -> LeftOver:
        users: dict[bool, RunningTask] = {}
        for place in self._places:
            if any(fifo.path == other.path for other in place.fifos.values()):
                users[place.is_put] = RunningTask(0, place.task)
        return LeftOver(counted(fifo, self._places, puts, gets), users.get(True), users.get(False))


def _names(fifo: PlacedFifo) -> tuple[str, str]:
    return f"{fifo.path}.all_puts", f"{fifo.path}.all_gets"
