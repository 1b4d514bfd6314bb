"""Arguments of steps that name positions of a task, `"gemm[0, 1]:k"`, as parts of the function of these positions.

Published Allo has a function for each position, and calls it `gemm_0_1`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ...ir.access import callee_name
from ...ir.states import FinishedModule
from ..function.positions import Positions, is_task, split_positions
from .handles import Buffer, FifoName, Function, Loop, Nest

_NUMBERED = re.compile(r"\w_\d+(:|$)")


def with_own_functions(
    given: Mapping[str, Any], kinds: Mapping[str, set[Any]], state: Callable[[], FinishedModule],
    separate: Callable[[str, str], Function],
) -> dict[str, Any]:  # fmt: skip
    """The arguments of a step, by parameter, with names of functions for positions; those that have none get one."""

    def own(value: Any, kind: set[Any]) -> Any:
        if isinstance(value, list | tuple):
            return type(value)([own(item, kind) for item in value])
        if isinstance(value, Loop | Nest | Buffer) and "[" in value.function:
            value = str(value)
        if not isinstance(value, str) or not ("[" in value or _NUMBERED.search(value)):
            return value
        function, colon, rest = value.rpartition(":")
        if (not colon or value.endswith("]")) and Function in kind:
            function, colon, rest = value, "", ""
        now = state()
        named = split_positions(function) or _numbered(function, now)
        if named is None or function in now or named[0] not in now:
            return value
        positions = Positions(now, named[0])
        box = positions.grid.box(named[1])
        call, is_alone = positions.holder(box)
        return (callee_name(call) if is_alone else separate(*named).name) + colon + rest

    parts = {Loop, Buffer, Function, Nest, FifoName}
    return {name: own(value, kinds[name]) if kinds[name] & parts else value for name, value in given.items()}


def function_of_positions(given: str, module: FinishedModule) -> tuple[str, str] | None:
    """The function that positions such as `"gemm[0, 1]"` or `"gemm_0_1"` have, and how they are named.

    The name is that of the function if they have one of their own. None for what names no positions of a task.
    """
    named = split_positions(given) or _numbered(given, module)
    if named is None or named[0] not in module:
        return None
    positions = Positions(module, named[0])
    box = positions.grid.box(named[1])
    call, is_alone = positions.holder(box)
    return callee_name(call), callee_name(call) if is_alone else positions.grid.name(box)


def _numbered(function: str, module: FinishedModule) -> tuple[str, str] | None:
    """`"gemm_0_1"` as the task `gemm` and its position, if there is such a task and no function of this name."""
    name, places = function, list[str]()
    while function not in module and (found := re.fullmatch(r"(\w+)_(\d+)", name)) is not None:
        name, places = found[1], [found[2], *places]
        if name in module and is_task(module, name, len(places)):
            return name, ", ".join(places)
    return None
