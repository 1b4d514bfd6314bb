"""Nodes of a computation graph: one for each operation, leaf and element of memory."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import islpy as isl
from mlir import ir

from ...poly.linear import Linear
from ...poly.model import Access, ModelBuffer, Source
from ...poly.values import Terms
from ..result import Stuck


class Kind(StrEnum):
    OPERATION = "operation"
    READ = "read"  # a load, a get from a stream, or an output at the end
    INDEX = "index"  # an affine function of the loops and parameters
    CHOICE = "choice"  # a select whose condition is affine
    INPUT = "input"  # an element of an argument before the program runs; a scalar argument
    UNDEFINED = "undefined"  # an element of a local array that nothing has written
    PART = "part"  # bits of a word that is no read
    OPAQUE = "opaque"  # what the method cannot tell


class Gap(Exception):
    """The method does not apply; carries the reason and the statement."""

    def __init__(self, reason: str, at: Source | None = None) -> None:
        super().__init__(reason)
        self.stuck = Stuck(reason, at)


@dataclass(eq=False, slots=True)
class ValueNode:
    """One value for each iteration of the first `depth` loops around it, or for each element.

    `signature` is what two operations must share; `cases` (of a choice) are where the first operand is taken and
    where the second.
    """

    id: str
    kind: Kind
    depth: int
    signature: tuple[str, ...] = ()
    operands: tuple[ValueNode, ...] = ()
    access: Access | None = None
    output: int = -1  # of a read at the end: which output
    form: Linear | None = None
    terms: Terms | None = None
    variables: tuple[int, ...] = ()
    cases: tuple[isl.Set, isl.Set] | None = None
    source: Source | None = None
    name: str = ""
    block: ir.Block | None = None
    shape: tuple[int | None, ...] | None = None
    base: ValueNode | None = None  # of bits of a word: the word
    width: int = 0  # of them, or of the bits that an operation takes or puts

    def __repr__(self) -> str:
        return self.id


@dataclass(frozen=True, slots=True)
class Output:
    """What the program leaves behind: an array argument or a returned value."""

    name: str
    buffer: ModelBuffer | None
    value: ir.Value | None
