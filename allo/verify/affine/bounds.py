"""Bounds of arrays in two programs: whether one stays inside for the inputs on which the other one does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl
from mlir import ir

from ...poly import Access, Model, ModelParameter, Source
from ...poly.bounds import surely_inside
from ..deadline import Deadline
from ..program.programs import Program

if TYPE_CHECKING:
    from .effort import Effort


@dataclass(frozen=True, slots=True)
class Escape:
    """An access that leaves its array, or of which that cannot be excluded (`is_sure` false)."""

    text: str
    at: Source
    is_sure: bool


def escape_of(a: Program, b: Program, deadline: Deadline) -> Escape | None:
    """An access of `b` that may leave its array although no access of `a` does so; None if there is none.

    Only for the values of run-time parameters (scalar arguments) for which `a` stays inside. Extents known at run
    time only have no upper end here. What is not decided until the deadline may leave its array.
    """
    from .effort import Effort, OutOfEffort

    second = b.read.model
    suspects = [access for access in second.accesses if not surely_inside(access)]
    if not suspects:
        return None
    try:
        effort = Effort(deadline=deadline)
        with effort.limited():
            return _escape(a.read.model, second, suspects, effort)
    except OutOfEffort:
        return Escape(suspects[0].text, suspects[0].source, False)


def _escape(first: Model, second: Model, suspects: Sequence[Access], effort: Effort) -> Escape | None:
    allowed: isl.Set | None = None
    for access in suspects:
        effort.check()
        if not access.exact_elements:
            return Escape(access.text, access.source, False)
        outside = _outside(access)
        if outside.is_empty():
            continue
        if allowed is None:
            allowed = _escaping_parameters(first)
        same = _parameters(first) == _parameters(second)
        if same and outside.params().is_subset(allowed.align_params(outside.space)):
            continue
        is_sure = access.exact and not second.parameters
        return Escape(access.text, access.source, is_sure)
    return None


def _outside(access: Access) -> isl.Set:
    """The elements outside of the array that an access reaches."""
    reached = access.map.intersect_domain(access.domain).range()
    first = len(access.buffer.scope)
    found = isl.Set.empty(reached.space)
    for dimension, extent in enumerate(access.buffer.shape):
        place = first + dimension
        found = found.union(reached.upper_bound_val(isl.dim_type.set, place, isl.Val.int_from_si(_context(), -1)))
        if extent is not None:
            limit = isl.Val.int_from_si(_context(), extent)
            found = found.union(reached.lower_bound_val(isl.dim_type.set, place, limit))
    return found


def _escaping_parameters(model: Model) -> isl.Set:
    """For which values of the parameters some access leaves its array."""
    found = isl.Set.read_from_str(_context(), "{ : 1 = 0 }")
    for access in model.accesses:
        if not surely_inside(access):
            escaping = _outside(access).params()
            if access.exact:
                found = found.align_params(escaping.space).union(escaping.align_params(found.space))
    return found


def _parameters(model: Model) -> list[tuple[str, int]] | None:
    """The parameters by name and position, if all are arguments."""
    return None if any(not _is_argument(p) for p in model.parameters) else [
        (p.name, ir.BlockArgument(p.value).arg_number) for p in model.parameters
    ]


def _is_argument(parameter: ModelParameter) -> bool:
    return isinstance(parameter.value.owner, ir.Block)


def _context() -> isl.Context:
    return isl.DEFAULT_CONTEXT
