"""Processes of a region that share arrays and use other elements of them, so that they may run at the same time."""

from __future__ import annotations

from itertools import combinations

import islpy as isl
from mlir import ir

from ..ir.access import callee_name
from ..ir.builder import string_attr
from ..ir.effects import Effects
from ..ir.module import Module
from ..ir.processes import APART_FROM, DATAFLOW, LINKED, TASK_NUMBER, is_process, region_blocks
from ..ir.walk import entry_block, operations, statements, string_of
from .task_uses import TaskUse, task_uses

type Apart = dict[tuple[int, int], tuple[str, str]]


class Apartness:
    """Answers for the processes of one module, while it is not rewritten."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.effects = Effects(module)
        self._known: dict[tuple[ir.Operation, ir.Operation], bool] = {}
        self._uses: dict[tuple[ir.Operation, ir.Value], list[TaskUse]] = {}

    def __call__(self, first: ir.Operation, second: ir.Operation) -> bool:
        """Whether no element that one of two processes of a region writes is used by the other one meanwhile."""
        if LINKED in first.attributes and LINKED in second.attributes:
            return True  # whenever they use one
        key = first, second
        if key not in self._known:
            shared = self.effects.touched(first).conflicts(self.effects.touched(second))
            self._known[key] = all(
                isinstance(place, ir.Value) and self._is_divided(place, first, second) for place in shared
            ) and not (_is_opaque(self.module, first) or _is_opaque(self.module, second))
        return self._known[key]

    def _is_divided(self, array: ir.Value, first: ir.Operation, second: ir.Operation) -> bool:
        own, others = self._uses_of(first, array), self._uses_of(second, array)
        if not own or not others:
            return False  # it is not seen how they use it
        return all(
            _are_disjoint(one.relation.range(), other.relation.range())
            for one in own
            for other in others
            if one.access.is_write or other.access.is_write
        )

    def _uses_of(self, process: ir.Operation, array: ir.Value) -> list[TaskUse]:
        key = process, array
        if key not in self._uses:
            self._uses[key] = list(task_uses(self.module, process, array, lambda _: True))
        return self._uses[key]


def _are_disjoint(one: isl.Set, other: isl.Set) -> bool:
    """Whether elements are others; those of an array of a loop have the iterations before them, but in functions."""
    surplus = one.n_dim() - other.n_dim()
    one, other = (
        found.project_out(isl.dim_type.set, 0, max(0, more)) for found, more in ((one, surplus), (other, -surplus))
    )
    return bool(one.is_disjoint(other))


def mark_apart(module: Module) -> None:
    """Note at each process, all of which have numbers, which of those before it use other elements, in place."""
    are_apart = Apartness(module)
    effects = are_apart.effects
    for function in module.functions():
        for block in region_blocks(function):
            found = [op for op in statements(block)[:-1] if is_process(op)]
            if not any(effects.touched(op).streams for op in found):
                continue
            for place, op in enumerate(found):
                touched = effects.touched(op)
                free = [
                    string_of(other, TASK_NUMBER) or ""
                    for other in found[:place]
                    if effects.touched(other).conflicts(touched) and are_apart(other, op)
                ]
                if free:
                    op.attributes[APART_FROM] = string_attr(" ".join(free))


def apart_processes(module: Module) -> dict[str, Apart]:
    """For each region of a module that is a function, which of its processes use other elements of arrays that they
    share: their numbers, in the order of the text, with the functions that they call, of those that call one."""
    are_apart = Apartness(module)
    effects = are_apart.effects
    made: dict[str, Apart] = {}
    for function in module.functions():
        entry = entry_block(function)
        if entry is None or DATAFLOW not in function.operation.attributes:
            continue
        found = [op for op in statements(entry)[:-1] if is_process(op)]
        names = [{callee_name(call) for call in _calls(op)} for op in found]
        pairs = made[function.name.value] = {}
        for (one, first), (other, second) in combinations(enumerate(found), 2):
            shares = effects.touched(first).conflicts(effects.touched(second))
            if shares and len(names[one]) == len(names[other]) == 1 and are_apart(first, second):
                pairs[one, other] = (min(names[one]), min(names[other]))
    return made


def _is_opaque(module: Module, process: ir.Operation) -> bool:
    """Whether something is called of which only the arguments are known."""
    seen: set[str] = set()
    names = [callee_name(call) for call in _calls(process)]
    while names:
        name = names.pop()
        if name in seen:
            continue
        seen.add(name)
        entry = entry_block(module.function(name))
        if entry is None:
            return True
        names += [callee_name(call) for call in operations(entry, "func.call")]
    return False


def _calls(process: ir.Operation) -> list[ir.Operation]:
    inner = [op for region in process.regions for block in region.blocks for op in operations(block, "func.call")]
    return [process, *inner] if process.name == "func.call" else inner
