"""Stages of dataflow regions as dies see them: what each takes, and the wires between them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple

from mlir import ir

from ..customize.fifo.depths import bits_of
from ..customize.fifo.dies import RESOURCES, DieGraph, DiePlan, DieRoom, StageNeed, StageWires
from ..errors import ScheduleError, TargetError
from ..ir.dies import placed_stages
from ..ir.linalg import with_loops
from ..ir.module import Module
from ..ir.streams import is_stream_type
from ..ir.walk import location_of, operations, statement_of
from ..target import Fpga, load_target
from ..timing.control.build import TreeOptions
from ..timing.control.span import Ends, Stream
from ..timing.control.tree import ArrayCopy, Branch, Dataflow, Node, Straight, part_names
from ..timing.control.trees import Trees
from .elements import GridElement, GridElements
from .hardware import Hardware
from .report.result import Resources
from .resources import MAKERS, array_name, made_resources, unit_resources

_HANDSHAKE = 2  # wires of a FIFO beside its data: that there is an element, and that there is room


def region_dies(module: Module, function: str, target: str, fill: float, wires: int | None) -> DieGraph:
    """The stages of a region and the dies of a target, of which stages may take the part `fill`; `wires` between two
    dies, if the target does not say how many there are.

    Raises TargetError for a target that is not known to have several dies, ScheduleError for a function that is no
    region, or has stages without a name.
    """
    device = load_target(target)
    if not isinstance(device, Fpga) or len(device.dies) < 2:
        raise TargetError(
            f"target '{device.name}' describes no dies", hint="take u280 or u55c, or give its file a [[die]] for each"
        )
    if wires is None and not device.crossing_wires:
        raise TargetError(
            f"target '{device.name}' does not say how many wires there are between two dies", hint="give wires="
        )
    trees = Trees(with_loops(module), TreeOptions(device))
    trees.span(function)
    hardware = Hardware(trees, GridElements(trees, lambda tree: {}), {})
    return _Region(hardware, function).graph(fill, device.crossing_wires if wires is None else wires)


def placed_regions(hardware: Hardware, functions: Sequence[str], notes: list[str]) -> tuple[DiePlan, ...]:
    """The dies that steps have given the stages of functions; with notes on those that are not as they were."""
    found = []
    for name in functions:
        if name not in hardware.trees.spans:
            continue
        places = placed_stages(hardware.trees.spans[name].tree.function)
        if not places:
            continue
        try:
            graph = _Region(hardware, name).graph(1.0, hardware.target.crossing_wires)
            obstacle = obstacle_of(graph, places)
        except ScheduleError as error:
            obstacle = error.diagnostics[0].message
        if obstacle:
            notes.append(f"{name}: its stages were placed on dies, but {obstacle}; place_stages() again")
            continue
        found.append(DiePlan(graph, places, "as placed"))
        for die in graph.dies:
            for key, taken in graph.taken(places, die.name).items():
                if taken > die.there[key]:
                    notes.append(f"does not fit: {taken:,} {key} on {die.name}, which has {die.there[key]:,}")
    return tuple(found)


def obstacle_of(graph: DieGraph, places: Mapping[str, str]) -> str:
    """What stages without a die there are, and what dies that the target has not; empty if there are none."""
    known = [die.name for die in graph.dies]
    missing = [stage.name for stage in graph.stages if stage.name not in places]
    others = sorted({die for die in places.values() if die not in known})
    if not known:
        return f"target '{graph.target}' describes no dies, and stages are placed on {', '.join(others)}"
    if others:
        return f"target '{graph.target}' has no {', '.join(others)}; its dies are {', '.join(known)}"
    gone = [name for name in places if name not in {stage.name for stage in graph.stages}]
    if gone:
        return f"there is no stage '{gone[0]}' any more"
    return f"{', '.join(missing)} {'are' if len(missing) > 1 else 'is'} on no die" if missing else ""


class _Region:
    """One function whose parts are stages."""

    def __init__(self, hardware: Hardware, function: str) -> None:
        self.hardware = hardware
        self.function = function
        self.target = hardware.target
        self.element = GridElement(function, 1, hardware.trees)
        self.spans = hardware.trees.spans[function]
        self.builder = hardware.trees.builders[function]
        root = self.spans.tree.root
        if not isinstance(root, Dataflow):
            raise ScheduleError(
                f"'{function}' is no dataflow region: its parts run one after the other, and tools share units "
                "between them",
                hint=f's.dataflow("{function}") makes stages of them',
            )
        self.names = [self._name(*part) for part in zip(root.parts, part_names(root.parts), strict=True)]
        self.parts = root.parts
        self.ends = dict.fromkeys(self.names, Ends())
        for name, part in zip(self.names, root.parts, strict=True):
            own = self.spans.of(part).ends
            known = self.ends[name]
            self.ends[name] = Ends(
                {**known.puts, **own.puts}, {**known.gets, **own.gets},
                known.reads | own.reads, known.writes | own.writes,
            )  # fmt: skip
        self.homes = self._homes()

    def graph(self, fill: float, wires: int) -> DieGraph:
        """The stages with what they take, and the wires between them."""
        needs = self._needs()
        stages = tuple(StageNeed(n, dict(zip(RESOURCES, astuple(needs[n]), strict=True))) for n in self.ends)
        dies = tuple(
            DieRoom(die.name, dict(zip(RESOURCES, astuple(die.free), strict=True)), fill) for die in self.target.dies
        )
        return DieGraph(self.function, self.target.name, stages, tuple(self._links()), dies, wires)

    def _name(self, part: Node, named: object) -> str:
        """The stage that a part is: its nest, or the function that it calls."""
        name: str = getattr(named, "nest", "") or getattr(named, "callee", "")
        if name:
            return name
        op = part.body[0] if isinstance(part, Straight) else part.op if isinstance(part, Branch | ArrayCopy) else None
        raise ScheduleError(
            f"'{self.function}' has a stage that is neither a loop nest nor a call, and tools give it no name",
            at=None if op is None else location_of(op),
            hint="put it into a loop nest or into a function",
        )

    # -- resources -----------------------------------------------------------------------------------

    def _needs(self) -> dict[str, Resources]:
        found = dict.fromkeys(self.ends, Resources())
        size = self.target.control.size
        rows = self.hardware.rows(self.element).made
        stage_of = {}
        for name, part in zip(self.names, self.parts, strict=True):
            span = self.spans.of(part)
            op = getattr(part, "view", part).op  # type: ignore[union-attr]
            stage_of[op] = name
            own = [r for loop, r in rows.items() if statement_of(loop) == op and r.state != "spatial"]
            found[name] += unit_resources(span.units, self.target)
            found[name] += Resources(
                lut=len(own) * size.loop_lut,
                ff=len(own) * size.loop_ff + round(size.register_ff * span.register_bits),
            )
        for callee, users in self._callers().items():
            inside = [one for one in self.hardware.elements.inside(self.element) if one.callee == callee]
            for name, number in users.items():
                if len(users) > 1:
                    found[name] += self.hardware.of(callee).times(number)
                else:
                    found[name] += sum((self.hardware.called(one) for one in inside), Resources())
        for op in operations(self.builder.entry, *MAKERS):
            if op.name in ("memref.alloc", "memref.get_global"):
                self.builder.memory_of(op.results[0], array_name(op))
            is_channel = op.block == self.builder.entry
            taken = made_resources(op, self.builder.memories, self.target, is_channel=is_channel)
            home = self.homes.get(op.results[0]) if is_channel else stage_of.get(statement_of(op))
            if home is not None:
                found[home] += taken
        return found

    def _callers(self) -> dict[str, dict[str, int]]:
        """How many instances of each function each stage has."""
        found: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for name, part in zip(self.names, self.parts, strict=True):
            for callee, number in self.spans.of(part).callees.items():
                found[callee][name] += number
        return found

    # -- wires ---------------------------------------------------------------------------------------

    def _homes(self) -> dict[ir.Value, str]:
        """The stage at which the memory of each array and FIFO of the function is: that which reads it first."""
        found: dict[ir.Value, str] = {}
        for is_reading in (True, False):
            for name, ends in self.ends.items():
                events = ends.gets if is_reading else ends.puts
                for value in (*dict.fromkeys(base for base, _ in events), *(ends.reads if is_reading else ends.writes)):
                    if not isinstance(value.owner, ir.Block):
                        found.setdefault(value, name)
        return found

    def _links(self) -> Iterator[StageWires]:
        made = [value for op in self.builder.entry.operations for value in op.operation.results]
        for value in made:
            op = value.owner.operation
            if value not in self.homes or op.name == "memref.get_global":  # each stage has a copy of a constant
                continue
            home, is_stream = self.homes[value], is_stream_type(value.type)
            for name, ends in self.ends.items():
                puts, gets = _elements(ends.puts, value), _elements(ends.gets, value)
                is_source = bool(puts) or value in ends.writes
                if name == home or not (is_source or gets or value in ends.reads):
                    continue
                bits = self._fifo_wires(value, home, puts | gets) if is_stream else self._array_wires(value)
                source, sink = (name, home) if is_source else (home, name)
                yield StageWires(array_name(op), "FIFO" if is_stream else "array", source, sink, bits)

    def _fifo_wires(self, value: ir.Value, home: str, used: set[tuple[int, ...] | None]) -> int:
        """Those of the FIFOs that a stage shares with `home`: all of an array, unless either says which it uses."""
        ends = self.ends[home]
        both = (used, _elements(ends.puts, value) | _elements(ends.gets, value))
        whole = math.prod(value.type.shape) if isinstance(value.type, ir.MemRefType) else 1
        return min(whole if None in one else len(one) for one in both) * (bits_of(value.type) + _HANDSHAKE)

    def _array_wires(self, value: ir.Value) -> int:
        """Data and address of a port of each bank; of registers all bits."""
        memory = self.builder.memory_of(value, array_name(value.owner.operation))
        if memory.is_register:
            return math.prod(memory.shape) * memory.width
        return memory.banks * (memory.width + max(1, (memory.depth - 1).bit_length()))


def _elements(events: Mapping[Stream, object], value: ir.Value) -> set[tuple[int, ...] | None]:
    """The elements of an array of FIFOs that are used; None: any of them, or it is no array."""
    return {index for base, index in events if base == value}
