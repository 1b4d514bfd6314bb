"""Decides what a call of a built module passes: every argument in memory, and what is brought back afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import counted
from ...ir.types import TensorType
from .arguments import Array, Parameter, bound_arguments, overlapping, scalar_argument, tensor_argument


def converted_arguments(
    function: str, parameters: Sequence[Parameter], given: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[tuple[Any, ...], list[Array], list[Callable[[], None]]]:
    """The arguments in the order of the parameters, their memory, and what to do after the call.

    Raises TypeError or ValueError, naming the argument, for arguments that do not fit.
    """
    arguments = bound_arguments(function, parameters, given, named)
    if len(arguments) != len(parameters):
        wanted = ", ".join(map(str, parameters))
        takes = f"{counted(len(parameters), 'argument')} ({wanted})" if wanted else "no arguments"
        raise TypeError(f"{function}() takes {takes}, got {len(arguments) or 'none'}")
    arrays: list[Array | None] = []
    holders: list[Array] = []
    afterwards: list[Callable[[], None]] = []
    for parameter, value in zip(parameters, arguments, strict=True):
        if isinstance(parameter.type, TensorType):
            array, bring_back = tensor_argument(parameter, value)
            arrays.append(array if bring_back is None else value)  # what is written in the end
            holders.append(array)
            if bring_back is not None:
                afterwards.append(bring_back)
        else:
            arrays.append(None)
            holders.append(scalar_argument(parameter, value))
    clash = overlapping(parameters, arrays)
    if clash is not None:
        first, second = (parameters[position].name for position in clash)
        raise ValueError(f"arguments '{first}' and '{second}' share memory, and the kernel writes to it; pass a copy")
    return arguments, holders, afterwards
