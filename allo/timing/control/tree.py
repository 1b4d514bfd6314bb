"""Control tree of a function: what runs in turn, what is repeated, what overlaps as a pipeline or as stages.

Nodes say what is built, and nothing that has to be computed from nodes below; all else is a fold over the tree
(`spans.py`, `events.py`, reports). Their cycles, counted from the cycle in which a node begins:

- `Straight`: operations start when its schedule says; it ends `depth` cycles after its begin.
- `Pipeline`: `enter` cycles, then iteration n starts at `n * interval`, the last one ends after `depth`; `leave`.
- `Repeat`: `enter` cycles, then `each` cycles and the body for each iteration, one after the other; `leave`.
  The body of one that is a `Dataflow` starts again when its slowest stage is free.
- `Sequence`: each part begins where the one before it ends, or with it if the tool sees that they share nothing.
- `Dataflow`: all parts are stages that wait for one another.
- `Branch`: one of its branches, at once; in a loop, each as often as its part of `shares` says.
- `Invocation`: `control` cycles, then the tree of the callee, which ends `control` cycles behind its root.
- `ArrayCopy`: `cycles` (None: not known).
- `Spatial`: all iterations at once, or in turn where no region is around them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from mlir import ir

from ...ir.walk import LoopView
from ...poly import TimeLoop, Trips
from ..pipeline import ScheduledRegion
from ..problem.region import Surroundings
from .timeline import PartName
from .trips import TripCounts


@dataclass(frozen=True, slots=True, eq=False)
class Straight:
    """Operations that are scheduled in one piece."""

    body: tuple[ir.Operation, ...]
    region: ScheduledRegion

    @property
    def depth(self) -> int:
        return self.region.schedule.depth


@dataclass(frozen=True, slots=True, eq=False)
class Pipeline:
    """Loops, the outermost first, of which iterations overlap; all loops below them are unrolled.

    `runs` are the iterations of each of `loops`, `trips` those of the pipeline (None: data decide); `control` the
    cycles to enter and leave it, and `stated` its latency if that is assumed.
    """

    loops: tuple[LoopView, ...]
    region: ScheduledRegion
    runs: tuple[Fraction | None, ...]
    trips: Fraction | None
    requested: int
    control: int
    remarks: tuple[str, ...] = ()
    stated: Fraction | None = None

    @property
    def view(self) -> LoopView:
        return self.loops[0]

    @property
    def enter(self) -> int:
        return self.control // 2

    @property
    def leave(self) -> int:
        return self.control - self.enter

    @property
    def interval(self) -> int:
        return self.region.interval

    @property
    def depth(self) -> int:
        return self.region.schedule.depth

    @property
    def time(self) -> tuple[TimeLoop, ...]:
        """The loops with their bounds and strides; the variables of those inside are numbers of `copy_loops`."""
        return self.region.graph.region.time

    @property
    def latency(self) -> Fraction | None:
        """Its cycles on average; None where data decide."""
        return self.at(self.interval) if self.stated is None else self.stated

    def at(self, interval: int) -> Fraction | None:
        """Its cycles at another interval."""
        if self.trips is None:
            return None
        if not self.trips:
            return Fraction(self.control)
        return max(Fraction(0), self.trips - 1) * interval + self.depth + self.control


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """A loop whose iterations run one after the other, `count` times (None: data decide)."""

    view: LoopView
    body: Straight | Sequence | Dataflow
    trips: Trips
    count: Fraction | None
    each: int
    control: int
    remarks: tuple[str, ...] = ()

    @property
    def enter(self) -> int:
        return self.control // 2

    @property
    def leave(self) -> int:
        return self.control - self.enter


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """Parts in the order of the text."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Dataflow:
    """Parts that run at once, and pass on values through FIFOs and arrays."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """A condition around loops or calls; a single branch may not run.

    `shares` are the parts of all runs in which it holds and in which not (None: not known before it runs).
    """

    op: ir.Operation
    branches: tuple[Sequence, ...]
    shares: tuple[Fraction, Fraction] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Invocation:
    """A call of a function, `control` cycles before its begin."""

    op: ir.Operation
    callee: str
    control: int


@dataclass(frozen=True, slots=True, eq=False)
class ArrayCopy:
    """A copy of an array."""

    op: ir.Operation
    cycles: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Spatial:
    """A dimension of a grid of processing elements, each of which runs the body: one node for all of them.

    One of our own hardware is a call, of which `control` are the cycles beside the body. `in_turn`: they run one after
    the other.
    """

    view: LoopView
    body: Sequence
    trips: Trips
    remarks: tuple[str, ...] = ()
    control: int = 0
    in_turn: bool = False


type Node = Straight | Pipeline | Repeat | Sequence | Dataflow | Branch | Invocation | ArrayCopy | Spatial


@dataclass(frozen=True, slots=True, eq=False)
class FunctionTree:
    """The tree of a function; `control` are its cycles behind the root, `stated` its latency if that is assumed."""

    name: str
    function: ir.OpView
    entry: ir.Block
    root: Sequence | Dataflow
    views: Mapping[ir.Operation, LoopView]
    trips: TripCounts
    around: Surroundings
    control: int
    stated: Fraction | None = None

    def loop_name(self, view: LoopView) -> str:
        """What a primitive calls a loop."""
        same = [other for other in self.views.values() if other.name == view.name]
        return f"{self.name}:{view.name}" if len(same) == 1 else f"{self.name}:{view.nest}.{view.name}"


def parts_of(node: Node) -> tuple[Node, ...]:
    """The nodes right below a node."""
    match node:
        case Sequence() | Dataflow():
            return node.parts
        case Repeat() | Spatial():
            return (node.body,)
        case Branch():
            return node.branches
        case _:
            return ()


def possible_branches(node: Branch) -> tuple[Sequence, ...]:
    """Those of a condition that ever run."""
    shares = node.shares or (Fraction(1), Fraction(1))
    return tuple(branch for branch, share in zip(node.branches, shares, strict=False) if share)


def always_runs(node: Branch) -> bool:
    """Whether one of its branches runs each time."""
    return len(node.branches) > 1 or (node.shares is not None and node.shares[0] == 1)


def nodes(node: Node) -> Iterator[Node]:
    """A node and all below it, each in front of what is in it, in the order of the text."""
    yield node
    for part in parts_of(node):
        yield from nodes(part)


def part_names(parts: tuple[Node, ...]) -> list[PartName]:
    """What parts are called: nests by their names, if somebody named them, or if others would be called the same."""
    labels = [label(part) for part in parts]
    found = []
    for part, own in zip(parts, labels, strict=True):
        match part:
            case (Pipeline() | Repeat() | Spatial()) if (view := part.view.chain[0]) is part.view:
                is_named = view.own_nest is not None or labels.count(own) > 1
                found.append(PartName(f"nest '{view.nest}'" if is_named else own, nest=view.nest))
            case Invocation():
                found.append(PartName(own, callee=part.callee))
            case _:
                found.append(PartName(own))
    return found


def label(node: Node) -> str:
    """What a part is called on its own."""
    match node:
        case Pipeline() | Repeat() | Spatial():
            return f"loop '{node.view.name}'"
        case Invocation():
            return f"'{node.callee}'"
        case ArrayCopy():
            return "copy"
        case Branch():
            return "condition"
        case _:
            return "straight code"
