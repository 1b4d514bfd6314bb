"""Bytecode of a program that runs on expressions: its instructions, and how they are put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from mlir import ir


class Code(IntEnum):
    """One word each for the code and its operands; the numbers of `GraphInterpreter.h`.

    A register holds a number (of a loop variable, a subscript) or a node (of data); which of them is known here.
    Subscripts are `extent, constant, n, (coefficient, register) * n`, or `extent, register, -1` for a node.
    """

    HALT = 0
    LINEAR = 1  # result, constant, n, (coefficient, register) * n
    BINARY = 2  # result, Binary, left, right
    JUMP = 3  # target
    JUMP_IF = 4  # register, 0: < 0 or 1: != 0, target
    FOR = 5  # variable, lower, upper, step, behind
    NEXT = 6  # variable, upper, step, body
    MOVE = 7  # n, (result, source) * n
    TO_NODE = 8  # result, number, width
    TO_NUMBER = 9  # result, node
    NODE1 = 10  # result, operator, operands
    NODE2 = 11
    NODE3 = 12
    ALLOCATE = 13  # array
    LOAD = 14  # result, array, rank, length of the instruction, subscripts
    STORE = 15  # value, array, rank, length of the instruction, subscripts
    COPY = 16  # source, target
    IF = 17  # condition, else, end, n, (result, then, else, select operator) * n
    YIELD = 18  # end, n, (result, source) * n
    CONDITION = 19  # node, behind the loop
    NEW_STREAM = 20  # result
    NEW_STREAMS = 21  # array
    PUT = 22  # handle, array in which the element travels
    GET = 23  # handle, array in which the element travels
    LOAD_INSIDE = 24  # result, array, constant, n, (coefficient, register) * n: surely inside of the array
    STORE_INSIDE = 25  # value, the others likewise
    PEEK = 26  # handle, array in which the element travels


class BinaryCode(IntEnum):
    """What BINARY computes of two numbers."""

    ADD = 0
    SUB = 1
    MUL = 2
    MIN = 3
    MAX = 4
    FLOORDIV = 5
    CEILDIV = 6
    MOD = 7


@dataclass(frozen=True, slots=True)
class Label:
    """A place in the code that is known later."""

    number: int


@dataclass(slots=True)
class Assembler:
    """Code with labels, first values of registers, and where each instruction comes from."""

    words: list[int] = field(default_factory=list)
    registers: list[int] = field(default_factory=list)
    origins: dict[int, ir.Operation] = field(default_factory=dict)
    _places: dict[int, int] = field(default_factory=dict)
    _uses: list[tuple[int, int]] = field(default_factory=list)
    fixed: dict[int, int] = field(default_factory=dict)  # registers that always hold one value
    _constants: dict[int, int] = field(default_factory=dict)
    _labels: int = 0

    def register(self, value: int = 0) -> int:
        """A new register that holds `value` at first."""
        self.registers.append(value)
        return len(self.registers) - 1

    def constant(self, value: int) -> int:
        """A register that always holds `value`."""
        if value not in self._constants:
            self._constants[value] = self.register(value)
            self.fixed[self._constants[value]] = value
        return self._constants[value]

    def label(self) -> Label:
        """A place that `place` will give a position."""
        self._labels += 1
        return Label(self._labels)

    def place(self, label: Label) -> None:
        """The label is here."""
        self._places[label.number] = len(self.words)

    def emit(self, code: Code, *operands: int | Label, origin: ir.Operation | None = None) -> int:
        """Append an instruction; its position."""
        position = len(self.words)
        if origin is not None:
            self.origins[position] = origin
        self.words.append(int(code))
        for operand in operands:
            if isinstance(operand, Label):
                self._uses.append((len(self.words), operand.number))
                self.words.append(0)
            else:
                self.words.append(operand)
        return position

    def move(self, results: Sequence[int], sources: Sequence[int]) -> None:
        """Registers get the values of others, all at once."""
        pairs = [x for pair in zip(results, sources, strict=True) for x in pair]
        if pairs:
            self.emit(Code.MOVE, len(results), *pairs)

    def finish(self) -> list[int]:
        """The code with all places filled in."""
        for position, label in self._uses:
            self.words[position] = self._places[label]
        return self.words
