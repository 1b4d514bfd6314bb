"""Interface of Python to the C++ library that stores expressions and runs programs on them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from allo import _mlir

from .operators import OpKind, ScalarOperator, ScalarType

type Ids = npt.NDArray[np.uint32]
type Unwritten = npt.NDArray[np.uint8]

CONSTANT_BIT = 1 << 31
UNDEFINED = 0
WHOLLY_UNWRITTEN = 2  # of `ExpressionGraph.unwritten`


class Status(IntEnum):
    """Why a program has stopped; the numbers of `GraphInterpreter.h`."""

    DONE = 0
    PAUSED = 1
    TOO_MANY_NODES = 2
    OUT_OF_BOUNDS = 3
    EMPTY_STREAM = 4
    SYMBOLIC_NUMBER = 5
    SYMBOLIC_STREAM = 6
    SYMBOLIC_SUBSCRIPT = 7
    SYMBOLIC_CONDITION = 8
    UNDEFINED_NUMBER = 9
    SYMBOLIC_STORE = 10
    TOO_LONG = 11


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a program has stopped; `details` are as `Stop` in `GraphInterpreter.h` says."""

    status: Status
    at: int
    details: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class OpNode:
    """An operator with its operands, which are ids."""

    operator: ScalarOperator
    operands: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """`bits` are those of the value, without a sign."""

    type: ScalarType
    bits: int


@cache
def _library() -> Any:
    library = ctypes.CDLL(_mlir.runtime_library())
    pointer, u64, u32, i32 = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_int
    for name, result, arguments in (
        ("graph_new", pointer, [u64, u64]),
        ("graph_delete", None, [pointer]),
        ("graph_size", u64, [pointer]),
        ("graph_operator", u32, [pointer, i32, i32, i32, i32, i32, ctypes.c_int64]),
        ("graph_constant", u32, [pointer, i32, i32, pointer]),
        ("graph_node", u32, [pointer, u32, u32, u32, u32]),
        ("graph_read", None, [pointer, u32, pointer]),
        ("graph_read_constant", None, [pointer, u32, pointer, pointer, i32]),
        ("graph_unwritten", None, [pointer, pointer, u64, pointer]),
        ("graph_normal_forms", i32, [pointer, pointer, u64, i32, u64, ctypes.c_double, pointer]),
        ("run_new", pointer, [pointer, pointer, u64, pointer, u64, pointer, pointer, pointer, u64, u32, u32]),
        ("run_delete", None, [pointer]),
        ("run_cells", pointer, [pointer, u64]),
        ("run_track", None, [pointer, u64]),
        ("run_writer", u32, [pointer, u64, u64]),
        ("run_inputs", None, [pointer, pointer, u64, u32, u32]),
        ("run_resume", None, [pointer, u64, pointer]),
        ("run_register", ctypes.c_int64, [pointer, u64]),
        ("run_escape_beyond", ctypes.c_int64, [pointer, pointer]),
        ("run_left_over", i32, [pointer, u64, pointer]),
    ):
        function = getattr(library, f"allo_{name}")
        function.restype, function.argtypes = result, arguments
    return library


