"""Builder of control trees: roles of loops and schedules of regions, found once for each function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction

from mlir import ir

from ...errors import counted
from ...ir.access import base_of, callee_name, is_copy
from ...ir.elements import SPATIAL, calls_in_elements, element_nests, in_turn
from ...ir.module import Module
from ...ir.processes import DATAFLOW
from ...ir.walk import LOOP_OPERATIONS, LoopView, entry_block, loops_of, statements
from ...poly import TimeLoop, Trips, shares_of
from ...target import External, Fpga
from ..pipeline import ScheduledRegion
from ..problem.memory import ArrayMemory, array_memory, external_memory
from ..problem.region import RegionBuilder, SurroundingFacts, Surroundings, unbounded_loop
from ..roles import Roles, is_nested, is_pure, is_straight, only_names
from ..vendor_rules import AUTOMATIC, bounded_by_tool, scheduled_by_tool
from . import tree
from .trips import TripCounts, time_loops

type CallCost = Callable[[str], tuple[int, int]]  # latency and interval of a callee


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """What hardware a module becomes.

    `bounds`: regions are not scheduled, but bounded from below (`pipeline.bounded`), and so is the whole; with
    `bounded_by_ports` by the banks that arrays have, too.
    `trips` are iterations of loops that the user states, `external` the arguments that stay beside the chip, by
    function and position, and `assumes` what the module does not say, and rewrites before scheduling do.
    """

    target: Fpga
    auto_pipeline: bool = False
    trips: Mapping[str, int] = field(default_factory=dict)
    external: Mapping[str, Mapping[int, External]] = field(default_factory=dict)
    unsafe_math: bool = False
    assumes: bool = True
    bounds: bool = False
    bounded_by_ports: bool = False


@dataclass(frozen=True, slots=True)
class Assumed:
    """A step that is taken for granted: a loop is a pipeline, or what it is about takes so many cycles."""

    latency: Fraction | None = None
    interval: int | None = None


class TreeBuilder:
    """The tree of one function with a body, and those that steps would make of it."""

    def __init__(
        self,
        module: Module,
        name: str,
        options: TreeOptions,
        call_cost: CallCost,
        memories: Mapping[ir.Value, ArrayMemory] | None = None,
    ) -> None:
        self.name = name
        self.function = module.function(name)
        self.options = options
        self.target = options.target
        self.views = {view.op: view for view in loops_of(self.function)}
        self.nests = {nest.outermost.op: nest for nest in element_nests(self.function)}
        own = self.nests.values() if self.target.rules.own_hardware is not None else ()
        self.inlined = {call for nest in own for call in calls_in_elements(nest)}
        self.trip_counts = TripCounts(module, name, options.trips)
        self.memories = dict(memories or {})
        entry = entry_block(self.function)
        assert entry is not None
        self.entry = entry
        facts = SurroundingFacts(module, name, entry)
        self.around = Surroundings(facts, self.target, self.memory_of, call_cost, options.assumes)
        self.assumed: Mapping[ir.Operation, Assumed] = {}
        self.roles = Roles(self.views, options.auto_pipeline)
        self.schedules: dict[tuple[ir.Operation, bool], ScheduledRegion] = {}
        self.known: dict[ir.Operation, tree.Node] = {}  # of loops in which nothing is assumed

    def build(self) -> tree.FunctionTree:
        """The tree."""
        parts = self._parts(statements(self.entry))
        stages = DATAFLOW in self.function.operation.attributes and parts
        root = tree.Dataflow(parts) if stages else tree.Sequence(parts)
        stated = self.assumed.get(self.function.operation, Assumed()).latency
        return tree.FunctionTree(
            self.name, self.function, self.entry, root, self.views, self.trip_counts, self.around,
            self.target.control.function, stated,
        )  # fmt: skip

    def assuming(self, assumed: Mapping[ir.Operation, Assumed], call_cost: CallCost) -> tree.FunctionTree:
        """The tree if some steps were taken, with callees of other costs; what they do not change is shared."""
        other = copy(self)
        other.around = replace(self.around, call_cost=call_cost)
        other.roles = replace(self.roles, asked=assumed.__contains__)
        changed = {loop.op for op in assumed if op in self.views for loop in self.views[op].chain}
        other.assumed = assumed
        other.known = {op: node for op, node in self.known.items() if op not in changed}
        return other.build()

    def memory_of(self, value: ir.Value, name: str) -> ArrayMemory:
        """What an array of the function is made of."""
        value = base_of(value)
        if value not in self.memories:
            external = None
            if isinstance(value.owner, ir.Block):
                external = self.options.external.get(self.name, {}).get(ir.BlockArgument(value).arg_number)
            self.memories[value] = (
                array_memory(value, name, self.target) if external is None else external_memory(value, name, external)
            )
        found: ArrayMemory = self.memories[value]
        return found

    def _parts(self, block: list[ir.Operation]) -> tuple[tree.Node, ...]:
        """What a block consists of, in order: loops, calls, conditions around them, straight code."""
        parts: list[tree.Node] = []
        straight: list[ir.Operation] = []

        def flush() -> None:
            if not all(is_pure(op) or only_names(op) for op in straight):
                parts.append(self._straight((), tuple(straight), straight[0]))
            straight.clear()

        for op in block:
            if is_straight(op):
                straight.append(op)
                continue
            flush()
            if op.name in LOOP_OPERATIONS:
                parts.append(self._loop(self.views[op]))
            elif op.name == "func.call":
                parts.append(tree.Invocation(op, callee_name(op), self._call(op)))
            elif is_copy(op):
                parts.append(self._copy(op))
            else:
                branches = (tree.Sequence(self._parts(statements(b))) for r in op.regions for b in r.blocks)
                parts.append(tree.Branch(op, tuple(branches), shares_of(op)))
        flush()
        return tuple(parts)

    def _call(self, op: ir.Operation) -> int:
        """The cycles of a call beside those of what is called; of one that elements have in them, without its end."""
        return -self.target.control.function if op in self.inlined else self.target.control.call

    def _copy(self, op: ir.Operation) -> tree.ArrayCopy:
        """A pipelined loop over all elements."""
        memref = ir.MemRefType(op.operands[0].type)
        known = math.prod(memref.shape) + 1 + self.target.control.pipelined_loop if memref.has_static_shape else None
        return tree.ArrayCopy(op, known)

    def _straight(self, time: tuple[TimeLoop, ...], body: tuple[ir.Operation, ...], key: ir.Operation) -> tree.Straight:
        return tree.Straight(body, self._scheduled(key, time, body, None))

    def _scheduled(
        self, key: ir.Operation, time: tuple[TimeLoop, ...], body: tuple[ir.Operation, ...], requested: int | None
    ) -> ScheduledRegion:
        """The schedule of operations in these loops, found once for each key unless callees are in it."""
        known = self.schedules.get((key, requested is not None))
        if known is None:
            region, reassociate = lambda: RegionBuilder(self.around, time).build(body), self.options.unsafe_math
            if self.options.bounds:
                ports = self.options.bounded_by_ports
                known = bounded_by_tool(region, self.target, requested, reassociate=reassociate, ports=ports)
            else:
                asked = AUTOMATIC not in key.attributes
                known = scheduled_by_tool(region, self.target, requested, asked=asked, reassociate=reassociate)
            if not has_calls(known):
                self.schedules[key, requested is not None] = known
        return known

    # -- loops -----------------------------------------------------------------------------------------

    def _loop(self, view: LoopView) -> tree.Node:
        known = self.known.get(view.op)
        if known is None:
            known = self._built(view)
            if not self._depends_on_callees(view):
                self.known[view.op] = known
        return known

    def _depends_on_callees(self, view: LoopView) -> bool:
        """Whether there are calls below a loop, which may be in schedules."""
        return any(op.name == "func.call" for op in _below(view.op))

    def _built(self, view: LoopView) -> tree.Node:
        op = view.op
        trips = self.trip_counts.of(view)
        control = self.target.control
        if op.name == "scf.while":
            remark = f"how often the while loop '{view.name}' runs is not known"
            return tree.Repeat(view, self._body(view), trips, None, control.iteration, control.loop, (remark,))
        remarks: list[str] = []
        if trips.mean is None:
            most = "" if trips.greatest is None else f" (at most {trips.greatest} times)"
            remarks.append(
                f"how often loop '{view.name}' runs is known at run time only{most}; "
                f'state it with trips={{"{view.name}": ...}}'
            )
        if op in self.trip_counts.by_position:
            remarks.append(
                f"how often loop '{view.name}' runs depends on the position of the task: "
                f"counted is the most, {counted(int(trips.mean or 0), 'time')}"
            )
        if SPATIAL in op.attributes:
            return self._elements(view, trips, tuple(remarks))
        chain = self.roles.chain(view)
        if chain:
            obstacle = unbounded_loop(statements(chain[-1].body))
            if obstacle is None:
                return self._pipelined(chain, tuple(remarks))
            inner = self.views[obstacle].name
            remarks.append(
                f"loop '{chain[-1].name}' is not pipelined, since the extent of loop '{inner}' in it changes, "
                "so that it cannot be unrolled"
            )
        if DATAFLOW in op.attributes:
            stages = tree.Dataflow(self._parts(statements(view.body)))
            return tree.Repeat(view, stages, trips, trips.mean, 0, control.loop, tuple(remarks))
        if not is_nested(view):
            return self._leaf(view, trips, tuple(remarks))
        if "allo.unroll" in op.attributes and (factor := ir.IntegerAttr(op.attributes["allo.unroll"]).value) != 1:
            copies = f"unrolled by {factor}" if factor else "unrolled"
            remarks.append(
                f"loop '{view.name}' is {copies} with loops inside, whose copies run one after the other: "
                "it gains nothing"
            )
        enter = control.loop + self._ends_of_elements(view)
        return tree.Repeat(view, self._body(view), trips, trips.mean, control.iteration, enter, tuple(remarks))

    def _ends_of_elements(self, view: LoopView) -> int:
        """What an iteration, or a run, of the outermost loop of a nest takes to begin and end its elements: calls in
        hardware of our own."""
        nest = self.nests.get(view.op)
        if nest is None or self.target.rules.own_hardware is None:
            return 0
        control = self.target.control
        ends = control.call + control.function
        if not in_turn(nest):
            return ends
        count = math.prod(self.trip_counts.of(other).constant or 0 for other in nest.spatial if other.op != view.op)
        again = 0  # loops around the unfolded ones, which each element has, count once for all of them so far
        if SPATIAL not in view.op.attributes:
            chain = nest.spatial[-1].chain[len(view.chain) - 1 :]
            for loop in reversed([one for one in chain if SPATIAL not in one.op.attributes]):
                again = control.loop + (self.trip_counts.of(loop).constant or 0) * (control.iteration + again)
        return ends * count + (count - 1) * again

    def _elements(self, view: LoopView, trips: Trips, remarks: tuple[str, ...]) -> tree.Spatial:
        """Processing elements along a loop; those of our own run in turn, but for those of regions."""
        (nest,) = (nest for nest in self.nests.values() if any(one.op == view.op for one in nest.spatial))
        own = self.target.rules.own_hardware is not None
        return tree.Spatial(
            view, self._body(view), trips, remarks, self._ends_of_elements(view), own and in_turn(nest)
        )

    def _body(self, view: LoopView) -> tree.Sequence:
        """What a loop repeats; the condition of a `while` comes before all else."""
        blocks = [block for region in view.op.regions for block in region.blocks]
        return tree.Sequence(tuple(part for block in blocks for part in self._parts(statements(block))))

    def _leaf(self, view: LoopView, trips: Trips, remarks: tuple[str, ...]) -> tree.Repeat:
        """A loop without loops in it whose iterations do not overlap."""
        (time,) = time_loops([view], self.around.model, self.trip_counts)
        body = self._straight((time,), tuple(statements(view.body)), view.op)
        control = self.target.control
        return tree.Repeat(view, body, trips, _started(trips, time), control.iteration, control.loop, remarks)

    def _pipelined(self, chain: list[LoopView], remarks: tuple[str, ...]) -> tree.Pipeline:
        last = chain[-1].op
        time = time_loops(chain, self.around.model, self.trip_counts)
        requested = ir.IntegerAttr(last.attributes["allo.pipeline"]).value if "allo.pipeline" in last.attributes else 1
        region = self._scheduled(last, time, tuple(statements(chain[-1].body)), requested)
        trips: Fraction | None = Fraction(1)
        for view, loop in zip(chain, time, strict=True):
            value = _started(self.trip_counts.of(view), loop)
            trips = None if value is None or trips is None else trips * value
        control = 0 if "allo.rewind" in last.attributes else self.target.control.pipelined_loop
        runs = tuple(self.trip_counts.of(view).mean for view in chain)
        assumed = self.assumed.get(last, Assumed())
        if assumed.interval is not None:
            region = replace(region, schedule=replace(region.schedule, interval=assumed.interval))
        return tree.Pipeline(tuple(chain), region, runs, trips, requested, control, remarks, assumed.latency)


def _started(trips: Trips, loop: TimeLoop) -> Fraction | None:
    """How often the iterations of a loop start, of which `factor` are one."""
    mean = trips.mean
    return mean if mean is None or loop.factor == 1 else Fraction(-(-mean // loop.factor))


def has_calls(region: ScheduledRegion) -> bool:
    """Whether a schedule depends on callees."""
    return any(node.kind == "call" for node in region.graph.region.nodes)


def _below(op: ir.Operation) -> list[ir.Operation]:
    inside = [inner for region in op.regions for block in region.blocks for inner in statements(block)]
    return [found for inner in inside for found in (inner, *_below(inner))]
