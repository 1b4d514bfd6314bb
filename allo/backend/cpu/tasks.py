"""Processes of a dataflow region as machine code: functions that the run-time library lets take turns."""

from __future__ import annotations

from math import prod

from mlir import ir

from ...ir.access import base_of
from ...ir.builder import Builder, constant_map_attr, string_attr, unit_attr
from ...ir.context import context
from ...ir.effects import Effects
from ...ir.module import Module, attributes_of
from ...ir.names import unique_name
from ...ir.passes import run_passes
from ...ir.processes import (
    AT_END,
    LINKED,
    TASK_NUMBER,
    Statement,
    region_blocks,
    region_statements,
    spatial_loops,
)
from ...ir.walk import constant_bounds, induction_variable, operations, statements, string_of, trip_count
from ..outlining import captured, signature_attributes
from .pipeline import RESULTS_TO_ARGUMENTS

_SPAWN = "allo.x_spawn"  # of a declaration: the function that `allo-task-runtime` lets it start


def spawn_processes(module: Module, *, everywhere: bool = False) -> None:
    """Let the run-time library run the processes of all dataflow regions that use streams, or of all, in place."""
    _write_results(module)
    effects = Effects(module)
    taken = set(module.names())
    regions = [
        (_Region(module, function, block, taken), region_statements(effects, block))
        for function in module.functions()
        for block in region_blocks(function)
    ]
    joined = [
        everywhere or any(effects.touched(s.op).streams for s in found) for _, found in regions
    ]  # before any of them changes
    for (region, found), is_joined in zip(regions, joined, strict=True):
        if is_joined:
            region.spawn(found)


def _write_results(module: Module) -> None:
    """Let a process write what it returns to an array of the region; the pass makes calls anew, without our marks."""

    def calls() -> list[ir.Operation]:
        return operations(module.mlir.body, "func.call")

    marks = [{name: mark for name, mark in attributes_of(call).items() if name.startswith("allo.")} for call in calls()]
    run_passes(f"builtin.module({RESULTS_TO_ARGUMENTS})", module.mlir.operation)
    for call, own in zip(calls(), marks, strict=True):
        for name, mark in own.items():
            call.attributes[name] = mark


class _Region:
    """One region that becomes calls of the run-time library; its processes are numbered in the order of the text."""

    def __init__(self, module: Module, function: ir.OpView, block: ir.Block, taken: set[str]) -> None:
        self.module = module
        self.function = function
        self.block = block
        self.taken = taken
        self.i64 = ir.IntegerType.get_signless(64, context())

    def spawn(self, found: list[Statement]) -> None:
        """Put starts of processes in the place of the statements `found`, and wait for all at the end."""
        self._begin(found[0].op)
        places = {statement.op: place for place, statement in enumerate(found)}
        after = [[places[other] for other in statement.after] for statement in found]  # before operations go
        parts: list[tuple[int, int]] = []  # of a statement: its first process, and how many it has
        count = 0
        for statement, others in zip(found, after, strict=True):
            before = [parts[place] for place in others]
            op = statement.op
            own = 0
            if AT_END in op.attributes:  # it may use any end of a stream: all tasks are done
                self._call(Builder.before(op), "allo_region_end", [self.region], [])
                self._begin(op)
                count, before = 0, []
                parts = [(0, 0)] * len(parts)
            if statement.is_process:
                own = self._start(op, before)
            else:
                self._wait(Builder.before(op), "allo_region_await", before)
            parts.append((count, own))
            count += own
        self._call(Builder.before(statements(self.block)[-1]), "allo_region_end", [self.region], [])

    def _begin(self, op: ir.Operation) -> None:
        """Begin a region before a statement."""
        self.region = self._call(Builder.before(op), "allo_region_begin", [], [self.i64]).results[0]

    def _wait(self, builder: Builder, name: str, parts: list[tuple[int, int]]) -> None:
        for part in parts:
            bounds = [builder.constant(self.i64, number) for number in part]
            self._call(builder, name, [self.region, *bounds], [])

    def _start(self, op: ir.Operation, before: list[tuple[int, int]]) -> int:
        """Put the start of a process, or of each element of an unfolded nest, in its place; how many there are."""
        task = int(string_of(op, TASK_NUMBER) or -1)
        spatial = spatial_loops(op)
        count = prod(trip_count(loop) or 0 for loop in spatial)
        body = _elements(op, spatial)
        inputs = _captured_arrays(body)
        builder = Builder.before(body[0])
        self._wait(builder, "allo_region_after", before)
        name = unique_name(f"{self.function.name.value}.task", self.taken)
        mark: dict[str, ir.Attribute] = {
            _SPAWN: ir.FlatSymbolRefAttr.get(name, context()),
            TASK_NUMBER: ir.IntegerAttr.get(self.i64, task),
        }
        self._call(builder, unique_name(f"{name}.spawn", self.taken), [self.region, *inputs], [], mark)
        self._outline(name, body, inputs)
        return count

    def _outline(self, name: str, body: list[ir.Operation], inputs: list[ir.Value]) -> None:
        """Move statements into a function of their own."""
        kinds = [value.type for value in inputs]
        is_linked = any(LINKED in op.attributes for op in body)  # others write to its arrays while it runs
        marks = [{"llvm.noalias": unit_attr()} if _is_alone(value) and not is_linked else {} for value in inputs]
        attributes = signature_attributes(kinds, []) | {
            "sym_name": string_attr(name),
            "sym_visibility": string_attr("private"),
            "arg_attrs": ir.ArrayAttr.get([ir.DictAttr.get(mark, context()) for mark in marks], context()),
        }
        place = body[0].location
        made = Builder(ir.InsertionPoint(self.function.operation), place).op("func.func", (), (), attributes, 1)
        block = made.regions[0].blocks.append(*kinds, arg_locs=[place] * len(kinds))
        end = Builder(ir.InsertionPoint(block), place).op("func.return")
        for op in body:
            op.move_before(end)
        mapping = dict(zip(inputs, block.arguments, strict=True))
        for op in operations(block):
            for position, operand in enumerate(op.operands):
                if operand in mapping:
                    op.operands[position] = mapping[operand]

    def _call(
        self,
        builder: Builder,
        name: str,
        operands: list[ir.Value],
        results: list[ir.Type],
        marks: dict[str, ir.Attribute] | None = None,
    ) -> ir.Operation:
        """A call of a function without a body, which is declared if it is not yet."""
        if name not in self.module.names():
            kind = ir.FunctionType.get([value.type for value in operands], results, context())
            attributes = {
                "sym_name": string_attr(name),
                "sym_visibility": string_attr("private"),
                "function_type": ir.TypeAttr.get(kind, context()),
                **(marks or {}),
            }
            top = Builder(ir.InsertionPoint(self.function.operation), builder.loc)
            top.op("func.func", (), (), attributes, 1)
        callee = {"callee": ir.FlatSymbolRefAttr.get(name, context())}
        return builder.op("func.call", results, operands, callee)


