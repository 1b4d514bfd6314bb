"""Affine expressions on registers: sums where their operands are numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from .bytecode import Assembler, BinaryCode, Code
from .engine import ExpressionGraph
from .operators import BIT, INDEX, ScalarType, comparison, integer_operator, scalar_type


@dataclass(frozen=True, slots=True)
class Sum:
    """`constant` plus registers (of numbers) times factors."""

    constant: int = 0
    terms: tuple[tuple[int, int], ...] = ()  # register, factor

    def plus(self, other: Sum, factor: int = 1) -> Sum:
        """This and `factor` times the other."""
        found = dict(self.terms)
        for register, times in other.terms:
            found[register] = found.get(register, 0) + factor * times
        kept = tuple((register, times) for register, times in found.items() if times)
        return Sum(self.constant + factor * other.constant, kept)

    def times(self, factor: int) -> Sum:
        """This, `factor` times."""
        return Sum().plus(self, factor)

    @property
    def words(self) -> list[int]:
        """As the instructions have it: constant, n, (coefficient, register) * n."""
        return [
            self.constant,
            len(self.terms),
            *(x for register, times in self.terms for x in (times, register)),
        ]


class Registers:
    """The registers of values; which hold numbers, and which nodes."""

    def __init__(self, graph: ExpressionGraph, code: Assembler) -> None:
        self.graph = graph
        self.code = code
        self.intervals: dict[int, tuple[int, int]] = {}  # of registers of numbers, where they are known
        self.numbers: dict[ir.Value, int] = {}
        self.nodes: dict[ir.Value, int] = {}

    def node(self, value: ir.Value) -> int:
        """The register of a value as a node."""
        if value in self.nodes:
            return self.nodes[value]
        scalar = scalar_type(value.type)
        assert scalar is not None
        made = self.code.register()
        self.code.emit(Code.TO_NODE, made, self.numbers[value], scalar.width)
        return made

    def number(self, value: ir.Value, origin: ir.Operation) -> int:
        """The register of a value as a number; the program stops here if that is not known."""
        if value in self.numbers:
            return self.numbers[value]
        made = self.code.register()
        self.code.emit(Code.TO_NUMBER, made, self.nodes[value], origin=origin)
        return made

    def are_numbers(self, values: Sequence[ir.Value]) -> bool:
        """Whether all are known when the program runs, whatever the inputs."""
        return all(value in self.numbers for value in values)

    def constant(self, scalar: ScalarType, bits: int) -> int:
        """The register of a constant node."""
        return self.code.constant(self.graph.constant(scalar, bits))

    # -- affine expressions ------------------------------------------------------------------------

    def sum(self, expr: ir.AffineExpr, operands: Sequence[int], dims: int) -> Sum:
        """An affine expression over registers of numbers: dimensions, then symbols."""
        if isinstance(expr, ir.AffineConstantExpr):
            return Sum(expr.value)
        if isinstance(expr, ir.AffineDimExpr):
            return Sum(0, ((operands[expr.position], 1),))
        if isinstance(expr, ir.AffineSymbolExpr):
            return Sum(0, ((operands[dims + expr.position], 1),))
        binary = ir.AffineBinaryExpr(expr)
        left, right = self.sum(binary.lhs, operands, dims), self.sum(binary.rhs, operands, dims)
        if isinstance(expr, ir.AffineAddExpr):
            return left.plus(right)
        if isinstance(expr, ir.AffineMulExpr):
            if not right.terms:
                return left.times(right.constant)
            if not left.terms:
                return right.times(left.constant)
        kind = _KIND_OF_EXPRESSION[type(expr)]
        made = self.code.register()
        self._note_interval(made, kind, left, right)
        self.code.emit(Code.BINARY, made, kind, self.register(left), self.register(right))
        return Sum(0, ((made, 1),))

    def register(self, total: Sum) -> int:
        """A register that holds a sum."""
        if not total.terms:
            return self.code.constant(total.constant)
        if total.constant == 0 and len(total.terms) == 1 and total.terms[0][1] == 1:
            return total.terms[0][0]
        made = self.code.register()
        self.code.emit(Code.LINEAR, made, *total.words)
        inside = self.interval(total)
        if inside is not None:
            self.intervals[made] = inside
        return made

    def interval(self, total: Sum) -> tuple[int, int] | None:
        """The least and the greatest value that a sum may have."""
        low = high = total.constant
        for register, factor in total.terms:
            fixed = self.code.fixed.get(register)
            inside = (fixed, fixed) if fixed is not None else self.intervals.get(register)
            if inside is None:
                return None
            ends = [factor * end for end in inside]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def _note_interval(self, made: int, kind: BinaryCode, left: Sum, right: Sum) -> None:
        inside = self.interval(left)
        if inside is None or right.terms or right.constant <= 0:
            return
        if kind == BinaryCode.FLOORDIV:
            self.intervals[made] = inside[0] // right.constant, inside[1] // right.constant
        elif kind == BinaryCode.MOD:
            self.intervals[made] = 0, right.constant - 1

    def flat(self, results: Sequence[Sum | int], shape: Sequence[int]) -> Sum | None:
        """The position, row by row, of an access that is surely inside of its array."""
        position = Sum()
        for result, extent in zip(results, shape, strict=True):
            inside = None if isinstance(result, int) else self.interval(result)
            if inside is None or isinstance(result, int) or inside[0] < 0 or inside[1] >= extent:
                return None
            position = position.times(extent).plus(result)
        return position

    def affine_node(self, expr: ir.AffineExpr, operands: Sequence[int], dims: int) -> int:
        """An affine expression over registers of nodes, as a node."""
        if isinstance(expr, ir.AffineConstantExpr):
            return self.constant(INDEX, expr.value)
        if isinstance(expr, ir.AffineDimExpr):
            return operands[int(expr.position)]
        if isinstance(expr, ir.AffineSymbolExpr):
            return operands[dims + int(expr.position)]
        binary = ir.AffineBinaryExpr(expr)
        left = self.affine_node(binary.lhs, operands, dims)
        right = self.affine_node(binary.rhs, operands, dims)
        name = _NAME_OF_EXPRESSION.get(type(expr))
        if name is not None:
            return self.binary(name, left, right)
        quotient = self.binary("arith.floordivsi", left, right)  # modulo, with the sign of the divisor
        return self.binary("arith.subi", left, self.binary("arith.muli", quotient, right))

    def binary(self, name: str, left: int, right: int, width: int = 64) -> int:
        """The register of an operation on two nodes that are integers."""
        made = self.code.register()
        self.code.emit(Code.NODE2, made, self.graph.operator(integer_operator(name, width)), left, right)
        return made

    def compare(self, predicate: int, left: int, right: int) -> int:
        """The register of a comparison of two nodes of 64 bits."""
        made = self.code.register()
        self.code.emit(Code.NODE2, made, self.graph.operator(comparison(predicate)), left, right)
        return made

    def both(self, left: int, right: int) -> int:
        """The register of a conjunction."""
        return self.binary("arith.andi", left, right, BIT.width)

    def map_results(self, affine_map: ir.AffineMap, operands: Sequence[ir.Value]) -> list[Sum] | list[int]:
        """The results of a map: sums of numbers, or, if an operand is not a number, registers of nodes."""
        if self.are_numbers(operands):
            registers = [self.numbers[value] for value in operands]
            return [self.sum(expr, registers, affine_map.n_dims) for expr in affine_map.results]
        registers = [self.node(value) for value in operands]
        return [self.affine_node(expr, registers, affine_map.n_dims) for expr in affine_map.results]

    def subscripts(self, results: Sequence[Sum | int], shape: Sequence[int]) -> list[int]:
        """The subscripts of an access as instructions have them; integers are registers of nodes."""
        words: list[int] = []
        for extent, result in zip(shape, results, strict=True):
            words += [extent, result, -1] if isinstance(result, int) else [extent, *result.words]
        return words


_KIND_OF_EXPRESSION: dict[type, BinaryCode] = {
    ir.AffineMulExpr: BinaryCode.MUL,
    ir.AffineModExpr: BinaryCode.MOD,
    ir.AffineFloorDivExpr: BinaryCode.FLOORDIV,
    ir.AffineCeilDivExpr: BinaryCode.CEILDIV,
}
_NAME_OF_EXPRESSION: dict[type, str] = {
    ir.AffineAddExpr: "arith.addi",
    ir.AffineMulExpr: "arith.muli",
    ir.AffineFloorDivExpr: "arith.floordivsi",
    ir.AffineCeilDivExpr: "arith.ceildivsi",
}
