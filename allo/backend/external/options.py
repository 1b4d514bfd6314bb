"""Arguments of `IPModule` as a user may write them: names, one path or several, types, directions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ...errors import KernelError
from ...ir.types import AlloType, TensorType

type FilePath = str | os.PathLike[str]


def entry_name(top: Any) -> str:
    """The name of a function. Raises KernelError for what is no string."""
    if not isinstance(top, str):
        raise KernelError(f"top is the name of a function, a string, got {_shown(top)}")
    return top


def paths(name: str, given: Any) -> tuple[FilePath, ...]:
    """One path or several as several. Raises KernelError for what is no path."""
    if given is None:
        return ()
    listed = [given] if isinstance(given, str | os.PathLike) or not isinstance(given, Iterable) else list(given)
    for path in listed:
        if not isinstance(path, str | os.PathLike):
            raise KernelError(f"{name} takes paths, got {_shown(path)}", hint=f'{name}="vadd.cpp", or a list of paths')
    return tuple(listed)


def type_texts(signature: Any) -> tuple[str, ...]:
    """The types of a signature as texts. Raises KernelError for what is no list of types and texts."""
    if signature is None:
        return ()
    listed = signature if isinstance(signature, list | tuple) else [None]
    if not all(isinstance(kind, str | AlloType | TensorType) for kind in listed):
        raise KernelError(
            f"signature is a list with a type for each parameter, got {_shown(signature)}",
            hint='write signature=["float32[32, 32]", "int32"]',
        )
    return tuple(kind if isinstance(kind, str) else repr(kind) for kind in listed)


def directions(streams: Any) -> tuple[str, ...]:
    """The directions of streams as texts. Raises KernelError for what is none."""
    if streams is None:
        return ()
    if not isinstance(streams, Mapping):
        raise KernelError(
            f'streams says "in" or "out" for each name, got {_shown(streams)}', hint='streams={"a": "in"}'
        )
    for name, side in streams.items():
        if side not in ("in", "out"):
            raise KernelError(f"streams={{'{name}': ...}} must be \"in\" or \"out\", got {side!r}")
    return tuple(f"{name} {side}" for name, side in streams.items())


def _shown(value: Any) -> str:
    return f"{type(value).__name__} {value!r}"
