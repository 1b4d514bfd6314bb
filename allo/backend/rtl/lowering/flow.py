"""Flow of iterations through a region: where they wait for FIFOs, and what stands still then.

An iteration that waits in a cycle of its schedule stands still there, with all that come after it; those before it go
on. So each cycle in which something may be put or got has a signal that says whether what is in it moves on, and the
registers up to it follow that signal. Of several puts and gets in one cycle each is done once those before it, in the
order of the program, are. In a pipeline, waits take whole intervals, so that iterations meet at no port of a memory:
what stands still uses ports in its own cycle of the interval, and keeps what it has read in the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from mlir import ir

from ....ir.walk import location_of
from ..netlist.builder import ModuleBuilder
from ..netlist.design import Signal


@dataclass(frozen=True, slots=True)
class Timed:
    """A value that is there from cycle `ready` of an iteration on, for one cycle; None: all the time."""

    signal: Signal
    ready: int | None


@dataclass(frozen=True, slots=True)
class FlowEvent:
    """A put or get: the condition under which there is one, whether its FIFO lets it, and what says that it happens.

    `done`: it has happened, and others of its cycle wait; None if there are none behind it.
    """

    op: ir.Operation
    active: str
    can: str
    fire: Signal
    done: Signal | None
    blocked: Signal


class RegionFlow:
    """The signals of one region; `stages` are the cycles of its puts and gets, once for each of them.

    `stage` is the one of its function that it is in: regions of one run in turn.
    """

    def __init__(
        self, builder: ModuleBuilder, name: str, stages: Iterable[int], interval: int | None, stage: int = 0
    ) -> None:
        self.builder = builder
        self.stage = stage
        self.name = name
        self.is_pipeline = interval is not None
        self.interval = interval or 1
        self.left = Counter(stages)
        self.stages = sorted(self.left)
        self.moves = {stage: builder.signal(f"{name}_moves_{stage}", 1) for stage in self.stages}
        self.events: dict[int, list[FlowEvent]] = {stage: [] for stage in self.stages}
        self.phase: Signal | None = None
        self.valid: list[Signal] = []

    def go(self, stage: int) -> str:
        """The condition under which what is in a cycle goes on to the next one."""
        return next((self.moves[own].name for own in self.stages if own >= stage), "en")

    def may_stop(self, stage: int) -> bool:
        """Whether what is in a cycle may have to stand still."""
        return bool(self.stages) and stage <= self.stages[-1]

    def after(self, stage: int, cycles: int) -> UnitRegisters:
        """The registers of an operation that begins in a cycle."""
        return UnitRegisters(self, stage, cycles)

    def once(self, condition: str, stage: int) -> str:
        """A condition of a cycle, when what is in it goes on."""
        return f"{condition} && {self.go(stage)}" if self.may_stop(stage) else condition

    def settled(self, signal: Signal, stage: int, cycles: int) -> Signal:
        """What is made of something in a cycle by what never stands still, so many cycles later."""
        if not cycles or not self.may_stop(stage):
            return signal
        made = self.builder.signal(f"{signal.name}_settled", signal.width, signed=signal.signed)
        depth = cycles // self.interval + 1 if self.is_pipeline else 1
        sockets = {
            "clk": "clk", "rst": "rst", "issued": self.once(self.valid[stage].name, stage), "d": signal.name,
            "take": self.once(self.valid[stage + cycles].name, stage + cycles), "y": made.name,
        }  # fmt: skip
        parameters = {"W": signal.width, "LAT": cycles, "DEPTH": depth}
        self.builder.instance("allo_settle", f"{signal.name}_settle", parameters, sockets)
        return made

    def at_turn(self, condition: str, stage: int) -> str:
        """A condition of a cycle, in that cycle of the interval alone, also while what is in it stands still."""
        turn = self._turn(stage)
        return condition if turn is None or not self.may_stop(stage) else f"{condition} && {turn}"

    def steady(self, word: Signal, stage: int) -> Signal:
        """What is there at the turn of a cycle, as long as what is in it stands still."""
        turn = self._turn(stage)
        if turn is None or not self.may_stop(stage):
            return word
        kept = self.builder.signal(f"{word.name}_kept", word.width, signed=word.signed)
        self.builder.register(kept, word.name, enable=f"en && {turn}")
        text = f"{turn} ? {word.name} : {kept.name}"
        return self.builder.wire(f"{word.name}_steady", word.width, text, signed=word.signed)

    def _turn(self, stage: int) -> str | None:
        """The condition that it is the cycle of the interval in which something is done; None: each one is."""
        return None if self.phase is None else f"{self.phase.name} == {self.phase.width}'d{stage % self.interval}"

    def delayed(self, signal: Signal, stage: int, cycles: int) -> Signal:
        """A signal of a cycle, so many later."""
        enables = [self.go(stage + number) for number in range(cycles)]
        return self.builder.delayed(signal, cycles, enables=enables)

    def held(self, pulse: Signal) -> Signal:
        """A pulse that begins something, until that goes on."""
        if not self.may_stop(0):
            return pulse
        waits = self.builder.signal(f"{self.name}_pending", 1)
        made = self.builder.wire(f"{self.name}_begin", 1, f"{pulse.name} || {waits.name}")
        self.builder.register(waits, f"{made.name} && !{self.go(0)}", reset=0)
        return made

    def asked(self, chosen: Signal, cycles: int) -> Signal:
        """What is asked of a memory, when it answers: it goes on while the region stands still."""
        made = self.builder.wire(f"{chosen.name}_asked", chosen.width, chosen.name)
        return self.builder.delayed(made, cycles)

    def kept(self, timed: Timed) -> Signal:
        """A value for those that run later."""
        if timed.ready is None or timed.signal.literal is not None:
            return timed.signal
        signal, there = timed.signal, self.valid[timed.ready].name
        kept = self.builder.signal(f"{signal.name}_kept", signal.width, signed=signal.signed)
        self.builder.register(kept, signal.name, enable=f"en && {there}")
        return self.builder.wire(
            f"{signal.name}_held", signal.width, f"{there} ? {signal.name} : {kept.name}", signed=signal.signed
        )

    def begin(self, first: Signal, depth: int) -> None:
        """Let iterations come when `first` says so."""
        self.valid = self.chain(first, depth)

    def chain(self, first: Signal, depth: int) -> list[Signal]:
        """For each cycle whether an iteration is there that was in the first one under a condition."""
        if not self.stages:
            return [self.builder.delayed(first, cycle, reset=0) for cycle in range(depth + 1)]
        line = [first]
        for stage in range(depth):
            made = self.builder.signal(f"{first.name}_{stage + 1}", 1)
            own, following = self.go(stage), self.go(stage + 1)
            text = line[-1].name if own == following else f"{line[-1].name} && {own}"
            self.builder.register(made, text, enable=following, reset=0)
            line.append(made)
        return line

    def ended(self, last: Signal, depth: int) -> Signal:
        """The pulse with which what is in the last cycle ends."""
        if not self.may_stop(depth):
            return last
        return self.builder.wire(f"{self.name}_ended", 1, f"{last.name} && {self.go(depth)}")

    def count_phase(self, begin: Signal) -> None:
        """Count in which of the cycles of an interval the pipeline is, from its begin on."""
        if self.interval == 1 or not self.stages:
            return
        width = (self.interval - 1).bit_length()
        kept = self.builder.signal(f"{self.name}_phase_kept", width)
        self.phase = self.builder.wire(f"{self.name}_phase", width, f"{begin.name} ? {width}'d0 : {kept.name}")
        last = f"{self.phase.name} == {width}'d{self.interval - 1}"
        self.builder.register(kept, f"({last}) ? {width}'d0 : {self.phase.name} + {width}'d1")

    # -- puts and gets -----------------------------------------------------------------------------------

    def event(self, op: ir.Operation, stage: int, active: str, can: str) -> FlowEvent:
        """A put or get in a cycle, behind those that are known already."""
        self.left[stage] -= 1
        fire = self.builder.signal(f"{self.name}_fires", 1)
        done = self.builder.signal(f"{fire.name}_done", 1) if self.left[stage] else None
        blocked = self.builder.signal(f"{fire.name}_blocked", 1)
        made = FlowEvent(op, active, can, fire, done, blocked)
        self.events[stage].append(made)
        return made

    def finish(self) -> list[str]:
        """Say what moves; conditions under which the region waits for a FIFO, and nothing in it goes on."""
        found, behind, valid = [], "1'b0", self.valid
        end = len(valid)
        for stage in reversed(self.stages):
            inside = [valid[cycle].name for cycle in range(stage + 1, end)]
            busy = self.builder.wire(f"{self.name}_busy", 1, " || ".join([*inside, behind]))
            behind, end = busy.name, stage + 1
            self._moves(stage, valid[stage].name)
            blocked = " || ".join(event.blocked.name for event in self.events[stage])
            found.append(f"(({blocked}) && !{busy.name})")
        return found

    def _moves(self, stage: int, valid: str) -> None:
        """Let the events of a cycle happen one after the other."""
        older = self.go(stage + 1)
        turn = self._turn(stage)
        in_time = older if turn is None else f"{older} && {turn}"
        allowed, passed = (
            self.builder.wire(f"{self.name}_turn", 1, text) for text in (in_time, older)
        )  # fmt: skip
        for event in self.events[stage]:
            at = location_of(event.op)
            open_ = f"{valid} && {event.active}" + (f" && !{event.done.name}" if event.done is not None else "")
            self.builder.drive(event.fire, f"{open_} && {allowed.name} && {event.can}", at)
            self.builder.drive(event.blocked, f"{open_} && {passed.name} && !({event.can})", at)
            over = f"!({event.active})" + (f" || {event.done.name}" if event.done is not None else "")
            if event.done is not None:
                kept = f"({event.fire.name} || {event.done.name}) && !{self.moves[stage].name}"
                self.builder.register(event.done, kept, reset=0)
            # what happens in this cycle, or in the one of the interval that it has to, is nothing that waits
            allowed, passed = (
                self.builder.wire(f"{self.name}_turn", 1, f"{before.name} && ({through})")
                for before, through in ((allowed, f"{over} || {event.can}"), (passed, over))
            )  # fmt: skip
        self.builder.drive(self.moves[stage], f"{valid} ? {allowed.name} : {older}")


@dataclass(frozen=True, slots=True)
class UnitRegisters:
    """The registers between the operands of an operation, in a cycle of a region, and its result."""

    flow: RegionFlow
    stage: int
    cycles: int

    @property
    def enable(self) -> str:
        """When all of them take what comes; they never stand still if only some would have to."""
        return "en" if self._are_apart else self.flow.go(self.stage)

    @property
    def _are_apart(self) -> bool:
        return bool(self.cycles) and self.flow.go(self.stage) != self.flow.go(self.stage + self.cycles - 1)

    def delayed(self, signal: Signal) -> Signal:
        """A signal behind them."""
        return self.flow.delayed(signal, self.stage, self.cycles)

    def settled(self, signal: Signal) -> Signal:
        """What a unit with these registers in it gives."""
        return self.flow.settled(signal, self.stage, self.cycles) if self._are_apart else signal
