"""Circles in which processes could wait for one another: by who puts and gets, the room of FIFOs, and the text."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from .._mlir.dialects import allo as allo_d
from ..ir.effects import Effects
from ..ir.module import Module
from ..ir.processes import is_region, region_statements
from ..ir.walk import entry_block, operations
from .token_counts import TokenCount, tokens_of

type _Waits = list[tuple[int, int, int]]  # who waits, for whom, and the number of the FIFO, -1: for the end


def has_no_circle(module: Module, made: Sequence[ir.Operation]) -> bool:
    """Whether no circle of waits can close in any region, if as much is put into each stream as is taken.

    Who gets waits for who puts, a statement for those before it whose arrays it uses, and who puts waits for who gets
    if the FIFO holds fewer elements than pass through it. In a circle, one of them waits at each FIFO only, since none
    is full and empty. Not known (False) where one looks for an element that it does not take, which may be the one
    after the last, or where streams are arrays, have other than two ends, or lie in no region.
    """
    entries = (entry_block(function) for function in module.functions())
    if any(operations(entry, "allo.stream_peek") for entry in entries if entry is not None):
        return False
    effects = Effects(module)
    blocks = {op.block for op in made}
    found = (_waits(module, effects, block, [op for op in made if op.block == block]) for block in blocks)
    return all(waits is not None and not _closes(waits) for waits in found)


def _waits(module: Module, effects: Effects, block: ir.Block, made: Sequence[ir.Operation]) -> _Waits | None:
    """Who may wait for whom in a region; None if it is not known."""
    if not is_region(block) or any(isinstance(op.results[0].type, ir.MemRefType) for op in made):
        return None
    waits: _Waits = []
    puts: dict[ir.Value, list[int]] = {op.results[0]: [] for op in made}
    gets: dict[ir.Value, list[int]] = {op.results[0]: [] for op in made}
    found = region_statements(effects, block)
    places = {statement.op: place for place, statement in enumerate(found)}
    for place, statement in enumerate(found):
        touched = effects.touched(statement.op)
        for ends, used in ((puts, touched.puts), (gets, touched.gets)):
            for stream in used & ends.keys():
                ends[stream].append(place)
        waits += [(place, places[other], -1) for other in statement.after]
        if not statement.is_process and (touched.streams or statement.after):
            return None  # what stands behind it waits too
    for number, stream in enumerate(puts):
        if len(puts[stream]) != 1 or len(gets[stream]) != 1 or puts[stream] == gets[stream]:
            return None
        (one,), (other,) = puts[stream], gets[stream]
        waits.append((other, one, number))
        count = tokens_of(module, stream)
        if not isinstance(count, TokenCount) or count.puts > allo_d.StreamType(stream.type).depth:
            waits.append((one, other, number))
    return waits


def _closes(waits: _Waits) -> bool:
    """Whether some of the waits form a circle in which no FIFO comes twice."""
    from_: dict[int, list[tuple[int, int]]] = {}
    for one, other, fifo in waits:
        from_.setdefault(one, []).append((other, fifo))
    # Forward in the text, one waits only for room, or for elements of what stands behind it: a circle has such a wait.
    return any(one in _reached(from_, other, fifo) for one, other, fifo in waits if other > one)


def _reached(from_: dict[int, list[tuple[int, int]]], start: int, without: int) -> set[int]:
    """Those for whom `start` may wait in the end, but at one FIFO."""
    seen, todo = {start}, [start]
    while todo:
        for other, fifo in from_.get(todo.pop(), ()):
            if fifo != without and other not in seen:
                seen.add(other)
                todo.append(other)
    return seen
