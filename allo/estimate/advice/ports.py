"""Advice where ports bind: arrays in more banks, or windows of them in registers that shift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import gcd, prod

from ...layout import NONE, Banks, cyclic
from ...poly import Form
from ...timing.problem.memory import ArrayMemory
from ...timing.problem.ports import accesses_of, intervals
from ...timing.problem.region import LoopBody, RegionNode
from ...timing.vendor_rules import is_asked_for
from .question import Proposal, Question, pasted

_MOST_PAIRS = 64  # divisions of two dimensions that are tried
_MOST_FACTORS = 16  # divisors of an extent that are numbers of banks
_MOST_BANKS = 4096  # of a dimension


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
    """Divisions of one or two dimensions along which accesses differ and which iterations keep apart.

    A dimension has as many banks as the copies of an access use elements along it, or a divisor of that, or of its
    extent: copies that do not divide an extent leave a tail, and want banks in their number all the same.
    """
    copies = max((region.count(node.copies) for node in nodes), default=1) * len(nodes)
    options: dict[int, list[Banks]] = {}
    preferred: dict[int, list[Banks]] = {}
    for d, extent in enumerate(shape):
        forms = [node.forms[d] for node in nodes if d < len(node.forms)]
        differ = len(set(forms)) > 1 or any(form is not None and form.copies for form in forms)
        if differ:
            own = _divisors(max(_span(form, region) for form in forms), min(extent, _MOST_BANKS))
            factors = dict.fromkeys([*own, *_divisors(extent, min(extent, 4 * copies, _MOST_BANKS))[:_MOST_FACTORS]])
            fitting = [f for f in factors if any(_keeps_apart(form, f) for form in forms)]
            options[d] = [cyclic(f).canonical(extent) for f in fitting]
            preferred[d] = [cyclic(f).canonical(extent) for f in fitting if f in own]
    found = []
    for d, divisions in options.items():
        found += [(*now[:d], division, *now[d + 1 :]) for division in divisions]
    for d, e in combinations(options, 2):
        pairs = dict.fromkeys([*product(preferred[d], preferred[e]), *product(options[d], options[e])])
        found += [(*now[:d], one, *now[d + 1 : e], other, *now[e + 1 :]) for one, other in list(pairs)[:_MOST_PAIRS]]
    return found


def _span(form: Form | None, region: LoopBody) -> int:
    """How many elements the copies of an access use along a dimension, from the first to the last."""
    return 1 if form is None else 1 + sum(abs(c) * (region.count((loop,)) - 1) for loop, c in form.copies)


def _keeps_apart(form: Form | None, factor: int) -> bool:
    """Whether iterations leave an access in some of the banks only."""
    return form is not None and gcd(factor, *form.time, *(c for _, c in form.other)) > 1


def _divisors(number: int, most: int) -> list[int]:
    """The divisors of a number from 2 to `most`."""
    return [f for f in range(2, min(number, most) + 1) if number % f == 0]


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
