"""Advice where ports bind: arrays in more banks, or windows of them in registers that shift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import gcd, prod

from ...layout import NONE, Banks, cyclic
from ...poly import Form
from ...timing.problem.memory import ArrayMemory
from ...timing.problem.ports import accesses_of, intervals
from ...timing.problem.region import LoopBody, RegionNode
from ...timing.vendor_rules import is_asked_for
from .question import Proposal, Question, pasted

_MOST_TRIALS = 64  # divisions that are tried


@dataclass(frozen=True, slots=True)
class _Array:
    """An array of which an iteration uses some bank for so many cycles."""

    name: str
    memory: ArrayMemory
    nodes: list[RegionNode]
    interval: int


@dataclass(frozen=True, slots=True)
class _Remedy:
    """Steps for one array, and the interval that its ports demand then."""

    interval: int
    steps: tuple[str, ...] = ()


def relieve(asked: Question, enough: int) -> Proposal | None:
    """Steps for all arrays whose ports bind; they lead to the interval `enough`, or to the least one."""
    arrays = _pressed(asked, enough)
    if not arrays:  # something else binds as much
        return None
    best = [_remedy(asked, array, enough) for array in arrays]
    reached = max(remedy.interval for remedy in best)
    if reached > enough:  # and no more banks than that takes
        best = [_remedy(asked, array, reached) for array in arrays if array.interval > reached]
    steps = [step for remedy in best for step in remedy.steps]
    reused = any("reuse_at" in step for step in steps)
    if reused and not is_asked_for(asked.chain[-1].op):
        steps.append(f's.pipeline("{asked.names[-1]}")')
    return asked.proposal(pasted(steps), reached)


def _pressed(asked: Question, enough: int) -> list[_Array]:
    """The arrays whose ports demand more than an interval."""
    found = []
    for accesses in asked.done.accesses:
        pressure = accesses.pressure()
        if pressure is not None and pressure.interval > enough:
            nodes = [node for node in asked.region.nodes if node.label == accesses.label]
            name = f"{asked.tree.name}:{accesses.memory.name}"
            found.append(_Array(name, accesses.memory, nodes, pressure.interval))
    return found


def _remedy(asked: Question, array: _Array, enough: int) -> _Remedy:
    """The division into the fewest banks, or the windows, that lead to an interval, or to the least one."""
    most = asked.tree.around.target.limits.banks
    divided = fewest_banks(asked.region, array.memory, array.nodes, enough, most)
    if divided is not None and divided[0] < array.interval:
        return _Remedy(divided[0], tuple(partitions(array.name, array.memory, divided[1])))
    windows = _reuse(asked, array.nodes, array.name)
    return _Remedy(enough, (windows,)) if windows else _Remedy(array.interval)


# -- banks ---------------------------------------------------------------------------------------------------


def fewest_banks(
    region: LoopBody, memory: ArrayMemory, nodes: Sequence[RegionNode], enough: int, most: int
) -> tuple[int, tuple[Banks, ...]] | None:
    """The division into the fewest banks that leads to an interval, or to the least one; None if there is none.

    The tool makes `most` banks of an array; 0: as many as one likes.
    """
    best: tuple[int, int, tuple[Banks, ...]] | None = None
    for dims in _divisions(memory.dims, memory.shape, region, nodes):
        banks = prod(d.count(e) for d, e in zip(dims, memory.shape, strict=True))
        if 0 < most < banks:
            continue
        trial = (max(enough, _interval(region, nodes, dims)), banks, dims)
        if best is None or trial[:2] < best[:2]:
            best = trial
    return None if best is None else (best[0], best[2])


def partitions(name: str, memory: ArrayMemory, dims: Sequence[Banks]) -> list[str]:
    """The steps that divide an array."""
    steps = []
    for d, (old, new, extent) in enumerate(zip(memory.dims, dims, memory.shape, strict=True)):
        if old != new:
            factor = f", factor={new.factor}" if new.count(extent) < extent else ""
            remark = "" if old == NONE else f"  # in place of {old}"
            steps.append(f's.partition("{name}", dim={d + 1}{factor}){remark}')
    return steps


def _interval(region: LoopBody, nodes: Sequence[RegionNode], dims: tuple[Banks, ...]) -> int:
    """The interval that the ports of an array demand with another division."""
    found = accesses_of(region, nodes, dims)
    if found is None:
        return 1
    demands = intervals(found.memory.ports, found.reads, found.writes)
    return 1 if demands is None else int(demands.max())


def _divisions(
    now: tuple[Banks, ...], shape: tuple[int, ...], region: LoopBody, nodes: Sequence[RegionNode]
) -> list[tuple[Banks, ...]]:
    """Divisions of one or two dimensions along which accesses differ and which iterations keep apart."""
    copies = max((region.count(node.copies) for node in nodes), default=1) * len(nodes)
    options: dict[int, list[Banks]] = {}
    for d in range(len(shape)):
        forms = [node.forms[d] for node in nodes if d < len(node.forms)]
        differ = len(set(forms)) > 1 or any(form is not None and form.copies for form in forms)
        if differ:
            factors = [f for f in _factors(shape[d], copies) if any(_keeps_apart(form, f) for form in forms)]
            options[d] = [cyclic(f).canonical(shape[d]) for f in factors]
    found = []
    for d, divisions in options.items():
        found += [(*now[:d], division, *now[d + 1 :]) for division in divisions]
    for d, e in combinations(options, 2):
        for one in options[d]:
            found += [(*now[:d], one, *now[d + 1 : e], other, *now[e + 1 :]) for other in options[e]]
    return found[:_MOST_TRIALS]


def _keeps_apart(form: Form | None, factor: int) -> bool:
    """Whether iterations leave an access in some of the banks only."""
    return form is not None and gcd(factor, *form.time, *(c for _, c in form.other)) > 1


def _factors(extent: int, most: int) -> list[int]:
    """Numbers of banks that divide an extent: not many more than there are accesses."""
    return [f for f in range(2, min(extent, 4 * most, 4096) + 1) if extent % f == 0][:16]


# -- windows -------------------------------------------------------------------------------------------------


def _reuse(asked: Question, nodes: Sequence[RegionNode], name: str) -> str:
    """Registers that shift, for an array of which every iteration reads what others read too."""
    forms = list(dict.fromkeys(node.forms for node in nodes))
    if len(forms) < 2 or any(node.kind == "write" or None in node.forms for node in nodes):
        return ""
    moving = {tuple((f.time, f.other) for f in form if f is not None) for form in forms}
    if len(moving) > 1:
        return ""
    apart = [len({form[d] for form in forms}) > 1 for d in range(len(forms[0]))]
    first = len(asked.chain) - len(asked.region.time)
    levels: list[tuple[str, int]] = []
    for position in range(len(asked.region.time)):
        dims = [d for d, form in enumerate(forms[0]) if apart[d] and form is not None and form.time[position]]
        levels += [(asked.names[first + position], dims[0])] if dims else []
    if not levels or (len(levels) > 1 and sorted(d for _, d in levels) != list(range(len(apart)))):
        return ""
    return _windows(name, levels)


def _windows(array: str, levels: list[tuple[str, int]]) -> str:
    """`reuse_at` in each of some loops, with the dimension that each moves along: rows, then a window of registers."""
    if len(levels) == 1:
        return f's.partition(s.reuse_at("{array}", "{levels[0][0]}"))'
    plain = array.rpartition(":")[2]
    made, divided = [], []
    source = f'"{array}"'
    for number, (loop, _) in enumerate(levels, 1):
        window = f"{plain}_{number}"
        made.append(f'{window} = s.reuse_at({source}, "{loop}")')
        if number < len(levels):
            divided += [f"s.partition({window}, dim={d + 1})" for _, d in levels[:number]]
        else:
            divided.append(f"s.partition({window})")
        source = window
    return "; ".join([*made, *divided])
