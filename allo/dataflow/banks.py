"""Partitions by which the tasks of a region use banks of their own, and parts of their own where there are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations, product
from math import prod

import islpy as isl
from mlir import ir

from ..customize import Schedule
from ..errors import ScheduleError
from ..ir.module import Module
from ..ir.processes import DATAFLOW, is_process
from ..ir.walk import argument_names, entry_block, statements
from ..layout import COMPLETE, Banks, cyclic
from ..poly import TaskUse, task_uses

_MOST_BANKS = 1024


def give_own_banks(schedule: Schedule) -> None:
    """Divide each argument that several positions read, or write, so that they are in different banks.

    The partitions are steps of the schedule. Where no division into at most 1,024 banks does that, a step `distribute`
    gives each position a part of its own; where that cannot be, the array stays as it is, for the backend to refuse.
    """
    for region, name, banks in list(_shared(schedule.ir)):
        if banks is None:
            with suppress(ScheduleError):
                schedule.distribute(f"{region}:{name}")
        for dim, division in (banks or {}).items():
            if division == COMPLETE:
                schedule.partition(f"{region}:{name}", dim=dim + 1)
            else:
                schedule.partition(f"{region}:{name}", dim=dim + 1, factor=division.factor)


def _shared(module: Module) -> Iterator[tuple[str, str, dict[int, Banks] | None]]:
    """Arguments of regions that several positions use, with the divisions that keep these apart; None if none does."""
    for function in module.functions():
        entry = entry_block(function)
        if entry is None or DATAFLOW not in function.operation.attributes:
            continue
        processes = [op for op in statements(entry)[:-1] if is_process(op)]
        for argument, name in zip(entry.arguments, argument_names(function), strict=True):
            if isinstance(argument.type, ir.MemRefType) and argument.type.rank:
                uses = [use for op in processes for use in task_uses(module, op, argument, lambda _: True)]
                banks = _apart(uses, argument.type.shape)
                if banks is None or banks:
                    yield function.name.value, name, banks


def _apart(uses: Sequence[TaskUse], shape: Sequence[int]) -> dict[int, Banks] | None:
    """Divisions of the fewest dimensions by which any two positions use different banks, the fewest that do.

    None if there are none, {} if they share nothing. Complete divisions come first: hardware sees them in any text.
    """
    if not _meet(uses, {}, shape):
        return {}
    for count in range(1, len(shape) + 1):
        found = [
            dict(zip(dims, divisions, strict=True))
            for dims in combinations(range(len(shape)), count)
            for divisions in product(*(_divisions(uses, shape[k]) for k in dims))
        ]
        found = [f for f in found if prod(banks.count(shape[k]) for k, banks in f.items()) <= _MOST_BANKS]
        for banks in sorted(found, key=lambda f: sum(division != COMPLETE for division in f.values())):
            if not _meet(uses, banks, shape):
                return banks
    return None


def _divisions(uses: Sequence[TaskUse], extent: int) -> list[Banks]:
    """What a dimension may be divided into: all elements, or as many banks as a grid of tasks has positions."""
    grids = {
        use.relation.domain().dim_max_val(k).to_python() + 1
        for use in uses
        for k in range(use.relation.dim(isl.dim_type.in_))
        if not use.relation.is_empty()
    }
    return [COMPLETE, *(cyclic(n) for n in sorted(grids) if 1 < n < extent and extent % n == 0)]


def _meet(uses: Sequence[TaskUse], banks: dict[int, Banks], shape: Sequence[int]) -> bool:
    """Whether two positions, or two tasks, may use one bank of an array that is divided so.

    Hardware sees the bank of an access only where that is always the same one for each position.
    """
    seen: list[tuple[TaskUse, isl.Map]] = []
    for use in uses:
        reached = use.relation.apply_range(_bank_of(use.relation, banks, len(shape)))
        if banks and not reached.is_single_valued():
            return True
        seen.append((use, reached))
    for number, (use, own) in enumerate(seen):
        for other, known in seen[: number + 1]:
            common = known.apply_range(own.reverse())
            if use.process == other.process:
                common = common.subtract(isl.Map.identity(common.get_space()))
            if not common.is_empty():
                return True
    return False


def _bank_of(relation: isl.Map, banks: dict[int, Banks], rank: int) -> isl.Map:
    """From elements to their banks."""
    names = [f"e{k}" for k in range(rank)]
    places = [f"e{k}" if division == COMPLETE else f"e{k} mod {division.factor}" for k, division in banks.items()]
    return isl.Map.read_from_str(relation.get_ctx(), f"{{ [{', '.join(names)}] -> [{', '.join(places)}] }}")
