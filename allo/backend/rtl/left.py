"""Elements that are left in the FIFOs of a simulated design when it is done."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.hang import RunningTask
from ...ir.left_over import AllLeftOver, LeftOver
from .lowering.waits import PlacedFifo, PlacedWait, counted
from .simulate import SimulatedVariables, Simulation


class FifoCounters:
    """The numbers of puts and gets of a call in the FIFOs of a simulation."""

    def __init__(self, model: Simulation, places: Sequence[PlacedWait]) -> None:
        self._places = places
        self._fifos = list({fifo.path: fifo for place in places for fifo in place.fifos.values()}.values())
        names = (f"{fifo.path}.{name}" for name in ("all_puts", "all_gets") for fifo in self._fifos)
        self._counts = SimulatedVariables(model, list(names))

    def start(self) -> None:
        """Count from 0 on."""
        self._counts.set(0)

    def moved(self) -> int:
        """How many puts and gets there have been."""
        return int(self._counts.read().sum())

    def left_over(self) -> AllLeftOver | None:
        """What is in FIFOs; None if they are empty."""
        puts, gets = self._counts.read().reshape(2, -1)
        found = [
            self._left_over(self._fifos[number], int(puts[number]), int(gets[number]))
            for number in (puts != gets).nonzero()[0]
        ]
        return AllLeftOver(tuple(found)) if found else None

    def _left_over(self, fifo: PlacedFifo, puts: int, gets: int) -> LeftOver:
        users: dict[bool, RunningTask] = {}
        for place in self._places:
            if any(fifo.path == other.path for other in place.fifos.values()):
                users[place.is_put] = RunningTask(0, place.task)
        return LeftOver(counted(fifo, self._places, puts, gets), users.get(True), users.get(False))
