"""A design with clocks: its schedules, the rewriting of its module, and the timed runs of its machine code."""

from __future__ import annotations

import ctypes
from math import prod
from pathlib import Path
from typing import Any, Literal

from mlir import ir

from allo import _mlir

from ....dataflow.replay import Replayed, replay
from ....dataflow.timed.run import TimedRun
from ....errors import InternalError, TargetError
from ....ir.linalg import is_structured, lower_linalg
from ....ir.mlir_types import from_mlir
from ....ir.module import Module
from ....ir.processes import APART_FROM, TASK_NUMBER
from ....ir.run_report import RunFacts
from ....ir.stream_facts import made_streams
from ....ir.types import TensorType
from ....ir.walk import entry_block, operations
from ....target import Fpga, Target, load_target
from ....timing.control.build import TreeOptions
from ....timing.control.trees import Trees
from ...arguments.calling import runtime_function
from ...arguments.simulated import Again, hang_error
from ...unrolled import unrolled
from .clocks import Clocks
from .recorder import Recorder, StreamParts, TraceBuilder
from .registers import pass_registers

type TimedOption = bool | str | Path | Target  # the target whose operators take the time; True: u280


class TimedDesign:
    """A module that is to get clocks; `write` puts them in, `call` runs its machine code."""

    def __init__(
        self, module: Module, timed: str | Path | Target | Literal[True], *, unbounded: bool, flush: bool
    ) -> None:
        if any(is_structured(op) for f in module.functions() if (e := entry_block(f)) for op in operations(e)):
            lower_linalg(module)
        device = load_target("u280" if timed is True else timed)
        if not isinstance(device, Fpga):
            raise TargetError(f"cycles are those of FPGAs, and target '{device.name}' is none", hint="take u280")
        device = device.flushing() if flush else device
        self.own = device.rules.own_hardware is not None
        module = _numbered_anew(unrolled(module, device)) if self.own else module
        self.module, self.device, self.unbounded = module, device, unbounded
        self.top = module.top
        trees = Trees(module, TreeOptions(device, assumes=not self.own))
        trees.span(module.top)
        self._clocks = Clocks(module, trees)
        self._facts = RunFacts(module.top)
        self._bits: tuple[int, ...] = ()

    def write(self, facts: RunFacts | None) -> None:
        """Put clocks into the module, whose streams have these numbers. Raises DataflowError for what has no time."""
        made = [op for function in self.module.functions() for op in made_streams(function)]
        self._facts = facts or self._facts
        self._bits = tuple(_bits(op.results[0].type) for op in made)
        self._clocks.write()
        if self.own:
            pass_registers(self.module)

    def linked(self) -> dict[str, int]:
        """The functions of the run-time library that the machine code calls, by the names that it has for them."""
        return {name: runtime_function(function) for name, function in self._clocks.code.runtime.items()}

    def call(
        self, address: int, packed: Any, can_stop: bool, again: Again, timeout: float | None = None
    ) -> TimedRun:
        """Run the machine code. Raises DataflowError if something waits for ever, or after `timeout` seconds."""
        with Recorder() as recorder:
            hung = recorder.call(address, packed, can_stop, timeout)
            if hung:
                report = ctypes.string_at(hung).decode()
                _free(hung)
                raise hang_error(report, self._facts, again)
            kept = recorder.recorded()
        parts = [StreamParts(facts, bits) for facts, bits in zip(self._facts.streams, self._bits, strict=True)]
        traces = TraceBuilder(kept, self._clocks.sites, parts, unbounded=self.unbounded, in_time=self.own)
        found, notes = replay(traces.trace(scheduled=True)), tuple[str, ...]()
        if found.stuck:
            notes = (_hang(found),)
            found = replay(traces.trace(scheduled=False))
        if found.stuck:
            raise InternalError(f"'{self.top}' ends, but not if it is timed: {found.stuck[0]}")
        return TimedRun(self.top, self.device.name, self.device.frequency, found, notes)


def _numbered_anew(module: Module) -> Module:
    """A module whose processes are to get other numbers: without marks that hold numbers of before, in place."""
    for call in operations(module.mlir.body, "func.call"):
        for mark in (TASK_NUMBER, APART_FROM):
            if mark in call.attributes:
                del call.attributes[mark]
    return module


def _hang(found: Replayed) -> str:
    """What is to be said of a schedule by which tasks wait for one another, although they do not as written."""
    wait = (found.circle or found.stuck)[0]
    task = found.trace.processes[wait.process].name
    channel = "" if wait.channel is None else f" at '{found.trace.channels[wait.channel].name}'"
    return (
        f"by its schedule, '{task}' waits for ever{channel}, since it takes from another stream before it puts what is "
        "waited for; times are those of the order in which the program puts and gets"
    )


def _free(report: int) -> None:
    library = ctypes.CDLL(_mlir.runtime_library())
    library.allo_stream_free_message.argtypes = [ctypes.c_void_p]
    library.allo_stream_free_message(report)


def _bits(kind: ir.Type) -> int:
    """The bits of an element of a stream."""
    stream = kind.element_type if isinstance(kind, ir.MemRefType) else kind
    element = from_mlir(stream.element_type)
    if isinstance(element, TensorType):
        return int(element.element.bits * prod(element.shape))
    return int(element.bits)
