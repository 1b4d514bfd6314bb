"""interleave_sums: loops of products go inside those of their sums, so that an addition need not wait for the last."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ScheduleError
from ..ir.module import Module
from ..ir.states import Draft
from ..ir.walk import LoopView, entry_block, operations, trip_count
from ..poly import Access, Linear, carried_by, extract
from ..poly.model import Model
from .fifo.agreement import bands_of
from .nest.interleaving import Interleaved, InterleavedSums
from .reorder import permute
from .step.handles import Function, Loop
from .step.primitive import primitive
from .step.record import Decided
from .step.resolve import find_loop, loop_note


@primitive
def interleave_sums(
    module: Draft, function: Function, loops: tuple[Loop, ...] | None = None
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
    Returns what was done (`InterleavedSums`), with the nests that stay as they are and why. The step records `loops`:
    repeated, it decides nothing and returns None; you may give them yourself.
    Refused: loops given that are not in a sum's nest of nothing but loops; what `reorder` refuses of these.
    Source: Allo paper, 3.1 (row-wise product) and 8.2.
    """
    if entry_block(module.function(function.name)) is None:
        raise ScheduleError(f"the body of '{function}' is not in the module")
    if loops is not None:
        for loop in loops:
            _move(module, loop)
        return Decided({"loops": loops}, None)
    found = []
    for nest, band in bands_of(module, function.name).items():
        model = extract(module.function(function.name), band[0].op) if band else None
        sums = [] if model is None else _sums(model, band)
        if model is None or not sums:
            continue
        names = [view.name for view in sums]
        chosen, reason = _chosen(model, band, sums)
        if chosen is not None:
            try:
                _move(module, Loop(function.name, nest, chosen.name))
            except ScheduleError as error:
                chosen, reason = None, error.diagnostics[0].message
        found.append(Interleaved(nest, tuple(names), None if chosen is None else chosen.name, reason))
    moved = tuple(Loop(function.name, one.nest, one.loop) for one in found if one.loop is not None)
    return Decided({"loops": moved}, InterleavedSums(tuple(found)))


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


def _chosen(model: Model, band: Sequence[LoopView], sums: Sequence[LoopView]) -> tuple[LoopView | None, str]:
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
        if view not in sums and (trip_count(view.op) or 0) > 1 and not slides and (windows or reused):
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
