"""Places in a design at which something may wait: in which instance, for which FIFO, and for whom the task works."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from mlir import ir

from ....errors import Location
from ....ir.access import asks_stream, base_of, is_end, may_get, may_put, puts_side
from ....ir.hang import Waiting
from ....ir.processes import ELEMENT_NAME
from ....ir.stream_facts import StreamFacts, unit_of_made
from ....ir.walk import location_of, string_of
from .function import FunctionHardware


class PlacedFifo(NamedTuple):
    """A FIFO of a design: its instance, and what it is in the program."""

    path: str
    facts: StreamFacts
    element: int | None


class PlacedWait(NamedTuple):
    """What `op` does at a stream in an instance at `path`: the signals that say that it waits and that it happens, and
    which of `fifos` it uses."""

    task: str
    op: ir.Operation
    path: str
    blocked: str
    fires: str
    chosen: str | None
    fifos: Mapping[int, PlacedFifo]

    @property
    def at(self) -> Location | None:
        return location_of(self.op)

    @property
    def is_put(self) -> bool:
        """Whether it is done by who puts."""
        return puts_side(self.op)


def placed_waits(kernel: FunctionHardware, path: str) -> Iterator[PlacedWait]:
    """All of a design, whose kernel is the instance at `path`."""
    return _of_function(kernel, path, kernel.tree.name, {})


def counted(fifo: PlacedFifo, places: Sequence[PlacedWait], puts: int, gets: int) -> Waiting:
    """A FIFO with what has passed, and the lines at which that is done or asked."""
    at = [one for one in places if any(fifo.facts == other.facts for other in one.fifos.values())]

    def lines(puts: bool, wanted: Callable[[ir.Operation], bool]) -> tuple[Location, ...]:
        found = [one.at for one in at if one.is_put == puts and wanted(one.op) and one.at is not None]
        return tuple(dict.fromkeys(found))

    facts = replace(
        fifo.facts, puts=lines(True, may_put), gets=lines(False, may_get),
        put_asks=lines(True, lambda op: not is_end(op)), get_asks=lines(False, lambda op: not is_end(op)),
    )  # fmt: skip
    return Waiting(facts, fifo.element, facts.depth, puts, gets)


def shown_signals(functions: Iterable[FunctionHardware]) -> list[tuple[str, str]]:
    """The signals that say who waits: pairs of a module and a name."""
    found = []
    for function in functions:
        for site in function.streams.sites:
            names = (site.blocked, site.chosen, site.fires if asks_stream(site.op) else None)
            found += [(function.name, name) for name in names if name is not None]
    return found


def _of_function(
    function: FunctionHardware, path: str, task: str, given: Mapping[ir.Value, tuple[PlacedFifo, ...]]
) -> Iterator[PlacedWait]:
    known = dict(given)
    for base, ports in function.streams.known.items():
        if base not in known and not ports.is_outside:
            facts = _facts(ports.name, base, ports.array.memory.shape, ports.depth)
            known[base] = tuple(
                PlacedFifo(f"{path}.{ports.instances.get(n, '')}", facts, n if facts.extents else None)
                for n in range(ports.array.banks)
            )
    for site in function.streams.sites:
        every = known[base_of(site.stream)]
        fifos = {element: every[element] for element in site.elements}
        yield PlacedWait(task, site.op, path, site.blocked, site.fires, site.chosen, fifos)
    for op, instance, callee in function.calls:
        passed = {}
        for argument, operand in zip(callee.arguments, op.operands, strict=True):
            if argument in callee.streams.known:
                ports, elements = function.streams.passed(op, operand)
                every = known[ports.value]
                passed[argument] = tuple(every[element] for element in elements)
        is_root = task == function.tree.name and "." not in path
        own = string_of(op, ELEMENT_NAME) or callee.tree.name
        yield from _of_function(callee, f"{path}.{instance}", own if is_root else f"{own} of {task}", passed)


def _facts(name: str, base: ir.Value, shape: tuple[int, ...], depth: int) -> StreamFacts:
    owner = base.owner.operation if not isinstance(base.owner, ir.Block) else None
    named = string_of(owner, "allo.name") if owner is not None else None
    unit = Fraction(1) if owner is None else unit_of_made(owner)
    made = None if owner is None else location_of(owner)
    return StreamFacts(named or name, shape, depth, made, (), (), None, unit=unit)
