"""What a TEC means, computed by NumPy from its strides alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from allo.mapping.teir import PrimFirst, PrimLast, Tec


def evaluated(tec: Tec, in0: Any, in1: Any, out: Any, init: Any = None) -> Any:
    """The output of `tec` on flat arrays; `out` is what it was before."""
    letters = "abcdefghijklmnopqrstuvwxyz"[: len(tec.dimensions)]
    kept = [k for k, d in enumerate(tec.dimensions) if d.strides[2] or d.size == 1]
    views = [seen(tec, k, array) for k, array in enumerate((in0, in1)) if not (k == 1 and tec.is_unary)]
    sums = np.einsum(f"{','.join(letters for _ in views)}->{''.join(letters[k] for k in kept)}", *views)
    before = {PrimFirst.NONE: out, PrimFirst.ZERO: np.zeros_like(out), PrimFirst.COPY: init}
    result = np.array(before.get(tec.prim_first, np.maximum(out, 0)))
    places = seen(tec, 2, np.arange(result.size))[tuple(slice(None) if k in kept else 0 for k in range(len(letters)))]
    untouched = np.ones(result.size, bool)
    untouched[places.ravel()] = False
    np.add.at(result, places.ravel(), sums.ravel())
    result[untouched] = out[untouched]
    if tec.prim_last is PrimLast.RELU:
        result[~untouched] = np.maximum(result[~untouched], 0)
    return result


def seen(tec: Tec, tensor: int, array: Any) -> Any:
    """A flat array with the dimensions of a TEC."""
    assert array.size >= tec.extent(tensor)
    return as_strided(array, tec.dim_sizes, [s * array.itemsize for s in tec.strides(tensor)])
