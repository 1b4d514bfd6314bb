"""Programs of puts and gets: what is left of a module without its data, as text of Python generators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ...errors import Location
from ...ir.access import (
    accessed,
    asks_stream,
    callee_name,
    is_get,
    is_load,
    is_peek,
    is_put,
    makes_stream,
)
from ...ir.effects import Effects
from ...ir.module import Module
from ...ir.processes import is_region, region_statements, spatial_loops
from ...ir.streams import is_stream_type
from ...ir.walk import (
    constant_bounds,
    entry_block,
    induction_variable,
    location_of,
    operations,
    statements,
    string_of,
)
from ..apart import Apartness
from .scalars import Scalars
from .terms import Term, loop_variable, number
from .uses import LoopHere, ProcessText, Site

# Iterations after which a process lets others run although it need not wait; sooner where a loop with loops in it ends
# an iteration, so that it stops at the same places again and again.
PAUSE = 4096
PAUSE_OUTSIDE = 256


class DataDependent(Exception):
    """Whether a stream is used, how often, or which one, depends on data; or nothing is known of what uses it."""

    def __init__(self, reason: str, op: ir.Operation) -> None:
        super().__init__(reason)
        self.reason = reason
        self.at: Location | None = location_of(op)


@dataclass(slots=True)
class TokenProgram:
    """Writes `def main(me):`, a generator over what has to wait; `made` are the operations that make streams.

    It calls `make(number, index, depth)` for each FIFO, `take(fifo, end, process, site)` where another process than
    before is at an end, `region()` for each region, and `forget(...)` with its FIFOs when it has ended. `me.values` are
    the variables of loops and their ends, `me.tests` the terms that are compared, as functions.
    """

    module: Module
    made: Sequence[ir.Operation]
    lines: list[str] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    processes: list[ProcessText] = field(default_factory=list)
    _depth: int = 0
    _count: int = 0
    _scalars: Scalars = field(default_factory=Scalars)
    _streams: dict[ir.Value, str] = field(default_factory=dict)
    _inside: list[str] = field(default_factory=list)
    _loops: tuple[LoopHere, ...] = ()
    _process: int = 0
    _effects: Effects = field(init=False)
    _apart: Apartness = field(init=False)

    def __post_init__(self) -> None:
        self._effects = Effects(self.module)
        self._apart = Apartness(self.module)

    def text(self) -> str:
        """The text. Raises DataDependent."""
        self._generator("main", "me", None, lambda: self._function(self.module.top))
        return "\n".join(self.lines) + "\n"

    def _write(self, line: str) -> None:
        self.lines.append("  " * self._depth + line)

    def _name(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    def _site(self, op: ir.Operation) -> int:
        self.sites.append(Site(op, self._loops))
        return len(self.sites) - 1

    def _generator(self, name: str, parameters: str, op: ir.Operation | None, body: Callable[[], None]) -> None:
        """A generator function, with variables of its own."""
        outer, around = self._process, self._loops
        self._process, self._loops = len(self.processes), ()
        text = ProcessText(self._process, op)
        self.processes.append(text)
        self._write(f"def {name}({parameters}):")
        place, depth = len(self.lines), self._depth
        self._depth += 1
        body()
        self._write("yield from ()")
        tests = "".join(f"lambda: {test}, " for test in text.tests)
        values = f"v{self._process} = me.values = [0] * {text.slots}; n = 0; me.tests = ({tests})"
        self.lines.insert(place, "  " * self._depth + values)
        self._depth, self._process, self._loops = depth, outer, around

    @property
    def _own(self) -> ProcessText:
        return self.processes[self._process]

    # -- what an operation does ----------------------------------------------------------------------

    def _function(self, name: str) -> None:
        entry = entry_block(self.module.function(name))
        assert entry is not None
        self._inside.append(name)
        self._block(entry)
        self._inside.pop()

    def _block(self, block: ir.Block) -> None:
        if is_region(block) and any(self._matters(op) for op in statements(block)):
            self._region(block)
            return
        for op in statements(block):
            self._operation(op)

    def _matters(self, op: ir.Operation) -> bool:
        return self._effects.uses_streams(op)

    def _operation(self, op: ir.Operation) -> None:
        match op.name:
            case _ if makes_stream(op):
                self._make(op)
            case _ if is_load(op) and is_stream_type(accessed(op).type):
                self._streams[op.results[0]] = f"{self._streams[accessed(op)]}[{self._place(op)}]"
            case _ if is_put(op):
                self._token(op, "fifo.puts >= fifo.limit", "full", "puts += 1", "reader")
            case _ if is_get(op):
                self._token(op, "fifo.puts == fifo.gets", "empty", "gets += 1; fifo.limit += 1", "writer")
            case _ if is_peek(op):
                self._use(op, "getter")
                self._write(f"while fifo.puts == fifo.gets: yield fifo, 'empty', {self._site(op)}")
            case _ if asks_stream(op):
                raise DataDependent("what is found in a stream depends on when processes run", op)
            case "func.call":
                self._call(op)
            case "affine.for" | "scf.for":
                if self._matters(op):
                    self._for(op, lambda: self._block(op.regions[0].blocks[0]))
            case "affine.if" | "scf.if":
                if self._matters(op):
                    self._if(op)
                self._scalars.see(op)
            case _ if len(op.regions):
                if self._matters(op):
                    raise DataDependent("whether a stream is used depends on data", op)
            case _:
                self._scalars.see(op)

    def _make(self, op: ir.Operation) -> None:
        kind = op.results[0].type
        place, name = self.made.index(op), self._name("s")
        if isinstance(kind, ir.MemRefType):
            depth, count = allo_d.StreamType(kind.element_type).depth, prod(kind.shape)
            self._write(f"{name} = {{k: make({place}, k, {depth}) for k in range({count})}}")
        else:
            self._write(f"{name} = make({place}, None, {allo_d.StreamType(kind).depth})")
        self._streams[op.results[0]] = name

    def _token(self, op: ir.Operation, test: str, state: str, change: str, other: str) -> None:
        self._use(op, "putter" if is_put(op) else "getter")
        self._write(f"while {test}: yield fifo, '{state}', {self._site(op)}")
        self._write(f"fifo.{change}")
        self._write(f"if fifo.{other} is not None: ready.append(fifo.{other}); fifo.{other} = None")

    def _use(self, op: ir.Operation, end: str) -> None:
        """The process is at an end of a FIFO; `take` is told if that is another one than before."""
        self._write(f"fifo = {self._streams[accessed(op)]}")
        self._write(f"if fifo.{end} is not me: take(fifo, '{end}', me, {self._site(op)})")

    def _call(self, op: ir.Operation) -> None:
        name = callee_name(op)
        if not self._matters(op):
            return
        entry = entry_block(self.module.function(name))
        if entry is None or name in self._inside:
            raise DataDependent(f"nothing is known of the streams of '{name}'", op)
        for argument, value in zip(entry.arguments, op.operands, strict=True):
            self._scalars.passed(value, argument)
            if value in self._streams:
                self._streams[argument] = self._streams[value]
        self._function(name)

    # -- loops and conditions --------------------------------------------------------------------------

    def _for(self, op: ir.Operation, body: Callable[[], None]) -> None:
        lower, upper, step = self._bounds(op)
        for bound in (lower, upper):
            self._own.depend(bound)
        slot = self._own.slots
        self._own.slots += 2
        name, outer = f"v{self._process}[{slot}]", self._loops
        values = None
        if lower.range is not None and upper.range is not None:
            values = lower.range[0], max(lower.range[0], upper.range[1] - 1)
        self._scalars.variable(induction_variable(op), loop_variable(name, (self._process, slot), values))
        self._write(f"{name} = {lower.text}; v{self._process}[{slot + 1}] = {upper.text}")
        self._write(f"while {name} < v{self._process}[{slot + 1}]:")
        self._depth += 1
        ends = lower.constant, upper.constant
        trips = None if ends[0] is None or ends[1] is None else len(range(ends[0], ends[1], step))
        self._loops = (*outer, LoopHere(string_of(op, "allo.name") or "i", slot, step, trips, location_of(op)))
        body()
        nested = any(self._matters(inner) for inner in operations(op.regions[0].blocks[0], "affine.for", "scf.for"))
        self._write(f"{name} += {step}; n += 1")
        self._write(f"if n > {PAUSE_OUTSIDE if nested else PAUSE}:")
        self._write(f"  yield n, 'pause', {self._site(op)}")
        self._write("  n = 0")
        self._depth -= 1
        self._loops = outer

    def _bounds(self, op: ir.Operation) -> tuple[Term, Term, int]:
        if op.name == "affine.for":
            bounds = [self._scalars.bound(op, attribute) for attribute in ("lowerBoundMap", "upperBoundMap")]
            step: int | None = ir.IntegerAttr(op.attributes["step"]).value
        else:
            bounds = [self._scalars.term(value) for value in list(op.operands)[:2]]
            given = self._scalars.term(op.operands[2])
            step = None if given is None else given.constant
        lower, upper = bounds
        if lower is None or upper is None or step is None or step <= 0:
            raise DataDependent("how often a stream is used depends on data", op)
        return lower, upper, step

    def _if(self, op: ir.Operation) -> None:
        condition = self._scalars.condition(op)
        blocks = [region.blocks[0] for region in op.regions if len(region.blocks)]
        if condition is None:
            self._same_arms(op, blocks)
            return
        self._own.decide(condition.tests)
        for line, block in zip((f"if {condition.text}:", "else:"), blocks, strict=False):
            self._write(line)
            self._depth += 1
            self._write("pass")
            self._block(block)
            self._depth -= 1

    def _same_arms(self, op: ir.Operation, blocks: Sequence[ir.Block]) -> None:
        """Whichever arm data choose, they put and get the same."""
        before = len(self.lines), len(self.sites), len(self._own.tests), self._own.slots, self._count
        texts: list[list[str]] = []
        for block in blocks:
            del self.lines[before[0] :], self.sites[before[1] :], self._own.tests[before[2] :]
            self._own.slots, self._count = before[3:]
            self._block(block)
            texts.append(self.lines[before[0] :])
        if len(texts) < 2 or texts[0] != texts[1]:
            raise DataDependent("whether a stream is used depends on data", op)

    # -- regions ---------------------------------------------------------------------------------------

    def _region(self, block: ir.Block) -> None:
        """Its processes are generators that are started one after the other."""
        name = self._name("g")
        self._write(f"{name} = region()")
        parts: dict[ir.Operation, str] = {}  # the processes of a statement, as a slice
        count = 0
        for statement in region_statements(self._effects, block, self._apart):
            op = statement.op
            after = " + ".join(f"{name}.tasks[{parts[other]}]" for other in statement.after) or "[]"
            if not statement.is_process:
                if statement.after:  # all that stands behind waits too
                    self._write(f"yield {after}, 'end', {self._site(op)}")
                self._operation(op)
                continue
            spatial = spatial_loops(op)
            own = prod(len(range(*(constant_bounds(loop) or (0, 0, 1)))) for loop in spatial)
            parts[op] = f"{count}:{count + own}"
            count += own
            self._start(op, spatial, f"{name}.start", after)
        self._write(f"yield {name}.tasks, 'end', {self._site(statements(block)[-1])}")
        made = [self._streams[op.results[0]] for op in statements(block) if makes_stream(op)]
        if made:
            self._write(f"forget({', '.join(made)})")

    def _start(self, op: ir.Operation, spatial: list[ir.Operation], start: str, after: str) -> None:
        depth, variables = self._depth, []
        for loop in spatial:
            variable = self._name("i")
            bounds = constant_bounds(loop)
            assert bounds is not None
            self._write(f"for {variable} in range({bounds[0]}, {bounds[1]}, {bounds[2]}):")
            values = (bounds[0], max(bounds[0], bounds[1] - 1))
            self._scalars.variable(induction_variable(loop), loop_variable(variable, None, values))
            variables.append(variable)
            self._depth += 1
        name = self._name("p")
        process = len(self.processes)
        parameters = ", ".join(["me", *(f"{v}={v}" for v in variables)])
        self._generator(name, parameters, op, lambda: self._unfolded(op, spatial))
        place = "".join(f"{variable}, " for variable in variables)
        self._write(f"{start}({name}, {after}, {process}, ({place}))")
        self._depth = depth

    def _unfolded(self, op: ir.Operation, spatial: list[ir.Operation]) -> None:
        """A statement without its spatial loops, whose variables are known."""

        def inside() -> None:
            for inner in statements(op.regions[0].blocks[0]):
                self._unfolded(inner, spatial)

        if op in spatial:
            inside()
        elif op.name == "affine.for" and any(loop in spatial for loop in operations(op.regions[0].blocks[0])):
            self._for(op, inside)
        else:
            self._operation(op)

    def _place(self, load: ir.Operation) -> str:
        """The number of the stream that is taken from an array, row by row."""
        places = self._scalars.subscripts(load)
        if places is None:
            raise DataDependent("which stream is used depends on data", load)
        place = number(0).text
        for extent, subscript in zip(ir.MemRefType(accessed(load).type).shape, places, strict=True):
            self._own.depend(subscript)
            place = f"({place}) * {extent} + {subscript.text}"
        return place


