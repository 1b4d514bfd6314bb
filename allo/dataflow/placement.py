"""Tasks that `mapping_primitives` bundle and chain where there are no cores: their names are looked at only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ..errors import TargetError, nearest
from ..ir.module import Module
from ..ir.processes import is_process, region_blocks
from ..ir.task_facts import task_facts
from ..ir.walk import statements

_SHAPE = "mapping_primitives are pairs such as ('bundle', ['gemm_0_0', 'gemm_0_1']) and ('chain', ['load_0', 'add_0'])"


@dataclass(frozen=True, slots=True)
class _Core:
    """What runs on one core: the tasks that are chained there, of one position or of several that are bundled."""

    tasks: tuple[str, ...]


def demand_placeable(module: Module, primitives: Any) -> None:
    """Raises TargetError unless tasks of a module can be bundled and chained like this, one step after the other.

    A task is called after its position, `gemm_0_1`; what is chained `a-b`, what is bundled `ax2`, as in published Allo.
    """
    cores = {name: _Core((task,)) for name, task in _positions(module)}
    if isinstance(primitives, str) or not isinstance(primitives, Sequence):
        raise TargetError(f"{_SHAPE}; got {primitives!r}")
    for primitive in primitives:
        kind, names = _read(primitive)
        for name in names:
            if name not in cores:
                hint = nearest(name, cores) or f"there are {', '.join(list(cores)[:8])}"
                raise TargetError(f"{kind}: there is no task '{name}'", hint=hint)
        members = [cores.pop(name) for name in names]
        if kind == "chain":
            cores["-".join(names)] = _Core(tuple(task for member in members for task in member.tasks))
            continue
        others = [name for name, member in zip(names, members, strict=True) if member.tasks != members[0].tasks]
        if others:
            raise TargetError(
                f"bundle: '{names[0]}' and '{others[0]}' are not alike: they are positions of other tasks",
                hint="bundle positions of one task; chain those of several",
            )
        cores[f"{names[0]}x{len(names)}"] = _Core(members[0].tasks)


def _read(primitive: Any) -> tuple[str, list[str]]:
    is_pair = isinstance(primitive, tuple | list) and len(primitive) == 2
    kind: Any = primitive[0] if is_pair else None
    names: Any = primitive[1] if is_pair else None
    is_known = kind in ("bundle", "chain") and isinstance(names, tuple | list)
    if not is_known or not all(isinstance(name, str) for name in names):
        raise TargetError(f"{_SHAPE}; got {primitive!r}")
    if len(names) < 2 or len(set(names)) < len(names):
        raise TargetError(f"{kind}: two tasks or more are joined, each named once; got {list(names)!r}")
    return kind, list(names)


def _positions(module: Module) -> list[tuple[str, str]]:
    """The positions of all tasks, as published Allo calls them, and the task."""
    found = []
    for function in module.functions():
        for block in region_blocks(function):
            for op in statements(block)[:-1]:
                if is_process(op):
                    facts = task_facts(op)
                    grid = product(*facts.loops) if facts.loops else [(0,)]
                    found += [("_".join([facts.name, *map(str, place)]), facts.name) for place in grid]
    return found
