"""Search for a mapping (Dato paper, Algorithm 1): steps that let cores run several nodes, best ones first.

The paper joins a pair of nodes a step. Here a step joins all pairs that are alike, so that the tree does not grow with
the grid: a chain for each edge between two kinds of cores, or bundles of equally many cores of a kind along one axis of
its grid. States are taken in the order of what a call takes at least, the work of the busiest core or the part of all
work that each core has; of those first the ones with fewer streams between cores, then with fewer cores. A state is
dropped if that bound is longer than the best program so far. If no mapping that fits is among those states, the search
begins again with states first that have the fewest cores beyond those of the array, and whose cores pass streams to and
from few others.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Mapping as Table
from dataclasses import dataclass, field
from itertools import count

from ..errors import TargetError
from ..picture import aligned
from .graph import VirtualGraph
from .steps import MappedCore, Mapping

_STATES = 400  # that are looked at
_AGAIN = 100  # if none of these fits
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
    graph: VirtualGraph,
    cores: int,
    work: Table[str, int],
    cycles: Callable[[Mapping], int | None],
    channels: tuple[int, int],
) -> MappingSearch:
    """Mappings of a graph on at most so many cores.

    `work` are the cycles that each node computes, by name; `cycles` those of a call, None for a mapping that does not
    fit; `channels` the DMA channels of a core, out of it and into it. Deterministic: what is found depends on these
    only.
    """
    search = _Search(graph, cores, work, cycles, channels)
    is_all = search.run(fitting_first=False)
    if not search.found and not is_all:
        search.run(fitting_first=True)
    search.found.sort(key=lambda own: (own.cycles, len(own.mapping.cores)))
    return MappingSearch(tuple(search.found), search.looked, search.unfit)


@dataclass(slots=True)
class _Search:
    """A search, and what it has found."""

    graph: VirtualGraph
    cores: int
    work: Table[str, int]
    cycles: Callable[[Mapping], int | None]
    channels: tuple[int, int]
    found: list[Candidate] = field(default_factory=list)
    looked: int = 0
    unfit: int = 0

    def run(self, fitting_first: bool) -> bool:
        """Look at so many states, the least bound first, or those first that have few cores and neighbours too many.

        Whether these are all states.
        """
        seen: set[frozenset[tuple[str, ...]]] = set()
        number = count()

        def ranked(state: Mapping) -> tuple[tuple[int, ...], Mapping]:
            least, between, taken = self._costs(state)
            excess = (max(taken - self.cores, 0) + _crowded(state, self.channels),) if fitting_first else ()
            return (*excess, least, between, max(taken, self.cores), next(number)), state

        ahead = [ranked(Mapping(self.graph, tuple(MappedCore(node.name, ((node,),)) for node in self.graph.nodes)))]
        last = self.looked + (_AGAIN if fitting_first else _STATES)
        while ahead and self.looked < last and len(self.found) < _CANDIDATES:
            _, state = heapq.heappop(ahead)
            key = frozenset(tuple(node.name for node in core.nodes) for core in state.cores)
            if key in seen or (self.found and self._costs(state)[0] > min(own.cycles for own in self.found)):
                continue
            seen.add(key)
            self.looked += 1
            if len(state.cores) <= self.cores:
                self._timed(state)
            for child in _children(state):
                heapq.heappush(ahead, ranked(child))
        return not ahead

    def _costs(self, state: Mapping) -> tuple[int, int, int]:
        """The cycles that a call takes at least, the streams between cores, and the cores."""
        busiest = max(sum(self.work[node.name] for node in core.nodes) for core in state.cores)
        share = -(-sum(self.work[node.name] for node in self.graph.nodes) // self.cores)
        home = {node.name: core.name for core in state.cores for node in core.nodes}
        between = sum(home[stream.producer] != home[stream.consumer] for stream in self.graph.streams)
        return max(busiest, share), between, len(state.cores)

    def _timed(self, state: Mapping) -> None:
        taken = self.cycles(state)
        if taken is None:
            self.unfit += 1
        else:
            self.found.append(Candidate(state, taken))


def _crowded(state: Mapping, channels: tuple[int, int]) -> int:
    """How many more cores there are with streams to or from a core than it has DMA channels, over all cores.

    An estimate: a neighbour needs no channel, and one FIFO may take what several streams carry.
    """
    home = {node.name: core.name for core in state.cores for node in core.nodes}
    pairs = {(home[stream.producer], home[stream.consumer]) for stream in state.graph.streams}
    ends = [Counter(pair[end] for pair in pairs if pair[0] != pair[1]) for end in (0, 1)]
    return sum(max(n - most, 0) for own, most in zip(ends, channels, strict=True) for n in own.values())


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
