"""Operations that tell the run-time library how a process passes its cycles, and when it uses streams."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from mlir import ir

from ....ir.access import accessed, callee_name
from ....ir.builder import Builder, constant_map_attr, index_type, string_attr, unit_attr
from ....ir.context import context
from ....ir.elements import EACH
from ....ir.module import Module, attributes_of
from ....ir.names import unique_name
from ....ir.processes import AT_END, CHECK, PROCESS_MARKS
from ....timing.problem.problem import Table

_EQUAL = 0  # a predicate of arith.cmpi
_NEST = "allo.nest"


class ClockCode:
    """Writes calls of the run-time library into a module; cycles are i64."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.i64 = ir.IntegerType.get_signless(64, context())
        self.runtime: dict[str, str] = {}  # declared functions, and those of the run-time library that they are
        self._tables = 0

    def advance(self, at: Builder, cycles: int | ir.Value) -> None:
        """Let cycles go by."""
        if not isinstance(cycles, int) or cycles:
            self._call(at, "allo_trace_advance", [self.number(at, cycles)])

    def advance_behind_tasks(self, at: Builder, cycles: int) -> None:
        """Let cycles go by in a region when all of its tasks have ended."""
        if cycles:
            call = self._call(at, "allo_trace_advance", [self.number(at, cycles)])
            call.attributes[AT_END] = call.attributes[CHECK] = unit_attr()  # no task

    def event(self, at: Builder, op: ir.Operation, cycles: int | ir.Value, interval: int) -> None:
        """Note a put, get or peek, so many cycles after the clock, in iterations that start `interval` cycles apart."""
        function = f"allo_trace_{op.name.rpartition('_')[2]}"
        self._call(at, function, [accessed(op), self.number(at, cycles), self.number(at, interval)])

    def site(self, at: Builder, number: int) -> None:
        """Say which statement a process is."""
        self._call(at, "allo_trace_site", [self.number(at, number)])

    def clock(self, at: Builder) -> ir.Value:
        """The cycles so far."""
        return self._call(at, "allo_trace_clock", [], [self.i64]).results[0]

    def set_clock(self, at: Builder, cycles: ir.Value) -> None:
        """Go on with so many cycles."""
        self._call(at, "allo_trace_set_clock", [cycles])

    def number(self, at: Builder, value: int | ir.Value) -> ir.Value:
        """An i64."""
        return at.constant(self.i64, value) if isinstance(value, int) else value

    def add(self, at: Builder, one: int | ir.Value, other: int | ir.Value) -> int | ir.Value:
        """The sum of two numbers."""
        if isinstance(one, int) and isinstance(other, int):
            return one + other
        return at.value("arith.addi", self.i64, [self.number(at, one), self.number(at, other)])

    def where_equal(
        self, at: Builder, values: tuple[ir.Value, int | ir.Value], then: int, otherwise: int
    ) -> ir.Value:
        """One of two numbers, by whether two values are the same."""
        flag = at.compare(_EQUAL, values[0], self.number(at, values[1]))
        return at.value("arith.select", self.i64, [flag, self.number(at, then), self.number(at, otherwise)])

    def iteration(self, at: Builder, variable: ir.Value, lower: int, step: int, factor: int) -> ir.Value:
        """The number of an iteration of a loop, of which `factor` form a group (0: none)."""
        value = at.value("arith.index_cast", self.i64, [variable])
        value = at.value("arith.subi", self.i64, [value, self.number(at, lower)])
        value = at.value("arith.divsi", self.i64, [value, self.number(at, step)])
        return at.value("arith.remsi", self.i64, [value, self.number(at, factor)]) if factor else value

    def entry(self, at: Builder, table: Table, places: Sequence[ir.Value | None]) -> int | ir.Value:
        """An element of a table; a place of None is along an axis of one entry."""
        if table.size == 1:
            return int(table.reshape(-1)[0])
        kept = [n for n, size in enumerate(table.shape) if size > 1]
        values = np.ascontiguousarray(table.reshape([table.shape[n] for n in kept]), np.int64)
        kind = ir.MemRefType.get(values.shape, self.i64, loc=at.loc)
        name = f"allo_cycles.{self._tables}"
        self._tables += 1
        data = ir.DenseElementsAttr.get(values, type=self.i64, context=context())
        Builder(ir.InsertionPoint.at_block_begin(self.module.mlir.body), at.loc).op("memref.global", (), (), {
            "sym_name": string_attr(name), "sym_visibility": string_attr("private"),
            "type": ir.TypeAttr.get(kind, context()), "initial_value": data, "constant": unit_attr(),
        })  # fmt: skip
        array = at.value("memref.get_global", kind, (), {"name": ir.FlatSymbolRefAttr.get(name, context())})
        index = []
        for n in kept:
            place = places[n]
            assert place is not None
            index.append(at.value("arith.index_cast", index_type(), [place]))
        return at.load(array, index)

    def _call(
        self, at: Builder, function: str, operands: Sequence[ir.Value], results: Sequence[ir.Type] = ()
    ) -> ir.Operation:
        """A call; the function is declared once for each type of its operands, which are all i64 at last."""
        kinds = [value.type for value in operands]
        name = ".".join([function, *(str(kind) for kind in kinds if kind != self.i64)])
        if name not in self.runtime:
            self.runtime[name] = function
            kind = ir.FunctionType.get(kinds, list(results), context())
            Builder(ir.InsertionPoint.at_block_begin(self.module.mlir.body), at.loc).op("func.func", (), (), {
                "sym_name": string_attr(name), "sym_visibility": string_attr("private"),
                "function_type": ir.TypeAttr.get(kind, context()),
            }, 1)  # fmt: skip
        marks = {"callee": ir.FlatSymbolRefAttr.get(name, context()), EACH: unit_attr()}
        return at.op("func.call", results, operands, marks)


