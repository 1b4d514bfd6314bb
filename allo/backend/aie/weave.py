"""Orders in which tasks of a circle of streams take turns: their statements, whole, or iteration by iteration.

Statements of all tasks run as soon as what they get is there. Where every task waits at a loop, one iteration of each
is an iteration of a loop around all, if that leaves the streams as they were, or as many as do so by their rates; or
else an iteration runs by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from mlir import ir

from ...ir.access import is_put
from ...ir.builder import Builder, affine_constant, affine_dim, index_type
from ...ir.context import context
from ...ir.walk import (
    constant_bounds,
    induction_variable,
    operations,
    statement_of,
    statements,
    trip_count,
)
from ...mapping import RepeatedMoves, StreamEnd, StreamMoves, VirtualGraph, VirtualNode
from ...poly.trips import runs_of
from .ranges import around, decide_ranges, loop_like
from .rates import repetitions

_ALONE = 64  # iterations that run by themselves


@dataclass(frozen=True, slots=True)
class Piece:
    """A statement of member number `member`; of a loop, `count` iterations from number `first` on."""

    member: int
    op: ir.Operation
    first: int = 0
    count: int = 1


@dataclass(frozen=True, slots=True)
class Woven:
    """A loop whose iterations each do `body`; `pieces` are the loops whose bodies it does one iteration of."""

    pieces: tuple[Piece, ...]
    count: int
    body: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Alone:
    """An iteration of a loop, whose statements are steps that follow."""

    piece: Piece


type Step = Piece | Woven | Alone


class NoOrder(Exception):
    """All tasks wait for one another: the pieces at which they do."""

    def __init__(self, waiting: Sequence[Piece]) -> None:
        super().__init__()
        self.waiting = tuple(waiting)


@dataclass(slots=True)
class Weaver:
    """The members of a circle, with their bodies, of which it may change loops.

    `held` are the elements that a stream has at most in the order that is found.
    """

    graph: VirtualGraph
    members: Sequence[VirtualNode]
    blocks: Sequence[ir.Block]
    known: dict[ir.Operation, tuple[Counter[str], Counter[str]]] = field(default_factory=dict)
    held: Counter[str] = field(default_factory=Counter)
    vague: set[ir.Operation] = field(default_factory=set)  # statements of which it is not known what they move

    def order(self) -> tuple[Step, ...]:
        """The steps. Raises NoOrder if there are none."""
        for member, block in enumerate(self.blocks):
            decide_ranges(block, [block.arguments[end.parameter] for end in self._ends(member) if end.over is None])
            for end in self._ends(member):
                self._count(block, end)
        lists = [[self._piece(m, op) for op in statements(block)[:-1]] for m, block in enumerate(self.blocks)]
        return tuple(self._woven(lists, Counter()))

    def spans(self, steps: Sequence[Step]) -> dict[tuple[str, int], tuple[int, int]]:
        """The first and the last step that uses a part of an argument, by node and parameter."""
        places: dict[ir.Operation, list[int]] = {}
        for number, step in enumerate(steps):
            for piece in (step,) if isinstance(step, Piece) else step.pieces if isinstance(step, Woven) else ():
                places.setdefault(piece.op, []).append(number)
        found: dict[tuple[str, int], tuple[int, int]] = {}
        for node, block in zip(self.members, self.blocks, strict=True):
            for use in node.parts:
                users = [own.owner.operation for own in block.arguments[use.parameter].uses]
                numbers = [number for user in users for op in around(user, block) for number in places.get(op, ())]
                if numbers:
                    found[node.name, use.parameter] = min(numbers), max(numbers)
        return found

    def moves(self, steps: Sequence[Step]) -> tuple[StreamMoves | RepeatedMoves, ...]:
        """What steps move, in their order."""
        found: list[StreamMoves | RepeatedMoves] = []
        for step in steps:
            if isinstance(step, Woven):
                found.append(RepeatedMoves(self.moves(step.body)))
            elif isinstance(step, Piece):
                gets, puts = (tuple(own.items()) for own in self.moved(step))
                found += [StreamMoves(gets, puts)] if gets or puts else []
        return tuple(found)

    def _ends(self, member: int) -> list[StreamEnd]:
        """The ends of the streams of the circle."""
        names = {node.name for node in self.members}
        found = [(end, self.graph.stream(end.stream)) for end in self.members[member].ends]
        return [end for end, stream in found if stream.producer in names and stream.consumer in names]

    def _count(self, block: ir.Block, end: StreamEnd) -> None:
        """Note what a run of each statement moves of a stream; of a block that is an array, its first or last user."""
        users = [use.owner.operation for use in block.arguments[end.parameter].uses]
        side = 1 if end.puts else 0
        if end.over is not None:
            order = {op: number for number, op in enumerate(statements(block))}
            tops = sorted((statement_of(op) for op in users), key=lambda op: order[op])
            for op in tops[-1:] if end.puts else tops[:1]:
                self._moves(op)[side][end.stream] += self.graph.stream(end.stream).tokens
            return
        for user in [op for op in users if is_put(op) == end.puts]:
            op = user
            while True:
                runs = runs_of(user.block, op.block)
                if runs.value is None or not runs.exact:
                    self.vague.add(op)
                self._moves(op)[side][end.stream] += runs.value or 0
                if op.block == block:
                    break
                op = op.parent.operation

    def _moves(self, op: ir.Operation) -> tuple[Counter[str], Counter[str]]:
        """What one run of a statement gets and puts, by stream."""
        return self.known.setdefault(op, (Counter(), Counter()))

    def _woven(self, lists: Sequence[list[Piece]], tokens: Counter[str]) -> list[Step]:
        steps: list[Step] = []
        alone = 0
        while any(lists):
            is_waiting = True
            for own in lists:
                has_put = False
                while own and self._may_run(own[0], tokens):
                    gets, puts = self.moved(own[0])
                    if has_put and gets:
                        break  # others of its kind get as it does then, all after they have put
                    has_put |= bool(puts)
                    piece = own.pop(0)
                    self._run(piece, tokens)
                    steps.append(piece)
                    is_waiting = False
            if not is_waiting or not any(lists):
                continue
            step: Step | None = self._together(lists, tokens)
            if step is None:
                alone += 1
                step = self._alone(lists)
            if step is None or alone > _ALONE:
                raise NoOrder([own[0] for own in lists if own])
            steps.append(step)
        return steps

    def _together(self, lists: Sequence[list[Piece]], tokens: Counter[str]) -> Woven | None:
        """A loop around the loops at which members wait, if each of its iterations leaves the streams as they were."""
        waiting = [own for own in lists if own and self._is_open(own[0])]
        if not waiting:
            return None
        count = min(own[0].count for own in waiting)
        found = self._balanced(waiting, tokens)
        if found is None:
            count = self._in_turn(waiting)
            found = self._balanced(waiting, tokens) if count > 1 else None
        if found is None:
            return None
        pieces = tuple(replace(own[0], count=count) for own in waiting)
        for own in waiting:
            self._advance(own, count)
        return Woven(pieces, count, found)

    def _in_turn(self, waiting: Sequence[list[Piece]]) -> int:
        """Let loops have strips of as many iterations as they need to get what the others put meanwhile; how many there
        are of all, 0 if no iterations of all do."""
        once = [[_times(side, Fraction(1, own[0].count)) for side in self.moved(own[0])] for own in waiting]
        rates = repetitions([(gets, puts) for gets, puts in once])
        if rates is None or set(rates) == {1}:
            return 0
        count = min(own[0].count // rate for own, rate in zip(waiting, rates, strict=True))
        if count > 1:
            for own, rate in zip(waiting, rates, strict=True):
                own[:1] = self._in_strips(own[0], rate, count)
        return count

    def _balanced(self, waiting: Sequence[list[Piece]], tokens: Counter[str]) -> tuple[Step, ...] | None:
        """An order of one iteration of each loop that leaves the streams as they were."""
        trial, held = Counter(tokens), Counter(self.held)
        try:
            body = self._woven([self._inside(own[0]) for own in waiting], trial)
        except NoOrder:
            body = []
        if body and all(trial[name] == tokens[name] for name in {*trial, *tokens}):
            return tuple(body)
        self.held = held
        return None

    def _in_strips(self, piece: Piece, length: int, count: int) -> list[Piece]:
        """The first iterations of a piece as `count` iterations of a loop over strips of `length`, and the rest."""
        if length == 1:
            return [piece]
        loop, bounds = piece.op, constant_bounds(piece.op)
        assert bounds is not None
        around = loop_like(loop, count, loop)
        strip = loop_like(loop, length, statements(around.regions[0].blocks[0])[0])
        end = statements(strip.regions[0].blocks[0])[0]
        place = (affine_dim(0) * length + affine_dim(1) + piece.first) * bounds[2] + affine_constant(bounds[0])
        made = ir.AffineMapAttr.get(ir.AffineMap.get(2, 0, [place], context()))
        variables = [induction_variable(around), induction_variable(strip)]
        value = Builder.before(end).value("affine.apply", index_type(), variables, {"map": made})
        copy = loop.clone(ir.InsertionPoint(end)).operation
        for old, new in zip(operations(loop.regions[0].blocks[0]), operations(copy.regions[0].blocks[0]), strict=True):
            if old in self.known:
                self.known[new] = self.known[old]
            if old in self.vague:
                self.vague.add(new)
        induction_variable(copy).replace_all_uses_with(value)
        for op in statements(copy.regions[0].blocks[0])[:-1]:
            op.move_before(end)
        copy.erase()
        gets, puts = self.moved(piece)
        for made_of, times in ((around, length * count), (strip, length)):
            self.known[made_of] = _times(gets, Fraction(times, piece.count)), _times(puts, Fraction(times, piece.count))
        strips, taken = Piece(piece.member, around, 0, count), length * count
        rest = replace(piece, first=piece.first + taken, count=piece.count - taken)
        return [strips, rest] if rest.count else [strips]

    def _alone(self, lists: Sequence[list[Piece]]) -> Alone | None:
        """An iteration of the first loop at which a member waits."""
        for own in lists:
            if own and self._is_open(own[0]):
                piece = replace(own[0], count=1)
                self._advance(own, 1)
                own[:0] = self._inside(piece)
                return Alone(piece)
        return None

    def _advance(self, own: list[Piece], count: int) -> None:
        first = own[0]
        own[:1] = [replace(first, first=first.first + count, count=first.count - count)] if first.count > count else []

    def _piece(self, member: int, op: ir.Operation) -> Piece:
        return Piece(member, op, 0, trip_count(op) or 0 if self._is_loop(op) else 1)

    def _inside(self, piece: Piece) -> list[Piece]:
        return [self._piece(piece.member, op) for op in statements(piece.op.regions[0].blocks[0])[:-1]]

    def _is_loop(self, op: ir.Operation) -> bool:
        return constant_bounds(op) is not None and not len(op.results)

    def _is_open(self, piece: Piece) -> bool:
        """Whether a piece is iterations of a loop that all move as much."""
        if not self._is_loop(piece.op) or piece.op in self.vague:
            return False
        trips = trip_count(piece.op) or 0
        inside = [op for op in statements(piece.op.regions[0].blocks[0]) if op in self.known]
        sums = [sum((self._moves(op)[side] for op in inside), Counter[str]()) for side in (0, 1)]
        wholes = self._moves(piece.op)
        return not self.vague.intersection(inside) and all(
            _times(own, Fraction(trips)) == whole for own, whole in zip(sums, wholes, strict=True)
        )

    # -- tokens ------------------------------------------------------------------------------------

    def moved(self, piece: Piece) -> tuple[Counter[str], Counter[str]]:
        """What a piece gets and puts: all iterations of a loop that is in parts move as much."""
        trips = trip_count(piece.op) if self._is_loop(piece.op) else None
        if not trips or trips == piece.count:
            return self._moves(piece.op)
        gets, puts = self._moves(piece.op)
        return _times(gets, Fraction(piece.count, trips)), _times(puts, Fraction(piece.count, trips))

    def _may_run(self, piece: Piece, tokens: Counter[str]) -> bool:
        return piece.op not in self.vague and all(tokens[name] >= n for name, n in self.moved(piece)[0].items())

    def _run(self, piece: Piece, tokens: Counter[str]) -> None:
        gets, puts = self.moved(piece)
        for name, n in puts.items():
            tokens[name] += n
            self.held[name] = max(self.held[name], tokens[name])
        tokens.subtract(gets)


def _times(moves: Counter[str], part: Fraction) -> Counter[str]:
    """What a part of the iterations of a loop moves, of which all move as much."""
    return Counter({name: int(n * part) for name, n in moves.items()})
