"""Timeline of what a function or loop consists of: when its parts begin and end, and what stages wait for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stall:
    """Cycles that a stage stands still after it has begun.

    `kind` is "empty" or "full" for a FIFO, "circle" for FIFOs through which stages wait for one another, and "array"
    for an array that is not complete yet; "" where it is not known.
    """

    kind: str
    name: str
    cycles: int


@dataclass(frozen=True, slots=True)
class TimelinePart:
    """A part of a function or loop; `begin` and `end` are cycles from the begin of the whole, None if not known.

    `nest` is the nest of loops that it is, and `callee` the function that it calls; "" for all else.
    """

    name: str
    begin: int | None
    end: int | None
    stalls: tuple[Stall, ...] = ()
    nest: str = ""
    callee: str = ""


@dataclass(frozen=True, slots=True)
class PartName:
    """What a part is called, and what it is."""

    name: str
    nest: str = ""
    callee: str = ""


@dataclass(frozen=True, slots=True)
class StageLink:
    """A FIFO, or an array that is passed on when it is complete, between the parts `producer` and `consumer`.

    `elements` go through a FIFO of this `depth`, and none of its ends stalls for it if it holds as many as are
    `needed`; None for arrays, and where that is not known.
    """

    name: str
    kind: str  # "FIFO" or "array"
    producer: int
    consumer: int
    depth: int | None = None
    needed: int | None = None
    elements: int | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """The parts of a function `"f"`, or of one iteration of a loop `"f:i"`: stages, or one after the other."""

    of: str
    dataflow: bool
    parts: tuple[TimelinePart, ...]
    links: tuple[StageLink, ...] = ()

    @property
    def cycles(self) -> int | None:
        """From the first begin to the last end; None if that of a part is not known."""
        ends = [part.end for part in self.parts]
        return None if None in ends else max((end for end in ends if end is not None), default=0)

    def stalls(self, link: StageLink) -> int:
        """The cycles that the ends of a link wait for it."""
        ends = {link.producer, link.consumer}
        own = (stall for number in ends for stall in self.parts[number].stalls)
        return sum(stall.cycles for stall in own if link.name in stall.name.split(", "))
