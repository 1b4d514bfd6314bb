"""Result arrays that a call may pass, as host programs do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....ir.forms import can_hold_results, form_text
from ....ir.types import AlloType, TensorType, shape_text


def check_result_arrays(results: Sequence[AlloType | TensorType], arrays: Sequence[Any]) -> None:
    """Raises TypeError or ValueError, naming the result, for an array that cannot take its result without loss.

    A scalar needs an array of one element.
    """
    for position, (result, array) in enumerate(zip(results, arrays, strict=True)):
        name = f"the array for result {position}"
        tensor = result if isinstance(result, TensorType) else TensorType(result, (1,))
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{name} must be a NumPy array, got {type(array).__name__}")
        if array.shape != tensor.shape:
            raise ValueError(f"{name} must have shape {shape_text(tensor.shape)}, got {array.shape}")
        if not array.flags.writeable:
            raise ValueError(f"{name} is read-only")
        element = tensor.element
        if not can_hold_results(element, array.dtype):
            why = f"got {array.dtype}, which does not hold every {element!r}"
            raise TypeError(f"{name} must have {form_text(element)}, {why}")
