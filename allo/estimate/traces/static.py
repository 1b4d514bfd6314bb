"""Static trace of a module: what its processes put and get, in which cycles of their static schedules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...customize.fifo.depths import bits_of
from ...dataflow.replay import replay
from ...dataflow.trace import Trace
from ...errors import TargetError
from ...ir.linalg import with_loops
from ...ir.module import Module
from ...ir.stream_facts import facts_of, made_streams
from ...target import Fpga, Target, load_target
from ...timing.control.build import TreeOptions
from ...timing.control.trees import Trees
from ..stated import demand_stated_loops
from .fewest import fewest_events
from .program import TraceProgram
from .recorder import TooManyEvents, TraceRecorder
from .text import NoTrace

MOST_EVENTS = 20_000_000  # some seconds


@dataclass(frozen=True, slots=True, eq=False)
class StaticTrace:
    """A trace, and for each of its channels the number of the operation that makes it, in the order of the text.

    `is_as_written` says that processes put and get in the order of the program.
    """

    trace: Trace
    streams: tuple[int, ...]
    is_as_written: bool


def static_trace(
    module: Module,
    target: str | Path | Target,
    trips: Mapping[str, int] | None = None,
    *,
    scheduled: bool = True,
    most: int = MOST_EVENTS,
) -> StaticTrace:
    """The trace of a run of `module` on `target`, without data; `trips` are iterations of loops that data decide.

    If it is `scheduled`, processes put and get in the order of their schedules, else in that of the program.

    Raises NoTrace where data decide what is put or got, or when, TooManyEvents, and TargetError for a target that
    does not exist or is no FPGA.
    """
    device = load_target(target)
    if not isinstance(device, Fpga):
        raise TargetError(f"cycles are those of FPGAs, and target '{device.name}' is none", hint="take u280")
    module = with_loops(module)
    _check_length(module, most)  # in front of the schedules, which take longer to find
    trees = Trees(module, TreeOptions(device, trips=dict(trips or {})))
    trees.span(module.top)
    demand_stated_loops(trees)
    recorder = recorded(module, trees, most, scheduled=scheduled)
    return StaticTrace(recorder.trace(), tuple(recorder.streams), recorder.is_as_written)


def recorded(module: Module, trees: Trees, most: int, *, scheduled: bool, exact: bool = False) -> TraceRecorder:
    """What a run does that takes the cycles of its trees. Raises NoTrace and TooManyEvents, as `static_trace`."""
    _check_length(module, most)
    made = [op for function in module.functions() for op in made_streams(function)]
    facts, bits = [facts_of(module, op) for op in made], [bits_of(op.results[0].type) for op in made]
    recorder = TraceRecorder(facts, bits, most)
    program = TraceProgram(module, trees, made, scheduled, exact=exact)
    exec(compile(program.text(), "<trace>", "exec"), {"R": recorder, "T": program.tables})  # no names of the user
    return recorder


def _check_length(module: Module, most: int) -> None:
    """Raises TooManyEvents where the loops of a module say that a trace would be too long."""
    least = fewest_events(module)
    if least > most:
        raise TooManyEvents(least)


def exact_cycles(module: Module, trees: Trees) -> int | None:
    """The cycles of one run of hardware of our own; None where data decide, and where too many elements pass.

    The mean trips of a loop are not enough where two loops vary.
    """
    try:
        found = replay(recorded(module, trees, MOST_EVENTS, scheduled=True, exact=True).trace())
    except (NoTrace, TooManyEvents):
        return None
    return None if found.stuck else found.total
