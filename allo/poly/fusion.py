"""Fusion of a loop nest into a later one: merged with it, or run again for what each iteration needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from mlir import ir

from ..ir.walk import statements
from .footprint import reads_before_writes, tightest
from .linear import Linear, Row, variable
from .model import Access, Model, ModelLoop
from .pairs import Pair, Signs, pair_of
from .preserved import Reordering
from .relations import written_order
from .systems import feasible, set_of
from .violation import Undecided, Violation, undecided, violation


def moved_past(
    model: Model, nest: ir.Operation | ir.OpView, target: ir.Operation | ir.OpView
) -> Violation | Undecided | None:
    """A dependence from the nest to a statement between it and the later one that `target` is in."""
    root, loop = model.loop(nest), model.loop(target)
    first, last = root.path[root.depth], loop.path[root.depth]
    between = [
        access
        for access in model.accesses
        if access.loops[: root.depth] == loop_chain(model, root)[:-1] and first < access.path[root.depth] < last
    ]
    return _first(_pairs(list(model.inside(root)), between), lambda _: [[]])


def merge_violation(
    model: Model,
    producer: Sequence[ir.Operation | ir.OpView],
    consumer: Sequence[ir.Operation | ir.OpView],
) -> Violation | Undecided | None:
    """A dependence that is lost when each iteration of `producer` runs at the start of the same one of `consumer`.

    Both are nested loops, outer to inner and equally many, with the same iterations.
    """
    first, second = [model.loop(op) for op in producer], [model.loop(op) for op in consumer]

    def too_late(pair: Pair) -> list[list[Row]]:
        """The ways in which the producer's iteration comes after the consumer's."""
        around = sum(loop in pair.sink.loops for loop in second)
        ways: list[list[Row]] = []
        equal: list[Row] = []
        for mine, other in zip(first[:around], second[:around], strict=True):
            ahead = variable(mine.variable) - variable(_primed(other.variable))
            ways.append([*equal, Row(ahead.plus(-1))])
            equal = [*equal, Row(ahead, True)]
        if around < len(second) and pair.sink.path[second[around].depth] < second[around].path[-1]:
            ways.append(equal)
        return ways

    change = _merging(model, first, second)
    harmless = change.keeps_values if change is not None else None
    return _first(_pairs(list(model.inside(first[0])), list(model.inside(second[0]))), too_late, harmless)


def _merging(model: Model, first: Sequence[ModelLoop], second: Sequence[ModelLoop]) -> Reordering | None:
    """All accesses from the one nest to the other, with the order in which they would run if these were merged."""
    root, last = first[0], second[0]
    start, inside = root.depth, root.depth + len(second)
    outer = loop_chain(model, root)[:-1]
    accesses = [
        access
        for access in model.accesses
        if access.loops[:start] == outer and root.path[start] <= access.path[start] <= last.path[start]
    ]
    if any(root in access.loops and first[-1] not in access.loops for access in accesses):
        return None

    def merged(access: Access) -> list[Linear]:
        forms = list(written_order(access, start))
        if root in access.loops:
            for depth, loop in enumerate(second, start):
                forms[2 * (depth - start)] = Linear(loop.path[depth])
        elif second[-1] not in access.loops:
            return forms
        split = 2 * (inside - start)  # what the merged loops hold: first the one body, then the other
        return [*forms[:split], Linear(int(root not in access.loops)), *forms[split:]]

    return Reordering(model, accesses, outer, (partial(written_order, start=start), merged), [root.op, last.op])


def _primed(number: int) -> int:
    return variable(number).primed(frozenset()).terms[0][0]


def loop_chain(model: Model, loop: ModelLoop) -> tuple[ModelLoop, ...]:
    """The loops around `loop` and itself, outer to inner."""
    by_path = {found.path: found for found in model.loops}
    return tuple(by_path[loop.path[: depth + 1]] for depth in range(loop.depth + 1))


def _pairs(first: Sequence[Access], second: Sequence[Access]) -> Iterator[Pair]:
    for source in first:
        for sink in second:
            if source.buffer.label == sink.buffer.label and (source.is_write or sink.is_write):
                pair = pair_of(source, sink)
                if pair is not None:
                    yield pair


def _first(
    found: Iterator[Pair],
    ways: Callable[[Pair], list[list[Row]]],
    is_harmless: Callable[[Pair], bool] | None = None,
) -> Violation | Undecided | None:
    """The first pair that meets, with harm, in one of the `ways`, in the same iteration of the loops around both."""
    doubt: Undecided | None = None
    for pair in found:
        signs: Signs = {loop.variable: 0 for loop in pair.common}
        meeting = [
            way for way in ways(pair) if any(feasible([*rows, *way]) for rows in pair.systems(signs))
        ]
        if not meeting or not pair.allows(signs) or (is_harmless is not None and is_harmless(pair)):
            continue
        if pair.exact and (sample := pair.sample([signs], meeting)) is not None:
            return violation(pair, sample)
        doubt = doubt or undecided(pair)
    return doubt


@dataclass(frozen=True, slots=True)
class RecomputeObstacle:
    """Why the iterations of a nest cannot run where they are needed: what `access` does, if one is the cause, and maybe
    `other`."""

    reason: str
    access: Access | None = None
    other: Access | None = None


@dataclass(frozen=True, slots=True)
class Needed:
    """The iterations of nested loops that one iteration of the target needs: inclusive bounds, None if unknown."""

    lower: tuple[Linear | None, ...]
    upper: tuple[Linear | None, ...]


def needed_iterations(
    model: Model, producer: Sequence[ir.Operation | ir.OpView], target: ir.Operation | ir.OpView
) -> Needed | RecomputeObstacle | Violation | Undecided:
    """The box of the iterations of `producer` (nested loops, outer to inner) that write what an iteration of `target`
    reads, if running them there, and nowhere else, leaves all that is read later as it was."""
    chain, loop = [model.loop(op) for op in producer], model.loop(target)
    nest = _Nest(model, chain, loop)
    obstacle = nest.not_repeatable() or nest.changed_inputs() or nest.used_elsewhere()
    if obstacle is not None:
        return obstacle
    needed = nest.needed()
    if needed is None:
        return RecomputeObstacle("the target loop reads nothing that it writes", nest.writes[0])
    return nest.not_all_produced(needed) or needed


class _Nest:
    """The producer `chain` and what is read of it in `target`."""

    def __init__(self, model: Model, chain: list[ModelLoop], target: ModelLoop) -> None:
        self.model, self.chain, self.target = model, chain, target
        self.inside = list(model.inside(chain[0]))
        self.writes = [access for access in self.inside if access.is_write and not self._is_private(access)]
        self.written = {access.buffer.label for access in self.writes}
        self.outer = loop_chain(model, chain[0])[:-1]
        self.around = loop_chain(model, target)

    def _is_private(self, access: Access) -> bool:
        return any(loop == self.chain[-1] for loop in access.buffer.scope)

    def not_repeatable(self) -> RecomputeObstacle | None:
        """Something that makes an iteration give other values when it runs at another time, or twice."""
        for access in self.inside:
            if access.buffer.is_stream:
                return RecomputeObstacle("it moves data through a stream", access)
            if access.is_write and not self._is_private(access) and not access.exact:
                return RecomputeObstacle("which of its iterations are needed cannot be decided", access)
        if not self.writes:
            return RecomputeObstacle("it writes nothing", self.inside[0] if self.inside else None)
        for access in self.inside:
            if access.is_write or access.buffer.label not in self.written:
                continue
            if reads_before_writes(self.model, access.buffer, self.chain[-1]):
                other = next(w for w in self.writes if w.buffer.label == access.buffer.label)
                return RecomputeObstacle("it reads what another of its iterations writes", other, access)
        return None

    def changed_inputs(self) -> Violation | Undecided | None:
        """A write of the target's nest to what the nest reads."""
        reads = [access for access in self.inside if not access.is_write and access.buffer.label not in self.written]
        writes = [access for access in self.model.inside(self.around[len(self.outer)]) if access.is_write]
        return _first(_pairs(reads, writes), lambda _: [[]])

    def used_elsewhere(self) -> RecomputeObstacle | None:
        """A use of the results beside the target loop, before all of them are made."""
        consumer = self.around[len(self.outer)]
        for access in self.model.inside(consumer):
            if access.buffer.label not in self.written:
                continue
            if access.is_write:
                return RecomputeObstacle("the target's nest writes the array too", self._write(access), access)
            if self.target not in access.loops:
                return RecomputeObstacle("the array is also used beside the target loop", self._write(access), access)
        return None

    def _write(self, access: Access) -> Access:
        return next(write for write in self.writes if write.buffer.label == access.buffer.label)

    def _systems(self) -> list[list[Row]]:
        """The iterations of the nest and of the target that write and read one element."""
        found = []
        for read in self.model.inside(self.target):
            for write in self.writes if read.buffer.label in self.written and not read.is_write else ():
                if write.buffer.label != read.buffer.label:
                    continue
                rows = [*write.rows, *read.rows]
                rows += [Row(a - b, True) for a, b in zip(write.subscripts, read.subscripts, strict=True)]
                found += [[*rows, *p, *q] for p in write.pieces for q in read.pieces]
        return [rows for rows in found if feasible(rows)]

    def needed(self) -> Needed | None:
        """The box; None if it is always empty."""
        systems = self._systems()
        if not systems:
            return None
        numbers = (*(p.variable for p in self.model.parameters), *(loop.variable for loop in self.around))
        lower: list[Linear | None] = []
        upper: list[Linear | None] = []
        for loop in self.chain:
            element = variable(loop.variable)
            lower.append(tightest(systems, element, numbers))
            above = tightest(systems, element.scaled(-1), numbers)
            upper.append(None if above is None else above.scaled(-1))
        return Needed(tuple(lower), tuple(upper))

    def not_all_produced(self, needed: Needed) -> RecomputeObstacle | None:
        """An array that is read later, of which some element would not be written, or not by its last writer."""
        for access in self.writes:
            if not self._is_live(access):
                continue
            if not self.target.exact:
                return RecomputeObstacle("the array is used later, and the target loop may not run", access)
            if not self._covers(needed):
                return RecomputeObstacle("the array is used later, and the target loop does not need all of it", access)
            if self._overwrites(access):
                reason = "the array is used later, and elements of it are written more than once"
                return RecomputeObstacle(reason, access)
        return None

    def _is_live(self, access: Access) -> bool:
        if access.buffer.origin not in ("alloc", "result"):
            return True
        if self.outer and self.outer[-1] not in access.buffer.scope:
            return True  # the next iteration around both nests may read it
        root = self.chain[0].op
        before = statements(root.block)  # what was read before is of no matter
        nests = [*before[: before.index(root)], root, self.around[len(self.outer)].op]
        return not self.model.used_only_in(access.buffer, nests)

    def _covers(self, needed: Needed) -> bool:
        parameters = tuple(p.variable for p in self.model.parameters)
        dims = tuple(loop.variable for loop in (*self.outer, *self.chain))
        box: list[Row] = []
        for loop, low, high in zip(self.chain, needed.lower, needed.upper, strict=True):
            box += [Row(variable(loop.variable) - low)] if low is not None else []
            box += [Row(high - variable(loop.variable))] if high is not None else []
        wanted = set_of(parameters, dims, self.chain[-1].pieces)
        run = [
            [*piece, *own, *box] for piece in self.target.pieces for own in self.chain[-1].pieces
        ]
        return bool(wanted.is_subset(set_of(parameters, dims, run)))

    def _overwrites(self, access: Access) -> bool:
        """Do two iterations of the nest write one element?"""
        for other in self.writes:
            pair = pair_of(access, other) if other.buffer.label == access.buffer.label else None
            if pair is None:
                continue
            equal: dict[int, int] = {loop.variable: 0 for loop in self.outer}
            for loop in self.chain:
                if any(pair.possible({**equal, loop.variable: sign}) for sign in (1, -1)):
                    return True
                equal[loop.variable] = 0
        return False


def always(model: Model, loop_op: ir.Operation | ir.OpView, form: Linear) -> bool:
    """Is the form 0 or more in each iteration of a loop?"""
    below = Row(form.scaled(-1).plus(-1))
    return not any(feasible([*piece, below]) for piece in model.loop(loop_op).pieces)
