"""Numbers of elements that a program puts into a stream and takes out of it, with those of the functions it calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mlir import ir

from ..ir.access import callee_name, is_end, is_peek, is_put
from ..ir.module import Module
from ..ir.walk import entry_block
from .trips import runs_of


@dataclass(frozen=True, slots=True)
class TokenCount:
    """How many elements are put into a stream, and how many are taken."""

    puts: int
    gets: int


@dataclass(frozen=True, slots=True)
class Uncounted:
    """What the numbers depend on, because of the operation `op`."""

    on: str
    op: ir.Operation


def tokens_of(module: Module, stream: ir.Value, around: tuple[str, ...] = ()) -> TokenCount | Uncounted:
    """What passes through a stream in one run of the block that it stands in; `around` are functions being called."""
    home = stream.owner if isinstance(stream.owner, ir.Block) else stream.owner.operation.block
    puts = gets = 0
    for use in stream.uses:
        op = use.owner.operation
        runs = runs_of(op.block, home)
        if runs.value is None or not runs.exact:
            return Uncounted("data or arguments of the call", op)
        once = _of_use(module, op, use.operand_number, around)
        if isinstance(once, Uncounted):
            return once
        puts, gets = puts + runs.value * once.puts, gets + runs.value * once.gets
    return TokenCount(puts, gets)


def _of_use(module: Module, op: ir.Operation, operand: int, around: tuple[str, ...]) -> TokenCount | Uncounted:
    if is_end(op):
        return TokenCount(1, 0) if is_put(op) else TokenCount(0, 1)
    if is_peek(op):
        return TokenCount(0, 0)
    if op.name != "func.call":
        return Uncounted("whether it is empty or full", op)
    name = callee_name(op)
    entry = entry_block(module.function(name))
    if entry is None:
        return Uncounted("an external kernel", op)
    if name in around:
        return Uncounted(f"how often '{name}' calls itself", op)
    return tokens_of(module, entry.arguments[operand], (*around, name))


def is_balanced(module: Module, streams: Iterable[ir.Value]) -> bool:
    """Whether as much is put into each of some streams as is taken; False if that is not known."""
    counts = (tokens_of(module, stream) for stream in streams)
    return all(isinstance(count, TokenCount) and count.puts == count.gets for count in counts)
