"""Programs of puts and gets: what is left of a module without its data, as text of Python generators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ..errors import Location
from ..ir.access import (
    accessed,
    asks_stream,
    callee_name,
    is_affine_access,
    is_get,
    is_load,
    is_put,
    makes_stream,
    subscripts,
)
from ..ir.affine_sets import constraints_of
from ..ir.effects import Effects
from ..ir.mlir_types import integer_of
from ..ir.module import Module
from ..ir.processes import is_region, region_statements, spatial_loops
from ..ir.streams import is_stream_type
from ..ir.walk import constant_bounds, entry_block, induction_variable, location_of, operations, statements

_ARITHMETIC = {"arith.addi": "+", "arith.subi": "-", "arith.muli": "*"}
_CASTS = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui")


class DataDependent(Exception):
    """Whether a stream is used, how often, or which one, depends on data; or nothing is known of what uses it."""

    def __init__(self, reason: str, op: ir.Operation) -> None:
        super().__init__(reason)
        self.reason = reason
        self.at: Location | None = location_of(op)


@dataclass(slots=True)
class TokenProgram:
    """Writes `def main():`, a generator over what has to wait; `made` are the operations that make streams.

    It calls `make(number, index, depth)` for each FIFO, `tick(count)` for each loop, and `region()` for each region.
    """

    module: Module
    made: Sequence[ir.Operation]
    lines: list[str] = field(default_factory=list)
    _depth: int = 0
    _count: int = 0
    _known: dict[ir.Value, str] = field(default_factory=dict)
    _inside: list[str] = field(default_factory=list)
    _numbers: dict[ir.Operation, int] = field(default_factory=dict)
    _effects: Effects = field(init=False)

    def __post_init__(self) -> None:
        self._effects = Effects(self.module)

    def text(self) -> str:
        """The text. Raises DataDependent."""
        self._numbers = {op: number for number, op in enumerate(self.made)}
        self._write("def main():")
        self._depth = 1
        self._function(self.module.top)
        self._write("yield from ()")
        return "\n".join(self.lines) + "\n"

    def _write(self, line: str) -> None:
        self.lines.append("  " * self._depth + line)

    def _name(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    # -- what an operation does ----------------------------------------------------------------------

    def _function(self, name: str) -> None:
        entry = entry_block(self.module.function(name))
        assert entry is not None
        self._inside.append(name)
        self._block(entry)
        self._inside.pop()

    def _block(self, block: ir.Block) -> None:
        if is_region(block) and any(self._matters(op) for op in statements(block)):
            self._region(block)
            return
        for op in statements(block):
            self._operation(op)

    def _matters(self, op: ir.Operation) -> bool:
        return self._effects.uses_streams(op)

    def _operation(self, op: ir.Operation) -> None:
        match op.name:
            case _ if makes_stream(op):
                self._make(op)
            case _ if is_load(op):
                if is_stream_type(accessed(op).type):
                    self._known[op.results[0]] = f"{self._known[accessed(op)]}[{self._place(op)}]"
            case _ if is_put(op):
                self._token(op, "fifo.count >= fifo.depth", "full", "count += 1", "puts", "reader")
            case _ if is_get(op):
                self._token(op, "not fifo.count", "empty", "count -= 1", "gets", "writer")
            case _ if asks_stream(op):
                raise DataDependent("what is found in a stream depends on when processes run", op)
            case "func.call":
                self._call(op)
            case "affine.for" | "scf.for":
                self._for(op)
            case "affine.if":
                self._if(op)
            case _ if len(op.regions):
                if self._matters(op):
                    raise DataDependent("whether a stream is used depends on data", op)
            case _:
                self._scalar(op)

    def _make(self, op: ir.Operation) -> None:
        kind = op.results[0].type
        number, name = self._numbers[op], self._name("s")
        if isinstance(kind, ir.MemRefType):
            depth, count = allo_d.StreamType(kind.element_type).depth, _product(kind.shape)
            self._write(f"{name} = {{k: make({number}, k, {depth}) for k in range({count})}}")
        else:
            self._write(f"{name} = make({number}, None, {allo_d.StreamType(kind).depth})")
        self._known[op.results[0]] = name

    def _token(self, op: ir.Operation, test: str, state: str, change: str, counter: str, other: str) -> None:
        self._write(f"fifo = {self._known[accessed(op)]}")
        self._write(f"while {test}: yield fifo, '{state}'")
        self._write(f"fifo.{change}; fifo.{counter} += 1")
        self._write(f"if fifo.{other} is not None: ready.append(fifo.{other}); fifo.{other} = None")

    def _call(self, op: ir.Operation) -> None:
        name = callee_name(op)
        if not self._matters(op):
            return
        entry = entry_block(self.module.function(name))
        if entry is None or name in self._inside:
            raise DataDependent(f"nothing is known of the streams of '{name}'", op)
        for argument, value in zip(entry.arguments, op.operands, strict=True):
            if value in self._known:
                self._known[argument] = self._known[value]
            else:
                self._known.pop(argument, None)
        self._function(name)

    def _for(self, op: ir.Operation) -> None:
        if self._matters(op):
            self._head(op)
            self._body(op.regions[0].blocks[0])

    def _head(self, op: ir.Operation) -> None:
        if op.name == "affine.for":
            step = ir.IntegerAttr(op.attributes["step"]).value
            lower = self._bound(op, "lowerBoundMap", "max")
            bounds = f"{lower}, {self._bound(op, 'upperBoundMap', 'min')}, {step}"
        else:
            bounds = ", ".join(self._index(value, op) for value in list(op.operands)[:3])
        variable, values = self._name("i"), self._name("r")
        self._write(f"{values} = range({bounds}); tick(len({values}))")
        self._write(f"for {variable} in {values}:")
        self._known[induction_variable(op)] = variable

    def _body(self, block: ir.Block) -> None:
        self._depth += 1
        self._write("pass")
        self._block(block)
        self._depth -= 1

    def _if(self, op: ir.Operation) -> None:
        if not self._matters(op):
            return
        condition, equalities = constraints_of(op.attributes["condition"])
        operands = [self._index(value, op) for value in op.operands]
        dims, symbols = operands[: condition.n_dims], operands[condition.n_dims :]
        tests = [
            f"{_expression(expr, dims, symbols)} {'==' if is_equal else '>='} 0"
            for expr, is_equal in zip(condition.results, equalities, strict=True)
        ]
        self._write(f"if {' and '.join(tests) or 'True'}:")
        self._body(op.regions[0].blocks[0])
        if len(op.regions[1].blocks):
            self._write("else:")
            self._body(op.regions[1].blocks[0])

    # -- regions ---------------------------------------------------------------------------------------

    def _region(self, block: ir.Block) -> None:
        """Its processes are generators that are started one after the other."""
        name = self._name("g")
        self._write(f"{name} = region()")
        parts: dict[ir.Operation, str] = {}  # the processes of a statement, as a slice
        count = 0
        for statement in region_statements(self._effects, block):
            op = statement.op
            after = " + ".join(f"{name}.tasks[{parts[other]}]" for other in statement.after) or "[]"
            if not statement.is_process:
                if statement.after:  # all that stands behind waits too
                    self._write(f"yield {after}, 'end'")
                self._operation(op)
                continue
            spatial = spatial_loops(op)
            own = _product([len(range(*(constant_bounds(loop) or (0, 0, 1)))) for loop in spatial])
            parts[op] = f"{count}:{count + own}"
            count += own
            self._process(op, spatial, f"{name}.start", after)
        self._write(f"yield {name}.tasks, 'end'")

    def _process(self, op: ir.Operation, spatial: list[ir.Operation], start: str, after: str) -> None:
        depth, variables = self._depth, []
        for loop in spatial:
            variable = self._name("i")
            bounds = constant_bounds(loop)
            assert bounds is not None
            self._write(f"for {variable} in range({bounds[0]}, {bounds[1]}, {bounds[2]}):")
            self._known[induction_variable(loop)] = variable
            variables.append(variable)
            self._depth += 1
        name = self._name("p")
        self._write(f"def {name}({', '.join(f'{v}={v}' for v in variables)}):")
        self._depth += 1
        self._unfolded(op, spatial)
        self._write("yield from ()")
        self._depth -= 1
        self._write(f"{start}({name}, {after})")
        self._depth = depth

    def _unfolded(self, op: ir.Operation, spatial: list[ir.Operation]) -> None:
        """A statement without its spatial loops, whose variables are known."""
        if op in spatial:
            for inner in statements(op.regions[0].blocks[0]):
                self._unfolded(inner, spatial)
        elif op.name == "affine.for" and any(loop in spatial for loop in operations(op.regions[0].blocks[0])):
            self._head(op)
            self._depth += 1
            self._write("pass")
            for inner in statements(op.regions[0].blocks[0]):
                self._unfolded(inner, spatial)
            self._depth -= 1
        else:
            self._operation(op)

    # -- numbers ---------------------------------------------------------------------------------------

    def _scalar(self, op: ir.Operation) -> None:
        """Remembers what integers are made of loop variables and constants."""
        if len(op.results) != 1 or not isinstance(op.results[0].type, ir.IndexType | ir.IntegerType):
            return
        result = op.results[0]
        self._known.pop(result, None)
        if op.name == "arith.constant" and isinstance(op.attributes["value"], ir.IntegerAttr):
            self._known[result] = f"({integer_of(op.attributes['value'])})"
        elif any(value not in self._known for value in op.operands):
            return
        elif op.name in _CASTS and isinstance(op.results[0].type, ir.IndexType):
            self._known[result] = self._known[op.operands[0]]
        elif op.name in _ARITHMETIC and isinstance(result.type, ir.IndexType):
            left, right = (self._known[value] for value in op.operands)
            self._known[result] = f"({left} {_ARITHMETIC[op.name]} {right})"
        elif op.name == "affine.apply":
            self._known[result] = self._mapped(op, "map", list(op.operands))[0]

    def _index(self, value: ir.Value, op: ir.Operation) -> str:
        if value not in self._known:
            raise DataDependent("which stream is used, or how often, depends on data", op)
        return self._known[value]

    def _mapped(self, op: ir.Operation, attribute: str, operands: list[ir.Value]) -> list[str]:
        given = ir.AffineMapAttr(op.attributes[attribute]).value
        known = [self._index(value, op) for value in operands]
        return [_expression(e, known[: given.n_dims], known[given.n_dims :]) for e in given.results]

    def _bound(self, op: ir.Operation, attribute: str, choice: str) -> str:
        first = ir.AffineMapAttr(op.attributes["lowerBoundMap"]).value.n_inputs
        operands = list(op.operands)
        own = operands[:first] if attribute == "lowerBoundMap" else operands[first:]
        results = self._mapped(op, attribute, own)
        return results[0] if len(results) == 1 else f"{choice}({', '.join(results)})"

    def _place(self, load: ir.Operation) -> str:
        """The number of the stream that is taken from an array, row by row."""
        found = subscripts(load)
        if is_affine_access(load):
            places = self._mapped(load, "map", found)
        else:
            places = [self._index(value, load) for value in found]
        place = "0"
        for extent, subscript in zip(ir.MemRefType(accessed(load).type).shape, places, strict=True):
            place = f"({place}) * {extent} + {subscript}"
        return place


def _expression(expr: ir.AffineExpr, dims: list[str], symbols: list[str]) -> str:
    """An affine expression as Python text."""
    if isinstance(expr, ir.AffineConstantExpr):
        return f"({expr.value})"
    if isinstance(expr, ir.AffineDimExpr):
        return dims[int(expr.position)]
    if isinstance(expr, ir.AffineSymbolExpr):
        return symbols[int(expr.position)]
    left, right = _expression(expr.lhs, dims, symbols), _expression(expr.rhs, dims, symbols)
    if isinstance(expr, ir.AffineCeilDivExpr):
        return f"(-(-{left} // {right}))"
    signs = (
        (ir.AffineAddExpr, "+"), (ir.AffineMulExpr, "*"), (ir.AffineModExpr, "%"), (ir.AffineFloorDivExpr, "//"),
    )  # fmt: skip
    sign = next(sign for kind, sign in signs if isinstance(expr, kind))
    return f"({left} {sign} {right})"


def _product(extents: Sequence[int]) -> int:
    result = 1
    for extent in extents:
        result *= extent
    return result
