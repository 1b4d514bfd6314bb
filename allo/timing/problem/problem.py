"""Scheduling problem of a body: operations with their copies, what they wait for, and the ports and units they share.

Copies of unrolled loops stay symbolic. Whatever is said of all copies is a table with one axis for each unrolled loop,
whose axis has one entry where copies are alike in that loop; so a problem is as large as its text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import prod

import numpy as np

from ...target import Operator
from .memory import Ports

type Table = np.ndarray[tuple[int, ...], np.dtype[np.int64]]  # of copies


class Passing(Enum):
    """When the sink of a dependence may start: behind its source, in the picosecond or in the cycle."""

    VALUE = "value"  # when the result is there: logic is chained within a cycle
    FORWARD = "forward"  # when the source starts: what is stored is used at once
    CYCLES = "cycles"  # so many cycles after the cycle of the source


@dataclass(frozen=True, slots=True)
class Move:
    """Copies in an unrolled loop: the sink is at least `low` and at most `high` behind the source."""

    loop: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Precedence:
    """`sink` waits for `source`, `distance` iterations before it, in the copies that `moves` leads to.

    In a loop that both have copies of and that is not in `moves`, it is the same copy; in one that only one has, any.
    Copies of the loops of a `tree` form a balanced tree, not a chain: copy 0 comes last and takes the value from
    before; copy k joins what lies to both sides of it, at the level that is the number of zeros at the end of k.
    """

    source: int
    sink: int
    passing: Passing
    cycles: int = 0
    distance: int = 0
    moves: tuple[Move, ...] = ()
    tree: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation with all its copies, one for each in the unrolled `loops` that its value depends on.

    Its result is there `latency` cycles, and `delay` ps of logic, after it has started. An operation of a `unit`
    starts on one of the operators that others share, too; None: it is wires, or has logic of its own.
    """

    name: str
    kind: str  # "read", "write", "compute" or "call"
    latency: int
    delay: int
    loops: tuple[int, ...] = ()
    unit: Operator | None = None
    width: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class PortUse:
    """The element that each copy of an access touches, and the class of banks in which it needs a port.

    An element with one number is read, or written, once: by the first that reads it, by the last operation that writes
    it, in its last copy.
    `spread` has the class of each bank: where iterations move an access between banks, it needs a port in several.
    """

    elements: Table
    places: Table
    spread: Table
    classes: int


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """An array with ports of its banks; `uses` are those of operations that need them.

    `between` says what keeps an operation from sharing a port with others of its element (`between.py`).
    """

    name: str
    kind: str
    ports: Ports
    banks: int
    read: int  # cycles
    uses: Mapping[int, PortUse] = field(default_factory=dict, compare=False)
    between: Mapping[int, float] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is to be scheduled; `period` is the length of a cycle in ps, `trips` the copies of each unrolled loop."""

    period: int
    trips: tuple[int, ...]
    loops: tuple[str, ...]  # their names
    operations: tuple[Operation, ...]
    dependences: tuple[Precedence, ...]
    memories: tuple[SharedMemory, ...] = ()

    def on_ports(self) -> frozenset[int]:
        """The operations that take a port of a bank, which is their own for the whole cycle."""
        return frozenset(index for memory in self.memories for index in memory.uses)

    def copies(self, index: int) -> int:
        """How many copies an operation has."""
        return prod(self.trips[loop] for loop in self.operations[index].loops)
