"""Control of a function: a pulse goes from node to node of its control tree, in the cycle in which each begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir

from ....ir.access import is_at_stream
from ....ir.walk import LoopView, bound_operands, location_of, statements
from ....ir.widths import INDEX_BITS
from ....timing.control import tree
from ....timing.problem.operators import no_hardware
from ..netlist.design import Signal
from .datapath import RegionHardware
from .flow import RegionFlow
from .stages import stages
from .subscripts import of_map, of_value

if TYPE_CHECKING:
    from .function import FunctionHardware


@dataclass(frozen=True, slots=True)
class Monitor:
    """The instance that looks at a loop in simulations."""

    node: tree.Pipeline | tree.Repeat
    name: str


@dataclass(frozen=True, slots=True)
class _Counter:
    """The variable of a loop: its number now, and the next one, which counts while `more` holds."""

    now: Signal
    first: str
    next: Signal
    more: Signal
    any: Signal  # whether there is a first iteration


class ControlHardware:
    """The nodes of one function as hardware."""

    def __init__(self, function: FunctionHardware) -> None:
        self.function = function
        self.builder = function.builder

    def of(self, node: tree.Node, start: Signal) -> Signal:
        """The hardware of a node that begins with a pulse; the pulse with which it ends."""
        match node:
            case tree.Sequence():
                for part in node.parts:
                    start = self.of(part, start)
                return start
            case tree.Straight():
                return self._straight(node, start)
            case tree.Pipeline():
                return self._watched(node, start, *self._pipeline(node, start))
            case tree.Repeat():
                return self._watched(node, start, *self._repeat(node, start))
            case tree.Branch():
                return self._branch(node, start)
            case tree.Invocation():
                return self.function.invoke(node.op, self.later(start, node.control))
            case tree.ArrayCopy():
                raise no_hardware(node.op, "a copy of a whole array")
            case tree.Dataflow():
                return stages(self, self.function, node, start)
            case tree.Spatial():
                raise no_hardware(node.view.op, "an unfolded loop")

    def later(self, pulse: Signal, cycles: int) -> Signal:
        return self.builder.delayed(pulse, cycles, reset=0)

    def _flow(self, node: tree.Straight | tree.Pipeline, name: str) -> RegionFlow:
        """What flows through a region."""
        schedule = node.region.schedule
        cycles = [
            int(cycle)
            for one in node.region.graph.region.nodes
            if is_at_stream(one.op)
            for cycle in schedule.cycles[one.index].reshape(-1)
        ]
        return RegionFlow(self.builder, name, cycles, schedule.interval, self.function.stage)

    def _straight(self, node: tree.Straight, start: Signal) -> Signal:
        flow = self._flow(node, "step")
        flow.begin(self.builder.wire("step_valid", 1, flow.held(start).name), node.depth)
        RegionHardware(self.function, self.function.new_region(), node.region, flow, {}).run(node.body)
        return flow.ended(flow.valid[node.depth], node.depth)

    # -- loops ---------------------------------------------------------------------------------------------

    def _watched(self, node: tree.Pipeline | tree.Repeat, start: Signal, steps: Signal, ends: Signal) -> Signal:
        """Let simulations see when a loop and its iterations begin, and when it ends."""
        ports = {"clk": "clk", "en": "en", "begins": start.name, "steps": steps.name, "ends": ends.name}
        name = self.builder.instance("allo_monitor", f"{node.view.name}_monitor", {}, ports, observes=True)
        self.function.monitors.append(Monitor(node, name))
        return ends

    def _repeat(self, node: tree.Repeat, start: Signal) -> tuple[Signal, Signal]:
        """A loop whose iterations run one after the other: the pulses with which they begin, and with which it ends."""
        view, op = node.view, node.view.op
        if op.name == "scf.while":
            return self._while(node, start)
        self._counted(view)
        if isinstance(node.body, tree.Dataflow):
            raise no_hardware(op, f"loop '{view.name}', of which stages of several iterations run at once,")
        start = self.later(start, node.enter)
        body_ends = self.builder.signal(f"{view.name}_next", 1)
        now = self.builder.signal(view.name, self._counter_bits(op), signed=True)
        counter = self._counter(op, now, "")
        self.function.loops[op.regions[0].blocks[0].arguments[0]] = now
        first = self.builder.wire(f"{view.name}_start", 1, f"{start.name} && {counter.any.name}", at=location_of(op))
        again = f"{body_ends.name} && {counter.more.name}"
        begins = self.builder.wire(f"{view.name}_begins", 1, f"{first.name} || ({again})")
        self.builder.register(
            now, f"{start.name} ? {counter.first} : {counter.next.name}", enable=f"en && ({begins.name})"
        )
        self.builder.drive(body_ends, self.of(node.body, self.later(begins, node.each)).name)
        ends = self.builder.wire(
            f"{view.name}_ends", 1,
            f"({start.name} && !{counter.any.name}) || ({body_ends.name} && !{counter.more.name})",
        )  # fmt: skip
        return begins, self.later(ends, node.leave)

    def _while(self, node: tree.Repeat, start: Signal) -> tuple[Signal, Signal]:
        """A loop whose condition is computed ahead of each iteration, and once more."""
        op, name = node.view.op, node.view.name
        if len(op.results) or len(op.operands):
            raise no_hardware(op, f"loop '{name}', which has a value")
        if not isinstance(node.body, tree.Sequence):
            raise no_hardware(op, f"loop '{name}', whose stages run at once")
        head = op.regions[0].blocks[0]
        start = self.later(start, node.enter)
        body_ends = self.builder.signal(f"{name}_next", 1)
        begins = self.builder.wire(f"{name}_begins", 1, f"{start.name} || {body_ends.name}", at=location_of(op))
        now = begins
        rest = list(node.body.parts)
        while rest and _operation_of(rest[0]).block == head:
            now = self.of(rest.pop(0), now)
        holds = self.function.stable(statements(head)[-1].operands[0])
        goes_on = self.builder.wire(f"{name}_goes_on", 1, f"{now.name} && {holds.fit(1)}")
        ends = self.builder.wire(f"{name}_ends", 1, f"{now.name} && !{holds.fit(1)}")
        self.builder.drive(body_ends, self.of(tree.Sequence(tuple(rest)), self.later(goes_on, node.each)).name)
        return goes_on, self.later(ends, node.leave)

    def _pipeline(self, node: tree.Pipeline, start: Signal) -> tuple[Signal, Signal]:
        """Loops whose iterations overlap: the pulses with which they begin, and the one with which all end."""
        views, name = node.loops, node.loops[-1].name
        flow = self._flow(node, name)
        pulse = self.later(start, node.enter)
        start = flow.held(pulse)
        flow.count_phase(pulse)
        running = self.builder.signal(f"{name}_running", 1)
        loops: dict[ir.Value, Signal] = {}
        counters: list[tuple[_Counter, Signal]] = []
        some = []
        for view in views:
            self._counted(view)
            kept = self.builder.signal(f"{view.name}_kept", self._counter_bits(view.op), signed=True)
            now = self.builder.signal(view.name, kept.width, signed=True)
            counter = self._counter(view.op, now, "")
            self.builder.drive(now, f"{start.name} ? {counter.first} : {kept.name}", location_of(view.op))
            self.function.loops[view.op.regions[0].blocks[0].arguments[0]] = now
            loops[view.op.regions[0].blocks[0].arguments[0]] = now
            counters.append((counter, kept))
            some.append(counter.any.name)
        first = self.builder.wire(f"{name}_start", 1, f"{start.name} && {' && '.join(some)}")
        due = self._due(first, running, node.interval, name, flow)
        more = self.builder.wire(f"{name}_more", 1, " || ".join(counter.more.name for counter, _ in counters))
        self.builder.register(
            running, f"{due.name} ? {more.name} : {running.name}", enable=flow.go(0), reset=0
        )
        inner_end = "1'b1"
        for counter, kept in reversed(counters):
            stepped = f"({counter.more.name} ? {counter.next.name} : {counter.first})"
            following = f"({inner_end}) ? {stepped} : {counter.now.name}"
            self.builder.register(kept, following, enable=f"{flow.go(0)} && {due.name}")
            inner_end = f"!{counter.more.name}" if inner_end == "1'b1" else f"{inner_end} && !{counter.more.name}"
        flow.begin(self.builder.wire(f"{name}_valid", 1, due.name), node.depth)
        last = self.builder.wire(f"{name}_last", 1, f"{due.name} && !{more.name}")
        datapath = RegionHardware(self.function, self.function.new_region(), node.region, flow, loops)
        datapath.run(tuple(statements(views[-1].body)))
        for value in loops:
            del self.function.loops[value]
        done = flow.ended(flow.chain(last, node.depth)[node.depth], node.depth)
        ends = self.builder.wire(f"{name}_ends", 1, f"{done.name} || ({pulse.name} && !({' && '.join(some)}))")
        begins = self.builder.wire(f"{name}_issues", 1, flow.once(due.name, 0)) if flow.may_stop(0) else due
        return begins, self.later(ends, node.leave)

    def _due(self, first: Signal, running: Signal, interval: int, name: str, flow: RegionFlow) -> Signal:
        """Whether an iteration starts: the first one, or when so many cycles have passed since the last one."""
        if interval == 1:
            return self.builder.wire(f"{name}_due", 1, f"{first.name} || {running.name}")
        width = (interval - 1).bit_length()
        wait = self.builder.signal(f"{name}_wait", width)
        due = self.builder.wire(f"{name}_due", 1, f"{first.name} || ({running.name} && {wait.name} == {width}'d0)")
        following = f"{due.name} ? {width}'d{interval - 1} : {wait.name} - {width}'d1"
        self.builder.register(wait, following, enable=flow.go(0))
        return due

    def _counter_bits(self, op: ir.Operation) -> int:
        low, high, _ = self.function.limits(op.regions[0].blocks[0].arguments[0])
        if low is None or high is None:
            return INDEX_BITS
        step = int(ir.IntegerAttr(op.attributes["step"]).value)  # only `affine.for` has limits
        return max((high + step).bit_length(), (-low).bit_length() if low < 0 else 0, 1) + 1

    def _counter(self, op: ir.Operation, now: Signal, hint: str) -> _Counter:
        """The expressions of a counter."""
        name = now.name
        if op.name == "affine.for":
            step = str(ir.IntegerAttr(op.attributes["step"]).value)
            lower, upper = self._bound(op, "lowerBoundMap", 0), self._bound(op, "upperBoundMap", 1)
        else:
            lower, upper, step = (of_value(self.function.stable(value)).text for value in list(op.operands)[:3])
        at = location_of(op)
        following = self.builder.wire(f"{name}_after", now.width, f"{now.name} + {step}", signed=True, at=at)
        more = self.builder.wire(f"{name}_more", 1, f"{following.name} < {upper}", at=at)
        some = self.builder.wire(f"{name}_any", 1, f"{lower} < {upper}", at=at)
        return _Counter(now, lower, following, more, some)

    def _counted(self, view: LoopView) -> None:
        if view.op.name not in ("affine.for", "scf.for"):
            raise no_hardware(view.op, f"loop '{view.name}', {view.op.name}")
        if len(view.op.results):
            raise no_hardware(view.op, f"loop '{view.name}', which has a value")

    def _bound(self, op: ir.Operation, name: str, which: int) -> str:
        """The greatest of some lower bounds, or the least of some upper ones."""
        values = bound_operands(op)[which]
        given = [of_value(self.function.stable(value), *self.function.limits(value)) for value in values]
        found = of_map(ir.AffineMapAttr(op.attributes[name]).value, given)
        if len(found) > 1:  # they are compared
            found = [one.exact for one in found]
        text = found[0].text
        for other in found[1:]:
            sign = ">" if which == 0 else "<"
            text = f"(({text} {sign} {other.text}) ? {text} : {other.text})"
        return text

    # -- branches ------------------------------------------------------------------------------------------

    def _branch(self, node: tree.Branch, start: Signal) -> Signal:
        op = node.op
        if len(op.results):
            raise no_hardware(op, "a condition around loops that has a value")
        condition = self.function.branch_condition(op)
        ends: list[str] = []
        for number in range(2):
            taken = condition.fit(1) if number == 0 else f"!{condition.fit(1)}"
            begin = self.builder.wire("branch", 1, f"{start.name} && {taken}", at=location_of(op))
            ends.append(self.of(node.branches[number], begin).name if number < len(node.branches) else begin.name)
        return self.builder.wire("branch_ends", 1, " || ".join(ends))


def _operation_of(node: tree.Node) -> ir.Operation:
    """An operation of a node that stands in the block that the node is in."""
    match node:
        case tree.Straight():
            return node.body[0]
        case tree.Pipeline() | tree.Repeat() | tree.Spatial():
            return node.view.op
        case tree.Branch() | tree.Invocation() | tree.ArrayCopy():
            return node.op
        case _:
            return _operation_of(node.parts[0])
