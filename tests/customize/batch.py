"""Runs several scheduled kernels that take the same arguments as one module, which is compiled once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from allo import Schedule
from allo.ir.module import Module

SYMBOL = re.compile(r"@([A-Za-z_][\w$.]*)")


def merged(schedules: Sequence[Schedule]) -> Schedule:
    """A module whose entry calls each kernel with arguments of its own."""
    texts: list[str] = []
    calls: list[str] = []
    arguments: list[str] = []
    for number, schedule in enumerate(schedules):
        for op in schedule.module.body.operations:
            text = op.operation.get_asm(use_local_scope=True)
            texts.append(SYMBOL.sub(rf"@m{number}_\1", text))
        function = schedule.ir.function(schedule.top_func_name)
        types = [str(argument.type) for argument in function.operation.regions[0].blocks[0].arguments]
        names = [f"%a{len(arguments) + k}" for k in range(len(types))]
        calls.append(f"func.call @m{number}_{schedule.top_func_name}({', '.join(names)}) : ({', '.join(types)}) -> ()")
        arguments += [f"{name}: {kind}" for name, kind in zip(names, types, strict=True)]
    entry = f"func.func @all({', '.join(arguments)}) {{\n{chr(10).join(calls)}\nreturn\n}}"
    whole = 'module attributes {allo.top = "all"} {\n' + "\n".join([*texts, entry]) + "\n}"
    return Schedule(Module.parse(whole))


def outcomes(schedules: Sequence[Schedule], arguments: Sequence[np.ndarray[Any, Any]]) -> list[list[Any]]:
    """The arguments after the call of each kernel with copies of `arguments`."""
    copies = [[argument.copy() for argument in arguments] for _ in schedules]
    merged(schedules).build()(*(argument for given in copies for argument in given))
    return copies
