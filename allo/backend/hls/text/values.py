"""Named values of a function, so that what was read stays in front of what is written."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from ....ir.walk import file_location
from .affine import LOOP
from .bits import BitWriter
from .body import Body
from .cxx_types import signed_type
from .escape import line_comment
from .expression import Expr, extend
from .names import Names, identifier
from .twins import OpenPlaces
from .vendor import Vendor


class ValueWriter:
    """The values of one function: expressions where they are used once, constants of C++ where they are used again."""

    def __init__(
        self,
        operations: BitWriter,
        vendor: Vendor,
        globals_: dict[str, str],
        functions: dict[str, str],
        taken: Names | None = None,
        entry: ir.Block | None = None,
    ) -> None:
        self.body = Body(entry)
        self.operations = operations
        self.types = operations.types
        self.vendor = vendor
        self.globals = globals_  # symbol -> name in C++
        self.functions = functions
        self.exprs: dict[ir.Value, Expr] = {}
        self.pending: dict[ir.Value, Expr] = {}  # values that read memory and are not used yet
        self.undeclared: dict[ir.Value, str] = {}  # scalar variables that wait for their first assignment
        self.positive: set[ir.Value] = set()
        self.taken = taken or Names({*globals_.values(), *functions.values()})
        self.labels: set[str] = set()
        self.nest: str | None = None  # the nest that the loops around belong to
        self.numbered: set[str] = set()  # `t`, `t_1`, ... of the whole function
        self.outputs: dict[ir.Value, str] = {}  # arrays that the function returns: arguments here
        self.array_port = ""  # see `Vendor`; of the entry
        self.open_places: OpenPlaces = {}
        self.line = 0

    def take(self, values: Sequence[ir.Value]) -> list[Expr]:
        """What stands for `values`; a value that was waiting is used up."""
        for value in values:
            self.pending.pop(value, None)
        return [self.exprs[value] for value in values]

    def flush(self, used: Sequence[ir.Value]) -> list[str]:
        """Names for the values that were read before, in front of a statement that may change what they read."""
        lines = [self._temporary(value, expr) for value, expr in self.pending.items() if value not in used]
        self.pending.clear()
        return lines

    def name(self, value: ir.Value, expr: Expr, wanted: str = "t") -> str:
        """A constant variable with the value."""
        name = identifier(wanted, self.taken)
        self.exprs[value] = Expr(name, type=expr.type, width=expr.width)
        return f"{expr.type or 'auto'} {name} = {expr.cast or expr.text};"

    def temporary_name(self) -> str:
        """A name that occurs once in the function."""
        name = identifier("t", self.taken)
        while name in self.numbered:  # of a block that has ended
            name = identifier("t", self.taken)
        self.numbered.add(name)
        return name

    def _temporary(self, value: ir.Value, expr: Expr) -> str:
        """The same, called `t`, `t_1`, ..."""
        name = self.temporary_name()
        if expr.kind == "extend":  # the number itself is named, since often only its low bits are used
            inner = expr.parts[1]
            named = Expr(name, type=inner.type, width=inner.width)
            self.exprs[value] = extend(named, expr.width, unsigned=expr.unsigned)
            return f"{inner.type} {name} = {inner.cast or inner.text};"
        self.exprs[value] = Expr(name, type=expr.type, width=expr.width)
        return f"{expr.type or 'auto'} {name} = {expr.cast or expr.text};"

    def set_value(self, op: ir.Operation, expr: Expr) -> list[str]:
        result = op.results[0]
        uses = self.body.uses(result)
        if not uses and not expr.effect:
            return []
        if expr.effect or (uses > 1 and expr.compound and expr.kind != "set"):
            return [*(self.flush(self.body.operands(op)) if expr.effect else []), self._temporary(result, expr)]
        self.exprs[result] = expr
        if expr.reads:
            self.pending[result] = expr
        return []

    def assigned(self, value: Expr, kind: ir.Type) -> str:
        """`value` on the right of an assignment to a place of type `kind`."""
        target = "int64_t" if isinstance(kind, ir.IndexType) else self.types.of(kind)
        if value.type == target:
            return value.cast if value.cast and target != "bool" else value.text
        return self.operations.stored(value, kind)

    def _affine(self, op: ir.Operation, attribute: str, values: Sequence[ir.Value]) -> list[Expr]:
        return self.operations.affine.exprs(*self.opened(op, attribute, values))

    def opened(
        self, op: ir.Operation, attribute: str, values: Sequence[ir.Value]
    ) -> tuple[ir.Attribute, list[Expr], list[bool], list[int]]:
        """A map or condition, its operands, which of these are never negative, and how far from 0 each is; open
        numbers are the last ones."""
        operands, positive = self.take(values), [value in self.positive for value in values]
        most = [_most(value) for value in values]
        place = self.open_places.get((op, attribute)) if self.open_places else None
        if place is None:
            return op.attributes[attribute], operands, positive, most
        texts = place.texts()
        return (
            place.attribute, [*operands, *map(Expr, texts)], [*positive, *(True for _ in texts)],
            [*most, *(LOOP for _ in texts)],
        )  # fmt: skip

    def _apply(self, op: ir.Operation) -> list[str]:
        values = self.body.operands(op)
        if self.operations.affine.never_negative(op.attributes["map"], [value in self.positive for value in values]):
            self.positive.add(op.results[0])
        found = self._affine(op, "map", values)[0]
        expr = Expr(
            found.text, found.binds, found.reads, type="int", kind="call" if found.kind == "call" else ""
        )
        return self.set_value(op, expr)

    def _value_type(self, kind: ir.Type) -> str:
        """The type of a value of an expression."""
        if isinstance(kind, ir.IndexType):
            return "int"
        if isinstance(kind, ir.IntegerType) and kind.is_signless:
            return signed_type(kind.width)
        return self.types.of(kind)

    def marked(self, op: ir.Operation, lines: list[str]) -> list[str]:
        """The line of the kernel as a comment, where it is another one than before."""
        location = op.location
        if not lines or not location.is_a_file() or location.start_line == self.line:
            return lines
        self.line = location.start_line
        place = 0
        if lines[0][:1] in ("", "#", "/"):
            place = next((n for n, line in enumerate(lines) if not line.startswith(("#", "//"))), 0)
        first = f"{lines[place]}{line_comment(file_location(location))}"
        return [*lines[:place], first, *lines[place + 1 :]]


def _most(value: ir.Value) -> int:
    """How far from 0 an index may be, as far as C++ cares: a scalar of the kernel is any number of its type."""
    op = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if op is None or op.name not in ("arith.index_cast", "arith.index_castui"):
        return LOOP
    width = int(op.operands[0].type.width)
    return 1 << (width if op.name == "arith.index_castui" else width - 1)
