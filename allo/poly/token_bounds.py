"""Bounds on the elements that pass through a stream, where data decide some of the puts and gets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir import ir

from ..ir.access import callee_name, is_end, is_load, is_put, looks, may_get, may_put
from ..ir.module import Module
from ..ir.walk import entry_block
from .trips import runs_of


@dataclass(frozen=True, slots=True)
class Amount:
    """At least and at most so many; `most` is None where there is no bound."""

    least: int
    most: int | None

    def __add__(self, other: Amount) -> Amount:
        most = None if self.most is None or other.most is None else self.most + other.most
        return Amount(self.least + other.least, most)

    def __mul__(self, other: Amount) -> Amount:
        if self.most == 0 or other.most == 0:
            return _NONE
        most = None if self.most is None or other.most is None else self.most * other.most
        return Amount(self.least * other.least, most)

    def __or__(self, other: Amount) -> Amount:
        most = None if self.most is None or other.most is None else max(self.most, other.most)
        return Amount(min(self.least, other.least), most)

    def __str__(self) -> str:
        if self.most is None:
            return f"{self.least} or more"
        return f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"


_NONE, _ONE, _MAYBE, _ANY = Amount(0, 0), Amount(1, 1), Amount(0, 1), Amount(0, None)


@dataclass(frozen=True, slots=True)
class TokenBounds:
    """How many elements are put into a stream, or into all of an array of streams, and how many are taken."""

    puts: Amount
    gets: Amount

    def __add__(self, other: TokenBounds) -> TokenBounds:
        return TokenBounds(self.puts + other.puts, self.gets + other.gets)

    def __or__(self, other: TokenBounds) -> TokenBounds:
        return TokenBounds(self.puts | other.puts, self.gets | other.gets)

    def times(self, number: Amount) -> TokenBounds:
        return TokenBounds(number * self.puts, number * self.gets)


_NOTHING = TokenBounds(_NONE, _NONE)


def token_bounds(module: Module, stream: ir.Value, around: tuple[str, ...] = ()) -> TokenBounds:
    """What passes through in one run of the block that a stream stands in; `around` are functions being called."""
    home = stream.owner if isinstance(stream.owner, ir.Block) else stream.owner.operation.block
    return _of_block(home, list(_uses(module, stream, around)))


type _Counted = tuple[ir.Operation, TokenBounds]


def _uses(module: Module, stream: ir.Value, around: tuple[str, ...]) -> Iterator[_Counted]:
    """What uses a stream, and what one run of that does."""
    for use in stream.uses:
        op = use.owner.operation
        if is_end(op):
            yield op, TokenBounds(_ONE, _NONE) if is_put(op) else TokenBounds(_NONE, _ONE)
        elif may_put(op) or may_get(op):
            yield op, TokenBounds(_MAYBE, _NONE) if may_put(op) else TokenBounds(_NONE, _MAYBE)
        elif is_load(op):  # one of an array
            yield from _uses(module, op.results[0], around)
        elif op.name == "func.call" and (entry := entry_block(module.function(callee_name(op)))) is not None:
            name = callee_name(op)
            if name in around:
                yield op, TokenBounds(_ANY, _ANY)
            else:
                yield op, token_bounds(module, entry.arguments[use.operand_number], (*around, name))
        elif not looks(op):
            yield op, TokenBounds(_ANY, _ANY)


def _of_block(block: ir.Block, uses: Sequence[_Counted]) -> TokenBounds:
    """What one run of a block does, of these uses in it."""
    total = _NOTHING
    chosen: dict[ir.Operation, list[_Counted]] = {}
    for op, once in uses:
        choice = _choice(op, block)
        if choice is None:
            total += once.times(_runs(op.block, block))
        else:
            chosen.setdefault(choice, []).append((op, once))
    for choice, inner in chosen.items():
        total += _of_choice(choice, inner).times(_runs(choice.block, block))
    return total


def _choice(op: ir.Operation, block: ir.Block) -> ir.Operation | None:
    """The outermost operation between a block and what is in it that data may decide."""
    found = None
    while op.block != block:
        parent = op.block.owner.operation
        if parent.name not in ("affine.for", "affine.if", "scf.for"):
            found = parent
        op = parent
    return found


def _of_choice(choice: ir.Operation, uses: Sequence[_Counted]) -> TokenBounds:
    if choice.name != "scf.if":
        return TokenBounds(_ANY, _ANY)
    arms = [
        _of_block(block, [(op, once) for op, once in uses if _is_in(op, block)])
        for region in choice.regions
        for block in region.blocks
    ]
    return arms[0] | (arms[1] if len(arms) > 1 else _NOTHING)


def _is_in(op: ir.Operation, block: ir.Block) -> bool:
    while op.name != "func.func":
        if op.block == block:
            return True
        op = op.block.owner.operation
    return False


def _runs(block: ir.Block, outer: ir.Block) -> Amount:
    runs = runs_of(block, outer)
    return Amount(runs.value if runs.exact and runs.value is not None else 0, runs.value)
