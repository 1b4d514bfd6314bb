"""CopyWaits for memory between the copies of a pipelined body, with the fewest iterations between them, by value.

A value that is overwritten before it is read passes nothing on, nor does a write that another one of the same iteration
replaces. Every occurrence is looked at, so that nothing is left out and, but for what is not known of elements and
conditions, nothing is added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from .covers import OrderedAccess, cover_of, is_overwritten
from .occurrences import Flags, Numbers, Occurrences, occurrences_of
from .space import Space

_NEVER = 1 << 60


class Why(StrEnum):
    VALUE = "value"  # it reads what the source has written
    READ = "read"  # it overwrites what the source reads
    WRITTEN = "written"  # it overwrites what the source has written


@dataclass(frozen=True, slots=True)
class CopyWaits:
    """Row by row: a copy of access `source`, one of `sink`, and the fewest iterations from the one to the other.

    `compared`: whether they meet is seen when data are there.
    """

    source: int
    sink: int
    why: Why
    copies: Numbers  # of the source
    sink_copies: Numbers
    distances: Numbers
    compared: bool


@dataclass(frozen=True, slots=True)
class ArrayWaits:
    """The waits for the elements of one array.

    `still` are its accesses if each copy of each keeps to one element. `fetched` are for each read the copies whose
    value does not always come at once from a write of the same iteration.
    """

    waits: tuple[CopyWaits, ...]
    still: tuple[int, ...]
    fetched: Mapping[int, Numbers]


def waits_of[A: OrderedAccess](
    space: Space, arrays: Sequence[Sequence[A]], most: int, far: int
) -> list[ArrayWaits] | None:
    """The waits for each array, given by its accesses; None if it takes more than `most` occurrences to find them.

    Those over more than `far` iterations may be missing.
    """
    accesses = [access for array in arrays for access in array]
    found = occurrences_of(space, accesses, most, far)
    if found is None:
        return None
    at = iter(found)
    return [_Array(space, array, [next(at) for _ in array]).memory() for array in arrays]


class _Array:
    """The accesses of one array; numbers of an access are arrays with an entry for each of its occurrences."""

    def __init__(self, space: Space, accesses: Sequence[OrderedAccess], occurrences: list[Occurrences]) -> None:
        self.space, self.accesses = space, accesses
        self.all = occurrences
        self.writes = [k for k, access in enumerate(accesses) if access.access and access.access.is_write]
        self.reads = [k for k in range(len(accesses)) if k not in self.writes]
        self.iterations = 1 + max((int(one.iteration.max(initial=0)) for one in occurrences), default=0)
        self.when = _ranks(occurrences)
        self.named = [all(s.values is not None for s in one.element) for one in occurrences]
        kinds = [tuple((s.fixed, s.looked_up) for s in one.element) for one in occurrences]
        direct = next((kind for kind, named in zip(kinds, self.named, strict=True) if named and _is_direct(kind)), ())
        self.known = [named and kind == direct for kind, named in zip(kinds, self.named, strict=True)]
        numbers = {kind: n for n, kind in enumerate(dict.fromkeys(kinds))}
        self.kinds = [numbers[kind] for kind in kinds]
        stores = [accesses[k] for k in self.writes]
        self.covers = {k: cover_of(stores, accesses[k]) for k in self.reads}
        self.dead = {k for k in self.writes if is_overwritten(space, stores, accesses[k])}

    def memory(self) -> ArrayWaits:
        waits = tuple(self._waits())
        fetched = {self.accesses[r].index: self.all[r].copy[~self.given[r]] for r in self.reads}
        for one in waits:
            if one.compared:
                fetched[one.sink] = np.concatenate([fetched[one.sink], one.sink_copies])
        fetched = {index: np.unique(copies) for index, copies in fetched.items()}
        still = all(map(self._is_still, range(len(self.accesses))))
        own = tuple(access.index for access in self.accesses) if still else ()
        return ArrayWaits(waits, own, fetched)

    def _is_still(self, k: int) -> bool:
        """Whether each copy of an access keeps to one element."""
        one = self.all[k]
        if not self.known[k]:
            return False
        element = np.zeros(one.copies, np.int64)
        element[one.copy] = self.keys[k]
        return bool((element[one.copy] == self.keys[k]).all())

    # -- what is replaced ------------------------------------------------------------------------------

    @cached_property
    def keys(self) -> list[Numbers]:
        """A number for the element of each occurrence, where it is known, or for what it is called."""
        parts = [k for k in range(len(self.all)) if self.named[k]]
        columns = [
            [np.full(len(self.all[k]), self.kinds[k]), *(s.values for s in self.all[k].element if s.values is not None)]
            for k in parts
        ]
        numbers = _numbered(columns, [len(self.all[k]) for k in parts])
        found = {k: own for k, own in zip(parts, numbers, strict=True)}
        return [found.get(k, np.zeros(0, np.int64)) for k in range(len(self.all))]

    @cached_property
    def sure(self) -> tuple[Numbers, Numbers, Numbers]:
        """The writes that surely take place, of elements with a name: codes in order, when, and iteration."""
        own = [k for k in self.writes if self.named[k] and self.all[k].certain]
        if not own:
            return (np.zeros(0, np.int64),) * 3
        keys = np.concatenate([self.keys[k] for k in own])
        when = np.concatenate([self.when[k] for k in own])
        iteration = np.concatenate([self.all[k].iteration for k in own])
        order = np.lexsort((when, keys))
        return keys[order] * self._times + when[order], when[order], iteration[order]

    @property
    def _times(self) -> int:
        return 1 + sum(map(len, self.all))

    @cached_property
    def replaced(self) -> list[tuple[Numbers, Numbers]]:
        """When the element of each occurrence is surely written next, and in which iteration."""
        codes, when, iteration = self.sure
        found: list[tuple[Numbers, Numbers]] = []
        for k, one in enumerate(self.all):
            then, where = np.full(len(one), _NEVER), np.full(len(one), _NEVER)
            if self.named[k] and len(codes):
                at = np.searchsorted(codes, self.keys[k] * self._times + self.when[k], side="right")
                inside = np.minimum(at, len(codes) - 1)
                same = (at < len(codes)) & (codes[inside] // self._times == self.keys[k])
                then[same], where[same] = when[inside][same], iteration[inside][same]
            found.append((then, where))
        return found

    @cached_property
    def given(self) -> list[Flags]:
        """For each read, whether its value surely comes from a write of the same iteration."""
        codes, _, iteration = self.sure
        found: list[Flags] = []
        for k, one in enumerate(self.all):
            flags = np.full(len(one), self.covers.get(k) is not None)
            if self.named[k] and len(codes):
                at = np.searchsorted(codes, self.keys[k] * self._times + self.when[k]) - 1
                inside = np.maximum(at, 0)
                same = (at >= 0) & (codes[inside] // self._times == self.keys[k])
                flags |= same & (iteration[inside] == one.iteration)
            found.append(flags)
        return found

    def _final(self, k: int) -> Flags:
        """Whether what a write leaves may stay at the end of its iteration."""
        if k in self.dead:
            return np.zeros(len(self.all[k]), np.bool_)
        final: Flags = self.replaced[k][1] != self.all[k].iteration
        return final

    # -- pairs -----------------------------------------------------------------------------------------

    def _waits(self) -> Iterator[CopyWaits]:
        for w in self.writes:
            for r in self.reads:
                yield from self._flow(w, r)
                yield from self._kept(r, w, Why.READ, ~self.given[r])
            for other in self.writes:
                yield from self._kept(w, other, Why.WRITTEN, self._final(w))

    def _flow(self, w: int, r: int) -> Iterator[CopyWaits]:
        """The reads that may see a write."""
        cover = self.covers[r]
        since = 0 if cover is None else self._cover(r, cover)
        source, sink = self._matched(w, r)
        first, second = _within(source, sink)
        if first.size:
            seen = self.when[r][second] <= self.replaced[w][0][first]
            if cover is not None:
                seen &= self.when[w][first] >= np.asarray(since)[second]
            seen &= ~self._exclusive(w, r, first, second)
            first, second = first[seen], second[seen]
            certain = self._one_element(w, r, first, second)
            yield from self._least(w, r, Why.VALUE, first[certain], second[certain])
            yield from self._least(w, r, Why.VALUE, first[~certain], second[~certain], compared=True)
        if cover is None and w not in self.dead:
            first, second = _later(source, sink, self.iterations, ~self.given[r])
            seen = self.when[r][second] <= self.replaced[w][0][first]
            yield from self._least(w, r, Why.VALUE, first[seen], second[seen])

    def _kept(self, source: int, w: int, why: Why, wanted: Flags) -> Iterator[CopyWaits]:
        """The writes that overwrite what is read or was written, but for those that come after another one."""
        one, other = self._matched(source, w)
        limit = self.replaced[source][1]
        final = self._final(w)
        if why is Why.READ:
            first, second = _within(one, other)
            fits = wanted[first] & final[second] & ~self._exclusive(source, w, first, second)
            yield from self._least(source, w, why, first[fits], second[fits])
        first, second = _later(one, other, self.iterations, final)
        fits = wanted[first] & (self.all[w].iteration[second] <= limit[first])
        yield from self._least(source, w, why, first[fits], second[fits])

    def _cover(self, r: int, cover: OrderedAccess) -> Numbers:
        """When the write takes place that surely gives each occurrence of a read its value."""
        k = next(n for n, access in enumerate(self.accesses) if access is cover)
        one, other = self.all[k], self.all[r]
        when = np.full((self.iterations, one.copies), 0, np.int64)
        when[one.iteration, one.copy] = self.when[k]
        inside = other.copies // one.copies  # the loops around the write are the outer ones of those around the read
        return when[other.iteration, other.copy // inside]

    def _exclusive(self, a: int, b: int, first: Numbers, second: Numbers) -> Flags:
        """Whether two occurrences of an iteration are in different branches of one condition."""
        mine, others = self.accesses[a], self.accesses[b]
        pairs = [(one, x, y) for one, x in mine.guards for other, y in others.guards if one == other and x != y]
        if not pairs:
            return np.zeros(len(first), np.bool_)
        around = 0
        for one, other in zip(mine.around, others.around, strict=False):
            if one != other:
                break
            around += 1
        left = self.all[a].copy[first] // self.space.count(mine.around[around:])
        right = self.all[b].copy[second] // self.space.count(others.around[around:])
        same: Flags = left == right
        return same

    def _matched(self, a: int, b: int) -> tuple[_Side, _Side]:
        """Two accesses with numbers that are the same where they may be one element."""
        one, other = self.all[a], self.all[b]
        if self.known[a] and self.known[b]:
            return _Side(one, self.keys[a], self.when[a]), _Side(other, self.keys[b], self.when[b])
        dims = [
            (x.values, y.values)
            for x, y in zip(one.element, other.element, strict=True)
            if x.values is not None and y.values is not None and not (x.looked_up or y.looked_up) and x.fixed == y.fixed
        ]
        left, right = _numbered([[x for x, _ in dims], [y for _, y in dims]], [len(one), len(other)])
        return _Side(one, left, self.when[a]), _Side(other, right, self.when[b])

    def _one_element(self, a: int, b: int, first: Numbers, second: Numbers) -> Flags:
        """Whether no data decide if occurrences pass on a value.

        Where subscripts are looked up, they have to be called alike wherever the second one takes place, without a
        write between them that may come to the element.
        """
        if self.known[a] and self.known[b]:
            return np.ones(len(first), np.bool_)
        if not (self.all[a].certain and self.named[a] and self.named[b] and self.kinds[a] == self.kinds[b]):
            return np.zeros(len(first), np.bool_)
        same = self.keys[a][first] == self.keys[b][second]
        pair = self.all[a].copy[first] * self.all[b].copies + self.all[b].copy[second]
        met = np.bincount(pair[same], minlength=self.all[a].copies * self.all[b].copies)
        whole = np.bincount(self.all[b].copy, minlength=self.all[b].copies)[self.all[b].copy[second]]
        others = [self.when[k] for k in self.writes if self.kinds[k] != self.kinds[a] or not self.named[k]]
        between = np.sort(np.concatenate([np.zeros(0, np.int64), *others]))
        start, end = self.when[a][first], self.when[b][second]
        alone = np.searchsorted(between, start) == np.searchsorted(between, end)
        certain: Flags = same & alone & (met[pair] == whole)
        return certain

    def _least(
        self, a: int, b: int, why: Why, first: Numbers, second: Numbers, *, compared: bool = False
    ) -> Iterator[CopyWaits]:
        """The fewest iterations for each two copies."""
        if not first.size:
            return
        one, other = self.all[a], self.all[b]
        distance = other.iteration[second] - one.iteration[first]
        pair = one.copy[first] * other.copies + other.copy[second]
        least = np.full(one.copies * other.copies, _NEVER)
        np.minimum.at(least, pair, distance)
        at = np.flatnonzero(least < _NEVER)
        index = (self.accesses[a].index, self.accesses[b].index)
        yield CopyWaits(*index, why, at // other.copies, at % other.copies, least[at], compared)


def _is_direct(kind: Sequence[tuple[object, str]]) -> bool:
    """Whether no subscript is looked up."""
    return not any(looked_up for _, looked_up in kind)


@dataclass(frozen=True, slots=True)
class _Side:
    """One access of two, with a number for each element."""

    all: Occurrences
    keys: Numbers
    when: Numbers


def _within(source: _Side, sink: _Side) -> tuple[Numbers, Numbers]:
    """Occurrences of two accesses that meet in one iteration, the sink after the source."""
    size = 1 + int(max(source.all.iteration.max(initial=0), sink.all.iteration.max(initial=0)))
    at = np.full((size, sink.all.copies), -1, np.int64)
    at[sink.all.iteration, sink.all.copy] = np.arange(len(sink.all))
    found = at[source.all.iteration]
    first, column = np.nonzero(found >= 0)
    second = found[first, column]
    meets = (source.keys[first] == sink.keys[second]) & (source.when[first] < sink.when[second])
    return first[meets], second[meets]


def _later(source: _Side, sink: _Side, iterations: int, wanted: Flags) -> tuple[Numbers, Numbers]:
    """For each occurrence of the source and each copy of the sink the first one in a later iteration that meets it."""
    chosen = np.flatnonzero(wanted)
    keys = 1 + int(max(source.keys.max(initial=0), sink.keys.max(initial=0)))
    copy, key, iteration = sink.all.copy[chosen], sink.keys[chosen], sink.all.iteration[chosen]
    codes = (copy * keys + key) * iterations + iteration
    order = np.argsort(codes)
    codes, chosen = codes[order], chosen[order]
    if not len(codes) or not len(source.all):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    copies = np.arange(sink.all.copies)[:, None]
    start = (copies * keys + source.keys) * iterations + source.all.iteration
    at = np.searchsorted(codes, start.ravel(), side="right")
    inside = np.minimum(at, len(codes) - 1)
    same = (at < len(codes)) & (codes[inside] // iterations == start.ravel() // iterations)
    first = np.tile(np.arange(len(source.all)), sink.all.copies)
    return first[same], chosen[inside[same]]


def _ranks(all_of: Sequence[Occurrences]) -> list[Numbers]:
    """Numbers in the order in which occurrences take place."""
    depth = max((len(one.order) for one in all_of), default=0)
    rows = [np.pad(one.order, ((0, depth - len(one.order)), (0, 0))) for one in all_of]
    together = np.concatenate(rows, axis=1)
    order = np.lexsort(together[::-1])
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return _split(ranks, [len(one) for one in all_of])


def _numbered(parts: Sequence[Sequence[Numbers]], sizes: Sequence[int]) -> list[Numbers]:
    """One number for each element, the same in all parts."""
    if not parts or not parts[0]:
        return [np.zeros(size, np.int64) for size in sizes]
    rows = np.concatenate([np.stack(own) for own in parts], axis=1)
    rows = rows - rows.min(axis=1, keepdims=True, initial=0)
    numbers = np.zeros(rows.shape[1], np.int64)
    for row in rows:
        _, numbers = np.unique(numbers * (1 + int(row.max(initial=0))) + row, return_inverse=True)
    return _split(numbers.astype(np.int64), list(sizes))


def _split(numbers: Numbers, sizes: list[int]) -> list[Numbers]:
    return np.split(numbers, np.cumsum(sizes)[:-1]) if sizes else []
