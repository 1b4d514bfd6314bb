"""Programs with their arguments, and what NumPy says of these afterwards, by their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

type Program = tuple[Callable[..., Any], tuple[Any, ...], dict[int, np.ndarray[Any, Any]]]

rng = np.random.default_rng(3)


def ints(*shape: int, dtype: type = np.int32) -> np.ndarray[Any, Any]:
    """Small numbers."""
    return rng.integers(-9, 9, shape).astype(dtype)


def z(*shape: int, dtype: type = np.int32) -> np.ndarray[Any, Any]:
    """Zeros."""
    return np.zeros(shape, dtype)
