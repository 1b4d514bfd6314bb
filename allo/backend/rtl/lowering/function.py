"""A function as a hardware module: its control and datapaths, arrays as ports, calls as instances."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from mlir import ir

from ....errors import InternalError, TargetError
from ....ir.access import base_of, callee_name, global_name
from ....ir.affine_sets import constraints_of
from ....ir.dense import dense_bits
from ....ir.module import Module
from ....ir.processes import ELEMENT_NAME
from ....ir.streams import is_stream_type
from ....ir.walk import (
    argument_names,
    bound_operands,
    constant_bounds,
    location_of,
    operations,
    statements,
    string_of,
)
from ....ir.widths import INDEX_BITS
from ....timing.control.build import TreeBuilder
from ....timing.control.tree import FunctionTree
from ....timing.problem.memory import ArrayMemory
from ....timing.problem.operators import bits_of, no_hardware
from ..netlist.builder import ModuleBuilder, identifier, module_name
from ..netlist.design import Direction, Signal
from .arrays import BankedArray
from .connections import ArrayCall, connect
from .control import ControlHardware, Monitor
from .datapath import RegionHardware
from .function_streams import NUMBERS, FunctionStreams, Limits
from .linear import SubscriptNumber
from .memories import place_memory
from .operations import OperationPrinter
from .ports import ArrayPorts
from .shared_units import SharedUnits
from .stages import StagesAtOnce
from .subscripts import of_map, of_value
from .tables import place_tables


class FunctionHardware:
    """One function; `callee` gives the hardware of those that it calls."""

    def __init__(
        self, module: Module, tree: FunctionTree, builder: TreeBuilder, callee: Callable[[str], FunctionHardware]
    ) -> None:
        self.module = module
        self.tree = tree
        self.arguments = tuple(tree.entry.arguments)
        self.scheduled = builder
        self.callee = callee
        self.builder = ModuleBuilder(module_name(tree.name))
        self.units = SharedUnits(self.builder)
        self.operations = OperationPrinter(self.builder, self.units, tree.around, builder.target.flushes)
        self.loops: dict[ir.Value, Signal] = {}
        self.given: dict[ir.Value, Signal] = {}  # scalar arguments, and results of calls
        self.places: dict[ir.Value, RegionHardware] = {}  # the region that computes a value
        self.arrays: dict[ir.Value, ArrayPorts] = {}
        self.states: dict[str, ArrayPorts] = {}  # arrays and numbers that stay from call to call, by symbol
        self.outside: dict[ir.Value, str] = {}  # arrays that are ports
        self.scalars: dict[int, Signal] = {}  # by argument
        self.results: list[ArrayPorts | Signal] = []
        self.streams = FunctionStreams(tree, self.builder, self.limits, self.stable)
        self.waits: list[str] = []  # conditions under which something waits for a FIFO, and nothing else goes on
        self.waiting: Signal | None = None  # the port that says so
        self.stages: dict[int, int] = {}  # of a region, the stage that it is in
        self.together: list[StagesAtOnce] = []
        self.stage = 0
        self.monitors: list[Monitor] = []
        self.calls: list[tuple[ir.Operation, str, FunctionHardware]] = []  # with the names of the instances
        self._stable: dict[ir.Value, Signal] = {}
        self._regions = 0

    @property
    def name(self) -> str:
        return self.builder.module.name

    def make(self) -> FunctionHardware:
        """Make the module."""
        builder, entry = self.builder, self.tree.entry
        for name in ("clk", "rst", "en", "start"):
            builder.port(name, 1, Direction.INPUT)
        done = builder.port("done", 1, Direction.OUTPUT)
        names = [identifier(name) for name in argument_names(self.tree.function)]
        self._arguments(names)
        returned = [op for op in statements(entry) if op.name == "func.return"]
        values = list(returned[-1].operands) if returned else []
        for number, value in enumerate(values):
            if isinstance(value.type, ir.MemRefType):
                if base_of(value) in self.outside:
                    raise no_hardware(returned[-1], "a result that is another array of the kernel")
                self.outside[base_of(value)] = f"result_{number}"
        ended = ControlHardware(self).of(self.tree.root, Signal("start", 1))
        builder.drive(done, builder.delayed(ended, self.tree.control, reset=0).name)
        for number, value in enumerate(values):
            if isinstance(value.type, ir.MemRefType):
                self.results.append(self.arrays_of(base_of(value)))
            else:
                out = builder.port(f"result_{number}", bits_of(value.type), Direction.OUTPUT)
                builder.drive(out, self.stable(value).fit(out.width))
                self.results.append(out)
        for ports in dict.fromkeys((*self.arrays.values(), *self.states.values())):
            ports.finish()
            if not ports.is_outside:
                self._memories(ports)
        self.units.finish()
        self.streams.finish()
        if self.waits:
            self.waiting = builder.port("waits", 1, Direction.OUTPUT)
            builder.drive(self.waiting, " || ".join(self.waits))
        return self

    def _arguments(self, names: Sequence[str]) -> None:
        for number, (name, value) in enumerate(zip(names, self.tree.entry.arguments, strict=True)):
            if isinstance(value.type, ir.MemRefType) and not is_stream_type(value.type):
                self.outside[value] = name
            elif is_stream_type(value.type):
                self.streams.outside[value] = name
            elif isinstance(value.type, NUMBERS):
                signed = isinstance(value.type, ir.IndexType)
                made = self.builder.port(name, bits_of(value.type), Direction.INPUT, signed=signed)
                self.given[value] = self.scalars[number] = made
            else:
                raise TargetError(
                    f"argument '{name}' of '{self.tree.name}' has type {value.type}, which target 'rtl' has no ports "
                    "for yet",
                    at=location_of(self.tree.function.operation),
                    hint="build the kernel for 'vitis_hls'",
                )

    def _memories(self, ports: ArrayPorts) -> None:
        """The memories of a local array, or the tables of a constant one."""
        if ports.contents is not None:
            place_tables(self.builder, ports)
            return
        for bank in sorted({bank for bank, _ in ports.words}):
            numbers = [port for of, port in ports.words if of == bank]
            place_memory(
                self.builder, ports.bank_name(bank), ports.array, {port: ports.drivers[bank, port] for port in numbers},
                {port: ports.words[bank, port] for port in numbers},
                {port for of, port in ports.writing if of == bank},
            )  # fmt: skip

    def new_region(self) -> int:
        """A number for one more region, whose accesses take ports of their own time."""
        self._regions += 1
        self.stages[self._regions] = self.stage
        return self._regions

    def _at_once(self, one: int, other: int) -> bool:
        """Whether two regions may run at the same time."""
        return any(stages.has(self.stages[one], self.stages[other]) for stages in self.together)

    # -- arrays --------------------------------------------------------------------------------------------

    def arrays_of(self, value: ir.Value) -> ArrayPorts:
        """The ports of an array."""
        base = base_of(value)
        if base not in self.arrays:
            is_outside = base in self.outside
            if is_outside:
                name = self.outside[base]
            else:
                made = base.owner.operation
                if made.name not in ("memref.alloc", "memref.get_global", "func.call"):
                    raise no_hardware(made, f"an array that {made.name} makes")
                name = self.builder.named(string_of(made, "allo.name") or "array")
                is_outside = self._is_state(made)
            place = self.tree.function.operation if isinstance(base.owner, ir.Block) else base.owner.operation
            memory = self.scheduled.memory_of(base, name)
            if not ir.MemRefType(base.type).has_static_shape:
                raise TargetError(
                    f"array '{name}' has extents that are known at run time only, and hardware needs its size",
                    at=location_of(place),
                    hint="give the array constant extents",
                )
            if not isinstance(ir.MemRefType(base.type).element_type, NUMBERS):
                raise TargetError(
                    f"array '{name}' has elements of type {ir.MemRefType(base.type).element_type}, which target 'rtl' "
                    "has no hardware for yet",
                    at=location_of(place),
                    hint="build the kernel for 'vitis_hls'",
                )
            self._check_first_values(base, memory, is_outside)
            self.arrays[base] = self._ports(base, name, memory, is_outside)
        return self.arrays[base]

    def _check_first_values(self, base: ir.Value, memory: ArrayMemory, is_outside: bool) -> None:
        symbol = global_name(base)
        if symbol is not None and is_outside and memory.kind.name == "URAM" and any(self.initial(symbol)):
            made = base.owner.operation
            raise TargetError(
                f"'{string_of(made, 'allo.name')}' stays from call to call and begins with values other than 0, which "
                "URAM cannot",
                at=location_of(made),
                hint="bind it to BRAM or LUTRAM",
            )

    def _ports(self, base: ir.Value, name: str, memory: ArrayMemory, is_outside: bool) -> ArrayPorts:
        """New ports for an array, or those that there are of a state."""
        symbol = global_name(base)
        if symbol is not None and is_outside:
            return self.state(symbol, name, memory)
        made = ArrayPorts(self.builder, name, BankedArray(memory), is_outside, together=self._at_once)
        if symbol is not None:
            made.contents = self.initial(symbol)
        return made

    def state(self, symbol: str, name: str, memory: ArrayMemory) -> ArrayPorts:
        """The ports of what stays from call to call; its memories are on top, for all functions that use it."""
        if symbol not in self.states:
            self.states[symbol] = ArrayPorts(
                self.builder, name, BankedArray(memory), True, together=self._at_once
            )
        return self.states[symbol]

    def _is_state(self, op: ir.Operation) -> bool:
        name = global_name(op.results[0]) if op.name == "memref.get_global" else None
        return name is not None and "constant" not in self.module.symbol(name).attributes

    def initial(self, symbol: str) -> list[int]:
        """The bits of the elements that a constant or a state has at first."""
        made = self.module.symbol(symbol)
        memref = ir.MemRefType(ir.TypeAttr(made.attributes["type"]).value)
        return dense_bits(made.attributes["initial_value"], memref.element_type, math.prod(memref.shape))

    # -- values --------------------------------------------------------------------------------------------

    def stable(self, value: ir.Value) -> Signal:
        """A value that stays while what uses it runs."""
        if value in self.loops:
            return self.loops[value]
        if value in self.given:
            return self.given[value]
        if value in self.places:
            return self.places[value].hold(value)
        if isinstance(value.owner, ir.Block):
            raise InternalError("a variable of a loop is used outside of it")
        if value not in self._stable:
            op = value.owner.operation
            if op.name == "arith.constant":
                return self.operations.constant(op)
            operands = [self.stable(operand) for operand in op.operands]
            if op.name == "affine.apply":
                given = [of_value(s, *self.limits(v)) for v, s in zip(op.operands, operands, strict=True)]
                self._stable[value] = self.applied(op, given)
            else:
                self._stable[value] = self.operations.result(op, operands, 0)
        return self._stable[value]

    def applied(self, op: ir.Operation, given: list[SubscriptNumber]) -> Signal:
        """The result of an `affine.apply`."""
        (found,) = of_map(ir.AffineMapAttr(op.attributes["map"]).value, given)
        width = INDEX_BITS
        if any(use.owner.operation.name == "arith.cmpi" for use in op.results[0].uses):  # the condition of a branch
            found, width = found.exact, max(INDEX_BITS, found.bits)
        return self.builder.wire("place", width, found.text, signed=True, at=location_of(op))

    def condition(self, op: ir.Operation, given: list[SubscriptNumber]) -> Signal:
        """Whether the set of an `affine.if` holds the operands."""
        made, equal = constraints_of(op.attributes["condition"])
        terms = [
            f"{one.exact.text} == 0" if is_equal else f"{one.exact.text} >= 0"
            for one, is_equal in zip(of_map(made, given), equal, strict=True)
        ]
        return self.builder.wire("condition", 1, " && ".join(terms) or "1'b1", at=location_of(op))

    def branch_condition(self, op: ir.Operation) -> Signal:
        """The condition of a branch around loops."""
        if op.name == "scf.if":
            return self.stable(op.operands[0])
        given = [of_value(self.stable(v), *self.limits(v)) for v in op.operands]
        return self.condition(op, given)

    def limits(self, value: ir.Value) -> Limits:
        """Between which numbers an index lies, and in which steps from the first; None where nothing is known."""
        if not isinstance(value.owner, ir.Block):
            held = self.operations.widths.range(value)
            fits = -held.low < 1 << (INDEX_BITS - 1) > held.high + 1
            return (held.low, held.high, 1) if fits else (None, None, 1)
        op = value.owner.owner.operation
        if op.name != "affine.for":
            return None, None, 1
        step = ir.IntegerAttr(op.attributes["step"]).value
        bounds = constant_bounds(op)
        if bounds is not None:
            lower, upper, _ = bounds
            trips = max(1, -(-(upper - lower) // step))
            return lower, lower + (trips - 1) * step, step
        found = []
        for name, operands in zip(("lowerBoundMap", "upperBoundMap"), bound_operands(op), strict=True):
            limits = [self.limits(operand) for operand in operands]
            if any(low is None or high is None for low, high, _ in limits):
                return None, None, 1
            given = [of_value(Signal(f"x{n}", INDEX_BITS, signed=True), *one) for n, one in enumerate(limits)]
            found.append(of_map(ir.AffineMapAttr(op.attributes[name]).value, given))
        low, high = max(one.low for one in found[0]), min(one.high for one in found[1]) - 1
        return (low, high, 1) if high >= low else (low, low, 1)

    # -- calls ---------------------------------------------------------------------------------------------

    def invoke(self, op: ir.Operation, start: Signal) -> Signal:
        """An instance of the called function; the pulse with which it ends."""
        callee, region = self.callee(callee_name(op)), self.new_region()
        done, prefix = self.builder.signal(f"{callee.name}_done", 1), f"{callee_name(op)}_"
        sockets = {"clk": "clk", "rst": "rst", "en": "en", "start": start.name, "done": done.name}
        for number, (argument, operand) in enumerate(zip(callee.arguments, op.operands, strict=True)):
            if number in callee.scalars:
                port = callee.scalars[number]
                sockets[port.name] = self.stable(operand).fit(port.width)
            elif argument in callee.arrays:
                inner, outer = callee.arrays[argument], self.arrays_of(operand)
                connect(self.builder, ArrayCall(op, operand, inner, outer, region), sockets)
            elif argument in callee.streams.known:
                self.streams.connect(op, operand, callee.streams.known[argument], prefix, sockets)
        if callee.waiting is not None:
            waits = self.builder.signal(f"{callee.name}_waits", 1)
            sockets[callee.waiting.name] = waits.name
            self.waits.append(waits.name)
        for result, made in zip(op.results, callee.results, strict=True):
            if isinstance(made, ArrayPorts):
                connect(self.builder, ArrayCall(op, None, made, self.arrays_of(result), region), sockets)
                continue
            is_index = isinstance(result.type, ir.IndexType)
            signal = self.builder.signal(f"{callee.name}_result", made.width, signed=is_index)
            sockets[made.name] = signal.name
            self.given[result] = signal
        for symbol, inner in callee.states.items():
            own = self.state(symbol, self.builder.named(inner.name), inner.array.memory)
            connect(self.builder, ArrayCall(op, None, inner, own, region), sockets)
        hint = string_of(op, ELEMENT_NAME) or callee.name
        name = self.builder.instance(callee.name, f"{hint}_call", {}, sockets, location_of(op))
        self.calls.append((op, name, callee))
        return done


def called(tree: FunctionTree) -> list[str]:
    """The functions that a function calls."""
    return [callee_name(op) for op in operations(tree.entry, "func.call")]
