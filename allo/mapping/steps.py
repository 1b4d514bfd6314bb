"""Steps that let one core run several nodes (Dato paper, section 4.2): `bundle` and `chain`, checked and recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from ..errors import TargetError, nearest
from .circles import Shot, turns_of, with_turns
from .graph import VirtualGraph, VirtualNode, VirtualStream

SHAPE = "mapping_primitives are pairs such as ('bundle', ['gemm_0_0', 'gemm_0_1']) and ('chain', ['load_0', 'add_0'])"


@dataclass(frozen=True, slots=True)
class MappedCore:
    """What one core runs: its shots, one after the other."""

    name: str
    shots: tuple[Shot, ...]

    @property
    def pattern(self) -> Shot:
        """The tasks of its shots: those that run one after the other once."""
        kinds = groupby(self.shots, key=lambda shot: [node.task for node in shot])
        return tuple(node for _, same in kinds for node in next(same))

    @property
    def nodes(self) -> tuple[VirtualNode, ...]:
        """All nodes in the order in which they run."""
        return tuple(node for shot in self.shots for node in shot)


@dataclass(frozen=True, slots=True)
class Mapping:
    """Which nodes of a graph share a core, and the steps that have made it so."""

    graph: VirtualGraph
    cores: tuple[MappedCore, ...]
    steps: tuple[tuple[str, tuple[str, ...]], ...] = ()
    _homes: dict[str, MappedCore] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        homes = {node.name: core for core in self.cores for shot in core.shots for node in shot}
        object.__setattr__(self, "_homes", homes)

    def core_of(self, node: str) -> MappedCore:
        """The core that runs a node."""
        return self._homes[node]

    def is_internal(self, stream: VirtualStream) -> bool:
        """Whether both ends of a stream are on one core."""
        return self.core_of(stream.producer) is self.core_of(stream.consumer)

    def bundle(self, names: Sequence[str]) -> Mapping:
        """One core that runs positions of a task in turn: a shot for each, with its own parts, streams and numbers."""
        members = self._members("bundle", names)
        first = members[0]
        for other in members[1:]:
            reason = _unlike(first.pattern, other.pattern)
            if reason is not None:
                raise TargetError(
                    f"bundle: '{first.name}' and '{other.name}' are not alike: {reason}",
                    hint="bundle positions of one task; chain those of several",
                )
        shots = tuple(shot for member in members for shot in member.shots)
        made = self._with("bundle", names, MappedCore(_name("bundle", names), shots))
        _demand_order(made, made.core_of(shots[0][0].name), "bundle")
        return made

    def chain(self, names: Sequence[str]) -> Mapping:
        """One core that runs nodes one after the other, such as a producer and its consumer.

        Shots of bundles of one size take turns, where streams allow it; otherwise all shots of what comes first run
        before what is chained behind it.
        """
        members = self._members("chain", names)
        counts = {len(member.shots) for member in members}
        behind = tuple(shot for member in members for shot in member.shots)
        if len(counts) == 1:
            turns = tuple(
                tuple(node for member in members for node in member.shots[k]) for k in range(counts.pop())
            )
            try:
                return self._chained(names, turns)
            except TargetError:
                if len(turns) == 1:
                    raise
        return self._chained(names, behind)

    def _chained(self, names: Sequence[str], shots: tuple[Shot, ...]) -> Mapping:
        made = self._with("chain", names, MappedCore(_name("chain", names), shots))
        _demand_order(made, made.core_of(shots[0][0].name), "chain")
        return made

    def _members(self, step: str, names: Sequence[str]) -> list[MappedCore]:
        if len(names) < 2 or len(set(names)) < len(names):
            raise TargetError(f"{step}: two tasks or more are joined, each named once; got {list(names)!r}")
        return self.named(step, names)

    def named(self, step: str, names: Sequence[str]) -> list[MappedCore]:
        """The cores with these names; TargetError for one that is not there."""
        known = {core.name: core for core in self.cores}
        for name in names:
            if name not in known:
                hint = nearest(name, known) or f"there are {', '.join(list(known)[:8])}"
                raise TargetError(f"{step}: there is no task '{name}'", hint=hint)
        return [known[name] for name in names]

    def _with(self, step: str, names: Sequence[str], core: MappedCore) -> Mapping:
        """The cores with one in the place of its members, where the first of them was; nodes of circles take turns."""
        core = MappedCore(core.name, with_turns(self.graph, core.shots))
        cores = [core if own.name == names[0] else own for own in self.cores if own.name not in names[1:]]
        return Mapping(self.graph, tuple(cores), (*self.steps, (step, tuple(names))))


def mapped(graph: VirtualGraph, primitives: Any = ()) -> Mapping:
    """The graph with a core for each node, then the steps of `primitives` one after the other.

    Steps may name positions that have nothing to do: these take no part in them.
    Raises TargetError for one that does not fit, with the reason.
    """
    mapping = Mapping(graph, tuple(MappedCore(node.name, ((node,),)) for node in graph.nodes))
    meant: dict[str, str | None] = dict.fromkeys(graph.idle)  # cores by the names that steps with idle ones give them
    if isinstance(primitives, str) or not isinstance(primitives, Sequence):
        raise TargetError(f"{SHAPE}; got {primitives!r}")
    for primitive in primitives:
        is_pair = isinstance(primitive, tuple | list) and len(primitive) == 2
        kind: Any = primitive[0] if is_pair else None
        names: Any = primitive[1] if is_pair else None
        is_listed = isinstance(names, tuple | list) and all(isinstance(name, str) for name in names)
        if kind not in ("bundle", "chain") or not is_listed:
            raise TargetError(f"{SHAPE}; got {primitive!r}")
        mapping = _joined(mapping, kind, list(names), meant)
    return mapping


def _joined(mapping: Mapping, kind: str, names: list[str], meant: dict[str, str | None]) -> Mapping:
    """The mapping after one step, in which positions that have nothing to do take no part."""
    busy = [own for name in names if (own := meant.get(name, name)) is not None]
    mapping.named(kind, busy)
    is_step = 2 <= len(set(names)) == len(names)
    if not is_step or len(busy) > 1:
        given = busy if is_step else names
        mapping = mapping.bundle(given) if kind == "bundle" else mapping.chain(given)
    if busy != names:
        made = _name(kind, busy) if len(busy) > 1 else None
        meant[_name(kind, names)] = made or (busy[0] if busy else None)
    return mapping


def _name(kind: str, names: Sequence[str]) -> str:
    """What cores are called that are joined."""
    return f"{names[0]}x{len(names)}" if kind == "bundle" else "-".join(names)


def _unlike(one: Shot, other: Shot) -> str | None:
    """Why two cores do not run the same tasks; None if they do."""
    if len(one) != len(other):
        return "they are chains of other lengths"
    for a, b in zip(one, other, strict=True):
        if a.task != b.task:
            return "they are positions of other tasks"
    return None


def _demand_order(mapping: Mapping, core: MappedCore, step: str) -> None:
    """Refuse a core on which a node gets what one behind it puts, or what comes back to it over other cores.

    Nodes of a circle are at one place, where they take turns if there is an order of their iterations.
    """
    turns = [turn for shot in core.shots for turn in turns_of(mapping.graph, shot)]
    place = {node.name: number for number, turn in enumerate(turns) for node in turn}
    for circle in mapping.graph.circles:
        if circle.obstacle and sum(name in place for name in circle.nodes) > 1:
            raise TargetError(
                f"{step}: {circle.obstacle}", notes=circle.waits,
                hint="let one of them put first elements before its loop, or give them cores of their own",
            )  # fmt: skip
    for stream in (stream for name in place for stream in mapping.graph.puts_of(name)):
        if place.get(stream.consumer, len(place)) < place[stream.producer]:
            raise TargetError(
                f"{step}: '{stream.consumer}' runs before '{stream.producer}', whose stream '{stream.name}' it gets",
                hint=f"{step} producers before their consumers",
            )
    for node in core.nodes:
        way = _way_back(mapping.graph, node.name, place)
        if way is not None:
            raise TargetError(
                f"{step}: '{way[-1]}' needs what '{way[0]}' puts, by way of {', '.join(repr(n) for n in way[1:-1])}, "
                f"and runs before it on the core '{core.name}'",
                hint=f"{step} them with what is between, or the other way round",
            )


def _way_back(graph: VirtualGraph, start: str, place: dict[str, int]) -> list[str] | None:
    """From a node over nodes of other cores to one that runs before it, or at the same place, on its own."""
    ahead = [[start]]
    seen = {start}
    while ahead:
        way = ahead.pop()
        for name in sorted({stream.consumer for stream in graph.puts_of(way[-1])}):
            if name in place:
                if len(way) > 1 and place[name] < place[start]:
                    return [*way, name]
            elif name not in seen:
                seen.add(name)
                ahead.append([*way, name])
    return None
