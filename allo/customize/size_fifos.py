"""size_fifos: give FIFOs the depths that a strategy computes, or those that are given."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import Note, ScheduleError, counted, nearest
from ..ir.module import Module
from ..ir.states import Draft
from .fifo.accesses import LARGEST_DEPTH
from .fifo.depths import FifoKind, fifo_kinds, set_depths
from .fifo.sizes import STRATEGIES, FifoSize, FifoSizes
from .step.handles import FifoName
from .step.primitive import primitive
from .step.record import Decided


@primitive(whole_module=True, checks_stages=True)
def size_fifos(
    module: Draft,
    strategy: str = "exact",
    budget: int | None = None,
    target: str = "u280",
    trips: Mapping[str, int] | None = None,
    fifos: tuple[FifoName, ...] | None = None,
    depths: tuple[int, ...] | None = None,
) -> Decided[FifoSizes]:
    """Give `fifos`, or all, the depths that a `strategy` computes from when things happen on `target`.

        pipe: Stream[int32, 64]   ->   pipe: Stream[int32, 5]

    `"exact"`: the least depths with which nothing is later than with FIFOs that are never full; none can be lower by
    one. `"normal"` and `"conservative"`: those of a linear program over the token curves of all ends, at their own
    rates or all at that of the slowest process, which may stall what is faster. `"pareto"`: a point on the front of
    cycles against memory: the fastest whose FIFOs take at most `budget` blocks of BRAM (18 Kb), or with no budget the
    fastest. No choice waits for ever.
    All FIFOs of an array, and those that are passed to one argument of a function, have one depth: the most that one
    of them needs. `trips` says how often loops run whose extent is known at run time only. Returns the depths with
    their reasons (`FifoSizes`; the front as data and as `plot()`). The step records `fifos` and `depths`: repeated, it
    computes nothing; you may give both yourself.
    Refused: FIFOs whose number of elements depends on data; that are arguments of the entry; tasks that wait for ever
    whatever the depths are.
    Source: StreamTensor, section 5.3; Allo paper, section 6.5, equations 2-4.
    """
    if strategy not in STRATEGIES:
        hint = nearest(strategy, STRATEGIES) if isinstance(strategy, str) else None
        raise ScheduleError(f"strategy must be one of {', '.join(STRATEGIES)}, got {strategy!r}", hint=hint)
    if budget is not None and (strategy != "pareto" or budget < 0):
        what = f"not for {strategy!r}" if strategy != "pareto" else f"got {budget}"
        raise ScheduleError(
            f"budget= are blocks of BRAM that a point on the front may take, {what}",
            hint='s.size_fifos("pareto", budget=4)',
        )
    if trips is not None and not _is_counts(trips):
        raise ScheduleError(f"trips must be numbers of iterations by loops, got {trips!r}", hint='trips={"f:i": 64}')
    kinds = _chosen(module.before, fifos)
    if depths is not None:
        sizes = _given(strategy, target, kinds, fifos, depths)
    else:
        from ..estimate.fifo_sizes import fifo_sizes

        sizes = fifo_sizes(module.before, strategy, budget, target, trips, kinds)
    names = tuple(made.fifo for kind in kinds for made in kind.fifos)
    found = dict(zip(names, (size.depth for size in sizes.fifos), strict=True))
    set_depths(module, found)
    return Decided({"fifos": tuple(found), "depths": tuple(found.values()), "trips": None}, sizes)


def _is_counts(trips: object) -> bool:
    return isinstance(trips, Mapping) and all(
        isinstance(name, str) and type(count) is int and count >= 0 for name, count in trips.items()
    )


def _chosen(module: Module, fifos: tuple[FifoName, ...] | None) -> list[FifoKind]:
    """The types of the FIFOs that are to be sized."""
    known = fifo_kinds(module)
    if not known:
        raise ScheduleError(
            f"'{module.top}' has no FIFOs", hint="relay(array, consumer) makes one, or declare a Stream[T, depth]"
        )
    if fifos is None:
        found = [kind for kind in known if not kind.is_open]
        if not found:
            raise _open(known[0])
        return found
    if not fifos:
        raise ScheduleError("fifos= names no FIFO", hint="leave it out: all are sized")
    found = [kind for kind in known if any(made.fifo in fifos for made in kind.fifos)]
    for kind in found:
        if kind.is_open:
            raise _open(kind)
    return found


def _open(kind: FifoKind) -> ScheduleError:
    made = kind.fifos[0]
    return ScheduleError(
        f"the depth of '{made.fifo}' is part of the interface: the FIFO has the type of an argument of the entry, or "
        "of a function without a body",
        hint="declare the depth there",
        notes=[Note(f"'{made.fifo.name}' is made here", made.at)],
    )


def _given(
    strategy: str, target: str, kinds: list[FifoKind], fifos: tuple[FifoName, ...] | None, depths: tuple[int, ...]
) -> FifoSizes:
    """The depths that the caller gave."""
    if fifos is None or len(fifos) != len(depths):
        number = "none" if fifos is None else str(len(fifos))
        raise ScheduleError(
            f"depths= are those of fifos=, one each: {counted(len(depths), 'depth')} for {number}",
            hint='s.size_fifos(fifos=["pipe"], depths=[4])',
        )
    wanted = dict(zip(fifos, depths, strict=True))
    if len(wanted) < len(fifos):
        twice = next(fifo for fifo in fifos if fifos.count(fifo) > 1)
        raise ScheduleError(f"fifos= names '{twice}' twice", hint="give each FIFO one depth")
    sizes = []
    for kind in kinds:
        known = {made.fifo: wanted[made.fifo] for made in kind.fifos if made.fifo in wanted}
        depth = next(iter(known.values()))
        if len(set(known.values())) > 1:
            listed = " and ".join(f"{d} for '{fifo}'" for fifo, d in known.items())
            raise ScheduleError(
                f"FIFOs that are passed to one argument of a function have one depth, got {listed}",
                notes=[Note(f"'{made.fifo.name}' is made here", made.at) for made in kind.fifos],
            )
        if not 1 <= depth <= LARGEST_DEPTH:
            raise ScheduleError(f"the depth of a FIFO must be from 1 to {LARGEST_DEPTH}, got {depth}")
        sizes += [
            FifoSize(str(made.fifo), depth, kind.depth, made.count, kind.bits, "given") for made in kind.fifos
        ]
    return FifoSizes(strategy, target, tuple(sizes))
