"""Order of puts and gets: those of one FIFO one after the other, those of several FIFOs as the program has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product, takewhile

from ...ir.access import gets_side, is_at_stream, looks, may_get, may_put
from ...ir.streams import is_stream_type
from .problem import Move, Passing, Precedence
from .region import LoopBody, RegionNode

# puts, or gets, of which one happens: those in different branches of a condition; what tries is one of them
type Turn = list[RegionNode]


def turns(nodes: Iterable[RegionNode]) -> list[list[Turn]]:
    """The puts and gets of one FIFO each, in the order of the text; those of different subscripts are not ordered."""
    groups: dict[object, list[Turn]] = {}
    for node in nodes:
        if _moves(node):
            group = groups.setdefault(_end(node), [])
            if group and all(exclusive(node, other) for other in group[-1]):
                group[-1].append(node)
            else:
                group.append([node])
    return list(groups.values())


def all_turns(nodes: Iterable[RegionNode]) -> list[Turn]:
    """What is done at any FIFO, in the order of the text; calls of what may do something, too."""
    found: list[Turn] = []
    for node in nodes:
        if is_at_stream(node.op) or (node.kind == "call" and _takes_streams(node)):
            if found and all(exclusive(node, other) for other in found[-1]):
                found[-1].append(node)
            else:
                found.append([node])
    return found


def _takes_streams(call: RegionNode) -> bool:
    return any(is_stream_type(operand.type) for operand in call.op.operands)


def _end(node: RegionNode) -> tuple[object, ...]:
    return node.label, node.kind, node.forms


def _moves(node: RegionNode) -> bool:
    return may_put(node.op) or may_get(node.op)


def same_end(first: RegionNode, second: RegionNode) -> bool:
    """Whether both are puts into one FIFO, or gets from one."""
    return _moves(first) and _moves(second) and _end(first) == _end(second)


def cycles_between(before: RegionNode, after: RegionNode) -> int:
    """The cycles from something at a FIFO to what the program does next at another one.

    Who waits at the second FIFO has done the first thing before, else all that goes on because of it would wait, too.
    What is got may be an answer to what was put: that takes a cycle.
    """
    if before.kind == "call":
        return before.latency
    if may_get(before.op) and looks(after.op) and gets_side(after.op) and before.label == after.label:
        return 1  # until the element behind it can be seen
    return int(may_put(before.op) and not may_put(after.op))


def exclusive(first: RegionNode, second: RegionNode) -> bool:
    """Whether they are in different branches of a condition, in the same copies."""
    if first.around != second.around:
        return False
    for (a, one), (b, other) in zip(first.guards, second.guards, strict=False):  # from the outermost condition on
        if a != b:
            return False
        if one != other:
            return True
    return False


def moves_and_looks(nodes: Iterable[RegionNode]) -> Iterator[tuple[RegionNode, RegionNode]]:
    """Each put or get with each look at the same end, which sees what it has changed a cycle later."""
    seen = list(nodes)
    moves: dict[object, list[RegionNode]] = {}
    for node in seen:
        if _moves(node):
            moves.setdefault(_end(node), []).append(node)
    for look in seen:
        if looks(look.op):
            yield from ((move, look) for move in moves.get(_end(look), ()) if not exclusive(move, look))


def stream_order(region: LoopBody) -> Iterator[Precedence]:
    """What keeps copies and iterations of puts and gets in order; edges of the graph do it for turns."""
    everything = all_turns(region.nodes)
    for loop in dict.fromkeys(loop for turn in everything for loop in turn[0].around):
        inside = [turn for turn in everything if loop in turn[0].around]
        for last, first in product(inside[-1], inside[0]):
            common = _ordered(last, first)
            if loop in common and not same_end(last, first) and region.copy_loops[loop].trip > 1:
                inner = common[common.index(loop) + 1 :]
                moves = (Move(loop, 1, 1), *(_back(region, other) for other in inner))
                yield _after(last, first, moves, cycles=cycles_between(last, first))
    for group in turns(region.nodes):
        for loop in dict.fromkeys(loop for turn in group for loop in turn[0].around):
            inside = [turn for turn in group if loop in turn[0].around]
            for last, first in product(inside[-1], inside[0]):
                common = _ordered(last, first)
                if loop in common and region.copy_loops[loop].trip > 1:
                    inner = common[common.index(loop) + 1 :]
                    yield _after(last, first, (Move(loop, 1, 1), *(_back(region, other) for other in inner)))
        for last, first in product(group[-1], group[0]):
            yield from _in_next_iteration(region, last, first)
    for move, look in moves_and_looks(region.nodes):
        yield from _in_next_iteration(region, move, look)


def _in_next_iteration(region: LoopBody, last: RegionNode, first: RegionNode) -> Iterator[Precedence]:
    if all(form is not None and not any(form.time) for form in first.forms):
        yield _after(last, first, tuple(_back(region, loop) for loop in _ordered(last, first)), distance=1)


def _after(
    source: RegionNode, sink: RegionNode, moves: tuple[Move, ...] = (), distance: int = 0, cycles: int = 1
) -> Precedence:
    return Precedence(source.index, sink.index, Passing.CYCLES, cycles, distance, moves)


def _ordered(first: RegionNode, second: RegionNode) -> list[int]:
    """The unrolled loops around both whose copies use the same FIFO, outermost first."""
    pairs = zip(first.around, second.around, strict=False)
    common = [loop for loop, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
    apart = {loop for form in first.forms if form is not None for loop, _ in form.copies}
    return [] if None in first.forms else [loop for loop in common if loop not in apart]


def _back(region: LoopBody, loop: int) -> Move:
    most = region.copy_loops[loop].trip - 1
    return Move(loop, -most, -most)
