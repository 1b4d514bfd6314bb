"""The iterations in which an access happens, one by one."""

from __future__ import annotations

from math import prod

import islpy as isl
import numpy as np

from .model import Access

_SET = isl.dim_type.set
_FEW = 256  # iterations that are walked over at once

type Iterations = np.ndarray[tuple[int, int], np.dtype[np.int64]]


def iterations_of(access: Access, most: int) -> Iterations | None:
    """The values of the loops around `access`, a row for each iteration in which it happens, in no order.

    None if that is not known exactly, depends on a parameter, or takes more than `most` rows.
    """
    if not access.exact_domain:
        return None
    domain = access.domain.coalesce()
    if domain.is_empty():
        return np.zeros((0, len(access.loops)), np.int64)
    parameters = domain.dim(isl.dim_type.param)
    used = any(domain.involves_dims(isl.dim_type.param, n, 1) for n in range(parameters))
    if used or not domain.is_bounded():
        return None
    domain = domain.project_out(isl.dim_type.param, 0, parameters)  # isl walks over no set that has any
    count = domain.count_val().to_python()
    if count > most:
        return None
    dims = range(len(access.loops))
    box = [range(_number(domain.dim_min_val(n)), _number(domain.dim_max_val(n)) + 1) for n in dims]
    if dims and count == prod(map(len, box)):  # all between the bounds
        return np.stack(np.meshgrid(*box, indexing="ij"), axis=-1).reshape(count, len(dims)).astype(np.int64)
    if count > _FEW:
        apart = [_points(_along(domain, n, len(dims)), 1)[:, 0] for n in dims]
        if count == prod(map(len, apart)):  # conditions on one loop each: isl walks along each only
            return np.stack(np.meshgrid(*apart, indexing="ij"), axis=-1).reshape(count, len(dims))
    return _points(domain, len(access.loops))


def _number(value: isl.Val) -> int:
    return int(value.to_python())


def _along(domain: isl.Set, dim: int, dims: int) -> isl.Set:
    """The values of one dimension."""
    return domain.project_out(_SET, dim + 1, dims - dim - 1).project_out(_SET, 0, dim)


def _points(domain: isl.Set, dims: int) -> Iterations:
    rows: list[list[int]] = []

    def add(point: isl.Point) -> None:
        rows.append([point.get_coordinate_val(_SET, d).to_python() for d in range(dims)])

    domain.foreach_point(add)
    return np.array(rows, np.int64).reshape(len(rows), dims)
