"""Partitions by which the tasks of a region use banks of their own, as hardware without shared arrays needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

import islpy as isl
from mlir import ir

from ..customize import Schedule
from ..ir.module import Module
from ..ir.processes import DATAFLOW, is_process
from ..ir.walk import argument_names, entry_block, statements
from ..poly import TaskUse, task_uses

_MOST_BANKS = 1024


def give_own_banks(schedule: Schedule) -> None:
    """Divide each argument that several positions read, or write, so that they are in different banks.

    The partitions are steps of the schedule. An array of which no division into at most 1,024 banks does that stays as
    it is, for the backend to refuse.
    """
    for region, name, dims in list(_divisions(schedule.ir)):
        for dim in dims:
            schedule.partition(f"{region}:{name}", dim=dim + 1)


def _divisions(module: Module) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Arguments of regions, with the dimensions that are to be divided completely."""
    for function in module.functions():
        entry = entry_block(function)
        if entry is None or DATAFLOW not in function.operation.attributes:
            continue
        processes = [op for op in statements(entry)[:-1] if is_process(op)]
        for argument, name in zip(entry.arguments, argument_names(function), strict=True):
            if isinstance(argument.type, ir.MemRefType) and argument.type.rank:
                uses = [use for op in processes for use in task_uses(module, op, argument, lambda _: True)]
                dims = _apart(uses, argument.type.shape)
                if dims:
                    yield function.name.value, name, dims


def _apart(uses: Sequence[TaskUse], shape: Sequence[int]) -> tuple[int, ...] | None:
    """The fewest dimensions in which any two positions differ; None if there are none, () if they share nothing."""
    for count in range(len(shape) + 1):
        for dims in combinations(range(len(shape)), count):
            if prod(shape[k] for k in dims) <= _MOST_BANKS and not _meet(uses, dims, len(shape)):
                return dims
    return None


def _meet(uses: Sequence[TaskUse], dims: Sequence[int], rank: int) -> bool:
    """Whether two positions, or two tasks, may use one bank if these dimensions are divided."""
    seen: list[tuple[TaskUse, isl.Map]] = []
    for use in uses:
        banks = use.relation
        for k in reversed(range(rank)):
            if k not in dims:
                banks = banks.project_out(isl.dim_type.out, k, 1)
        seen.append((use, banks))
    for number, (use, banks) in enumerate(seen):
        for other, known in seen[: number + 1]:
            common = known.apply_range(banks.reverse())
            if use.process == other.process:
                common = common.subtract(isl.Map.identity(common.get_space()))
            if not common.is_empty():
                return True
    return False
