"""Elementary functions of values of the IR: in their places, or as functions of the module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mlir import ir

from ...errors import Location
from ..builder import Builder, index_type, string_attr, unit_attr
from ..context import context, unknown_location
from ..module import Module
from ..walk import entry_block, location_of, operations
from .doubles import DOUBLES
from .functions import FUNCTIONS, Arithmetic
from .tables import WordTable

_OPERATIONS = tuple(f"math.{name}" for name in FUNCTIONS)
_HIDDEN = "allo.elementary"
_OF_DOUBLES = ".f64"  # behind the names of functions
_PREFIX = "allo."
_LESS, _EQUAL = 2, 0  # predicates of `arith.cmpi`


def expand(module: Module, function: ir.OpView) -> list[tuple[str, Location | None]]:
    """Put plain operations in the place of each function of floats; which functions, and where."""
    entry = entry_block(function)
    found = [] if entry is None else _of_floats(entry)
    said = [(_name(op), location_of(op)) for op in found]
    for op in found:
        _replace(op, lambda builder, name, given: _computed(builder, module, name, given))
    return said


def hide(module: Module) -> None:
    """Make `allo.elementary` of these operations, which passes of MLIR do not compute of constants."""
    for op in _of_floats(module.mlir.body):
        _replace(op, _hidden)


def define(module: Module) -> None:
    """Put the functions into the module that its `allo.elementary` call."""
    names = (ir.FlatSymbolRefAttr(op.attributes["function"]).value for op in operations(module.mlir.body, _HIDDEN))
    for symbol in dict.fromkeys(names):
        _define(module, symbol)


@contextmanager
def hidden(block: ir.Block) -> Iterator[None]:
    """Single floats: while this is entered, passes do not compute functions of constants in a block."""
    for op in _of_floats(block):
        if isinstance(op.results[0].type, ir.F32Type):
            _replace(op, _hidden)
    yield
    for op in operations(block, _HIDDEN):
        name = ir.FlatSymbolRefAttr(op.attributes["function"]).value.removeprefix(_PREFIX)
        made = Builder.before(op).value(f"math.{name}", op.results[0].type, list(op.operands))
        op.results[0].replace_all_uses_with(made)
        op.erase()


def _replace(op: ir.Operation, make: Callable[[Builder, str, list[ir.Value]], ir.Value]) -> None:
    """Replace an operation by one of single or double floats: narrower ones are computed through single ones."""
    builder, single, kind = Builder.before(op), ir.F32Type.get(context()), op.results[0].type
    operands, is_narrow = list(op.operands), isinstance(kind, ir.F16Type | ir.BF16Type)
    if is_narrow:
        operands = [builder.value("arith.extf", single, [operand]) for operand in operands]
    made = make(builder, _name(op), operands)
    if is_narrow:
        made = builder.value("arith.truncf", kind, [made])
    op.results[0].replace_all_uses_with(made)
    op.erase()


def _of_floats(block: ir.Block) -> list[ir.Operation]:
    return [
        op
        for op in operations(block, *_OPERATIONS)
        if isinstance(op.results[0].type, ir.F64Type | ir.F32Type | ir.F16Type | ir.BF16Type)
    ]


def _name(op: ir.Operation) -> str:
    name: str = op.name
    return name.removeprefix("math.")


def _hidden(builder: Builder, name: str, given: list[ir.Value]) -> ir.Value:
    suffix = _OF_DOUBLES if isinstance(given[0].type, ir.F64Type) else ""
    function = ir.FlatSymbolRefAttr.get(f"{_PREFIX}{name}{suffix}", context())
    return builder.value(_HIDDEN, given[0].type, given, {"function": function})


def _define(module: Module, symbol: str) -> None:
    """Put the function into the module."""
    name = symbol.removeprefix(_PREFIX).removesuffix(_OF_DOUBLES)
    of = (ir.F64Type if symbol.endswith(_OF_DOUBLES) else ir.F32Type).get(context())
    at, builder = unknown_location(), Builder(ir.InsertionPoint.at_block_begin(module.mlir.body))
    inputs = [of] * (2 if name == "powf" else 1)
    kind = ir.TypeAttr.get(ir.FunctionType.get(inputs, [of], context()), context())
    private = string_attr("private")
    attributes = {"sym_name": string_attr(symbol), "function_type": kind, "sym_visibility": private}
    function = builder.op("func.func", (), (), attributes, 1)
    body = ir.Block.create_at_start(function.regions[0], inputs, [at] * len(inputs))
    inside = Builder(ir.InsertionPoint(body))
    inside.op("func.return", (), [_computed(inside, module, name, list(body.arguments))])


def _computed(builder: Builder, module: Module, name: str, given: list[ir.Value]) -> ir.Value:
    values = _Values(builder, module)
    functions = DOUBLES if isinstance(given[0].type, ir.F64Type) else FUNCTIONS
    made = functions[name](values, *map(values.bits, given))
    word = made.value
    if functions is FUNCTIONS:
        word = builder.value("arith.trunci", _integer(32), [word])
    return builder.value("arith.bitcast", given[0].type, [word])


type _Operand = _Number | int


@dataclass(frozen=True, slots=True)
class _Number:
    """An integer with the operators of Python, of 64 or 128 bits."""

    value: ir.Value
    owner: _Values

    def __add__(self, other: _Operand) -> _Number:
        return self.owner.apply("arith.addi", self, other)

    def __sub__(self, other: _Operand) -> _Number:
        return self.owner.apply("arith.subi", self, other)

    def __rsub__(self, other: int) -> _Number:
        return self.owner.apply("arith.subi", other, self)

    def __mul__(self, other: _Operand) -> _Number:
        return self.owner.apply("arith.muli", self, other)

    def __and__(self, other: int) -> _Number:
        return self.owner.apply("arith.andi", self, other)

    def __lshift__(self, other: _Operand) -> _Number:
        return self.owner.apply("arith.shli", self, other)

    def __rshift__(self, other: _Operand) -> _Number:
        return self.owner.apply("arith.shrsi", self, other)

    def __neg__(self) -> _Number:
        return self.owner.apply("arith.subi", 0, self)


class _Values(Arithmetic):
    """Operations where the builder stands; tables are constant arrays of the module."""

    def __init__(self, builder: Builder, module: Module) -> None:
        self._builder, self._module = builder, module
        self._word, self._wide = _integer(64), _integer(128)

    def bits(self, x: ir.Value) -> _Number:
        """The bits of a float, of a double one with a sign."""
        if isinstance(x.type, ir.F64Type):
            return _Number(self._builder.value("arith.bitcast", self._word, [x]), self)
        word = self._builder.value("arith.bitcast", _integer(32), [x])
        return _Number(self._builder.value("arith.extui", self._word, [word]), self)

    def apply(self, name: str, a: _Operand, b: _Operand) -> _Number:
        operands = self._alike(a, b)
        return _Number(self._builder.value(name, operands[0].type, operands), self)

    def less(self, a: _Operand, b: _Operand) -> ir.Value:
        return self._builder.compare(_LESS, *self._alike(a, b))

    def equal(self, a: _Operand, b: _Operand) -> ir.Value:
        return self._builder.compare(_EQUAL, *self._alike(a, b))

    def select(self, condition: ir.Value, a: _Operand, b: _Operand) -> _Number:
        operands = self._alike(a, b)
        return _Number(self._builder.value("arith.select", operands[0].type, [condition, *operands]), self)

    def wide(self, number: _Number) -> _Number:
        return _Number(self._builder.value("arith.extsi", self._wide, [number.value]), self)

    def narrow(self, number: _Number) -> _Number:
        return _Number(self._builder.value("arith.trunci", self._word, [number.value]), self)

    def look_up(self, table: WordTable, index: _Number) -> _Number:
        array = self._builder.value(
            "memref.get_global", _array_type(table), (), {
                "name": ir.FlatSymbolRefAttr.get(_declared(self._module, table), context()),
                "allo.name": string_attr(table.name),
            },
        )  # fmt: skip
        place = self._builder.value("arith.index_cast", index_type(), [index.value])
        word = self._builder.load(array, [place])
        if word.type != self._word:
            word = self._builder.value("arith.extsi" if table.is_signed else "arith.extui", self._word, [word])
        return _Number(word, self)

    def quotient(self, a: _Number, b: _Number) -> _Number:
        return self.apply("arith.divui", a, b)

    def nearest(self, number: _Number) -> _Number:
        return self.bits(self._builder.value("arith.sitofp", ir.F32Type.get(context()), [number.value]))

    def nearest_double(self, number: _Number) -> _Number:
        return self.bits(self._builder.value("arith.sitofp", ir.F64Type.get(context()), [number.value]))

    def _alike(self, a: _Operand, b: _Operand) -> list[ir.Value]:
        """Both as wide as the wider one."""
        given = [number for number in (a, b) if isinstance(number, _Number)]
        kind = self._wide if any(number.value.type == self._wide for number in given) else self._word
        return [self._value(a, kind), self._value(b, kind)]

    def _value(self, number: _Operand, kind: ir.Type) -> ir.Value:
        if isinstance(number, int):
            return self._builder.constant(kind, number)
        return number.value if number.value.type == kind else self.wide(number).value


def _integer(bits: int) -> ir.Type:
    return ir.IntegerType.get_signless(bits, context())


def _array_type(table: WordTable) -> ir.MemRefType:
    return ir.MemRefType.get([len(table.words)], _integer(table.bits), None, None, unknown_location())


def _declared(module: Module, table: WordTable) -> str:
    """The name of the constant array of a table, which is made if it is not there."""
    name = f"{_PREFIX}{table.name}"
    names = (op.operation.attributes["sym_name"].value for op in module.mlir.body.operations)
    if name not in names:
        kind = _array_type(table)
        words = ", ".join(map(str, table.words))
        text = f"dense<[{words}]> : tensor<{len(table.words)}xi{table.bits}>"
        Builder(ir.InsertionPoint.at_block_begin(module.mlir.body)).op("memref.global", (), (), {
            "sym_name": string_attr(name),
            "sym_visibility": string_attr("private"),
            "type": ir.TypeAttr.get(kind, context()),
            "initial_value": ir.Attribute.parse(text, context()),
            "constant": unit_attr(),
        })  # fmt: skip
    return name