def _captured_arrays(body: list[ir.Operation]) -> list[ir.Value]:
    """The values that a process takes. It looks at arrays by itself: extents and strides are not passed."""
    while True:
        inputs = captured(body)
        looks = [v for v in inputs if isinstance(v.type, ir.MemRefType) and base_of(v) != v]
        if not looks:
            return inputs
        for look in looks:
            copy = look.owner.operation.clone(ir.InsertionPoint(body[0]))
            for op in [*body, *(i for b in body for r in b.regions for x in r.blocks for i in operations(x))]:
                for position, operand in enumerate(op.operands):
                    if operand == look:
                        op.operands[position] = copy.results[0]
            body.insert(0, copy)


def _elements(op: ir.Operation, spatial: list[ir.Operation]) -> list[ir.Operation]:
    """The statements of one element of an unfolded nest, in loops over all elements that take its place."""
    if not spatial:
        return [op]
    builder = Builder.before(op)
    variables = []
    for loop in spatial:
        bounds = constant_bounds(loop)
        assert bounds is not None
        lower, upper = (ir.AffineMapAttr(constant_map_attr(bound)).value for bound in bounds[:2])
        made = builder.affine_for((lower, []), (upper, []), bounds[2], {})
        variables.append(induction_variable(made))
        builder.point = ir.InsertionPoint.at_block_terminator(made.regions[0].blocks[0])
    op.move_before(statements(builder.point.block)[-1])
    found = [op]
    for loop, variable in zip(spatial, variables, strict=True):
        body = loop.regions[0].blocks[0]
        body.arguments[0].replace_all_uses_with(variable)
        inner = statements(body)[:-1]
        for statement in inner:
            statement.move_before(loop)
        if loop in found:
            at = found.index(loop)
            found[at : at + 1] = inner
        loop.erase()
    return found


def _is_alone(value: ir.Value) -> bool:
    """Whether no other value of the function reaches the memory of an array; arguments that differ do not overlap."""
    if not isinstance(value.type, ir.MemRefType):
        return False
    if isinstance(value.owner, ir.Block):
        return bool(value.owner.owner.operation.name == "func.func")
    return bool(value.owner.operation.name == "memref.alloc")
