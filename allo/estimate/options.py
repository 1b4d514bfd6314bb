"""Kinds of the options of `allo.estimate`, which are looked at before anything is estimated."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from numbers import Integral, Real
from typing import Any

from ..errors import TargetError

_WANTED = {
    "frequency": ("the frequency must be a number of MHz above 0", "300"),
    "trips": ("trips must be a dict of numbers by names of loops", '{"i": 64}'),
    "operators": ("operators must be a dict of implementations by names of operators", '{"add": "fabric"}'),
    "memory": ("memory must be the name of a memory, or a dict of them by names of arguments", '{"A": "HBM"}'),
    "in_place": ("in_place must be a list of names of arguments", '["A"]'),
    "word_bits": ("word_bits must be a power of two from 8 on", "512"),
}


def demand_kinds(**given: Any) -> None:
    """Let each option that is given be of the kind that its name stands for. Raises TargetError."""
    for name, value in given.items():
        if value is not None and not _is_of_its_kind(name, value):
            wanted, example = _WANTED[name]
            raise TargetError(f"{wanted}, got {value!r}", hint=f"for example {name}={example}")


def _is_of_its_kind(name: str, value: Any) -> bool:
    match name:
        case "frequency":
            return isinstance(value, Real)
        case "word_bits":
            return isinstance(value, Integral)
        case "in_place":
            is_list = isinstance(value, Collection) and not isinstance(value, str)
            return is_list and all(isinstance(one, str) for one in value)
        case "memory" if isinstance(value, str):
            return True
    kind = Integral if name == "trips" else str
    return isinstance(value, Mapping) and all(
        isinstance(key, str) and isinstance(one, kind) for key, one in value.items()
    )
