"""Arguments of a call in the order of the parameters, each in memory, with what is brought back afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ...errors import counted
from ...ir.types import TensorType
from .arrays import tensor_argument
from .numbers import scalar_argument
from .parameters import Array, Parameter


class _Named(Protocol):
    """A parameter; errors show it as text."""

    @property
    def name(self) -> str: ...


def converted_arguments(
    function: str, parameters: Sequence[Parameter], given: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[tuple[Any, ...], list[Array], list[Callable[[], None]]]:
    """The arguments in the order of the parameters, their memory, and what to do after the call.

    Raises TypeError or ValueError, naming the argument, for arguments that do not fit.
    """
    arguments = bound_arguments(function, parameters, given, named)
    holders, written_to, afterwards = converted(parameters, arguments)
    refuse_overlap(parameters, written_to)
    return arguments, holders, afterwards


def converted(
    parameters: Sequence[Parameter], arguments: Sequence[Any]
) -> tuple[list[Array], list[Array | None], list[Callable[[], None]]]:
    """The memory of each argument, the array that the call writes to in the end, and what to do after the call."""
    holders: list[Array] = []
    written_to: list[Array | None] = []
    afterwards: list[Callable[[], None]] = []
    for parameter, value in zip(parameters, arguments, strict=True):
        if isinstance(parameter.type, TensorType):
            array, bring_back = tensor_argument(parameter, value)
            holders.append(array)
            written_to.append(array if bring_back is None else value)
            afterwards += [] if bring_back is None else [bring_back]
        else:
            holders.append(scalar_argument(parameter, value))
            written_to.append(None)
    return holders, written_to, afterwards


def bound_arguments(
    function: str, parameters: Sequence[_Named], given: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[Any, ...]:
    """All arguments of a call in the order of the parameters.

    Raises TypeError for a name that is wrong or given twice, and for too few or too many arguments.
    """
    arguments = _in_order(function, [parameter.name for parameter in parameters], given, named) if named else given
    if len(arguments) != len(parameters):
        listed = ", ".join(map(str, parameters))
        takes = f"{counted(len(parameters), 'argument')} ({listed})" if listed else "no arguments"
        raise TypeError(f"{function}() takes {takes}, got {len(arguments) or 'none'}")
    return arguments


def _in_order(
    function: str, names: Sequence[str], given: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[Any, ...]:
    for name in named:
        if name not in names:
            raise TypeError(f"{function}() has no argument '{name}'; its arguments are {', '.join(names) or 'none'}")
        if name in names[: len(given)]:
            raise TypeError(f"{function}() got two values for argument '{name}'")
    missing = [name for name in names[len(given) :] if name not in named]
    if missing:
        raise TypeError(f"{function}() is not given {', '.join(repr(name) for name in missing)}")
    return (*given, *(named[name] for name in names[len(given) :] if name in named))


def refuse_overlap(parameters: Sequence[Parameter], arrays: Sequence[Array | None]) -> None:
    """Raises ValueError for two arguments that share memory of which one is written."""
    for first, (parameter, array) in enumerate(zip(parameters, arrays, strict=True)):
        for second in range(first + 1, len(arrays)):
            other = arrays[second]
            if array is None or other is None or not (parameter.written or parameters[second].written):
                continue
            if np.may_share_memory(array, other):
                names = f"'{parameter.name}' and '{parameters[second].name}'"
                raise ValueError(f"arguments {names} share memory, and the kernel writes to it; pass a copy")
