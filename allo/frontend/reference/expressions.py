"""Expressions of the typed tree as functions that compute their values, in the order in which Python would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import CheckError, InternalError, Location
from ...ir.types import AlloType, Index, Int, Struct
from ..read.source import Position
from ..typing.nodes import (
    Binary,
    BitOp,
    CallSite,
    Cast,
    CheckedFunction,
    Compare,
    Const,
    Construct,
    Expr,
    Field,
    KernelCall,
    Load,
    Logic,
    MathCall,
    Not,
    Select,
    SetField,
    Shared,
    StreamAsked,
    StreamGet,
    StreamTryGet,
    StreamTryPut,
    Symbol,
    SymbolKind,
    Var,
)
from ..typing.writes import parts
from .bits import bit_operation, with_bits
from .operations import COMPARISONS, overflows
from .processes import Fifo, Scheduler
from .subnormals import KEEPING, TypedArithmetic
from .values import UNREADY, NoValue, Value, constant_value, conversion, integer_type, of_bits

type Frame = list[Any]  # of one call: what each name stands for
type Evaluate = Callable[[Frame], Value]

SHARED = 0  # the place in a frame of values that are computed once a statement


@dataclass(eq=False, slots=True)
class Elements:
    """An array: its elements, None for those without a value; `visible` if the caller of the program sees it."""

    data: np.ndarray[Any, Any]
    visible: bool = False


class Expressions:
    """The expressions of one function; names get places in its frames as they come up."""

    def __init__(
        self,
        function: CheckedFunction,
        call: Callable[[CallSite], Callable[[Frame], Sequence[Any]]],
        scheduler: Callable[[], Scheduler],
        arithmetic: TypedArithmetic = KEEPING,
    ) -> None:
        self.function = function
        self.call = call
        self.names: dict[Symbol, int] = {}
        self.scheduler = scheduler
        self.arithmetic = arithmetic
        self._may_overflow = True  # False in what C++ computes without wrapping

    def place(self, symbol: Symbol) -> int:
        """Where frames hold what `symbol` stands for."""
        return self.names.setdefault(symbol, len(self.names) + 1)

    def location(self, at: Position) -> Location:
        return self.function.source.location(at)

    def value(self, expr: Expr) -> Evaluate:
        """What computes `expr`."""
        match expr:
            case Const():
                known = constant_value(expr.type, expr.value)
                return lambda frame: known
            case Var():
                return self._variable(expr)
            case Load():
                return self._load(expr)
            case Binary():
                return self._binary(expr)
            case Cast():
                return self._cast(expr)
            case Compare():
                compare, lhs, rhs = COMPARISONS[expr.op], self.value(expr.lhs), self.value(expr.rhs)
                return lambda frame: bool(compare(lhs(frame), rhs(frame)))
            case Logic():
                lhs, rhs = self.value(expr.lhs), self.value(expr.rhs)
                if expr.op == "and":
                    return lambda frame: lhs(frame) and rhs(frame)
                return lambda frame: lhs(frame) or rhs(frame)
            case Not():
                operand = self.value(expr.operand)
                return lambda frame: not operand(frame)
            case Select():
                condition, first, second = map(self.value, (expr.condition, expr.if_true, expr.if_false))
                return lambda frame: first(frame) if condition(frame) else second(frame)
            case MathCall():
                function = self.arithmetic.function(expr.function, expr.type)
                operands = [self.value(o) for o in expr.operands]
                return lambda frame: function(*[operand(frame) for operand in operands])
            case BitOp():
                return self._bits(expr)
            case StreamGet():
                return self._get(expr)
            case StreamAsked():
                fifo, scheduler = self.fifo(expr.stream, expr.indices, expr.at), self.scheduler
                if expr.question == "full":
                    return lambda frame: scheduler().is_full(fifo(frame))
                return lambda frame: scheduler().is_empty(fifo(frame))
            case StreamTryGet():
                return self._try_get(expr)
            case StreamTryPut():
                fifo, scheduler = self.fifo(expr.stream, expr.indices, expr.at), self.scheduler
                given = self.value(expr.value)
                return lambda frame: scheduler().try_put(fifo(frame), given(frame))
            case KernelCall():
                run = self.call(expr.call)
                return lambda frame: run(frame)[0]
            case Field() | Construct() | SetField():
                return self._struct(expr)
            case Shared():
                return self._shared(expr)
        raise InternalError(f"no meaning for {type(expr).__name__}", at=self.location(expr.at))

    def whole(self, expr: Expr) -> Evaluate:
        """A subscript, bound or condition: signed arithmetic of C++ does not wrap there, so where it would, nothing is
        said of it."""
        if any(isinstance(part, Load | KernelCall) for part in parts(expr)):
            return self.value(expr)
        before, self._may_overflow = self._may_overflow, False
        found = self.value(expr)
        self._may_overflow = before
        return found

    def index(self, expr: Expr) -> Evaluate:
        """A subscript or bound as an `index`."""
        value, convert = self.whole(expr), conversion(expr.type, Index())
        return value if convert is None else lambda frame: convert(value(frame))

    # -- variables and elements -------------------------------------------------------------------------------

    def _variable(self, expr: Var) -> Evaluate:
        symbol, place = expr.symbol, self.place(expr.symbol)
        if symbol.state is not None:
            return lambda frame: frame[place].data[0]
        if symbol.kind is SymbolKind.LOOP or (symbol.kind is SymbolKind.ARGUMENT and not symbol.assigned):
            return lambda frame: frame[place]
        location = self._no_value(f"'{symbol.name}'", expr.at)

        def read(frame: Frame) -> Value:
            value = frame[place]
            if type(value) in UNREADY:
                raise location(())
            return value

        return read

    def _no_value(self, what: str, at: Position) -> Callable[[tuple[int, ...]], NoValue]:
        """The error of reading what has no value, at subscripts."""

        def error(place: tuple[int, ...]) -> NoValue:
            element = f"element [{', '.join(map(str, place))}] of " if place else ""
            return NoValue(element + what, self.location(at))

        return error

    def element(
        self, tensor: Symbol, indices: Sequence[Expr], at: Position
    ) -> Callable[[Frame], tuple[int, ...]]:
        """The subscripts of an access, which ends with an error outside of the array."""
        places, array = [self.index(i) for i in indices], self.place(tensor)

        def subscripts(frame: Frame) -> tuple[int, ...]:
            found = tuple([place(frame) for place in places])
            for position, extent in zip(found, frame[array].data.shape, strict=True):
                if not 0 <= position < extent:
                    raise self._outside(tensor, found, frame[array].data.shape, at)
            return found

        return subscripts

    def _outside(
        self, tensor: Symbol, found: Sequence[int], shape: Sequence[int], at: Position
    ) -> CheckError:
        pairs = enumerate(zip(found, shape, strict=True))
        number = next(number for number, (position, extent) in pairs if not 0 <= position < extent)
        message = f"subscript {found[number]} is outside of dimension {number} of '{tensor.name}', "
        return CheckError(f"{message}which has {shape[number]} elements", at=self.location(at))

    def _load(self, expr: Load) -> Evaluate:
        array, subscripts = self.place(expr.tensor), self.element(expr.tensor, expr.indices, expr.at)
        no_value = self._no_value(f"'{expr.tensor.name}'", expr.at)

        def load(frame: Frame) -> Value:
            place = subscripts(frame)
            value = frame[array].data[place]
            if type(value) in UNREADY:
                raise no_value(place)
            return value

        return load

    def fifo(self, stream: Symbol, indices: Sequence[Expr], at: Position) -> Callable[[Frame], Fifo]:
        """A FIFO, or that one of an array of them."""
        array, subscripts = self.place(stream), self.element(stream, indices, at)

        def find(frame: Frame) -> Fifo:
            found = frame[array].data[subscripts(frame)]
            assert isinstance(found, Fifo)
            return found

        return find

    def _get(self, expr: StreamGet) -> Evaluate:
        fifo, scheduler = self.fifo(expr.stream, expr.indices, expr.at), self.scheduler
        no_value = self._no_value(f"what is got from '{expr.stream.name}'", expr.at)

        def get(frame: Frame) -> Value:
            found = fifo(frame)
            value = scheduler().peek(found) if expr.stays else scheduler().get(found)
            if type(value) in UNREADY:
                raise no_value(())
            return value

        return get

    def _try_get(self, expr: StreamTryGet) -> Evaluate:
        fifo, scheduler, place = self.fifo(expr.stream, expr.indices, expr.at), self.scheduler, self.place(expr.into)
        assert isinstance(expr.into.type, AlloType)
        zero = of_bits(expr.into.type, 0)

        def get(frame: Frame) -> Value:
            found = fifo(frame)
            done = not scheduler().has_none(found)
            frame[place] = scheduler().get(found) if done else zero
            return done

        return get

    def _partial(self, expr: Expr) -> Evaluate:
        """A variable or an element of which a part is replaced: it may have no value, or not in all its parts."""
        if isinstance(expr, Var) and expr.symbol.state is None:
            place = self.place(expr.symbol)
            return lambda frame: frame[place]
        if isinstance(expr, Load):
            array, subscripts = self.place(expr.tensor), self.element(expr.tensor, expr.indices, expr.at)
            return lambda frame: frame[array].data[subscripts(frame)]
        if isinstance(expr, Field):
            position, whole = _position(expr.operand.type, expr.name), self._partial(expr.operand)

            def field(frame: Frame) -> Value:
                struct = whole(frame)
                return None if struct is None else struct[position]

            return field
        return self.value(expr)

    # -- operators --------------------------------------------------------------------------------------------

    def _binary(self, expr: Binary) -> Evaluate:
        compute = self.arithmetic.operation(expr.op, expr.type, expr.rhs.type)
        lhs, rhs = self.value(expr.lhs), self.value(expr.rhs)
        if self._may_overflow or not isinstance(expr.type, Int):
            return lambda frame: compute(lhs(frame), rhs(frame))
        whole, op = expr.type, expr.op

        def exact(frame: Frame) -> Value:
            a, b = lhs(frame), rhs(frame)
            if overflows(op, whole, a, b):
                message = (
                    f"`{a} {op} {b}` does not fit {whole!r}, and C++ does not say what it is in such a place"
                )
                hint = "compute it in a variable first, where it wraps"
                raise CheckError(message, at=self.location(expr.at), hint=hint)
            return compute(a, b)

        return exact

    def _cast(self, expr: Cast) -> Evaluate:
        operand, convert = self.value(expr.operand), self.arithmetic.conversion(expr.operand.type, expr.type)
        return operand if convert is None else lambda frame: convert(operand(frame))

    def _shared(self, expr: Shared) -> Evaluate:
        compute, key = self.value(expr.operand), id(expr)

        def once(frame: Frame) -> Value:
            known = frame[SHARED]
            if key not in known:
                known[key] = compute(frame)
            return known[key]

        return once

    def _bits(self, expr: BitOp) -> Evaluate:
        positions = [self.index(position) for position in expr.positions]
        if expr.value is None:
            operand, compute = self.value(expr.operand), bit_operation(expr.op, expr.operand.type, expr.type)
            if not positions:
                return lambda frame: compute(operand(frame), ())
            read = self._partial(expr.operand)
            no_value = self._no_value("the bits", expr.at)

            def bits(frame: Frame) -> Value:
                word = read(frame)
                found = [position(frame) for position in positions]
                self._check_bits(expr, found)
                if word is None:
                    return operand(frame)  # which says what has no value
                taken = compute(word, found)
                if taken is None:
                    raise no_value(())
                return taken

            return bits
        before, value, whole = self._partial(expr.operand), self.value(expr.value), integer_type(expr.type)
        assert whole is not None

        def changed(frame: Frame) -> Value:
            word = before(frame)
            found = [position(frame) for position in positions]
            given = value(frame)
            self._check_bits(expr, found)
            return with_bits(whole, word, found, int(given))

        return changed

    def _check_bits(self, expr: BitOp, found: Sequence[int]) -> None:
        """Ends with an error at a bit that a number of this width does not have."""
        width = expr.operand.type.bits
        if len(found) == 1 and not 0 <= found[0] < width:
            raise CheckError(
                f"there is no bit {found[0]} in a number of {width} bits", at=self.location(expr.at)
            )
        if len(found) == 2 and not 0 <= found[1] < found[0] <= width:
            message = f"there are no bits {found[1]}:{found[0]} in a number of {width} bits"
            raise CheckError(message, at=self.location(expr.at))

    # -- structs ----------------------------------------------------------------------------------------------

    def _struct(self, expr: Field | Construct | SetField) -> Evaluate:
        if isinstance(expr, Construct):
            fields = [self.value(field) for field in expr.values]
            return lambda frame: tuple([field(frame) for field in fields])
        if isinstance(expr, Field):
            read, no_value = self._partial(expr), self._no_value(f"field '{expr.name}'", expr.at)

            def field(frame: Frame) -> Value:
                found = read(frame)
                if type(found) in UNREADY:
                    raise no_value(())
                return found

            return field
        value, struct, kind = self.value(expr.value), self._partial(expr.operand), expr.type
        assert isinstance(kind, Struct)

        def changed(frame: Frame) -> Value:
            given = value(frame)
            return _replaced(kind, struct(frame), expr.path, given)

        return changed


def _position(struct: AlloType, name: str) -> int:
    assert isinstance(struct, Struct)
    return [field for field, _ in struct.fields].index(name)


def _replaced(kind: AlloType, struct: Value, path: Sequence[str], value: Value) -> Value:
    """The struct in which the field that `path` leads to is `value`."""
    if not path:
        return value
    assert isinstance(kind, Struct)
    fields = list(struct) if struct is not None else [None] * len(kind.fields)
    position = _position(kind, path[0])
    fields[position] = _replaced(kind.fields[position][1], fields[position], path[1:], value)
    return tuple(fields)
