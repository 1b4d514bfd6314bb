"""Blocks of streams as words: elements side by side, the first in the lowest bits."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir.types import AlloType, ChannelType, Int, TensorType, UInt, index
from ...ir.types import bool as bool_type
from ..read.source import Position
from ..typing.convert import convert
from ..typing.nodes import AssignScalar, BitOp, Const, Declare, Expr, Stmt, Symbol, SymbolKind, Var
from ..typing.view import View, store, whole

_NUMBERS = Int | UInt | type(bool_type)


def word_of(stream: Symbol, at: Position) -> Symbol:
    """A new variable for what a packed stream moves at once."""
    assert stream.stream is not None
    return Symbol(f"{stream.name}_word", SymbolKind.SCALAR, stream.stream.moved, at)


def pack(word: Symbol, kind: ChannelType, view: View, at: Position) -> tuple[Stmt, ...]:
    """What puts the elements of a block into `word`."""
    assert isinstance(word.type, UInt)
    made: list[Stmt] = [Declare(at, word, Const(word.type, at, 0))]
    bits = kind.element.bits
    for number, place in _places(kind, at):
        element = convert(view.read((number,)), kind.element)
        value = convert(element, UInt(bits)) if isinstance(kind.element, _NUMBERS) else _bits(UInt(bits), at, element)
        changed = BitOp(word.type, at, "set_slice", Var(word.type, at, word), place, value)
        made.append(AssignScalar(at, word, changed))
    word.assigned = True
    return tuple(made)


def unpack(word: Symbol, kind: ChannelType, target: Symbol, at: Position) -> tuple[Stmt, ...]:
    """What takes the elements of an array out of `word`."""
    element = whole(target, at).place
    assert element is not None and isinstance(word.type, UInt)
    made: list[Stmt] = []
    for number, place in _places(kind, at):
        taken = BitOp(UInt(kind.element.bits), at, "get_slice", Var(word.type, at, word), place)
        number_of = isinstance(kind.element, _NUMBERS)
        value = convert(taken, kind.element) if number_of else _bits(kind.element, at, taken)
        made.append(store(element((number,)), value, at))
    return tuple(made)


def block_type(kind: ChannelType) -> TensorType:
    """What is put into a stream of blocks."""
    return TensorType(kind.element, kind.block)


def _places(kind: ChannelType, at: Position) -> Iterator[tuple[Expr, tuple[Expr, Expr]]]:
    """The number of each element, and where its bits end and begin."""
    bits = kind.element.bits
    for number in range(kind.block[0]):
        ends = Const(index, at, (number + 1) * bits), Const(index, at, number * bits)
        yield Const(index, at, number), ends


def _bits(target: AlloType, at: Position, value: Expr) -> Expr:
    """The bits of `value` as a value of a type of the same width."""
    return BitOp(target, at, "bitcast", value)
