"""Ports of the banks of one array: which access takes which, and what drives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, takewhile

from ....errors import Location, TargetError
from ..netlist.builder import ModuleBuilder, OpenOutput
from ..netlist.design import Direction, Signal
from .arrays import BankedArray, BankPlace

type Driver = str | OpenOutput

_MOST_PORTS = 64  # of a bank, where a memory has any number


@dataclass(frozen=True, slots=True, eq=False)
class PortedAccess:
    """A read or a write that takes a port in `cycle` of each `interval` of region `region`.

    `active` says that it takes place, `chosen` which bank it goes to (None: there is one); `results` are the words
    read, by bank.
    """

    region: int
    cycle: int
    interval: int | None
    is_write: bool
    place: BankPlace
    active: str
    address: Signal
    chosen: Signal | None
    data: str
    results: dict[int, Signal]
    at: Location | None

    @property
    def slot(self) -> int:
        return self.cycle if self.interval is None else self.cycle % self.interval

    def meets(self, other: PortedAccess) -> bool:
        """Whether both, of one region, need a port in the same cycle."""
        return self.slot == other.slot

    def enabled(self, bank: int) -> str:
        """The condition under which it comes to a bank."""
        if self.chosen is None:
            return self.active
        return f"{self.active} && {self.chosen.name} == {self.chosen.width}'d{bank}"


@dataclass(frozen=True, slots=True)
class DrivenPort:
    """The port of a bank that an instance drives: whether it uses it, whether it writes, address and word.

    `writes`: it writes at times. `word` is what it reads, and `region` the number of the call, in line `at`.
    """

    used: Signal
    write: Signal
    address: Signal
    data: Signal
    writes: bool
    word: Signal
    region: int
    at: Location | None


@dataclass(slots=True, eq=False)
class ArrayPorts:
    """The banks of an array in a module, of which it makes memories or ports; `words` are what ports read."""

    builder: ModuleBuilder
    name: str
    array: BankedArray
    is_outside: bool
    accesses: list[PortedAccess] = field(default_factory=list)
    links: dict[tuple[int, int], list[DrivenPort]] = field(default_factory=dict)  # by bank, and port of the callee
    together: Callable[[int, int], bool] = lambda _one, _other: False  # whether regions may run at the same time
    cells: dict[int, Signal] = field(default_factory=dict)
    writes: dict[int, list[tuple[int, Driver, Driver]]] = field(default_factory=dict)  # of cells: cycle, enable, word
    words: dict[tuple[int, int], Signal] = field(default_factory=dict)
    cell_drivers: dict[int, tuple[Signal, Signal]] = field(default_factory=dict)  # write, word
    drivers: dict[tuple[int, int], tuple[Signal, ...]] = field(default_factory=dict)  # use, write, address, word
    writing: set[tuple[int, int]] = field(default_factory=set)
    contents: list[int] | None = None  # of a constant array: the bits of its elements

    def bank_name(self, bank: int) -> str:
        """What a bank is called."""
        return self.name if self.array.banks == 1 else f"{self.name}_{bank}"

    def cell(self, bank: int) -> Signal:
        """The register that holds an element."""
        if bank not in self.cells:
            name, width = self.bank_name(bank), self.array.memory.width
            if self.is_outside:
                self.cells[bank] = self.builder.port(f"{name}_q", width, Direction.INPUT)
            else:
                self.cells[bank] = self.builder.signal(name, width)
        return self.cells[bank]

    def write_cell(self, bank: int, condition: Driver, word: Driver, cycle: int = 0) -> None:
        """Write an element, in a cycle of an iteration; of those of one iteration, what is said later counts."""
        self.cell(bank)
        self.writes.setdefault(bank, []).append((cycle, condition, word))

    def word(self, bank: int, port: int) -> Signal:
        """What a port of a bank reads."""
        if (bank, port) not in self.words:
            name, width = f"{self.bank_name(bank)}_p{port}_q", self.array.memory.width
            if self.is_outside:
                self.words[bank, port] = self.builder.port(name, width, Direction.INPUT)
            else:
                self.words[bank, port] = self.builder.signal(name, width)
        return self.words[bank, port]

    def finish(self) -> None:
        """Make what the accesses need: registers and memories here, or ports."""
        for bank in sorted(self.cells):
            self._finish_cell(bank)
        taken: dict[tuple[int, int], list[PortedAccess]] = {}
        links: dict[tuple[int, int], list[DrivenPort]] = {}
        for (bank, port), driven in self.links.items():
            for link in driven:
                links.setdefault((bank, self._port_of_link(link, bank, port, links)), []).append(link)
        for access in self.accesses:
            for bank in access.place.banks:
                taken.setdefault((bank, self._free_port(access, bank, taken, links)), []).append(access)
        for bank, port in sorted({*taken, *links}):
            self._finish_port(bank, port, taken.get((bank, port), []), links.get((bank, port), []))

    # -- cells -------------------------------------------------------------------------------------------

    def _finish_cell(self, bank: int) -> None:
        cell = self.cells[bank]
        # of writes at once, that in the earlier cycle is of the later iteration
        found = sorted(self.writes.get(bank, []), key=lambda write: -write[0])
        width, name = cell.width, self.bank_name(bank)
        if self.contents is not None:
            self.builder.drive(cell, f"{width}'h{self.contents[bank] & ((1 << width) - 1):x}")
            return
        if self.is_outside:
            write = self.builder.port(f"{name}_we", 1, Direction.OUTPUT)
            data = self.builder.port(f"{name}_d", width, Direction.OUTPUT)
            self.cell_drivers[bank] = (write, data)
            if len(found) == 1 and isinstance(found[0][1], OpenOutput) and isinstance(found[0][2], OpenOutput):
                found[0][1].joined(write)
                found[0][2].joined(data)
                return
        writes = [(self._text(condition), self._text(given)) for _, condition, given in found]
        enable = " || ".join(condition for condition, _ in writes) or "1'b0"
        word = _chosen([(condition, data) for condition, data in reversed(writes)]) or f"{width}'d0"
        if self.is_outside:
            self.builder.drive(write, enable)
            self.builder.drive(data, word)
        else:
            write = self.builder.wire(f"{name}_we", 1, enable)
            self.builder.register(cell, word, enable=f"en && {write.name}")

    def _text(self, given: Driver) -> str:
        return given.made(self.builder) if isinstance(given, OpenOutput) else given

    # -- ports -------------------------------------------------------------------------------------------

    def _choices(self, is_write: bool) -> Iterable[int]:
        """The ports that an access may take, the best first; without end where there are as many as are asked for."""
        ports = self.array.memory.ports
        if ports.reads is None and ports.writes is None:
            if ports.total is None:
                return count()
            order = range(ports.total)
            return order if is_write or self.array.memory.read else order[::-1]
        writes = ports.writes or 0
        if is_write:
            return range(writes)
        return count(writes) if ports.reads is None else range(writes, writes + ports.reads)

    def _free_port(
        self,
        access: PortedAccess,
        bank: int,
        taken: dict[tuple[int, int], list[PortedAccess]],
        links: dict[tuple[int, int], list[DrivenPort]],
    ) -> int:
        for port in self._choices(access.is_write):
            others = taken.get((bank, port), [])
            users = [*(one.region for one in others), *(link.region for link in links.get((bank, port), []))]
            if any(self.together(access.region, region) for region in users):
                continue
            if not any(other.region == access.region and access.meets(other) for other in others):
                return port
        every = [link.region for linked in self.links.values() for link in linked]
        every += [other.region for other in self.accesses]
        if any(self.together(access.region, region) for region in every):
            raise self._crowded(bank, access.at)
        raise TargetError(
            f"the schedule of '{self.name}' needs more ports of bank {bank} in one cycle than it has",
            at=access.at,
            hint="partition the array, or ask for a larger interval",
        )

    def _port_of_link(
        self, link: DrivenPort, bank: int, own: int, links: dict[tuple[int, int], list[DrivenPort]]
    ) -> int:
        """The port for one of an instance: that of the same number, or one that no other needs at the same time."""
        for port in (own, *takewhile(lambda port: port < _MOST_PORTS, self._choices(link.writes))):
            if not any(self._excludes(link, other) for other in links.get((bank, port), [])):
                return port
        raise self._crowded(bank, link.at)

    def _excludes(self, one: DrivenPort, other: DrivenPort) -> bool:
        return one.region == other.region or self.together(one.region, other.region)

    def _crowded(self, bank: int, at: Location | None) -> TargetError:
        where = f"bank {bank} of array '{self.name}'" if self.array.banks > 1 else f"array '{self.name}'"
        return TargetError(
            f"stages that run at once use {where}, whose memory has too few ports for all of them",
            at=at,
            hint="partition the array, so that each has banks of its own, or give each a copy",
        )

    def _finish_port(self, bank: int, port: int, accesses: list[PortedAccess], links: list[DrivenPort]) -> None:
        self.word(bank, port)
        name, array = f"{self.bank_name(bank)}_p{port}", self.array
        used = " || ".join([*(f"({a.enabled(bank)})" for a in accesses), *(link.used.name for link in links)])
        writes = [f"({a.enabled(bank)})" for a in accesses if a.is_write] + [link.write.name for link in links]
        addresses = [(a.enabled(bank), a.address.fit(array.address_bits)) for a in accesses]
        addresses += [(link.used.name, link.address.name) for link in links]
        words = [(a.enabled(bank), a.data) for a in accesses if a.is_write]
        words += [(link.write.name, link.data.name) for link in links]
        drivers = self.drivers[bank, port] = tuple(self._drivers(name))
        if any(access.is_write for access in accesses) or any(link.writes for link in links):
            self.writing.add((bank, port))
        address, word = _chosen(_by_word(addresses)), _chosen(_by_word(words))
        texts = (used, " || ".join(writes) or "1'b0", address, word or f"{array.memory.width}'d0")
        for signal, text in zip(drivers, texts, strict=True):
            self.builder.drive(signal, text)
        for access in accesses:
            if not access.is_write:
                self.builder.drive(access.results[bank], self.words[bank, port].name)
        for link in links:
            self.builder.drive(link.word, self.words[bank, port].name)

    def _drivers(self, name: str) -> Iterator[Signal]:
        widths = {"en": 1, "we": 1, "a": self.array.address_bits, "d": self.array.memory.width}
        for suffix, width in widths.items():
            if self.is_outside:
                yield self.builder.port(f"{name}_{suffix}", width, Direction.OUTPUT)
            else:
                yield self.builder.signal(f"{name}_{suffix}", width)


def _chosen(cases: Sequence[tuple[str, str]]) -> str:
    """The first of some words whose condition holds; the last one if none does."""
    if not cases:
        return ""
    *rest, (_, last) = cases
    while rest and rest[-1][1] == last:
        rest.pop()
    return "".join(f"({condition}) ? {word} : " for condition, word in rest) + last


def _by_word(cases: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Cases of which one holds at a time, those of one word together."""
    found: dict[str, list[str]] = {}
    for condition, word in cases:
        found.setdefault(word, []).append(condition)
    return [(conditions[0] if len(conditions) == 1 else " || ".join(f"({one})" for one in conditions), word)
            for word, conditions in found.items()]  # fmt: skip
