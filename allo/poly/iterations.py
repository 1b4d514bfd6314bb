"""The iterations in which an access happens, one by one."""

from __future__ import annotations

import islpy as isl
import numpy as np

from .model import Access

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
    if domain.count_val().to_python() > most:
        return None
    rows: list[list[int]] = []
    dims = range(len(access.loops))

    def add(point: isl.Point) -> None:
        rows.append([point.get_coordinate_val(isl.dim_type.set, d).to_python() for d in dims])

    domain.foreach_point(add)
    return np.array(rows, np.int64).reshape(len(rows), len(access.loops))
