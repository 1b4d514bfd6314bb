"""Errors of designs in which all that runs waits for FIFOs, or asks them: who does, read out of the simulation."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import DataflowError, Note
from ...ir.access import asks_stream
from ...ir.hang import (
    Hang,
    RunningTask,
    Wait,
    Waiting,
    WaitReason,
    chain_of,
    stream_states,
    task_states,
    wait_notes,
)
from .lowering.waits import PlacedFifo, PlacedWait, counted
from .simulate import Simulation

_MOST_STEPS = 10_000  # cycles in which one of those that ask does so


def stuck_error(model: Simulation, places: Sequence[PlacedWait], cycles: int) -> DataflowError:
    """The error for a simulation that has stopped since nothing in it goes on."""
    tasks = {place.path: RunningTask(number, place.task) for number, place in enumerate(places, start=2)}
    waits = [
        _wait(model, place, fifo, places, tasks)
        for place in places
        if model.number(f"{place.path}.{place.blocked}")
        for fifo in [_fifo(model, place)]
    ]
    first = next((wait for wait in waits if wait.reason is WaitReason.FULL), waits[0])
    waiting = first.stream
    assert waiting is not None
    state = waiting.state()
    passed = f"{_elements(state.puts)} been put and {state.gets} taken"
    chain, is_circle = chain_of(waits, waiting)
    if first.reason is WaitReason.FULL:
        message = (
            f"stream '{waiting.name}' of depth {state.depth} is full, and what would take elements out waits too, or "
            f"has ended: {passed}"
        )
        hint = "put as many elements into streams as are taken out"
        if is_circle:
            hint = "make it deeper, or use the streams of both tasks in the same order"
    else:
        message = f"stream '{waiting.name}' is empty, and nothing will be put into it any more: {passed}"
        hint = "put as many elements into it as are taken out"
    made = waiting.stream.made
    notes = [Note(f"'{waiting.stream.name}' is made here", made)] if made else []
    notes += [*wait_notes(chain, is_circle), Note(f"nothing has gone on since cycle {cycles}")]
    return DataflowError(
        message, at=first.at, hint=hint, notes=notes, tasks=task_states(waits, chain if is_circle else ()),
        streams=stream_states(waits),
    )  # fmt: skip


def asked_error(model: Simulation, places: Sequence[PlacedWait]) -> DataflowError:
    """The error for a simulation in which streams are asked without end, and nothing moves in any."""
    asks = [place for place in places if asks_stream(place.op)]
    for _ in range(_MOST_STEPS):  # who is it?
        if any(model.number(f"{place.path}.{place.fires}") for place in asks):
            break
        model.resume(1)
    found = next((place for place in asks if model.number(f"{place.path}.{place.fires}")), asks[0])
    fifo = _fifo(model, found)
    puts, gets = (model.number(f"{fifo.path}.{name}") for name in ("all_puts", "all_gets"))
    return Hang(None, (), None, counted(fifo, places, puts, gets), found.is_put).error()


def _elements(count: int) -> str:
    return "1 element has" if count == 1 else f"{count} elements have"


def _fifo(model: Simulation, place: PlacedWait) -> PlacedFifo:
    """The FIFO that a task waits for."""
    if place.chosen is None:
        (only,) = place.fifos.values()
        return only
    return place.fifos[model.number(f"{place.path}.{place.chosen}")]


def _wait(
    model: Simulation,
    place: PlacedWait,
    fifo: PlacedFifo,
    places: Sequence[PlacedWait],
    tasks: dict[str, RunningTask],
) -> Wait:
    puts, gets = (model.number(f"{fifo.path}.{name}") for name in ("all_puts", "all_gets"))
    waiting = Waiting(fifo.facts, fifo.element, fifo.facts.depth, puts, gets)
    others = [tasks[other.path] for other in places if other.is_put != place.is_put and fifo in other.fifos.values()]
    reason = WaitReason.FULL if place.is_put else WaitReason.EMPTY
    return Wait(tasks[place.path], reason, place.at, waiting, tuple(dict.fromkeys(others)))
