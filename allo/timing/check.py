"""Check of a schedule against its problem, by a reading of its own: dependences, chained logic, ports, units, depth."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from math import prod

import numpy as np

from .problem.problem import Passing, Precedence, SharedMemory, Table
from .schedule import StaticSchedule


def violations(schedule: StaticSchedule) -> list[str]:
    """What a schedule breaks, in words; empty if it can be built."""
    return [*_Check(schedule).found()]


class _Check:
    def __init__(self, schedule: StaticSchedule) -> None:
        self.schedule = schedule
        self.problem = schedule.problem
        self.interval = schedule.interval
        self.on_ports = schedule.problem.on_ports()

    def found(self) -> Iterator[str]:
        """All that is broken."""
        if self.interval is not None and self.interval < 1:
            yield f"the interval is {self.interval}"
            return
        operations = self.problem.operations
        for index, table in enumerate(self.schedule.cycles):
            fits = all(n in (1, trip) for n, trip in zip(table.shape, self.problem.trips, strict=True))
            unknown = [loop for loop, n in enumerate(table.shape) if n > 1 and loop not in operations[index].loops]
            if not fits or unknown or (table < 0).any():
                yield f"{self._name(index)} has no cycle for each of its copies"
                return
        late = self._chained()
        yield from late
        for dependence in self.problem.dependences:
            if self.interval is not None or not dependence.distance:
                yield from self._dependence(dependence)
        yield from self._ports()
        yield from self._units()
        yield from self._depth()

    def _name(self, index: int) -> str:
        return f"{index} ({self.problem.operations[index].name})"

    # -- dependences -----------------------------------------------------------------------------------

    def _dependence(self, dependence: Precedence) -> Iterator[str]:
        """Whole cycles between the copies of a pair; what logic adds within a cycle is looked at by `_chained`."""
        source = self.problem.operations[dependence.source]
        needed = dependence.cycles if dependence.passing is Passing.CYCLES else 0
        if dependence.passing is Passing.VALUE:
            needed = source.latency
        first, second = self.schedule.cycles[dependence.source], self.schedule.cycles[dependence.sink]
        slack = self._slack(dependence, first + needed, second + dependence.distance * (self.interval or 0))
        if slack < 0:
            yield (
                f"{self._name(dependence.sink)} starts {-slack} cycles too early behind "
                f"{self._name(dependence.source)}, {dependence.distance} iterations before it"
            )

    def _slack(self, dependence: Precedence, ready: Table, start: Table) -> int:
        """The least time between copies of a pair; both tables are in the same unit."""
        if dependence.tree:
            return self._slack_in_tree(dependence.tree, ready, start)
        moves = {move.loop: move for move in dependence.moves}
        rank = len(self.problem.trips)
        source_loops = self.problem.operations[dependence.source].loops
        sink_loops = self.problem.operations[dependence.sink].loops
        pairs = np.zeros((1,) * (2 * rank), np.bool_) | True
        for loop, trip in enumerate(self.problem.trips):
            a = np.arange(trip).reshape([trip if n == loop else 1 for n in range(2 * rank)])
            b = np.arange(trip).reshape([trip if n == rank + loop else 1 for n in range(2 * rank)])
            both = loop in source_loops and loop in sink_loops
            move = moves.get(loop)
            if move is None and not both:
                continue  # any copy
            low, high = (move.low, move.high) if move is not None else (0, 0)
            alike = ready.shape[loop] == 1 and start.shape[loop] == 1
            if alike:
                if low >= trip or high <= -trip:
                    return 1 << 60  # there is no such pair
                continue
            pairs = pairs & (b - a >= low) & (b - a <= high)
        left = ready.reshape(ready.shape + (1,) * rank)
        right = start.reshape((1,) * rank + start.shape)
        gap = right - left
        return int(np.where(pairs, gap, 1 << 60).min())

    def _slack_in_tree(self, loops: tuple[int, ...], ready: Table, start: Table) -> int:
        """Each copy but 0 joins the blocks of copies before and from it on; copy 0 is behind all."""
        shape = tuple(np.broadcast_shapes(ready.shape, start.shape))
        shape = tuple(t if n in loops else s for n, (s, t) in enumerate(zip(shape, self.problem.trips, strict=True)))
        count = prod(self.problem.trips[n] for n in loops)
        left, right = (
            np.moveaxis(np.broadcast_to(table, shape), loops, range(len(loops))).reshape(count, -1)
            for table in (ready, start)
        )
        found = 1 << 60
        for copy in range(count):
            size = copy & -copy if copy else count
            inside = [n for n in range(max(0, copy - size + 1), min(count, copy + size)) if n != copy and n]
            for other in inside:
                found = min(found, int((right[copy] - left[other]).min()))
        return found

    # -- logic within a cycle --------------------------------------------------------------------------

    def _chained(self) -> Iterator[str]:
        """The logic of operations that start in one cycle fits into it, from one register to the next."""
        period = self.problem.period
        ends: list[Table] = [np.zeros((1,) * len(self.problem.trips), np.int64) for _ in self.problem.operations]
        begins = [table * period for table in self.schedule.cycles]
        incoming: dict[int, list[Precedence]] = defaultdict(list)
        for dependence in self.problem.dependences:
            if dependence.passing is not Passing.CYCLES and not dependence.distance:
                incoming[dependence.sink].append(dependence)
        for _ in range(2 + sum(map(self.problem.copies, range(len(begins))))):
            before = [table.copy() for table in begins]
            for index, operation in enumerate(self.problem.operations):
                clocked = self.schedule.cycles[index] * period
                base = clocked + operation.latency * period if operation.latency else begins[index]
                ends[index] = base + operation.delay
                for dependence in incoming[index]:
                    begins[index] = np.maximum(begins[index], self._reached(dependence, begins, ends, index))
            if all(np.array_equal(a, b) for a, b in zip(before, begins, strict=True)):
                break
        for index, operation in enumerate(self.problem.operations):
            begin = begins[index] - self.schedule.cycles[index] * period
            reads = operation.kind == "read" and index in self.on_ports
            if (begin > period).any() or (reads and (begin > 0).any()):
                yield f"{self._name(index)} starts before what it uses is there"
            elif not operation.latency and (begin + operation.delay > max(period, operation.delay)).any():
                yield f"{self._name(index)}: the logic up to it takes longer than a cycle"

    def _reached(self, dependence: Precedence, begins: list[Table], ends: list[Table], index: int) -> Table:
        """When values arrive at copies, copy by copy where they differ."""
        table = begins[dependence.source] if dependence.passing is Passing.FORWARD else ends[dependence.source]
        start = self.schedule.cycles[index]
        loops = self.problem.operations[index].loops
        full = [t if n in loops and (table.shape[n] > 1 or start.shape[n] > 1) else 1
                for n, t in enumerate(self.problem.trips)]  # fmt: skip
        found = np.full(full, -(1 << 60), np.int64)
        moves = {move.loop: move for move in dependence.moves}
        tree = set(dependence.tree)
        for copy in np.ndindex(*full):
            own = []
            for loop, at in enumerate(copy):
                size, move, trip = table.shape[loop], moves.get(loop), self.problem.trips[loop]
                if size == 1 or loop in tree:
                    alike = size == 1 and full[loop] > 1 and move is not None
                    exists = not alike or (move is not None and at - move.high < trip and at - move.low >= 0)
                    own.append(slice(None) if exists else slice(0, 0))
                elif move is not None:
                    own.append(slice(max(0, at - move.high), max(0, min(trip, at - move.low + 1))))
                else:
                    own.append(slice(at, at + 1) if full[loop] > 1 else slice(None))
            if not tree:
                found[copy] = table[tuple(own)].max(initial=-(1 << 60))
        return found

    # -- ports and units -------------------------------------------------------------------------------

    def _ports(self) -> Iterator[str]:
        for memory in self.problem.memories:
            used: dict[str, Counter[tuple[int, int]]] = {"read": Counter(), "write": Counter()}
            when: dict[tuple[str, int], tuple[int, int]] = {}
            for index, use in memory.uses.items():
                kind, table = self.problem.operations[index].kind, self.schedule.cycles[index]
                shape = np.broadcast_shapes(use.elements.shape, table.shape)
                copies = (np.broadcast_to(t, shape).reshape(-1).tolist() for t in (use.elements, use.places, table))
                for element, place, cycle in zip(*copies, strict=True):
                    before = when.get((kind, element))
                    if before is None or self._holds(kind, index, cycle, before):
                        when[kind, element] = (cycle, (index << 32) + place)
            for (kind, _), (cycle, key) in when.items():
                index, place = key >> 32, key & 0xFFFFFFFF
                slot = cycle % self.interval if self.interval is not None else cycle
                for bank in np.flatnonzero(memory.uses[index].spread == place).tolist():
                    used[kind][slot, bank] += 1
            limits = (("read", memory.ports.reads), ("write", memory.ports.writes))
            for kind, limit in limits:
                for (slot, bank), count in used[kind].items():
                    if limit is not None and count > limit:
                        yield f"bank {bank} of {memory.name} has {count} accesses ({kind}) in cycle {slot}"
            for (slot, bank), count in (used["read"] + used["write"]).items():
                if memory.ports.total is not None and count > memory.ports.total:
                    yield f"bank {bank} of {memory.name} has {count} accesses in cycle {slot}"
            yield from self._port_numbers(memory)

    def _holds(self, kind: str, index: int, cycle: int, before: tuple[int, int]) -> bool:
        """Whether a read is earlier than the one before; a write is that of a later operation, or copy."""
        return cycle < before[0] if kind == "read" else index != before[1] >> 32 or cycle >= before[0]

    def _port_numbers(self, memory: SharedMemory) -> Iterator[str]:
        """No two elements take one port of a bank in a cycle, and there is that port."""
        taken: dict[tuple[str, int, int, int], int] = {}
        one_kind = memory.ports.reads is None and memory.ports.writes is None
        for index, use in memory.uses.items():
            kind = self.problem.operations[index].kind
            cycles, ports = self.schedule.cycles[index], self.schedule.ports[index]
            if ports is None or (ports < -1).any():
                yield f"{self._name(index)} has no port for each of its copies"
                continue
            shape = np.broadcast_shapes(use.elements.shape, cycles.shape, ports.shape)
            tables = (use.elements, use.places, cycles, ports)
            copies = zip(*(np.broadcast_to(t, shape).reshape(-1).tolist() for t in tables), strict=True)
            last: dict[int, tuple[int, int, int]] = {}
            for element, place, cycle, port in copies:
                before = last.get(element)
                if before is None or (cycle < before[0] if kind == "read" else cycle > before[0]):
                    last[element] = (cycle, place, port)
            for element, (cycle, place, port) in last.items():
                bank = int(np.flatnonzero(use.spread == place)[0])
                slot = cycle if self.interval is None else cycle % self.interval
                key = ("" if one_kind and memory.ports.total is not None else kind, slot, bank, port)
                if port >= 0 and taken.setdefault(key, element) != element:
                    yield f"{self._name(index)} shares port {port} of bank {bank} of {memory.name} in cycle {slot}"
                    return
                if memory.ports.total is not None and port >= memory.ports.total:
                    yield f"{self._name(index)} takes port {port} of {memory.name}, which has {memory.ports.total}"
                    return

    def _units(self) -> Iterator[str]:
        """No two copies start on one unit in one cycle of an interval."""
        busy: dict[object, dict[tuple[int, int], int]] = defaultdict(dict)
        for index, operation in enumerate(self.problem.operations):
            units, cycles = self.schedule.units[index], self.schedule.cycles[index]
            if operation.unit is None:
                continue
            if units is None or units.shape != cycles.shape:
                yield f"{self._name(index)} has no unit for each of its copies"
                continue
            alike = self.problem.copies(index) // cycles.size
            for unit, cycle in zip(units.reshape(-1).tolist(), cycles.reshape(-1).tolist(), strict=True):
                slot = cycle if self.interval is None else cycle % self.interval
                for one in range(unit, unit + alike):
                    other = busy[operation.unit].setdefault((slot, one), index)
                    if other != index or (slot, one) in busy[index, operation.unit]:
                        yield f"{self._name(index)} and {self._name(other)} share unit {one} in cycle {slot}"
                        return
                    busy[index, operation.unit][slot, one] = index
                    if not 0 <= one < (most := self.schedule.needed[operation.unit]):
                        yield f"{self._name(index)} runs on unit {one}, and there are {most}"
                        return

    def _depth(self) -> Iterator[str]:
        """Nothing ends after the last cycle."""
        last = 1
        for index, (operation, table) in enumerate(zip(self.problem.operations, self.schedule.cycles, strict=True)):
            last = max(last, int(table.max()) + max(operation.latency, index in self.on_ports))
        if self.schedule.depth < last:
            yield f"the depth is {self.schedule.depth}, and something ends after {last} cycles"
