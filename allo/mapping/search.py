"""Search for a mapping (Dato paper, Algorithm 1): steps that let cores run several nodes, best ones first.

The paper joins a pair of nodes a step. Here a step joins all pairs that are alike, so that the tree does not grow with
the grid: a chain for each edge between two kinds of cores, or bundles of equally many cores of a kind along one axis of
its grid. States are taken in the order of what a call takes at least, the work of the busiest core or the part of all
work that each core has; of those first the ones with fewer streams between cores, then with fewer cores. A state is
dropped if that bound is longer than the best program so far.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Mapping as Table
from dataclasses import dataclass
from itertools import count

from ..errors import TargetError
from ..picture import aligned
from .graph import VirtualGraph
from .steps import MappedCore, Mapping

_STATES = 400  # that are looked at
_SINGLE = 4  # edges of two kinds that are tried one by one, if cores have several
_CANDIDATES = 24  # that are built and timed; the threshold of the paper

type Steps = tuple[tuple[str, list[str]], ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A mapping that fits, and the cycles of a call."""

    mapping: Mapping
    cycles: int

    @property
    def shape(self) -> str:
        """Its cores, those that are alike together."""
        kinds = Counter(_kind(core) for core in self.mapping.cores)
        first = {_kind(core): core for core in reversed(self.mapping.cores)}
        return ", ".join(f"{number} x {_named(first[kind])}" for kind, number in kinds.items())


@dataclass(frozen=True, slots=True)
class MappingSearch:
    """What a search has found, the fastest first; `seen` states were looked at, and `unfit` of them do not fit."""

    candidates: tuple[Candidate, ...]
    seen: int
    unfit: int

    def __str__(self) -> str:
        rows = [("cycles", "cores", "what they run")]
        rows += [(f"{own.cycles:,}", str(len(own.mapping.cores)), own.shape) for own in self.candidates]
        return "\n".join([*aligned(rows), f"{self.seen} mappings were looked at; {self.unfit} of them do not fit"])


def searched(
    graph: VirtualGraph, cores: int, work: Table[str, int], cycles: Callable[[Mapping], int | None]
) -> MappingSearch:
    """Mappings of a graph on at most so many cores.

    `work` are the cycles that each node computes, by name; `cycles` those of a call, None for a mapping that does not
    fit. Deterministic: what is found depends on these only.
    """
    found: list[Candidate] = []
    seen: set[frozenset[tuple[str, ...]]] = set()
    start = Mapping(graph, tuple(MappedCore(node.name, ((node,),)) for node in graph.nodes))
    number = count()
    share = -(-sum(work[node.name] for node in graph.nodes) // cores)

    def ranked(state: Mapping) -> tuple[int, int, int, int, Mapping]:
        busiest = max(sum(work[node.name] for node in core.nodes) for core in state.cores)
        home = {node.name: core.name for core in state.cores for node in core.nodes}
        between = sum(home[stream.producer] != home[stream.consumer] for stream in graph.streams)
        return max(busiest, share), between, max(len(state.cores), cores), next(number), state

    ahead = [ranked(start)]
    looked = unfit = 0
    while ahead and looked < _STATES and len(found) < _CANDIDATES:
        least, _, _, _, state = heapq.heappop(ahead)
        key = frozenset(tuple(node.name for node in core.nodes) for core in state.cores)
        if key in seen or (found and least > min(own.cycles for own in found)):
            continue
        seen.add(key)
        looked += 1
        if len(state.cores) <= cores:
            taken = cycles(state)
            if taken is None:
                unfit += 1
            else:
                found.append(Candidate(state, taken))
        for child in _children(state):
            heapq.heappush(ahead, ranked(child))
    found.sort(key=lambda own: (own.cycles, len(own.mapping.cores)))
    return MappingSearch(tuple(found), looked, unfit)


def _kind(core: MappedCore) -> tuple[tuple[str, str], ...]:
    """Cores of one kind run nodes with the same functions in the same order."""
    return tuple((node.task, node.function) for node in core.nodes)


def _named(core: MappedCore) -> str:
    tasks = list(dict.fromkeys(node.task for node in core.nodes))
    return f"{'-'.join(tasks)} ({len(core.nodes)} nodes)" if len(core.nodes) > 1 else tasks[0]


def _children(state: Mapping) -> Iterator[Mapping]:
    """The states one step further."""
    kinds: dict[tuple[tuple[str, str], ...], list[MappedCore]] = {}
    for core in state.cores:
        kinds.setdefault(_kind(core), []).append(core)
    for steps in (*_chains(state, kinds), *_bundles(kinds)):
        made = state
        try:
            for step, names in steps:
                made = made.chain(names) if step == "chain" else made.bundle(names)
        except TargetError:  # not a legal step
            continue
        yield made


def _chains(
    state: Mapping, kinds: Table[tuple[tuple[str, str], ...], list[MappedCore]]
) -> Iterator[Steps]:
    """A chain for each edge between two kinds of cores, if each core has one such edge at most."""
    home = {node.name: core for core in state.cores for node in core.nodes}
    edges: dict[tuple[object, object], dict[tuple[str, str], None]] = {}
    for stream in state.graph.streams:
        producer, consumer = home[stream.producer], home[stream.consumer]
        if producer != consumer:
            pairs = edges.setdefault((_kind(producer), _kind(consumer)), {})
            pairs[producer.name, consumer.name] = None
    for pairs in edges.values():
        ends = [name for pair in pairs for name in pair]
        if len(set(ends)) == len(ends):
            yield tuple(("chain", list(pair)) for pair in pairs)
        else:
            yield from ((("chain", list(pair)),) for pair in list(pairs)[:_SINGLE])


def _bundles(kinds: Table[tuple[tuple[str, str], ...], list[MappedCore]]) -> Iterator[Steps]:
    """Bundles of the cores of a kind that differ in one coordinate: neighbours of a stride, equally many each."""
    for own in kinds.values():
        places = [core.nodes[0].position for core in own]
        for axis in range(len(places[0])):
            along = sorted({place[axis] for place in places})
            for parts in (n for n in range(1, len(along)) if len(along) % n == 0):
                groups: dict[tuple[int, ...], list[str]] = {}
                for core, place in zip(own, places, strict=True):
                    turn = along.index(place[axis]) % parts
                    groups.setdefault((*place[:axis], turn, *place[axis + 1 :]), []).append(core.name)
                if all(len(names) == len(along) // parts for names in groups.values()):
                    yield tuple(("bundle", names) for names in groups.values())
