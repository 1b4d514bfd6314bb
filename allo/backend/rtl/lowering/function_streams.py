"""Streams of one function: which it makes, which are its ports, and at which of them something may wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ....errors import TargetError
from ....ir.access import access_map, base_of, is_load, subscripts
from ....ir.walk import location_of, string_of
from ....timing.control.tree import FunctionTree
from ....timing.problem.memory import array_memory, stream_parts
from ....timing.problem.operators import bits_of, no_hardware
from ..netlist.builder import ModuleBuilder, identifier
from ..netlist.design import Signal
from .arrays import BankedArray, BankPlace
from .flow import FlowEvent
from .streams import StreamPorts
from .subscripts import numbers_of, of_map, of_value

type Limits = tuple[int | None, int | None, int]
NUMBERS = ir.IntegerType | ir.IndexType | ir.F16Type | ir.BF16Type | ir.F32Type | ir.F64Type


@dataclass(frozen=True, slots=True)
class WaitSite:
    """What is done at a stream: the signals that say that it waits and that it happens, and which elements it may use.

    `chosen` is the signal with the number of the element; None if there is one.
    """

    op: ir.Operation
    blocked: str
    fires: str
    stream: ir.Value
    elements: tuple[int, ...]
    chosen: str | None


class FunctionStreams:
    """The streams of a function, by what makes them."""

    def __init__(
        self,
        tree: FunctionTree,
        builder: ModuleBuilder,
        limits: Callable[[ir.Value], Limits],
        stable: Callable[[ir.Value], Signal],
    ) -> None:
        """`limits` says between which numbers an index lies, `stable` is what it is while all of the function runs."""
        self.tree, self.builder, self.limits, self.stable = tree, builder, limits, stable
        self.outside: dict[ir.Value, str] = {}  # those that are ports
        self.known: dict[ir.Value, StreamPorts] = {}
        self.sites: list[WaitSite] = []
        self._passed: dict[ir.Value, tuple[StreamPorts, tuple[int, ...]]] = {}  # what arguments of calls are

    def of(self, value: ir.Value) -> StreamPorts:
        """The ends of a stream, or of an array of streams."""
        found = self.known.get(value)
        if found is None:
            base = base_of(value)
            found = self.known.get(base)
            if found is None:
                found = self.known[base] = self._made(base)
        return found

    def _made(self, base: ir.Value) -> StreamPorts:
        is_outside = base in self.outside
        owner = self.tree.function.operation if isinstance(base.owner, ir.Block) else base.owner.operation
        name = self.outside.get(base) or self.builder.named(string_of(owner, "allo.name") or "stream")
        kind = base.type.element_type if isinstance(base.type, ir.MemRefType) else base.type
        element = allo_d.StreamType(kind).element_type
        if not isinstance(element, NUMBERS):
            raise TargetError(
                f"stream '{identifier(name)}' has elements of type {element}, which target 'rtl' has no hardware for "
                "yet",
                at=location_of(owner),
                hint="build the kernel for 'vitis_hls'",
            )
        array = BankedArray(array_memory(base, name, self.tree.around.target))
        depth = max(1, stream_parts(kind)[1])
        return StreamPorts(self.builder, name, base, array, bits_of(element), depth, is_outside)

    def place(self, value: ir.Value, at: Callable[[ir.Value], Signal]) -> tuple[StreamPorts, BankPlace]:
        """The stream that a value is, and which of its array; `at` gives the values of subscripts."""
        owner = value.owner
        if isinstance(owner, ir.Block):
            return self.of(value), BankPlace((0,), None, "0")
        load = owner.operation
        ports = self.of(load.operands[0] if is_load(load) else value)
        if not ports.array.memory.shape:
            return ports, BankPlace((0,), None, "0")
        made = access_map(load)
        fixed = None if made is None else numbers_of(made)
        if fixed is not None and ports.array.has(fixed):
            return ports, ports.array.at(fixed)
        given = [of_value(at(one), *self.limits(one)) for one in subscripts(load)]
        return ports, ports.array.place(given if made is None else of_map(made, given))

    def note(self, event: FlowEvent, ports: StreamPorts, place: BankPlace, chosen: Signal | None) -> None:
        """Keep who may wait where."""
        which = None if chosen is None else chosen.name
        self.sites.append(WaitSite(event.op, event.blocked.name, event.fire.name, ports.value, place.banks, which))

    def connect(
        self, op: ir.Operation, operand: ir.Value, inner: StreamPorts, prefix: str, sockets: dict[str, str]
    ) -> None:
        """Connect one of the streams of a called function; new signals have names with a prefix."""
        outer, elements = self.passed(op, operand)
        outer.connect(inner, elements, prefix, sockets)

    def passed(self, op: ir.Operation, operand: ir.Value) -> tuple[StreamPorts, tuple[int, ...]]:
        """The stream that an argument of a call is, and which of its elements."""
        if operand not in self._passed:
            if isinstance(operand.type, ir.MemRefType):
                ports = self.of(operand)
                self._passed[operand] = ports, tuple(range(ports.array.banks))
            else:
                ports, place = self.place(operand, self.stable)
                if len(place.banks) > 1:
                    raise no_hardware(op, "a call with one stream of an array that a variable chooses")
                self._passed[operand] = ports, place.banks
        return self._passed[operand]

    def finish(self) -> None:
        """Make the FIFOs and drive the ports."""
        for ports in self.known.values():
            ports.finish()
