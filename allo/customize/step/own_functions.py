"""Arguments of steps that name positions of a task, `"gemm[0, 1]:k"`, as parts of the function of these positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...ir.access import callee_name
from ...ir.states import FinishedModule
from ..function.positions import Positions, split_positions
from .handles import Buffer, FifoName, Function, Loop, Nest


def with_own_functions(
    given: Mapping[str, Any], kinds: Mapping[str, set[Any]], state: Callable[[], FinishedModule],
    separate: Callable[[str, str], Function],
) -> dict[str, Any]:  # fmt: skip
    """The arguments of a step, by parameter, with names of functions for positions; those that have none get one."""

    def own(value: Any, kind: set[Any]) -> Any:
        if isinstance(value, list | tuple):
            return type(value)([own(item, kind) for item in value])
        if not isinstance(value, str) or "[" not in value:
            return value
        function, colon, rest = value.rpartition(":")
        if (not colon or value.endswith("]")) and Function in kind:
            function, colon, rest = value, "", ""
        named, now = split_positions(function), state()
        if named is None or function in now or named[0] not in now:
            return value
        positions = Positions(now, named[0])
        box = positions.grid.box(named[1])
        call, is_alone = positions.holder(box)
        return (callee_name(call) if is_alone else separate(*named).name) + colon + rest

    parts = {Loop, Buffer, Function, Nest, FifoName}
    return {name: own(value, kinds[name]) if kinds[name] & parts else value for name, value in given.items()}
