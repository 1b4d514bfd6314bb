"""External kernels in interpreted ones: what is not written in Python runs as it is, on NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import InternalError
from ...ir.types import AlloType, TensorType
from ..typing.nodes import CheckedFunction
from ..typing.writes import writes
from .boundary import elements_of, result, scalar
from .expressions import Elements
from .values import UNREADY, of_bits


class ExternalFunction:
    """A function without a body, ready to run."""

    def __init__(self, function: CheckedFunction) -> None:
        assert function.external is not None
        if function.external.call is None:
            raise InternalError(f"nothing runs '{function.name}', which is not written in Python")
        self.function = function
        self._call = function.external.call

    def run(self, arguments: Sequence[Any]) -> list[Any]:
        """The results for arguments: `Elements` for arrays, which change, else values."""
        function = self.function
        given = []
        for parameter, value in zip(function.params, arguments, strict=True):
            assert parameter.type is not None
            given.append(_given(parameter.type, value))
        found = self._call(*given)
        for parameter, value, array in zip(function.params, arguments, given, strict=True):
            if writes(function, parameter):
                assert isinstance(parameter.type, TensorType)
                value.data[...] = elements_of(parameter.type, array, f"'{parameter.name}'").data
        return [scalar(kind, found, "the result") for kind in function.results if isinstance(kind, AlloType)]


def _given(declared: AlloType | TensorType, value: Any) -> Any:
    """A value as C++ gets it; elements without a value are 0."""
    if isinstance(declared, TensorType):
        zero = of_bits(declared.element, 0)
        ready = np.empty(value.data.shape, object)
        for place in np.ndindex(ready.shape):
            element = value.data[place]
            ready[place] = zero if type(element) in UNREADY else element
        value = Elements(ready)
    return result(declared, value)
