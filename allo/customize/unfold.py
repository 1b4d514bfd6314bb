"""unfold: loops of a nest become processing elements, one copy of the body in hardware for each iteration."""

from __future__ import annotations

from ..errors import ScheduleError
from ..ir.builder import unit_attr
from ..ir.module import Module
from ..ir.walk import LoopView, annotations_of, constant_bounds, operations
from ..poly import Undecided, Violation, between_instances, extract
from .function.inlining import inline_inside
from .nest.band import loop_band
from .nest.gather import gather
from .step.handles import Nest
from .step.legality import demand
from .step.primitive import primitive
from .step.resolve import loop_note


@primitive
def unfold(
    module: Module,
    nest: Nest,
    axes: int | tuple[int, ...] = (),
    axis: int | tuple[int, ...] = (),
    assume_safe: bool = False,
) -> Nest:
    """Make the loops `axes` (or `axis`) of `nest`, numbered from 0, processing elements; returns the nest.

        for i, j in grid(m, n, name="PE"):           PE[0, 0]: S(0, 0)   PE[0, 1]: S(0, 1)   ...
            S(i, j)                           ->     PE[1, 0]: S(1, 0)   PE[1, 1]: S(1, 1)   ...

    An element keeps its place for the whole run: it has the other loops of the nest, and the arrays made in its body,
    to itself. The module stays as large as its text: the loops are marked `allo.spatial`, and backends call elements
    when they emit hardware. Elements that do the same, but for the FIFOs and registers (of arrays in complete banks)
    that they use, are calls of one function, which is called after the first of them (`PE_0_1`; of a body that is one
    call of `f`: `f_0_1`). A CPU runs them one after the other. The result is what `relay` takes as destination to
    connect neighbours.
    Copies between the loops (of `buffer_at` on an outer one) are made by each element: those that it only reads as they
    are, those that it writes by the element that has the iteration.
    Refused: loops with something else between them, without constant bounds or with another annotation; an element that
    changes what an earlier one has read or written, with the statements and one pair of iterations. A value that one
    element computes and a later one reads can be sent by `relay`.
    `assume_safe=True` accepts what cannot be decided. Source: Allo paper, Table 2 and Fig. 5.
    """
    chosen = _axes(axes, axis)
    band = loop_band(module, nest)
    while chosen and len(band) <= max(chosen) and gather(module.function(nest.function), band[-1]) is not None:
        band = loop_band(module, nest)
    if not chosen:
        raise ScheduleError("no loops are given", hint=f'write s.unfold("{nest}", axes=[0])')
    for position in chosen:
        if not 0 <= position < len(band):
            loops = ", ".join(f"{k} ({view.name})" for k, view in enumerate(band))
            raise ScheduleError(
                f"nest '{nest.name}' has no axis {position} that could be unfolded",
                hint=f"its perfectly nested loops are {loops}",
                notes=[loop_note(band[0])],
            )
    views = [band[position] for position in chosen]
    for view in views:
        _check(view)
    answer = _dependence(module, nest, chosen)
    demand(answer, f"the processing elements of nest '{nest.name}' are not independent", assume_safe=assume_safe)
    for view in views:
        view.op.attributes["allo.spatial"] = unit_attr()
    return nest


def _dependence(module: Module, nest: Nest, axes: tuple[int, ...]) -> Violation | Undecided | None:
    """What makes processing elements depend on each other, also through calls."""
    band = loop_band(module, nest)
    if any(op.name == "func.call" for op in operations(band[0].body)):
        module = module.clone()
        band = loop_band(module, nest)
        inline_inside(module, band[0].op)
        band = loop_band(module, nest)
    return between_instances(extract(module.function(nest.function)), [band[k].op for k in axes])


def _axes(axes: int | tuple[int, ...], axis: int | tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of the loops; `axis` is the paper's name of the parameter."""
    if axes != () and axis != ():
        raise ScheduleError("axes= and axis= are two names of one parameter", hint="give one of them")
    chosen = axes if axes != () else axis
    given = (chosen,) if isinstance(chosen, int) else chosen
    if len(set(given)) < len(given):
        raise ScheduleError(f"an axis is given twice in {list(given)}")
    return tuple(sorted(given))


def _check(view: LoopView) -> None:
    if constant_bounds(view.op) is None:
        raise ScheduleError(
            f"the bounds of loop '{view.name}' are not constants, so it has no fixed number of processing elements",
            notes=[loop_note(view)],
        )
    if marks := annotations_of(view.op):
        raise ScheduleError(f"loop '{view.name}' is annotated with {', '.join(marks)}", notes=[loop_note(view)])
