"""Loops and branches as jumps; of an `if` on data both branches run, and values are selected."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir

from ...ir.affine_sets import constraints_of
from .bytecode import BinaryCode, Code, Label
from .operators import INDEX, scalar_type, select_of
from .subscripts import Registers, Sum


class ControlFlow:
    """Emits operations with regions; `operation` emits the others."""

    def __init__(self, values: Registers) -> None:
        self.values = values
        self.code = values.code
        self.control: dict[str, Callable[[ir.Operation], None]] = {
            "affine.for": self._affine_for,
            "scf.for": self._scf_for,
            "scf.while": self._while,
            "scf.if": self._scf_if,
            "affine.if": self._affine_if,
        }

    def operation(self, op: ir.Operation) -> None:
        """Emit one operation."""
        raise NotImplementedError

    def block(self, block: ir.Block) -> ir.Operation:
        """Emit the operations of a block; the terminator, which is emitted only at the end of a function."""
        *body, last = [op.operation for op in block.operations]
        for op in body:
            self.operation(op)
        if last.name == "func.return":
            self.operation(last)
        return last

    def _fresh(self, values: Sequence[ir.Value]) -> list[int]:
        """New registers in which values are nodes."""
        made = [self.code.register() for _ in values]
        self.values.nodes.update(zip(values, made, strict=True))
        return made

    # -- loops -------------------------------------------------------------------------------------

    def _affine_for(self, op: ir.Operation) -> None:
        operands = list(op.operands)
        maps = [ir.AffineMapAttr(op.attributes[f"{side}BoundMap"]).value for side in ("lower", "upper")]
        lower_count, upper_count = (m.n_inputs for m in maps)
        lower = self._bound(op, maps[0], operands[:lower_count], BinaryCode.MAX)
        upper = self._bound(op, maps[1], operands[lower_count : lower_count + upper_count], BinaryCode.MIN)
        step = self.code.constant(ir.IntegerAttr(op.attributes["step"]).value)
        self._loop(op, lower, upper, step, operands[lower_count + upper_count :])

    def _bound(
        self, op: ir.Operation, affine_map: ir.AffineMap, operands: Sequence[ir.Value], choose: BinaryCode
    ) -> int:
        registers = [self.values.number(value, op) for value in operands]
        found: int | None = None
        for expr in affine_map.results:
            register = self.values.register(self.values.sum(expr, registers, affine_map.n_dims))
            if found is None:
                found = register
            else:
                made = self.code.register()
                self.code.emit(Code.BINARY, made, choose, found, register)
                sides = [self.values.interval(Sum(0, ((side, 1),))) for side in (found, register)]
                if sides[0] is not None and sides[1] is not None:
                    pick = max if choose == BinaryCode.MAX else min
                    self.values.intervals[made] = (
                        pick(sides[0][0], sides[1][0]),
                        pick(sides[0][1], sides[1][1]),
                    )
                found = made
        assert found is not None
        return found

    def _scf_for(self, op: ir.Operation) -> None:
        lower, upper, step = (self.values.number(value, op) for value in list(op.operands)[:3])
        self._loop(op, lower, upper, step, list(op.operands)[3:])

    def _loop(self, op: ir.Operation, lower: int, upper: int, step: int, initial: Sequence[ir.Value]) -> None:
        block = op.regions[0].blocks[0]
        variable, *carried = list(block.arguments)
        first = [self.values.node(value) for value in initial]
        registers = self._fresh(carried)
        self.code.move(registers, first)
        number = self.code.register()
        self._note_interval(number, lower, upper)
        body, behind = self.code.label(), self.code.label()
        self.code.emit(Code.FOR, number, lower, upper, step, behind, origin=op)
        self.code.place(body)
        if isinstance(variable.type, ir.IndexType):
            self.values.numbers[variable] = number
        else:
            (node,) = self._fresh([variable])
            self.code.emit(Code.TO_NODE, node, number, ir.IntegerType(variable.type).width)
        last = self.block(block)
        self.code.move(registers, [self.values.node(value) for value in last.operands])
        self.code.emit(Code.NEXT, number, upper, step, body, origin=op)
        self.code.place(behind)
        self.values.nodes.update(zip(op.results, registers, strict=True))

    def _note_interval(self, number: int, lower: int, upper: int) -> None:
        """Between which values a loop variable stays, if those of the bounds are known."""
        ends = [self.values.interval(Sum(0, ((bound, 1),))) for bound in (lower, upper)]
        if ends[0] is not None and ends[1] is not None:
            self.values.intervals[number] = ends[0][0], max(ends[0][0], ends[1][1] - 1)

    def _while(self, op: ir.Operation) -> None:
        before, after = op.regions[0].blocks[0], op.regions[1].blocks[0]
        first = [self.values.node(value) for value in op.operands]
        registers = self._fresh(list(before.arguments))
        self.code.move(registers, first)
        head, behind = self.code.label(), self.code.label()
        self.code.place(head)
        condition = self.block(before)
        passed = [self.values.node(value) for value in list(condition.operands)[1:]]
        results = self._fresh(list(op.results))
        self.code.move(results, passed)
        self.code.emit(Code.CONDITION, self.values.node(condition.operands[0]), behind, origin=op)
        self.values.nodes.update(zip(after.arguments, results, strict=True))
        last = self.block(after)
        self.code.move(registers, [self.values.node(value) for value in last.operands])
        self.code.emit(Code.JUMP, head)
        self.code.place(behind)

    # -- branches ----------------------------------------------------------------------------------

    def _scf_if(self, op: ir.Operation) -> None:
        self._symbolic_if(op, self.values.node(op.operands[0]))

    def _symbolic_if(self, op: ir.Operation, condition: int) -> None:
        results = self._fresh(list(op.results))
        sides = [[self.code.register() for _ in results] for _ in range(2)]
        words: list[int] = []
        for position, result in enumerate(op.results):
            scalar = scalar_type(result.type)
            assert scalar is not None, "an `if` yields scalars"
            select = self.values.graph.operator(select_of(scalar))
            words += [results[position], sides[0][position], sides[1][position], select]
        otherwise, end = self.code.label(), self.code.label()
        self.code.emit(Code.IF, condition, otherwise, end, len(results), *words, origin=op)
        self._branches(op, results, sides, otherwise, end)

    def _branches(
        self, op: ir.Operation, results: list[int], sides: list[list[int]], otherwise: Label, end: Label
    ) -> None:
        for number, registers in enumerate(sides):
            if number == 1:
                self.code.place(otherwise)
            if len(op.regions[number].blocks):
                last = self.block(op.regions[number].blocks[0])
                self.code.move(registers, [self.values.node(value) for value in last.operands])
            pairs = [x for pair in zip(results, registers, strict=True) for x in pair]
            self.code.emit(Code.YIELD, end, len(results), *pairs)
        self.code.place(end)

    def _affine_if(self, op: ir.Operation) -> None:
        conditions, equalities = constraints_of(op.attributes["condition"])
        operands = list(op.operands)
        if not self.values.are_numbers(operands):
            self._symbolic_if(op, self._condition(conditions, equalities, operands))
            return
        results = self._fresh(list(op.results))
        sides = [[self.code.register() for _ in results] for _ in range(2)]
        otherwise, end = self.code.label(), self.code.label()
        registers = [self.values.numbers[value] for value in operands]
        for expr, is_equality in zip(conditions.results, equalities, strict=True):
            total: Sum = self.values.sum(expr, registers, conditions.n_dims)
            self.code.emit(Code.JUMP_IF, self.values.register(total), int(is_equality), otherwise)
        self._branches(op, results, sides, otherwise, end)

    def _condition(
        self, conditions: ir.AffineMap, equalities: Sequence[bool], operands: Sequence[ir.Value]
    ) -> int:
        """The register of whether operands that are not all numbers satisfy all constraints."""
        registers = [self.values.node(value) for value in operands]
        zero = self.values.constant(INDEX, 0)
        found: int | None = None
        for expr, is_equality in zip(conditions.results, equalities, strict=True):
            value = self.values.affine_node(expr, registers, conditions.n_dims)
            holds = (
                self.values.compare(0, value, zero) if is_equality else self.values.compare(3, zero, value)
            )
            found = holds if found is None else self.values.both(found, holds)
        assert found is not None
        return found
