"""interleave_sums: loops of products go inside those of their sums, so that an addition need not wait for the last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mlir import ir

from ..errors import ScheduleError
from ..ir.builder import i64_attr
from ..ir.module import Module
from ..ir.states import Draft
from ..ir.walk import LoopView, entry_block, loops_of, operations, trip_count
from ..poly import Access, Linear, carried_by, extract
from ..poly.model import Model
from .fifo.agreement import bands_of
from .fuse_streams import join_writers
from .nest.interleaving import Interleaved, InterleavedSums
from .reorder import permute
from .step.handles import Function, Loop, Nest
from .step.primitive import primitive
from .step.record import Decided
from .step.resolve import find_loop, loop_note
from .turns import iterations, least_tile, take_turns, why_not

_NUMBER = "allo.number_of_sum"  # while nests join


@primitive
def interleave_sums(
    module: Draft,
    function: Function,
    turns: int = 1,
    loops: tuple[Loop, ...] | None = None,
    around: tuple[Loop, ...] | None = None,
    tiles: tuple[int, ...] | None = None,
) -> Decided[InterleavedSums | None]:
    """Move a loop of each nest of `function` that ends in a sum inside the loops of the sum.

        for i in range(m):                        for i in range(m):
            for j in range(n):            ->          for k in range(p):
                for k in range(p):                        for j in range(n):
                    C[i, j] += A[i, k] * B[k, j]              C[i, j] += A[i, k] * B[k, j]

    An addition of floats takes several cycles, and a loop that adds to one element starts an iteration only when the
    last sum is there; `n` sums in turn leave it the time, and can be unrolled (`unroll_stages`). The numbers of each
    sum are added up in the same order as before, so results are the same to the bit.
    The loop is one whose iterations do not need one another, along which no window slides, and along which an operand
    stays the same: rather a local array (an element that comes in is used for all sums at once), rather the first one.
    It is `j` of a product and the output channels of a convolution; of windows without weights it is the channels.
    With `turns`, at least so many sums take turns, of as many iterations of the loop around as that takes: several
    rows of a product, several pixels of a convolution. What these take of local arrays they take at first, in the order
    in which it comes, and hand on their sums in theirs. Nests that write the sums before or behind (first values, the
    division of a mean) become one with theirs, which has the name of the last of them then:

        for i.outer in range(m / 4):
            for i_take in range(4): for k_take in range(p): A_turns[i_take, k_take] = A[4 * i.outer + i_take, k_take]
            for k in range(p):
                for i.inner in range(4): for j in range(n): buf_C[i.inner, j] += A_turns[i.inner, k] * B[k, j]
            for i.inner_back in range(4): for j_back in range(n): C[4 * i.outer + i.inner_back, j_back] = buf_C[...]

    Sums of which each takes elements of its own stay as they are, since these would come and be read one after the
    other; but sums without operands that stay the same, as means are, take turns along a loop around them.
    Returns what was done (`InterleavedSums`), with the nests that stay as they are and why. The step records `loops`,
    and `around` and `tiles`, the loops of which so many iterations take turns: repeated, it decides nothing and returns
    None; you may give them yourself.
    Refused: fewer than one turn; loops given that are not in a sum's nest of nothing but loops, or have no such sums
    inside; tiles that do not divide their trips; two loops of nests that become one; what `reorder` refuses of these.
    Source: Allo paper, 3.1 (row-wise product) and 8.2.
    """
    if entry_block(module.function(function.name)) is None:
        raise ScheduleError(f"the body of '{function}' is not in the module")
    _check(turns, loops, around, tiles)
    if loops is not None:
        for loop in loops:
            _move(module, loop)
        _tile(module, function, [_given(module, *one) for one in zip(around or (), tiles or (), strict=True)])
        return Decided({"loops": loops, "around": around, "tiles": tiles}, None)
    found, tiled = _moved(module, function, turns)
    _tile(module, function, tiled)
    moved = tuple(Loop(function.name, one.nest, one.loop) for one in found if one.loop is not None)
    around, tiles = tuple(one.loop for one in tiled), tuple(one.size for one in tiled)
    decided = {"loops": moved, "around": around or None, "tiles": tiles or None}
    return Decided(decided, InterleavedSums(tuple(found)))


@dataclass(frozen=True, slots=True)
class Tiled:
    """A loop around sums, of which so many iterations take turns."""

    loop: Loop
    size: int

    def __str__(self) -> str:
        return f"{self.size} of {self.loop.name}"


def _moved(module: Draft, function: Function, turns: int) -> tuple[list[Interleaved], list[Tiled]]:
    """Move loops of all nests inside; what was done, and which iterations around are to take turns."""
    found, tiled = [], []
    for nest, band in bands_of(module, function.name).items():
        model = extract(module.function(function.name), band[0].op) if band else None
        sums = [] if model is None else _sums(model, band)
        if model is None or not sums:
            continue
        names = [view.name for view in sums]
        chosen, reason = _chosen(model, band, sums, turns)
        if chosen is not None:
            try:
                _move(module, Loop(function.name, nest, chosen.name))
            except ScheduleError as error:
                chosen, reason = None, error.diagnostics[0].message
        several = _several(module, Nest(function.name, nest), names, turns)
        if isinstance(several, Tiled):
            tiled.append(several)
        one = Interleaved(nest, tuple(names), None if chosen is None else chosen.name, reason)
        found.append(one if several is None else replace(one, several=str(several)))
    return found, tiled


def _check(
    turns: int, loops: tuple[Loop, ...] | None, around: tuple[Loop, ...] | None, tiles: tuple[int, ...] | None
) -> None:
    if turns < 1:
        raise ScheduleError(
            f"turns= are the sums that take turns at least, got {turns}", hint="leave it out for one loop of sums"
        )
    is_odd = (around is None) != (tiles is None) or len(around or ()) != len(tiles or ())
    if is_odd or (around and loops is None):
        raise ScheduleError(
            "around= and tiles= are given together, a size for each loop, and with loops=",
            hint='s.interleave_sums("f", loops=["f:product.j"], around=["f:product.i"], tiles=[4])',
        )


def _several(module: Module, nest: Nest, sums: Sequence[str], turns: int) -> Tiled | str | None:
    """The loop around the sums of a nest of which several iterations take turns, or why none does; None if the loops
    inside have enough iterations."""
    band = bands_of(module, nest.function)[nest.name]
    names = [view.name for view in band]
    first = min(names.index(name) for name in sums)
    inside = [view for view in band[first:] if view.name not in sums and trip_count(view.op) != 1]
    own = iterations(inside)
    if own >= turns:
        return None
    view = next((view for view in reversed(band[:first]) if (trip_count(view.op) or 1) > 1), None)
    if view is None or trip_count(view.op) is None:
        return "no loop of known trips is around its sums"
    model = extract(module.function(nest.function), band[0].op)
    if carried_by(model, view.op) is not None:
        return f"iterations of '{view.name}' need one another"
    below = band[names.index(view.name) + 1 :]
    size = least_tile(trip_count(view.op) or 1, -(-turns // own))
    return why_not(model, view, below, inside) or Tiled(Loop(nest.function, nest.name, view.name), size)


def _given(module: Module, loop: Loop, size: int) -> Tiled:
    """A loop and a tile that a user gives."""
    view = find_loop(module, loop)
    band = bands_of(module, loop.function).get(loop.nest, [])
    names = [member.name for member in band]
    below = band[names.index(loop.name) + 1 :] if loop.name in names else []
    model = extract(module.function(loop.function), view.chain[0].op)
    sums = [member for member in below if _is_innermost(band[-1]) and carried_by(model, member.op) is not None]
    trips = trip_count(view.op)
    if trips is None or size < 2 or trips % size:
        raise ScheduleError(
            f"tile {size} does not divide the trip count {trips} of loop '{loop.name}', or is no tile",
            hint="give a divisor of at least 2",
            notes=[loop_note(view)],
        )
    inside = [member for member in below if member not in sums and trip_count(member.op) != 1]
    needs = carried_by(model, view.op) is not None
    why = f"iterations of '{loop.name}' need one another" if needs else "no loop of sums is inside of it"
    reason = why if needs or not sums else why_not(model, view, below, inside)
    if reason:
        raise ScheduleError(
            f"iterations of loop '{loop.name}' cannot take turns: {reason}",
            hint="leave it out of around=",
            notes=[loop_note(view)],
        )
    return Tiled(loop, size)


def _tile(module: Draft, function: Function, tiled: Sequence[Tiled]) -> None:
    """Let iterations of loops around sums take turns, with those that give the first values of the sums.

    Nests that write the sums, before and behind, join them first. What is joined has the loops of the last nest, so the
    innermost loops of sums are found again by numbers; they stay as deep as they were.
    """
    if not tiled:
        return
    bands = bands_of(module, function.name)
    depths = []
    for number, one in enumerate(tiled):
        band = bands[one.loop.nest]
        outside = [view.name for view in band].index(one.loop.name)
        model = extract(module.function(function.name), band[0].op)
        depths.append((outside, outside + 1 + len(_down_to_sums(model, band[outside + 1 :]))))
        band[-1].op.attributes[_NUMBER] = i64_attr(number)
    join_writers(module, function.name)
    given: dict[Loop, Loop] = {}
    turns = []
    for view, one, (outside, end) in zip(_numbered(module, function), tiled, depths, strict=True):
        names = [member.name for member in view.chain]
        joined = Loop(function.name, view.nest, names[outside])
        if joined in given:
            raise ScheduleError(
                f"loops '{given[joined]}' and '{one.loop}' cannot both take turns: their nests write one array, and "
                "become one",
                hint="give only one of them in around=",
                notes=[loop_note(view.chain[outside])],
            )
        given[joined] = one.loop
        turns.append((joined, one.size, names[outside + 1 : end], view.name))
    for turn in turns:
        take_turns(module, *turn)


def _numbered(module: Draft, function: Function) -> list[LoopView]:
    """The loops that have a number, in its order, without it from now on."""
    found = [view for view in loops_of(module.function(function.name)) if _NUMBER in view.op.attributes]
    found.sort(key=lambda view: ir.IntegerAttr(view.op.attributes[_NUMBER]).value)
    for view in found:
        del view.op.attributes[_NUMBER]
    return found


def _down_to_sums(model: Model, band: Sequence[LoopView]) -> list[str]:
    """The names of the loops of a band down to the last one of sums."""
    last = max(n for n, view in enumerate(band) if carried_by(model, view.op) is not None)
    while last + 1 < len(band) and trip_count(band[last + 1].op) == 1:
        last += 1
    return [view.name for view in band[: last + 1]]


def _move(module: Module, loop: Loop) -> None:
    """Make a loop the innermost one of its nest."""
    view = find_loop(module, loop)
    band = bands_of(module, loop.function).get(loop.nest, [])
    if view.op not in [member.op for member in band] or not _is_innermost(band[-1]):
        raise ScheduleError(
            f"loop '{loop.name}' is not in a nest of nothing but loops around one body",
            hint="fission() makes such nests of statements that stand between loops",
            notes=[loop_note(view)],
        )
    names = [*(member.name for member in band if member.name != loop.name), loop.name]
    if len(names) > 1:
        permute(module, [Loop(loop.function, loop.nest, name) for name in names])


def _is_innermost(view: LoopView) -> bool:
    return not any(op.name in ("affine.for", "scf.for", "scf.while") for op in operations(view.body))


def _sums(model: Model, band: Sequence[LoopView]) -> list[LoopView]:
    """The loops of a nest whose iterations need one another."""
    return [view for view in band if _is_innermost(band[-1]) and carried_by(model, view.op) is not None]


def _chosen(
    model: Model, band: Sequence[LoopView], sums: Sequence[LoopView], turns: int
) -> tuple[LoopView | None, str]:
    """The loop that goes inside, or why there is none."""
    last = band.index(sums[-1])
    if any((trip_count(view.op) or 2) > 1 for view in band[last + 1 :]):
        return None, "a loop is inside of its sums already"
    accesses = list(model.inside(model.loop(band[-1].op)))
    if not all(access.exact for access in accesses):
        return None, "which elements it uses is known at run time only"
    added = {model.loop(view.op).variable for view in sums}
    windows = [form for access in accesses for form in access.subscripts if _is_window(form, added)]
    reads = [access for access in accesses if not access.is_write]
    free = []
    for view in band[:last]:
        variable = model.loop(view.op).variable
        slides = any(variable in dict(form.terms) for form in windows)
        reused = [access for access in reads if not _depends(access, variable)]
        if view not in sums and (trip_count(view.op) or 0) > 1 and not slides and (windows or reused or turns > 1):
            local = sum(access.buffer.origin == "alloc" for access in reused)
            first = min(map(reads.index, reused), default=len(reads))
            free.append(((local, -first, band.index(view)), view))
    if not free:
        return None, "it has no windows, and each loop around its sums changes all operands"
    return max(free, key=lambda one: one[0])[1], ""


def _is_window(form: Linear, added: set[int]) -> bool:
    """Whether a subscript slides a window: a loop of a sum and another loop are in it."""
    variables = {variable for variable, _ in form.terms}
    return bool(variables & added) and bool(variables - added)


def _depends(access: Access, variable: int) -> bool:
    return any(variable in dict(form.terms) for form in access.subscripts)