class ExpressionGraph:
    """Expressions, each stored once. Ids with the highest bit are constants; 0 is what nothing has written."""

    def __init__(self, limit: int, memory: int = 4_000_000_000) -> None:
        """At most `limit` expressions, in about `memory` bytes. Raises MemoryError if the system has not so much."""
        self._library = _library()
        self.limit, self.memory = limit, memory
        handle = self._library.allo_graph_new(limit, memory)
        if handle is None:
            raise MemoryError(f"no memory for {limit:,} expressions")
        self.handle = handle
        self._operators: list[ScalarOperator] = [ScalarOperator("undefined", OpKind.OPAQUE, 0, ScalarType(0, 0))]
        self._numbers: dict[ScalarOperator, int] = {}
        self._known: dict[int, OpNode | Constant] = {}

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self._library.allo_graph_delete(self.handle)

    def __len__(self) -> int:
        return int(self._library.allo_graph_size(self.handle))

    def operator(self, operator: ScalarOperator) -> int:
        """The number of an operator."""
        if operator not in self._numbers:
            o = operator
            number: int = self._library.allo_graph_operator(
                self.handle, o.kind, o.arity, o.commutative, o.result.width, o.result.code, o.extra
            )
            assert number == len(self._operators)
            self._numbers[operator] = number
            self._operators.append(operator)
        return self._numbers[operator]

    def constant(self, scalar: ScalarType, bits: int) -> int:
        """The id of a constant; of `bits` those of the type count."""
        count = (scalar.width + 63) // 64
        bits &= (1 << scalar.width) - 1
        words = (ctypes.c_uint64 * count)(*((bits >> (64 * k)) & (2**64 - 1) for k in range(count)))
        return int(self._library.allo_graph_constant(self.handle, scalar.code, scalar.width, words))

    def node(self, operator: ScalarOperator, *operands: int) -> int:
        """The id of an operator on operands."""
        filled = (*operands, 0, 0, 0)[:3]
        return int(self._library.allo_graph_node(self.handle, self.operator(operator), *filled))

    def read(self, number: int) -> OpNode | Constant:
        """What an id stands for."""
        if number not in self._known:
            self._known[number] = self._read(number)
        return self._known[number]

    def _read(self, number: int) -> OpNode | Constant:
        told = (ctypes.c_uint32 * 4)()
        if number & CONSTANT_BIT:
            words = (ctypes.c_uint64 * 64)()
            self._library.allo_graph_read_constant(self.handle, number, told, words, 64)
            bits = sum(int(words[k]) << (64 * k) for k in range((told[1] + 63) // 64))
            return Constant(ScalarType(told[0], told[1]), bits)
        self._library.allo_graph_read(self.handle, number, told)
        operator = self._operators[told[0]]
        return OpNode(operator, tuple(told[1 : 1 + max(operator.arity, 2 * (operator.kind == OpKind.LEAF))]))

    def unwritten(self, ids: Ids) -> Unwritten:
        """1 for an expression with an element in it that nothing has written, WHOLLY_UNWRITTEN for such an element."""
        given = np.ascontiguousarray(ids, dtype=np.uint32)
        told = np.zeros(len(given), dtype=np.uint8)
        self._library.allo_graph_unwritten(self.handle, given.ctypes.data, len(given), told.ctypes.data)
        return told

    def normal_forms(self, ids: Ids, reassociate: bool, most: int, seconds: float = 60.0) -> Ids | None:
        """For each id the number of its normal form (0: an undefined value is in it); None if they need
        more than `most` terms or `seconds`."""
        given = np.ascontiguousarray(ids, dtype=np.uint32)
        forms = np.zeros(len(given), dtype=np.uint32)
        done = self._library.allo_graph_normal_forms(
            self.handle, given.ctypes.data, len(given), reassociate, most, seconds, forms.ctypes.data
        )
        return forms if done else None


class Run:
    """A program on a graph."""

    def __init__(
        self,
        graph: ExpressionGraph,
        code: Sequence[int],
        registers: Sequence[int],
        arrays: Sequence[tuple[int, int, int]],
        equal: int,
        both: int,
    ) -> None:
        self._library = _library()
        self._graph = graph
        words, values = np.array(code, dtype=np.int64), np.array(registers, dtype=np.int64)
        self._sizes = [size for size, _, _ in arrays]
        sizes = np.array(self._sizes, dtype=np.uint64)
        selects = np.array([select for _, select, _ in arrays], dtype=np.uint32)
        unwritten = np.array([leaf for _, _, leaf in arrays], dtype=np.uint32)
        self.handle = self._library.allo_run_new(
            *(graph.handle, words.ctypes.data, len(words), values.ctypes.data, len(values)),
            *(sizes.ctypes.data, selects.ctypes.data, unwritten.ctypes.data, len(sizes), equal, both),
        )

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self._library.allo_run_delete(self.handle)

    def cells(self, array: int) -> Ids:
        """The elements of an array, as they are; a view that lives as long as the run."""
        address = self._library.allo_run_cells(self.handle, array)
        if not self._sizes[array]:
            return np.zeros(0, dtype=np.uint32)
        pointer = ctypes.cast(address, ctypes.POINTER(ctypes.c_uint32))
        return np.ctypeslib.as_array(pointer, (self._sizes[array],))

    def track(self, array: int) -> None:
        """From now on, remember which instruction writes each element of an array."""
        self._library.allo_run_track(self.handle, array)

    def writer(self, array: int, element: int) -> int:
        """The instruction that has written an element last; 0 if none has."""
        return int(self._library.allo_run_writer(self.handle, array, element))

    def fill_with_inputs(self, array: int, leaf: int, extend: int) -> None:
        """Let an array hold the inputs that are made by the operator `leaf`, widened by `extend` if it is not 0."""
        self._library.allo_run_inputs(self._graph.handle, self.handle, array, leaf, extend)

    def resume(self, steps: int) -> Stop:
        """Continue for about `steps` turns of loops."""
        told = (ctypes.c_int64 * 5)()
        self._library.allo_run_resume(self.handle, steps, told)
        return Stop(Status(told[0]), told[1], (told[2], told[3], told[4]))

    def register(self, number: int) -> int:
        """The content of a register."""
        return int(self._library.allo_run_register(self.handle, number))

    def escape_beyond(self, other: Run) -> int | None:
        """The instruction of a read outside of an array, under conditions under which `other` leaves none."""
        at = int(self._library.allo_run_escape_beyond(self.handle, other.handle))
        return None if at < 0 else at

    def left_over(self) -> list[tuple[int, int, int]]:
        """Streams that hold elements: the instruction that made each, its place among those made there, how many."""
        told = (ctypes.c_int64 * 3)()
        found: list[tuple[int, int, int]] = []
        while self._library.allo_run_left_over(self.handle, len(found), told):
            found.append((told[0], told[1], told[2]))
        return found
