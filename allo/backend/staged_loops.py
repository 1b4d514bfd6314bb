"""Loops of stages as stages that are loops: several iterations run at once, each array between stages has copies.

A stage goes on with the next iteration when it has ended the last one, those that it takes arrays from have ended
theirs, and those that take its arrays are done with a copy. Streams of tokens say so: one for each iteration that has
ended, and one for each copy that is free again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from ..ir.access import (
    access_map,
    accessed,
    callee_name,
    is_access,
    is_store,
    makes_stream,
    stored,
    subscripts,
)
from ..ir.builder import Builder, affine_constant, affine_dim, index_type, string_attr, unit_attr
from ..ir.context import context
from ..ir.effects import Effects
from ..ir.inlining import inline_call, leave_affine
from ..ir.module import Module, attributes_of
from ..ir.names import unique_name
from ..ir.partitions import divisions_of, with_divisions
from ..ir.processes import DATAFLOW, LINKED, is_process, region_statements
from ..ir.walk import (
    argument_names,
    bound_operands,
    constant_bounds,
    entry_block,
    operations,
    statements,
    string_of,
)
from ..poly.apart import Apartness
from .outlining import nest_name, outline, signature_attributes
from .staged_statements import PLAIN, gather, replace_operands

type _Bound = tuple[ir.AffineMap, list[ir.Value]]


def stage_loops(module: Module) -> Module:
    """A module in which loops of stages are regions, as far as these are known; itself if there is none."""
    if not any(_loops(function) for function in module.functions()):
        return module
    made = module.clone()
    for function in list(made.functions()):
        for loop in _loops(function):
            gather(function, loop, set(made.names()))
            if _runs_alone(loop):
                del loop.attributes[DATAFLOW]
        while loop := next((loop for loop in _loops(function) if _can_be_made(made, loop)), None):
            _StagedLoop(made, function, loop).make()
    made.verify()
    return made


def _loops(function: ir.OpView) -> list[ir.Operation]:
    entry = entry_block(function)
    return [op for op in operations(entry, "affine.for") if DATAFLOW in op.attributes] if entry is not None else []


def _runs_alone(loop: ir.Operation) -> bool:
    """Whether there is one iteration or one stage, so that nothing could run at once."""
    bounds = constant_bounds(loop)
    once = bounds is not None and bounds[1] - bounds[0] <= bounds[2]
    return once or sum(map(is_process, statements(loop.regions[0].blocks[0])[:-1])) <= 1


def _can_be_made(module: Module, loop: ir.Operation) -> bool:
    """Whether iterations are counted from one number on, and stages take nothing of one another but elements of
    arrays."""
    if len(_bounds(loop)[0][0].results) > 1:
        return False
    staged = _StagedLoop(module, None, loop)
    known = {*staged.stages, *staged.users}
    others = [op for op in staged.body if op not in known and not makes_stream(op)]
    return all(op.name in PLAIN for op in others) and all(map(staged.is_plain, staged.passed))


def _bounds(loop: ir.Operation) -> tuple[_Bound, _Bound]:
    """Where the iterations of a loop begin and end: maps, and what they are of."""
    lower, upper = bound_operands(loop)
    maps = (ir.AffineMapAttr(loop.attributes[name]).value for name in ("lowerBoundMap", "upperBoundMap"))
    return (next(maps), lower), (next(maps), upper)


def _step(loop: ir.Operation) -> int:
    """How far its iterations are apart."""
    step: int = ir.IntegerAttr(loop.attributes["step"]).value
    return step


@dataclass(frozen=True, slots=True)
class _Token:
    """A stream that is put into, or got from: in all iterations, but for the first `but` ones, or the last ones if it
    is negative."""

    stream: ir.Value
    puts: bool
    but: int = 0


type _Tokens = tuple[Sequence[_Token], Sequence[_Token]]  # in front of the work of an iteration, and behind it


@dataclass(frozen=True, slots=True)
class _Link:
    """Two stages of which the second takes arrays of the first, which is so many iterations ahead at most."""

    first: int
    second: int
    ahead: int


class _StagedLoop:
    """One loop: its stages, by their statements, and the arrays in it with the stages that use them."""

    def __init__(self, module: Module, function: ir.OpView | None, loop: ir.Operation) -> None:
        self.module, self.function, self.loop = module, function, loop
        block = loop.regions[0].blocks[0]
        self.body, self.effects = statements(block)[:-1], Effects(module)
        found = [one for one in region_statements(self.effects, block, Apartness(module)) if one.is_process]
        self.stages = [one.op for one in found]
        self.after = [[self.stages.index(other) for other in one.after] for one in found]
        arrays = [op for op in self.body if op.name == "memref.alloc" and not makes_stream(op)]
        self.users = {op: [n for n, stage in enumerate(self.stages) if self._uses(stage, op)] for op in arrays}
        self.passed = [op for op, users in self.users.items() if len(users) > 1]
        # kept apart from stages, which may be gone when they have been made functions
        self.beside = [op for op in self.body if op in self.users or op.name in PLAIN]

    def _uses(self, stage: ir.Operation, array: ir.Operation) -> bool:
        touched = self.effects.touched(stage)
        return array.results[0] in touched.reads | touched.writes

    def is_plain(self, array: ir.Operation) -> bool:
        """Whether all that uses an array, also in functions, are loads and stores."""
        values = [array.results[0]]
        while values:
            value = values.pop()
            for use in value.uses:
                op = use.owner.operation
                if op.name == "func.call":
                    entry = entry_block(self.module.function(callee_name(op)))
                    if entry is None:
                        return False
                    values.append(entry.arguments[use.operand_number])
                elif not is_access(op):
                    return False
        return True

    # -- how far stages may be ahead ---------------------------------------------------------------------

    def _copies(self, array: ir.Operation) -> int:
        """As many as there are iterations between the stage that writes an array and the last that reads it, and one
        that is written meanwhile."""
        first, *others = self.users[array]
        steps = {first: 0}
        for number in range(first + 1, len(self.stages)):
            known = [steps[before] for before in self.after[number] if before in steps]
            if known:
                steps[number] = max(known) + 1
        return max(steps.get(other, 1) for other in others) + 1

    def _links(self, copies: dict[ir.Value, int]) -> list[_Link]:
        """Who waits for whom; for what is no array of an iteration, until it is done with it."""
        found = []
        for second, others in enumerate(self.after):
            for first in others:
                one, other = (self.effects.touched(self.stages[n]) for n in (first, second))
                ahead = [copies.get(p, 1) if isinstance(p, ir.Value) else 1 for p in one.conflicts(other)]
                found.append(_Link(first, second, min(ahead)))
        return found

    # -- the region --------------------------------------------------------------------------------------

    def make(self) -> None:
        """Put a call of a region in the place of the loop."""
        assert self.function is not None
        loop, function, taken = self.loop, self.function, set(self.module.names())
        entry = entry_block(function)
        assert entry is not None
        names = dict(zip(entry.arguments, argument_names(function), strict=True))
        copies = {array.results[0]: self._copies(array) for array in self.passed}
        links = self._links(copies)
        region = [op for op in self.body if makes_stream(op)]
        for op in region:
            op.move_before(loop)
        wide = {array: self._with_copies(array, count) for array, count in copies.items()}
        done = [self._tokens(link, "done") for link in links]
        free = [self._tokens(link, "free") for link in links]
        region += [value.owner.operation for value in (*wide.values(), *done, *free)]
        base = string_of(function.operation, "sym_name") or "region"
        for number, stage in enumerate(self.stages):
            symbol = unique_name(f"{base}_{nest_name(stage)}", taken)
            call = outline(function, [*self._beside(number), stage], symbol, names)
            passed = [value for value in call.operands if value in wide]
            _widen(self.module, symbol, {list(call.operands).index(one): wide[one].type for one in passed})
            takes = [n for n, link in enumerate(links) if link.second == number]
            gives = [n for n, link in enumerate(links) if link.first == number]
            begin = [*(_Token(done[n], False) for n in takes), *(_Token(free[n], False, links[n].ahead) for n in gives)]
            end = [*(_Token(done[n], True) for n in gives), *(_Token(free[n], True, -links[n].ahead) for n in takes)]
            whole = self._repeated(call, wide, copies, (begin, end))
            made = outline(function, [whole], unique_name(f"{symbol}_stage", taken), names)
            made.attributes[LINKED] = unit_attr()
            region.append(made)
        loop.erase()
        symbol = unique_name(f"{base}_stages", taken)
        outline(function, region, symbol, names)
        self.module.function(symbol).operation.attributes[DATAFLOW] = unit_attr()

    def _beside(self, number: int) -> list[ir.Operation]:
        """What a stage needs of its iteration beside itself, in front of it: its own arrays, copies of values."""
        stage, found = self.stages[number], list[ir.Operation]()
        copies: dict[ir.Value, ir.Value] = {}
        for op in self.beside:
            if self.users.get(op) == [number]:
                op.move_before(stage)
                found.append(op)
            elif op.name in PLAIN:
                found.append(op.clone(ir.InsertionPoint(stage)))
                replace_operands(found[-1], copies)
                copies[op.results[0]] = found[-1].results[0]
        for op in (stage, *(one for region in stage.regions for block in region.blocks for one in operations(block))):
            replace_operands(op, copies)
        return found

    def _with_copies(self, array: ir.Value, count: int) -> ir.Value:
        """As many arrays as one, each in banks of its own."""
        memref, made_by = ir.MemRefType(array.type), array.owner.operation
        shape = [count, *memref.shape]
        plain = ir.MemRefType.get(shape, memref.element_type, None, memref.memory_space, self.loop.location)
        kind = with_divisions(plain, [("complete", 0), *divisions_of(memref)])
        made = Builder.before(self.loop).alloc(kind, string_of(made_by, "allo.name") or "array")
        for name, attribute in attributes_of(made_by).items():
            made.owner.operation.attributes[name] = attribute
        return made

    def _tokens(self, link: _Link, what: str) -> ir.Value:
        kind = ir.Type.parse(f"!allo.stream<i1, {link.ahead}>", context())
        name = f"{what}_{link.first}_{link.second}"
        return Builder.before(self.loop).value("allo.stream_create", kind, (), {"allo.name": string_attr(name)})

    def _repeated(
        self, call: ir.Operation, wide: dict[ir.Value, ir.Value], copies: dict[ir.Value, int], tokens: _Tokens
    ) -> ir.Operation:
        """A loop that calls the work of a stage, between tokens."""
        bounds, step = _bounds(self.loop), _step(self.loop)
        name = string_of(self.loop, "allo.name") or "t"
        attributes = {"allo.name": string_attr(name), "allo.nest": string_attr(f"S_{name}")}
        loop = Builder.before(self.loop).affine_for(*bounds, step, attributes)
        block = loop.regions[0].blocks[0]
        at = Builder(ir.InsertionPoint.at_block_terminator(block), self.loop.location)
        variable, old = block.arguments[0], self.loop.regions[0].blocks[0].arguments[0]
        self._pass(at, tokens[0], variable)
        operands = [variable if one == old else wide.get(one, one) for one in call.operands]
        (first, of), _ = bounds
        iteration = ir.AffineExpr.get_floor_div(affine_dim(0) - _behind_one(first)[0], affine_constant(step))
        for one in call.operands:
            if one in wide:
                which = ir.AffineExpr.get_mod(iteration, affine_constant(copies[one]))
                place = ir.AffineMapAttr.get(ir.AffineMap.get(first.n_dims + 1, first.n_symbols, [which], context()))
                operands.append(at.value("affine.apply", index_type(), [variable, *of], {"map": place}))
        at.op("func.call", (), operands, {"callee": call.attributes["callee"]})
        self._pass(at, tokens[1], variable)
        return loop

    def _pass(self, at: Builder, tokens: Sequence[_Token], variable: ir.Value) -> None:
        """Put and get tokens in an iteration."""
        (lower, upper), step, known = _bounds(self.loop), _step(self.loop), constant_bounds(self.loop)
        for token in tokens:
            if known is not None and abs(token.but) >= -(-(known[1] - known[0]) // step):
                continue
            inner = at
            if token.but:
                limit, of = lower if token.but > 0 else upper
                other = affine_dim(0) - token.but * step
                ends = _behind_one(limit)
                holds = [other - one for one in ends] if token.but > 0 else [one - 1 - other for one in ends]
                condition = ir.IntegerSet.get(
                    limit.n_dims + 1, limit.n_symbols, holds, [False] * len(holds), context()
                )
                branch = at.affine_if(condition, [variable, *of], False)
                inner = Builder(ir.InsertionPoint.at_block_terminator(branch.regions[0].blocks[0]), at.loc)
            if token.puts:
                inner.put(token.stream, inner.constant(ir.IntegerType.get_signless(1, context()), 1))
            else:
                inner.get(token.stream)


def _behind_one(limit: ir.AffineMap) -> list[ir.AffineExpr]:
    """The results of a map whose dimensions stand behind one more."""
    dims = [affine_dim(position + 1) for position in range(limit.n_dims)]
    moved = ir.AffineMap.get(limit.n_dims + 1, limit.n_symbols, dims, context())
    return [one.compose(moved) for one in limit.results]


def _widen(module: Module, symbol: str, kinds: dict[int, ir.Type]) -> None:
    """Let a function take copies of arrays in the place of one, and behind its arguments which of each it uses."""
    if not kinds:
        return
    function = module.function(symbol)
    entry = entry_block(function)
    assert entry is not None
    arrays = [entry.arguments[position] for position in kinds]
    while calls := [op for op in operations(entry, "func.call") if any(one in arrays for one in op.operands)]:
        for call in calls:
            inline_call(call, module.function(callee_name(call)), function)
    leave_affine(function.operation)
    names = [*argument_names(function), *(f"copy_{position}" for position in kinds)]
    for position, kind in kinds.items():
        array = entry.arguments[position]
        which = entry.add_argument(index_type(), function.operation.location)
        for op in [use.owner.operation for use in array.uses]:
            _widen_access(op, which)
        array.set_type(kind)
    for name, attribute in signature_attributes([one.type for one in entry.arguments], names).items():
        function.operation.attributes[name] = attribute


def _widen_access(op: ir.Operation, which: ir.Value) -> None:
    """Let a load or store use one of the copies."""
    at, places, found = Builder.before(op), subscripts(op), access_map(op)
    written = [stored(op)] if is_store(op) else []
    operands = [*written, accessed(op), *([which, *places] if found is None else [*places, which])]
    attributes = attributes_of(op)
    if found is not None:
        dims = found.n_dims
        whole = ir.AffineMap.get(dims + 1, 0, [affine_dim(dims), *found.results], context())
        attributes["map"] = ir.AffineMapAttr.get(whole)
    made = at.op(op.name, [result.type for result in op.results], operands, attributes)
    for old, new in zip(op.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
