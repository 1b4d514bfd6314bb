"""Parameters of a built module."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...ir.arrays import form_dtype
from ...ir.types import AlloType, Int, TensorType, UInt
from ...ir.words import is_plain

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a built module; `written` if the kernel may change it."""

    name: str
    type: AlloType | TensorType
    written: bool
    form: tuple[np.dtype[Any], tuple[int, ...]] | None = field(init=False)
    """The dtype and shape of arrays that need no look at their elements, if the type has such ones."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "form", _form(self.type))

    def takes(self, value: Any) -> bool:
        """Whether `value` is an array that is passed as it is, for certain; asked at each call."""
        return (
            type(value) is np.ndarray
            and (value.dtype, value.shape) == self.form
            and value.flags.c_contiguous
            and (not self.written or value.flags.writeable)
        )

    def __str__(self) -> str:
        return f"{self.name}: {self.type!r}"


def _form(type: AlloType | TensorType) -> tuple[np.dtype[Any], tuple[int, ...]] | None:
    if not isinstance(type, TensorType) or not type.is_static or not is_plain(type.element):
        return None
    dtype = form_dtype(type.element)
    is_narrow = isinstance(type.element, Int | UInt) and type.element.width < dtype.itemsize * 8
    return None if is_narrow else (dtype, type.shape)
