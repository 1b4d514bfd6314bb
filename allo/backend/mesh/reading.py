"""Reading of tile programs: levels, tiles and work of a kernel, asked of its polyhedral model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mlir import ir

from ...errors import Location, TargetError
from ...frontend.tiles import PROGRAM
from ...ir.access import callee_name
from ...ir.arrays import numpy_dtype
from ...ir.inlining import inline_call, leave_affine
from ...ir.mlir_types import scalar_from_mlir
from ...ir.module import Module
from ...ir.walk import argument_names, constant_bounds, entry_block, location_of, operations, statements
from ...mapping.tiles.program import (
    LevelForm,
    TileArray,
    TileBox,
    TileLoop,
    TileNode,
    TileProgram,
    TileSegment,
)
from ...poly import (
    Access,
    AccessKind,
    Linear,
    Model,
    ModelLoop,
    Undecided,
    Violation,
    carried_by,
    model_of,
    trips_of,
    values_of,
)
from .whole_tiles import demand_whole
from .work import local_bytes, work_of


@dataclass(frozen=True, slots=True)
class ReadProgram:
    """A tile program, and the operations that each of its segments stands for."""

    program: TileProgram
    module: Module
    function: str
    grid: tuple[ir.Operation, ...] = field(repr=False)
    loops: dict[int, ir.Operation] = field(repr=False)  # by level
    segments: tuple[tuple[ir.Operation, ...], ...] = field(repr=False)


def read_program(module: Module) -> ReadProgram:
    """The tile program of a module's entry. Raises TargetError for what is none, with the place in the kernel."""
    return _Reader(module).run()


