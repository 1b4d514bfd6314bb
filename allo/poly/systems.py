"""Sets and maps of isl for systems of constraint rows, and points in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import islpy as isl

from .linear import Linear, Row

_DIM = isl.dim_type
_CONTEXT = isl.DEFAULT_CONTEXT
_value = lru_cache(maxsize=1024)(isl.Val)


def _matrices(
    columns: dict[int, int], shift: int, rows: Iterable[Row]
) -> tuple[isl.Mat, isl.Mat]:
    """Matrices whose columns are the known variables, `shift` .. the others, and the constant.

    `columns` gives known variables their column and is extended; parameters come after the existential
    variables in the layout that isl is told, so their columns are negative until the width is known.
    """
    equalities = [row.form for row in rows if row.equality]
    inequalities = [row.form for row in rows if not row.equality]
    existential = 0
    for form in (*equalities, *inequalities):
        for variable, _ in form.terms:
            if variable not in columns:
                columns[variable] = shift + existential
                existential += 1
    width = len(columns) + 1
    made = []
    for forms in (equalities, inequalities):
        matrix = isl.Mat.alloc(_CONTEXT, 0, width)
        zeros = isl.Vec.zero(_CONTEXT, width)
        for form in forms:  # by rows: to set an element copies the whole, a vector or a matrix
            row = zeros
            for variable, coefficient in form.terms:
                column = columns[variable]
                row = row.set_element_val(column if column >= 0 else width - 1 + column, _value(coefficient))
            if form.constant:
                row = row.set_element_val(width - 1, _value(form.constant))
            matrix = matrix.vec_concat(row)
        made.append(matrix)
    return made[0], made[1]


def _columns(parameters: Sequence[int], dims: Sequence[int]) -> dict[int, int]:
    columns = {variable: k for k, variable in enumerate(dims)}
    for k, variable in enumerate(parameters):
        columns[variable] = k - len(parameters)
    return columns


def basic_set(
    parameters: Sequence[int], dims: Sequence[int], rows: Iterable[Row], space: isl.Space | None = None
) -> isl.BasicSet:
    """The points of `dims`; variables that are neither parameter nor dimension are existential."""
    equalities, inequalities = _matrices(_columns(parameters, dims), len(dims), list(rows))
    if space is None:
        space = isl.Space.set_alloc(_CONTEXT, len(parameters), len(dims))
    return isl.BasicSet.from_constraint_matrices(
        space, equalities, inequalities, _DIM.set, _DIM.div, _DIM.param, _DIM.cst
    )


def basic_map(
    parameters: Sequence[int],
    inputs: Sequence[int],
    outputs: Sequence[int],
    rows: Iterable[Row],
    space: isl.Space | None = None,
) -> isl.BasicMap:
    dims = (*inputs, *outputs)
    equalities, inequalities = _matrices(_columns(parameters, dims), len(dims), list(rows))
    if space is None:
        space = isl.Space.alloc(_CONTEXT, len(parameters), len(inputs), len(outputs))
    return isl.BasicMap.from_constraint_matrices(
        space, equalities, inequalities, _DIM.in_, _DIM.out, _DIM.div, _DIM.param, _DIM.cst
    )


def set_of(
    parameters: Sequence[int],
    dims: Sequence[int],
    pieces: Iterable[Iterable[Row]],
    space: isl.Space | None = None,
) -> isl.Set:
    if space is None:
        space = isl.Space.set_alloc(_CONTEXT, len(parameters), len(dims))
    result = isl.Set.empty(space)
    for rows in pieces:
        piece = basic_set(parameters, dims, rows, space).detect_equalities()
        result = result.union(isl.Set.from_basic_set(piece))
    return result


def feasible(rows: Sequence[Row]) -> bool:
    """Does an integer point satisfy all rows?"""
    numbers: dict[int, int] = {}  # layers of one shape have the same systems but for the numbers of variables
    system = tuple(
        (row.equality, row.form.constant, tuple([(numbers.setdefault(v, len(numbers)), c) for v, c in row.form.terms]))
        for row in rows
    )
    return _feasible(len(numbers), system)


@lru_cache(maxsize=4096)
def _feasible(width: int, system: tuple[tuple[bool, int, tuple[tuple[int, int], ...]], ...]) -> bool:
    rows = [Row(Linear(constant, tuple(sorted(terms))), equality) for equality, constant, terms in system]
    return not basic_set((), tuple(range(width)), rows).is_empty()


def least(form: Linear, rows: Sequence[Row]) -> int | None:
    """The least value of a form where the rows hold (which must be somewhere); None if it has none."""
    variables = tuple(dict.fromkeys(v for f in (form, *(row.form for row in rows)) for v, _ in f.terms))
    return minimum(isl.Set.from_basic_set(basic_set((), variables, rows)), form, variables)


def minimum(points: isl.Set, form: Linear, columns: Sequence[int]) -> int | None:
    """The least value of a form over points whose dimensions are `columns`; None if there is none."""
    aff = isl.Aff.zero_on_domain_space(points.get_space())
    for number, coefficient in form.terms:
        aff = aff.set_coefficient_val(_DIM.in_, columns.index(number), coefficient)
    value = points.min_val(aff.set_constant_val(form.constant))
    return int(value.to_python()) if value.is_int() else None


def lexicographic_minimum(dims: Sequence[int], rows: Sequence[Row]) -> tuple[int, ...] | None:
    """The first point of `dims`, or a fixed other one where the system has no first point; None if empty.

    One integer program a dimension: isl's own `lexmin` calls some bounded systems with strides empty (seen
    with islpy 2026.2.2), while its emptiness test and its integer programs are right.
    """
    others = dict.fromkeys(v for row in rows for v, _ in row.form.terms if v not in dims)
    points = isl.Set.from_basic_set(basic_set((), (*dims, *others), rows))
    if points.is_empty():
        return None
    found: list[int] = []
    for position in range(len(dims)):
        value = points.dim_min_val(position)
        if not value.is_int():  # no lower bound in this direction
            value = points.sample_point().get_coordinate_val(_DIM.set, position)
        points = points.fix_val(_DIM.set, position, value)
        found.append(int(value.to_python()))
    return tuple(found)


def named_space(
    parameters: Sequence[str],
    inputs: Sequence[str],
    input_name: str,
    outputs: Sequence[str] | None = None,
    output_name: str = "",
) -> isl.Space:
    """A set space, or a map space if `outputs` are given."""
    if outputs is None:
        space = isl.Space.create_from_names(_CONTEXT, set=list(inputs), params=list(parameters))
        return space.set_tuple_name(_DIM.set, input_name)
    space = isl.Space.create_from_names(
        _CONTEXT, in_=list(inputs), out=list(outputs), params=list(parameters)
    )
    space = space.set_tuple_name(_DIM.in_, input_name)
    return space.set_tuple_name(_DIM.out, output_name) if output_name else space
