"""Hangs of token programs as errors tell of them: who waits for whom, and which depths are the least."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from types import CodeType

from ...ir.hang import Hang, RunningTask, Wait, Waiting, WaitReason
from ...ir.least_depths import least_depths
from ...ir.stream_facts import StreamFacts
from ...ir.task_facts import at_position, task_facts
from ...ir.walk import location_of
from .program import TokenProgram
from .run import Ending, TokenRun, TooLong
from .tasks import StuckTask, Task, TokenFifo


def told_hang(
    program: TokenProgram, code: CodeType, facts: Sequence[StreamFacts], ending: Ending, most: int
) -> Hang | None:
    """Why a run of the compiled text has hung; None if it has not. Other runs take `most` steps each."""
    if ending.first is None and ending.empty is None:
        return None
    return _Teller(program, code, facts, most).hang(ending)


class _Teller:
    def __init__(self, program: TokenProgram, code: CodeType, facts: Sequence[StreamFacts], most: int) -> None:
        self.program = program
        self.code = code
        self.facts = facts
        self.most = most
        self.names: dict[Task, RunningTask] = {}

    def hang(self, ending: Ending) -> Hang:
        """What the error tells."""
        depths, least = _deepest(ending.deeper), False
        fifos = {fifo.number: fifo for fifo in ending.deeper}
        if not ending.wait:
            with suppress(TooLong):
                declared = {number: fifo.declared for number, fifo in fifos.items()}
                depths, least = least_depths(self._again, declared, depths), True
        full = None if ending.first is None else self._waiting(ending.first[0], None, ending.first[1])
        needs = tuple(self._waiting(fifos[number], depth) for number, depth in depths.items())
        empty = None if ending.empty is None else self._waiting(ending.empty)
        return Hang(full, needs, empty, waits=self._waits(), least=least)

    def _waiting(
        self, fifo: TokenFifo, depth: int | None = None, passed: tuple[int, int] | None = None
    ) -> Waiting:
        puts, gets = passed or (fifo.puts, fifo.gets)
        return Waiting(self.facts[fifo.number], fifo.index, fifo.declared if depth is None else depth, puts, gets)

    def _again(self, depths: Mapping[int, int], only: frozenset[int]) -> dict[int, int] | None:
        ending = TokenRun(self.program, self.most, depths=depths, only=only).run(self.code)
        return None if ending.wait else _deepest(ending.deeper)

    # -- who waits for whom ----------------------------------------------------------------------------

    def _waits(self) -> tuple[Wait, ...]:
        """That is seen when all are forced to go on, until they end."""
        run = TokenRun(self.program, 2 * self.most, forced=True)
        with suppress(TooLong):  # some are seen
            run.run(self.code)
        return tuple(map(self._wait, run.stuck))

    def _wait(self, stuck: StuckTask) -> Wait:
        fifo = stuck.full or stuck.empty
        if fifo is None:
            others = tuple(map(self._named, stuck.leaders))
            return Wait(self._named(stuck.task), WaitReason.END, None, None, others)
        reason = WaitReason.FULL if stuck.full is not None else WaitReason.EMPTY
        user = fifo.getter if reason is WaitReason.FULL else fifo.putter
        at = None if stuck.site is None else location_of(self.program.sites[stuck.site].op)
        users = () if user is None else (self._named(user),)
        waiting = self._waiting(fifo, None, stuck.passed)
        return Wait(self._named(stuck.task), reason, at, waiting, users, stuck.iteration)

    def _named(self, task: Task) -> RunningTask:
        if task not in self.names:
            op = self.program.processes[task.process].op
            name = self.program.module.top if op is None else at_position(task_facts(op).name, task.position)
            if task.parent is not None and task.parent.process:
                name = f"{name} of {self._named(task.parent).name}"
            self.names[task] = RunningTask(len(self.names), name)
        return self.names[task]


def _deepest(fifos: Iterable[TokenFifo]) -> dict[int, int]:
    """What each stream needs, whose FIFOs are all as deep as the deepest of them."""
    depths: dict[int, int] = {}
    for fifo in fifos:
        depths[fifo.number] = max(fifo.depth, depths.get(fifo.number, 0))
    return depths
