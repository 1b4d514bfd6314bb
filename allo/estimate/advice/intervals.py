"""Advice for a loop: the primitive that would move what binds its interval, as a step to paste."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from math import gcd, prod

from ...layout import NONE, Banks, cyclic
from ...poly import Access, Form, Reductions, Violation, order_violation
from ..scheduling.graph import Edge
from ..scheduling.ports import accesses_of, intervals
from ..scheduling.region import LoopBody, RegionNode
from .buffering import keep_on_chip
from .question import Question

_MOST_TRIALS = 64  # divisions that are tried


def advise(asked: Question) -> str:
    """A step to paste that lowers the interval; empty if nothing binds it or no primitive is known to help."""
    done = asked.done
    if done.timing.interval == asked.requested:
        if done.least < asked.requested:
            return f's.pipeline("{asked.names[-1]}", initiation_interval={done.least})'
        return ""
    recurrence = done.recurrence.interval if done.recurrence is not None else 1
    if done.pressure is not None and done.pressure.interval >= max(recurrence, 2):
        return _divide(asked, max(recurrence, asked.requested))
    if done.recurrence is not None and recurrence > 1:
        carried = [edge for edge in done.recurrence.edges if edge.distance]
        if not carried:  # what is assumed
            return ""
        source = asked.region.nodes[carried[0].source]
        if source.memory is not None and source.memory.kind.name in asked.around.target.external:
            return keep_on_chip(asked, source.label) or _reorder(asked, carried)
        return _reorder(asked, carried) or keep_on_chip(asked, source.label)
    return ""


# -- ports ---------------------------------------------------------------------------------------------------


def _divide(asked: Question, enough: int) -> str:
    """The division into the fewest banks that leads to the interval `enough`, or to the least one."""
    pressure = asked.done.pressure
    assert pressure is not None
    nodes = [node for node in asked.region.nodes if node.label == pressure.label]
    memory = nodes[0].memory
    assert memory is not None
    name = f"{asked.function}:{memory.name}"
    best: tuple[int, int, tuple[Banks, ...]] | None = None
    for dims in _divisions(memory.dims, memory.shape, asked.region, nodes):
        interval = _interval(asked.region, nodes, dims)
        banks = prod(d.count(e) for d, e in zip(dims, memory.shape, strict=True))
        if 0 < asked.around.target.limits.banks < banks:
            continue
        trial = (max(enough, interval), banks, dims)
        if best is None or trial[:2] < best[:2]:
            best = trial
    if best is None or best[0] >= pressure.interval:
        return _reuse(asked, nodes, name)
    steps = []
    for d, (old, new, extent) in enumerate(zip(memory.dims, best[2], memory.shape, strict=True)):
        if old != new:
            factor = f", factor={new.factor}" if new.count(extent) < extent else ""
            remark = "" if old == NONE else f"  # in place of {old}"
            steps.append(f's.partition("{name}", dim={d + 1}{factor}){remark}')
    return "; ".join(steps)


def _interval(region: LoopBody, nodes: list[RegionNode], dims: tuple[Banks, ...]) -> int:
    """The interval that the ports of an array demand with another division."""
    found = accesses_of(region, nodes, dims)
    if found is None:
        return 1
    demands = intervals(found.memory.ports, found.reads, found.writes)
    return 1 if demands is None else int(demands.max())


def _divisions(
    now: tuple[Banks, ...], shape: tuple[int, ...], region: LoopBody, nodes: list[RegionNode]
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


def _reuse(asked: Question, nodes: list[RegionNode], name: str) -> str:
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
    pipelined = "allo.pipeline" in asked.chain[-1].op.attributes
    return _windows(name, levels) + ("" if pipelined else f'; s.pipeline("{asked.names[-1]}")')


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


# -- recurrences -----------------------------------------------------------------------------------------------


def _reorder(asked: Question, carried: list[Edge]) -> str:
    """A loop around that moves on to another element, inside of the loop that comes back to the same one."""
    stores = [asked.region.nodes[edge.source] for edge in carried]
    read = {node.label for node in asked.region.nodes if node.kind == "read"}
    writes = [node for node in asked.region.nodes if node.kind == "write" and node.label in read]
    updated = [node.access for node in writes if node.access is not None]  # else another sum would come back to itself
    inner = asked.chain[-1]
    for position in range(len(asked.chain) - 2, -1, -1):
        outer = asked.chain[position]
        variable = asked.model.loop(outer.op).variable
        touched = [store.access for store in stores if store.access is not None]
        if not touched or not all(map(partial(_moves, variable=variable), [*touched, *updated])):
            continue
        old = [view.op for view in asked.chain[position:]]
        new = [*old[1:], old[0]]
        refusal = order_violation(asked.model, old, new, reductions=Reductions.EXACT)
        if isinstance(refusal, Violation) and not refusal.reassociable:
            continue
        remark = "" if refusal is None else ", reassociate=True"
        if refusal is not None and order_violation(asked.model, old, new, reductions=Reductions.ANY) is not None:
            continue
        names = ", ".join(f'"{asked.names[n]}"' for n in (*range(position + 1, len(asked.chain)), position))
        step = f"s.reorder({names}{remark})"
        if "allo.pipeline" in inner.op.attributes:
            step += f'  # and pipeline "{asked.names[position]}" in place of "{asked.names[-1]}"'
        return step
    return ""


def _moves(access: Access, variable: int) -> bool:
    """Whether a loop moves an access on to other elements."""
    return any(v == variable for form in access.subscripts for v, _ in form.terms)