def once(op: ir.Operation) -> ir.Block:
    """The body of a loop of one iteration around an operation, which so stays one statement, or one unfolded nest."""
    at = Builder.before(op)
    bounds = [ir.AffineMapAttr(constant_map_attr(bound)).value for bound in (0, 1)]
    loop = at.affine_for((bounds[0], []), (bounds[1], []), 1, {})
    for mark in (_NEST, *PROCESS_MARKS):
        if mark in op.attributes:
            loop.attributes[mark] = op.attributes[mark]
            del op.attributes[mark]
    block = loop.regions[0].blocks[0]
    op.move_before(list(block.operations)[-1])
    return block


def apart(module: Module, call: ir.Operation) -> ir.Block:
    """The body of a function around a call that returns arrays; a call of the function takes the place of the other."""
    operands, results = list(call.operands), list(call.results)
    kinds = [value.type for value in operands]
    name = unique_name(f"{callee_name(call)}.timed", set(module.names()))
    kind = ir.FunctionType.get(kinds, [value.type for value in results], context())
    made = Builder(ir.InsertionPoint.at_block_begin(module.mlir.body), call.location).op("func.func", (), (), {
        "sym_name": string_attr(name), "sym_visibility": string_attr("private"),
        "function_type": ir.TypeAttr.get(kind, context()),
    }, 1)  # fmt: skip
    block = made.regions[0].blocks.append(*kinds, arg_locs=[call.location] * len(kinds))
    attributes = attributes_of(call) | {"callee": ir.FlatSymbolRefAttr.get(name, context())}
    other = Builder.before(call).op("func.call", [value.type for value in results], operands, attributes)
    for old, new in zip(results, other.results, strict=True):
        old.replace_all_uses_with(new)
    call.move_before(Builder(ir.InsertionPoint(block), call.location).op("func.return", (), results))
    for number, argument in enumerate(block.arguments):
        call.operands[number] = argument
    return block
