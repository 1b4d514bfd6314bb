"""Partitions by which the tasks of a region use banks of their own, and parts of their own where there are none."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod

import islpy as isl
from mlir import ir

from ..customize import Partition, Schedule
from ..customize.step.primitive import schedule_line
from ..errors import Diagnostic, Location, ScheduleError, ScheduleNote
from ..ir.module import Module
from ..ir.partitions import is_partitioned
from ..ir.processes import DATAFLOW, is_process
from ..ir.walk import argument_names, entry_block, statements
from ..layout import COMPLETE, Banks, Division, block, cyclic
from ..poly import TaskUse, task_uses

_MOST_BANKS = 1024


def give_own_banks(schedule: Schedule) -> None:
    """Divide each argument that several positions read, or write, so that they are in different banks.

    The partitions are steps of the schedule. Where no division into at most 1,024 banks does that, a step `distribute`
    gives each position a part of its own; where that cannot be, runs of elements are banks, and where that does not do
    either, the array stays as it is, for the backend to refuse.
    """
    for shared in list(_shared(schedule.ir)):
        array, banks = f"{shared.region}:{shared.name}", shared.apart(_divisions)
        if banks is None:
            try:
                schedule.distribute(array)
                continue
            except ScheduleError:
                banks = shared.apart(_runs)
        for dim, division in (banks or {}).items():
            if division == COMPLETE:
                schedule.partition(array, dim=dim + 1)
            else:
                kind = Partition.Block if division.kind is Division.BLOCK else Partition.Cyclic
                schedule.partition(array, kind, dim=dim + 1, factor=division.factor)


def with_own_banks(schedule: Schedule) -> Schedule:
    """The schedule with such steps for arguments that no step has partitioned, which a warning tells."""
    made = schedule.copy()
    give_own_banks(made)
    added = made.steps[len(schedule.steps) :]
    if added:
        told = "; ".join(map(str, added))
        hint = "write these steps yourself, or others that keep the tasks apart"
        what = f"tasks of '{schedule.top_func_name}' share arrays, which hardware cannot: the build adds {told}"
        at = schedule_line() or Location("<schedule>", 0)
        warnings.warn_explicit(Diagnostic(what, None, hint).render(), ScheduleNote, at.file, at.line)
    return made


@dataclass(frozen=True, slots=True)
class _SharedArray:
    """An argument of a region that processes use."""

    region: str
    name: str
    shape: tuple[int, ...]
    uses: tuple[TaskUse, ...]

    def apart(self, divisions: Callable[[Sequence[TaskUse], int], list[Banks]]) -> dict[int, Banks] | None:
        """Divisions of the fewest dimensions by which any two positions use different banks, the fewest that do.

        None if there are none, {} if they share nothing. Complete divisions come first: hardware sees them in any text.
        """
        shape = self.shape
        if not _meet(self.uses, {}, shape):
            return {}
        for count in range(1, len(shape) + 1):
            found = [
                dict(zip(dims, chosen, strict=True))
                for dims in combinations(range(len(shape)), count)
                for chosen in product(*(divisions(self.uses, shape[k]) for k in dims))
            ]
            found = [f for f in found if prod(banks.count(shape[k]) for k, banks in f.items()) <= _MOST_BANKS]
            for banks in sorted(found, key=lambda f: sum(division != COMPLETE for division in f.values())):
                if not _meet(self.uses, banks, shape):
                    return banks
        return None


def _shared(module: Module) -> Iterator[_SharedArray]:
    """Arguments of regions, with what their processes use of them."""
    for function in module.functions():
        entry = entry_block(function)
        if entry is None or DATAFLOW not in function.operation.attributes:
            continue
        processes = [op for op in statements(entry)[:-1] if is_process(op)]
        for argument, name in zip(entry.arguments, argument_names(function), strict=True):
            if isinstance(argument.type, ir.MemRefType) and argument.type.rank and not is_partitioned(argument.type):
                uses = [use for op in processes for use in task_uses(module, op, argument, lambda _: True)]
                yield _SharedArray(function.name.value, name, tuple(argument.type.shape), tuple(uses))


def _divisions(uses: Sequence[TaskUse], extent: int) -> list[Banks]:
    """What a dimension may be divided into: all elements, or as many banks as a grid of tasks has positions."""
    return [COMPLETE, *(cyclic(n) for n in _grids(uses) if 1 < n < extent and extent % n == 0)]


def _runs(uses: Sequence[TaskUse], extent: int) -> list[Banks]:
    """All elements, or as many runs of elements as a grid has positions."""
    return [COMPLETE, *(block(n) for n in _grids(uses) if 1 < n < extent and extent % n == 0)]


def _grids(uses: Sequence[TaskUse]) -> list[int]:
    """The extents of the grids of tasks."""
    grids = {
        use.relation.domain().dim_max_val(k).to_python() + 1
        for use in uses
        for k in range(use.relation.dim(isl.dim_type.in_))
        if not use.relation.is_empty()
    }
    return sorted(grids)


def _meet(uses: Sequence[TaskUse], banks: dict[int, Banks], shape: Sequence[int]) -> bool:
    """Whether two positions, or two tasks, may use one bank of an array that is divided so.

    Hardware sees the bank of an access only where that is always the same one for each position.
    """
    seen: list[tuple[TaskUse, isl.Map]] = []
    for use in uses:
        reached = use.relation.apply_range(_bank_of(use.relation, banks, shape))
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


def _bank_of(relation: isl.Map, banks: dict[int, Banks], shape: Sequence[int]) -> isl.Map:
    """From elements to their banks."""
    names = [f"e{k}" for k in range(len(shape))]
    places = [_bank_text(f"e{k}", division, shape[k]) for k, division in banks.items()]
    return isl.Map.read_from_str(relation.get_ctx(), f"{{ [{', '.join(names)}] -> [{', '.join(places)}] }}")


def _bank_text(element: str, division: Banks, extent: int) -> str:
    if division.kind is Division.BLOCK:
        return f"floor({element}/{division.run(extent)})"
    return element if division == COMPLETE else f"{element} mod {division.factor}"