class _Reader:
    def __init__(self, module: Module) -> None:
        self.module, self.name = _inlined(module), module.top
        module = self.module
        function = module.function(self.name)
        entry = entry_block(function)
        if entry is None:
            raise TargetError(f"'{self.name}' has no body")
        self.entry = entry
        self.model: Model = model_of(module, self.name)
        self.levels: dict[int, int] = {}  # variables of the model to levels
        self.level_loops: dict[int, ir.Operation] = {}
        self.names: list[str] = []
        self.segments: list[tuple[ir.Operation, ...]] = []
        self.writes: list[dict[TileBox, list[Access]]] = []  # of each segment
        self.arrays = tuple(self._arrays(argument_names(function)))

    def _arrays(self, names: Sequence[str]) -> Iterator[TileArray]:
        for number, (name, argument) in enumerate(zip(names, self.entry.arguments, strict=True)):
            if not isinstance(argument.type, ir.MemRefType):
                raise TargetError(f"'{name}' of '{self.name}' is no array", hint="make it a constant of the kernel")
            kind = ir.MemRefType(argument.type)
            if not kind.has_static_shape:
                raise TargetError(f"the extents of '{name}' must be known", hint="give them in the annotation")
            element = scalar_from_mlir(kind.element_type)
            if numpy_dtype(element) is None or element.bits % 8:
                raise TargetError(
                    f"elements of '{name}' are {element!r}, which transfers on a mesh do not move",
                    hint="use floats, or integers of 8, 16, 32 or 64 bits",
                )
            yield TileArray(name, number, tuple(kind.shape), element, element.bits // 8)

    def run(self) -> ReadProgram:
        grid, body = self._grid()
        extents = [(constant_bounds(op) or (0, 0))[1] for op in grid]
        if min(extents) < 1:
            raise TargetError(
                f"the grid of '{self.name}' has no programs: {' x '.join(map(str, extents))}",
                at=location_of(grid[extents.index(min(extents))]),
                hint="give extents of at least 1",
            )
        nodes = self._body(body, ())
        program = TileProgram(
            self.name, self.arrays, tuple(extents), tuple(self.names), nodes, local_bytes(self.entry, self.model)
        )
        _demand_independent(self.model, grid)
        self._demand_one_way()
        if not any(self.writes):
            hint = "assign what they compute to an argument"
            raise TargetError(f"programs of '{self.name}' write no array", hint=hint)
        for segment, loops in program.segments:
            for box, writes in self.writes[segment.number].items():
                demand_whole(program, loops, box, writes)
        return ReadProgram(program, self.module, self.name, grid, self.level_loops, tuple(self.segments))

    def _demand_one_way(self) -> None:
        """Refuse arrays that are read and written: a tile may be loaded long before it is used."""
        for access in self.model.accesses:
            if access.is_write or access.buffer.origin != "argument":
                continue
            for write in self.model.accesses:
                if write.is_write and write.buffer.label == access.buffer.label:
                    name = access.buffer.name
                    raise TargetError(
                        f"programs read and write '{name}': its tiles may be loaded before they are stored",
                        at=location_of(write.op),
                        hint="read another array; compute what is assigned in an array of the program",
                    )

    def _grid(self) -> tuple[tuple[ir.Operation, ...], ir.Block]:
        """The loops over programs, and the body of the innermost."""
        found: list[ir.Operation] = []
        block = self.entry
        while loops := [op for op in statements(block) if PROGRAM in op.attributes]:
            others = [op for op in statements(block) if op not in loops and op.name not in _NOTHING]
            if len(loops) > 1 or others:
                wrong = others[0] if others else loops[1]
                raise TargetError(
                    f"'{self.name}' does something beside its loop over programs",
                    at=location_of(wrong),
                    hint="move it into the loop, or to a kernel of its own",
                )
            if constant_bounds(loops[0]) is None:
                raise TargetError("the extents of a grid of programs must be constants", at=location_of(loops[0]))
            found.append(loops[0])
            self._enter(loops[0])
            block = loops[0].regions[0].blocks[0]
        if not found:
            raise TargetError(
                f"'{self.name}' has no loop over programs",
                hint="write `for m, n in tile.programs(M // BM, N // BN)` around its statements",
            )
        return tuple(found), block

    def _enter(self, op: ir.Operation) -> ModelLoop:
        loop = self.model.loop(op)
        self.levels[loop.variable] = len(self.names)
        self.level_loops[len(self.names)] = op
        self.names.append(loop.name)
        return loop

    def _body(self, block: ir.Block, around: tuple[int, ...]) -> tuple[TileNode, ...]:
        nodes: list[TileNode] = []
        run: list[ir.Operation] = []
        for op in statements(block):
            if op.name in ("affine.yield", "func.return"):
                continue
            if _is_over_tiles(op):
                self._close(run, nodes)
                nodes.append(self._loop(op, around))
            else:
                run.append(op)
        self._close(run, nodes)
        return tuple(nodes)

    def _loop(self, op: ir.Operation, around: tuple[int, ...]) -> TileLoop:
        loop = self._enter(op)
        level = self.levels[loop.variable]
        lower, upper = self._bounds(loop)
        trips = trips_of(op)
        if trips.greatest is None or trips.mean is None:
            raise TargetError(f"how often the loop '{loop.name}' over tiles runs is not known", at=location_of(op))
        body = self._body(op.regions[0].blocks[0], (*around, level))
        step = ir.IntegerAttr(op.attributes["step"]).value
        return TileLoop(level, loop.name, lower, upper, step, trips.greatest, float(trips.mean), body)

    def _bounds(self, loop: ModelLoop) -> tuple[LevelForm, LevelForm]:
        """The bounds of a loop over tiles as forms of the levels around: rows of its domain say them."""
        rows = [row.form for row in loop.pieces[0] if loop.variable in dict(row.form.terms) and not row.equality]
        lower = [form for form in rows if dict(form.terms)[loop.variable] == 1]
        upper = [form for form in rows if dict(form.terms)[loop.variable] == -1]
        if loop.exact and len(loop.pieces) == len(lower) == len(upper) == 1 and len(rows) == 2:
            others = [{v: c for v, c in form.terms if v != loop.variable} for form in (lower[0], upper[0])]
            if all(v in self.levels for terms in others for v in terms):
                return (
                    LevelForm(-lower[0].constant, tuple((self.levels[v], -c) for v, c in others[0].items())),
                    LevelForm(upper[0].constant + 1, tuple((self.levels[v], c) for v, c in others[1].items())),
                )
        raise TargetError(
            f"the bounds of the loop '{loop.name}' over tiles are not affine in programs and loops",
            at=location_of(loop.op),
            hint="give it one lower and one upper bound that are sums of ids and loop variables",
        )

    def _close(self, run: list[ir.Operation], nodes: list[TileNode]) -> None:
        """A segment of the statements in `run`, which is emptied."""
        if not run:
            return
        mine = [access for access in self.model.accesses if _stands_in(access.op, run)]
        arguments = [access for access in mine if access.buffer.origin == "argument"]
        loads = dict.fromkeys(self._box(a) for a in arguments if a.kind is AccessKind.READ)
        stores: dict[TileBox, list[Access]] = {}
        for access in arguments:
            if access.kind is AccessKind.WRITE:
                stores.setdefault(self._box(access), []).append(access)
        self.writes.append(stores)
        segment = TileSegment(len(self.segments), tuple(loads), tuple(stores), work_of(run, self.model))
        nodes.append(segment)
        self.segments.append(tuple(run))
        run.clear()

    def _box(self, access: Access) -> TileBox:
        at = Location(access.source.file, access.source.line, access.source.column) if access.source.line else None
        if not access.exact_elements or access.quotients:
            reason = access.reason or "divides"
            raise TargetError(f"the address `{access.text}` is not affine: it {reason}", at=at, hint=_AFFINE)
        if access.is_write and not access.exact_domain:
            raise TargetError(
                f"`{access.text}` is written under a condition of run time: {access.reason}",
                at=at,
                hint="compute the whole tile in an array of the program, and assign it to the argument at once",
            )
        array = next(array for array in self.arrays if array.name == access.buffer.name)
        lower, shape = [], []
        for form in access.subscripts:
            start, size = self._side(access, form, at)
            lower.append(start)
            shape.append(size)
        return TileBox(array, tuple(lower), tuple(shape))

    def _side(self, access: Access, form: Linear, at: Location | None) -> tuple[LevelForm, int]:
        """Where a dimension of a tile starts, and its size."""
        terms, constant, size = [], form.constant, 1
        for variable, coefficient in form.terms:
            if variable in self.levels:
                terms.append((self.levels[variable], coefficient))
                continue
            loop = next((loop for loop in access.loops if loop.variable == variable), None)
            known = _operator_side(access, variable) if loop is None else values_of(loop.op)
            if known is None:
                raise TargetError(f"the extents of the tile `{access.text}` are not known", at=at, hint=_AFFINE)
            constant += min(coefficient * known[0], coefficient * known[1])
            size += abs(coefficient) * (known[1] - known[0])
        return LevelForm(constant, tuple(sorted(terms))), size


def _operator_side(access: Access, variable: int) -> tuple[int, int] | None:
    """Between which values a variable of an operator on whole arrays is."""
    rows = {dict(row.form.terms).get(variable): row.form for row in access.rows if len(row.form.terms) == 1}
    return (-rows[1].constant, rows[-1].constant) if 1 in rows and -1 in rows else None


_NOTHING = ("affine.yield", "func.return", "arith.constant", "memref.get_global")
_AFFINE = "let addresses be sums of program ids and loop variables times constants: `A[m * BM:(m + 1) * BM]`"


def _is_over_tiles(op: ir.Operation) -> bool:
    """Whether arrays are declared, or operators of whole arrays used, in a loop: it goes over tiles, not elements."""
    if op.name != "affine.for":
        return False
    inner = operations(op.regions[0].blocks[0])
    arrays = (i for i in inner if i.name == "memref.alloc" and ir.MemRefType(i.results[0].type).rank)
    return any(True for _ in arrays) or any(i.name.startswith("linalg.") for i in inner)


def _inlined(module: Module) -> Module:
    """The module with the bodies of kernels in the places of their calls."""
    entry = entry_block(module.function(module.top))
    if entry is None or not operations(entry, "func.call"):
        return module
    copy = module.clone()
    top = copy.function(copy.top)
    entry = entry_block(top)
    assert entry is not None
    while calls := operations(entry, "func.call"):
        callee = copy.function(callee_name(calls[0]))
        if entry_block(callee) is None:
            raise TargetError(
                f"a tile program calls '{callee.name.value}', which has no body that cores could run",
                at=location_of(calls[0]),
                hint="write it as a kernel",
            )
        inline_call(calls[0], callee, top)
    leave_affine(top.operation)
    return copy


def _stands_in(op: ir.Operation, run: Sequence[ir.Operation]) -> bool:
    current: ir.Operation | None = op
    while current is not None:
        if current in run:
            return True
        current = None if current.parent is None else current.parent.operation
    return False


def _demand_independent(model: Model, grid: Sequence[ir.Operation]) -> None:
    """Refuse programs that use an element which another one writes."""
    for op in grid:
        found = carried_by(model, op)
        if isinstance(found, Violation):
            raise TargetError(
                f"programs are not independent: {found.describe()}",
                at=location_of(op),
                hint="let each program write a part of its own; add parts up in a second kernel",
            )
        if isinstance(found, Undecided):
            raise TargetError(f"whether programs are independent is not known: {found.describe()}", at=location_of(op))
