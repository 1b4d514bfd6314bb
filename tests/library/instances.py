"""Instances of templates, with or without their default schedules, and operands for them."""

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.compose import default_schedule


def built(kernel: Callable[..., Any], parameters: list[Any], scheduled: bool) -> Any:
    """The instance of `kernel` on the CPU."""
    if scheduled:
        return default_schedule(kernel, parameters).build()
    return allo.customize(kernel, instantiate=parameters).build()


def floats(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def integers(dtype: Any, *shape: int, bits: int | None = None) -> np.ndarray:
    """All values of `bits` bits (default: of the dtype), among them the extreme ones."""
    width = bits or np.iinfo(dtype).bits
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1)) if np.iinfo(dtype).min < 0 else (0, 2**width)
    found = np.random.default_rng(sum(shape) + width).integers(low, high, shape).astype(dtype)
    found.flat[0], found.flat[-1] = low, low
    return found
