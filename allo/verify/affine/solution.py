"""Solution of equations between maps: the maps of states that lead to each other.

The map of a state is what enters there and what steps from other states lead to, each once. Cycles are solved by
Gaussian elimination with the closures of steps to themselves; what was found is then put into the equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import islpy as isl

from .effort import Effort

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out

type _Edges[K] = dict[K, list[tuple[K, isl.Map]]]


class NoSum(Exception):
    """Not a sum whose terms can be told."""


def solved[K](root: K, start: isl.Map, edges: _Edges[K], effort: Effort) -> dict[K, isl.Map]:
    """The maps of all states that are not empty; raises NoSum if they are not found, or something comes twice."""
    found: dict[K, isl.Map] = {}
    entries: dict[K, list[isl.Map]] = {root: [start]}
    for component in components(root, {state: [target for target, _ in steps] for state, steps in edges.items()}):
        effort.check()
        cyclic = len(component) > 1 or any(target == component[0] for target, _ in edges[component[0]])
        if cyclic:
            maps = _cycle(component, entries, edges)
            _check(component, entries, edges, maps)
        else:
            whole = _disjoint(entries.get(component[0], []))
            maps = {} if whole is None else {component[0]: whole}
        for state in component:
            if state not in maps or maps[state].is_empty():
                continue
            found[state] = maps[state].coalesce()
            for target, step in edges[state]:
                if target not in component:
                    entries.setdefault(target, []).append(found[state].apply_range(step))
    return found


def _cycle[K](component: Sequence[K], entries: dict[K, list[isl.Map]], edges: _Edges[K]) -> dict[K, isl.Map]:
    """The maps of states that lead to each other, by elimination."""
    steps: dict[tuple[K, K], isl.Map] = {}
    for state in component:
        for target, step in edges[state]:
            if target in component:
                _add(steps, (state, target), step)
    into = {s: whole for s in component if (whole := _disjoint(entries.get(s, []))) is not None}
    order: list[K] = []
    rest = list(component)
    while rest:
        state = min(rest, key=lambda s: ((s, s) in steps, sum(s in pair for pair in steps), component.index(s)))
        rest.remove(state)
        order.append(state)
        own = steps.pop((state, state), None)
        closed = None if own is None else _closure(own)
        for target in rest:
            if (state, target) not in steps:
                continue
            step = steps[state, target]
            through = step if closed is None else closed.apply_range(step)
            if state in into:
                _add(into, target, into[state].apply_range(through))
            for source in rest:
                if (source, state) in steps:
                    _add(steps, (source, target), steps[source, state].apply_range(through))
        if closed is not None:
            steps[state, state] = closed
    return _substituted(order[::-1], into, steps)


def _substituted[K](
    order: Sequence[K], into: dict[K, isl.Map], steps: dict[tuple[K, K], isl.Map]
) -> dict[K, isl.Map]:
    """The maps of states from those of the states before them; steps of states to themselves are closures."""
    found: dict[K, isl.Map] = {}
    for state in order:
        parts = [into[state]] if state in into else []
        parts += [known.apply_range(steps[other, state]) for other, known in found.items() if (other, state) in steps]
        if parts:
            whole = parts[0]
            for part in parts[1:]:
                whole = whole.union(part)
            closed = steps.get((state, state))
            found[state] = (whole if closed is None else whole.apply_range(closed)).coalesce()
    return found


def _check[K](
    component: Sequence[K], entries: dict[K, list[isl.Map]], edges: _Edges[K], found: dict[K, isl.Map]
) -> None:
    """Raises NoSum unless the maps of a cycle are what enters and what its steps lead to, each once."""
    for state in component:
        parts = list(entries.get(state, []))
        for source in component:
            if source in found:
                parts += [found[source].apply_range(m) for target, m in edges[source] if target == state]
        whole = _disjoint([part for part in parts if not part.is_empty()])
        if whole is None:
            if state in found and not found[state].is_empty():
                raise NoSum
        elif state not in found or not whole.is_equal(found[state]):
            raise NoSum


def _disjoint(parts: Sequence[isl.Map]) -> isl.Map | None:
    """The union of maps without a common pair, if there are any: else something is added twice."""
    if not parts:
        return None
    for one, other in combinations(parts, 2):
        if not one.is_disjoint(other):
            raise NoSum
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.union(part)
    return whole


def _add[K](maps: dict[K, isl.Map], key: K, more: isl.Map) -> None:
    if not more.is_empty():
        maps[key] = maps[key].union(more).coalesce() if key in maps else more


def _closure(step: isl.Map) -> isl.Map:
    """{ iteration -> itself and all that a step leads to, again and again }, shown to be that; for all iterations.

    It is first taken to be all that comes earlier in the same loops, and then what isl finds.
    """
    here = isl.Map.identity(step.get_space())
    points = step.domain().union(step.range()).coalesce()
    back = isl.Map.lex_gt(points.get_space()).intersect_domain(points).intersect_range(points)
    for d in range(step.dim(_IN)):
        if step.is_subset(step.equate(_IN, d, _OUT, d)):
            back = back.equate(_IN, d, _OUT, d)
    if not _is_closure(back, step):
        back = step.transitive_closure()[0]
        if not _is_closure(back, step):
            raise NoSum
    return back.union(here)


def _is_closure(onwards: isl.Map, step: isl.Map) -> bool:
    return bool(onwards.is_equal(step.union(step.apply_range(onwards))))


def components[K](root: K, edges: dict[K, list[K]]) -> list[list[K]]:
    """The strongly connected components of the states, those that others lead to last (Tarjan 1972)."""
    number: dict[K, int] = {}
    low: dict[K, int] = {}
    stack: list[K] = []
    found: list[list[K]] = []

    def visit(state: K) -> None:
        number[state] = low[state] = len(number)
        stack.append(state)
        for target in edges.get(state, ()):
            if target in edges and target not in number:
                visit(target)
                low[state] = min(low[state], low[target])
            elif target in stack:
                low[state] = min(low[state], number[target])
        if low[state] == number[state]:
            at = stack.index(state)
            found.append(stack[at:])
            del stack[at:]

    visit(root)
    return found[::-1]
