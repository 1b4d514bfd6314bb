"""Elements of segments as statements on whole arrays: loops over elements are distributed over what they do."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from mlir import ir

from ...ir.access import accessed, is_access, is_store, stored
from ...ir.linalg import indexing_maps, is_structured, output_count
from ...ir.mlir_types import scalar_from_mlir
from ...ir.walk import argument_names, entry_block, statements, string_of
from ...mapping.tiles.program import LevelForm, TileBox
from ...poly import Access, Linear, model_of, values_of
from ..mesh.reading import ReadProgram
from .branches import COMPARED, ChoiceSide, choice
from .statements import (
    COL,
    ROW,
    TILE,
    Apply,
    Chosen,
    CoreTiles,
    ElementLoop,
    ElementStatement,
    Everywhere,
    Expression,
    Masked,
    MaskRow,
    Read,
    reads_of,
    refusal,
)

_PLAIN = {"arith.addf": "add", "arith.subf": "sub", "arith.mulf": "mul", "arith.divf": "div",
          "arith.maximumf": "max", "arith.minimumf": "min", "arith.maxnumf": "max", "arith.minnumf": "min",
          "arith.negf": "negative", "math.exp": "exp", "math.sqrt": "sqrt", "math.rsqrt": "rsqrt", "math.log": "log",
          "math.tanh": "tanh", "math.absf": "abs", "arith.addi": "add", "arith.subi": "sub", "arith.muli": "mul",
          "arith.maxsi": "max", "arith.minsi": "min"}  # fmt: skip
_CUT = ("arith.addi", "arith.subi", "arith.muli")  # whose low bits need only low bits
_SAME = ("arith.extf", "arith.truncf", "arith.extsi", "arith.trunci")
_READ = 32  # bytes, of which addresses in DRAM that are read are multiples (NOC_DRAM_READ_ALIGNMENT_BYTES)
_ELEMENTS = ("f32", "bf16", "i32")
_MEANT = "compute with float32, bfloat16 or int32 in loops over elements from 0 on, or with operators of whole arrays"


class ElementReader:
    """The statements of all segments of a program; arrays of arguments are the boxes that segments load and store."""

    def __init__(self, read: ReadProgram) -> None:
        self.read = read
        function = read.module.function(read.function)
        entry = entry_block(function)
        assert entry is not None
        self.model = model_of(read.module, read.function)
        self.names = dict(zip(entry.arguments, argument_names(function), strict=True))
        self.accesses = {(access.op, access.is_write): access for access in self.model.accesses}
        self.levels = {self.model.loop(op).variable: level for level, op in read.loops.items()}
        self.held: dict[ir.Value, CoreTiles] = {}
        self.boxes: dict[tuple[int, TileBox, bool], CoreTiles] = {}
        self.loops: dict[ir.Operation, ElementLoop] = {}
        self.where: dict[ir.Value, tuple[ElementLoop, ...]] = {}  # subscripts of scalars that loops declare
        self.values: dict[ir.Value, Expression] = {}
        self.found: list[ElementStatement] = []
        self.under: list[ChoiceSide] = []
        self.cut: set[ir.Value] = set()  # integers of more than 32 bits, of which registers hold the low ones

    def segment(self, number: int) -> list[ElementStatement]:
        """The statements of a segment, in order."""
        self.number, self.found = number, []
        for op in self.read.segments[number]:
            self._statement(op, ())
        return self.found

    def _statement(self, op: ir.Operation, loops: tuple[ElementLoop, ...]) -> None:
        if op.name == "memref.alloc":
            self._allocate(op, loops)
        elif op.name == "affine.for":
            first = len(self.found)
            loop = self._loop(op)
            for inner in statements(op.regions[0].blocks[0]):
                self._statement(inner, (*loops, loop))
            _demand_distributed(self.found[first:], loop, op)
        elif op.name == "affine.if":
            for region in op.regions:
                for block in region.blocks:
                    for inner in statements(block):
                        self._statement(inner, loops)
        elif op.name == "scf.if":
            self._chosen(op, loops)
        elif is_structured(op):
            self._structured(op)
        elif is_access(op):
            if is_store(op):
                self._store(op, loops)
            else:
                self.values[op.results[0]] = self._load(op)
        elif op.name not in ("affine.yield", "affine.apply", "memref.dealloc", "scf.yield"):
            self._value(op)

    def _loop(self, op: ir.Operation) -> ElementLoop:
        values = values_of(op)
        name = string_of(op, "allo.name") or "loop"
        if values is None or values[0] != 0 or ir.IntegerAttr(op.attributes["step"]).value != 1:
            raise refusal(f"the loop '{name}' over elements does not count from 0 to a constant", op, _MEANT)
        self.loops[op] = ElementLoop(name, values[1] + 1)
        return self.loops[op]

    def _allocate(self, op: ir.Operation, loops: tuple[ElementLoop, ...]) -> None:
        kind = ir.MemRefType(op.results[0].type)
        name = string_of(op, "allo.name") or "array"
        if loops and kind.rank:
            raise refusal(f"'{name}' is declared in a loop over elements", op, "declare it in front of the loops")
        extents = tuple(loop.extent for loop in loops) if loops else tuple(n for n in kind.shape if n > 1)
        if len(extents) > 2:
            raise refusal(f"'{name}' has {len(extents)} dimensions: tiles have two", op, "loop over the others")
        self.where[op.results[0]] = loops
        self.held[op.results[0]] = CoreTiles(name, extents, self._element(kind, name, op), op=op)

    def _element(self, kind: ir.MemRefType, name: str, op: ir.Operation | None) -> str:
        if str(kind.element_type) not in _ELEMENTS:
            kind_name = repr(scalar_from_mlir(kind.element_type))
            raise refusal(f"elements of '{name}' are {kind_name}, which tiles do not have here", op, _MEANT)
        return repr(scalar_from_mlir(kind.element_type))

    def _of(self, op: ir.Operation) -> tuple[CoreTiles, tuple[ElementLoop, ...]]:
        """The array that a load or store uses, and its subscripts."""
        access, array = self.accesses[op, is_store(op)], accessed(op)
        if array in self.names:
            return self._box_of(op, access, array)
        if array not in self.held:
            raise refusal(f"`{access.text}` uses a constant array", op, "pass it as an argument")
        if self.where[array]:
            return self.held[array], self.where[array]
        kept = [form for form, n in zip(access.subscripts, _shape(array), strict=True) if n > 1]
        return self.held[array], tuple(self._subscript(form, access, op) for form in kept)

    def _subscript(self, form: Linear, access: Access, op: ir.Operation) -> ElementLoop:
        if access.exact_elements and not access.quotients and not form.constant and len(form.terms) == 1:
            variable, coefficient = form.terms[0]
            loop = next((known.op for known in access.loops if known.variable == variable), None)
            if coefficient == 1 and loop in self.loops:
                return self.loops[loop]
        raise refusal(
            f"`{access.text}` does not go through a tile in steps of 1 from its start",
            op,
            "subscribe arrays with loop variables only; tiles of arguments start at multiples of 32",
        )

    def _box_of(
        self, op: ir.Operation, access: Access, array: ir.Value
    ) -> tuple[CoreTiles, tuple[ElementLoop, ...]]:
        forms, inner = [], []
        for form in access.subscripts:
            level = tuple((self.levels[v], c) for v, c in form.terms if v in self.levels)
            forms.append(LevelForm(form.constant, tuple(sorted(level))))
            inner.append(Linear(0, tuple((v, c) for v, c in form.terms if v not in self.levels)))
        kept = [self._subscript(form, access, op) for form in inner if form.terms]
        segment = next(s for s, _ in self.read.program.segments if s.number == self.number)
        shape = tuple(self._subscript(form, access, op).extent if form.terms else 1 for form in inner)
        boxes = segment.stores if access.is_write else segment.loads
        name = self.names[array]
        box = next((b for b in boxes if b.array.name == name and b.lower == tuple(forms) and b.shape == shape), None)
        if box is None:
            raise refusal(f"`{access.text}` is no tile of its own", op, _MEANT)
        key = (self.number, box, access.is_write)
        if key not in self.boxes:
            self.boxes[key] = self._held_box(box, access, array, op)
        return self.boxes[key], tuple(loop for loop in kept if loop.extent > 1)

    def _held_box(self, box: TileBox, access: Access, array: ir.Value, op: ir.Operation) -> CoreTiles:
        """What a tile of an argument is in a core, where tiles of 32 x 32 allow it."""
        axes, extents, by_rows = [], [], False
        rank = len(box.shape)
        kind = self._element(ir.MemRefType(array.type), box.array.name, op)
        for dim, (form, size, extent) in enumerate(zip(box.lower, box.shape, box.array.shape, strict=True)):
            if dim < rank - 2:
                if size > 1:
                    hint = "let a program id or loop count them"
                    raise refusal(f"`{access.text}` has more than two dimensions", op, hint)
                continue
            step = gcd(form.constant, *(c for _, c in form.terms))
            aligned = extent == 1 or not step % TILE
            reads = dim == rank - 2 or not step * box.array.element_bytes % _READ  # rows of any place can be read
            by_rows |= not aligned
            if not (aligned or reads or size % TILE or access.is_write):
                raise refusal(
                    f"{box.text(self.read.program.names)} begins at columns that are no multiples of {_READ} bytes, "
                    "which DRAM is read by",
                    op,
                    f"let blocks begin at multiples of {_READ // box.array.element_bytes} columns",
                )
            if (extent > 1 and size % TILE) or (by_rows and (rank == 1 or access.is_write)):
                raise refusal(
                    f"{box.text(self.read.program.names)} does not consist of tiles of 32 x 32",
                    op,
                    "make blocks multiples of 32; conditions may mask what is outside of the array",
                )
            if size > 1:
                axes.append((ROW, COL)[dim - (rank - 2)])
                extents.append(size)
        known = tuple(axes) if rank > 1 or not axes else None
        return CoreTiles(box.array.name, tuple(extents), kind, known, box, access.is_write, by_rows, op)

    def _load(self, op: ir.Operation) -> Expression:
        return Read(*self._of(op))

    def _store(self, op: ir.Operation, loops: tuple[ElementLoop, ...]) -> None:
        held, where = self._of(op)
        access = self.accesses[op, True]
        value = self._operand(stored(op), op)
        for branch in reversed(self.under):
            if any(read.held in branch.written for read in reads_of(branch.condition)):
                raise refusal("a condition reads what was written under it", op, "keep the condition in an array")
            value = branch.chosen(value, Read(held, where))
            branch.written.append(held)
        if rows := self._rows(access, op):
            value = Masked(rows, value, Read(held, where))
        self._emit(ElementStatement(held, where, value, loops, op))

    def _emit(self, statement: ElementStatement) -> None:
        """A statement; values that were read before keep what they were read of."""
        self.found.append(statement)
        for value, known in self.values.items():
            late = any(read.held is statement.target for read in reads_of(known))
            if late and any(_stands_behind(use.owner.operation, statement.op) for use in value.uses):
                name = statement.target.name
                message = f"an element of '{name}' is used after it was written over"
                raise refusal(message, statement.op, "read it again, or copy it")

    def _rows(self, access: Access, op: ir.Operation) -> tuple[tuple[MaskRow, ...], ...]:
        """The condition of a store: alternatives of rows; none if it holds always."""
        known = {row for loop in access.loops for piece in loop.pieces for row in piece}
        if not access.exact_domain and not self.under:
            raise refusal(f"`{access.text}` is written under a condition of run time", op, "use max, min or a mask")
        alternatives = []
        for piece in access.pieces:
            rows = []
            for row in piece:
                if row in known:
                    continue
                rows.append(self._row(row.form, access))
                if row.equality:
                    rows.append(self._row(row.form.scaled(-1), access))
            if not rows:
                return ()
            alternatives.append(tuple(rows))
        return tuple(alternatives)

    def _row(self, form: Linear, access: Access) -> MaskRow:
        levels = tuple(sorted((self.levels[v], c) for v, c in form.terms if v in self.levels))
        ops = {loop.variable: loop.op for loop in access.loops}
        loops = tuple((self.loops[ops[v]], c) for v, c in form.terms if v not in self.levels)
        return MaskRow(LevelForm(form.constant, levels), loops)

    def _operand(self, value: ir.Value, op: ir.Operation) -> Expression:
        if value not in self.values:
            raise refusal("a value is computed in a way that tiles do not have", op, _MEANT)
        return self.values[value]

    def _value(self, op: ir.Operation) -> None:
        results = list(op.results)
        if op.name == "arith.constant":
            self._constant(op)
        elif op.name in _SAME:
            narrow = {"arith.trunci": results[0].type, "arith.extsi": op.operands[0].type}.get(op.name)
            if isinstance(narrow, ir.IntegerType) and narrow.width < (32 if op.name == "arith.trunci" else 2):
                kinds = f"{op.operands[0].type} to {results[0].type}"
                raise refusal(f"a conversion from {kinds} is no operation of tiles here", op, _MEANT)
            self.values[results[0]] = self._operand(op.operands[0], op)
            self._cut(op, op.operands[0] in self.cut)
        elif op.name in _PLAIN:
            if op.name not in _CUT:
                self._demand_exact(op)
            operands = tuple(self._operand(operand, op) for operand in op.operands)
            self.values[results[0]] = Apply(_PLAIN[op.name], operands)
            self._cut(op, op.name in _CUT)
        elif op.name == "arith.select":
            self.values[results[0]] = choice(*(self._operand(operand, op) for operand in op.operands))
            self._cut(op, any(operand in self.cut for operand in op.operands))
        elif op.name == "arith.xori" and Everywhere(1) in (sides := [self._operand(one, op) for one in op.operands]):
            left, right = sides
            self.values[results[0]] = Chosen(right if left == Everywhere(1) else left, Everywhere(0), Everywhere(1))
        elif op.name in COMPARED:
            self.values[results[0]] = self._compared(op)
        else:
            raise refusal(f"`{op.name}` is no operation of tiles here", op, _MEANT)

    def _constant(self, op: ir.Operation) -> None:
        kind = op.results[0].type
        if isinstance(kind, ir.F32Type | ir.BF16Type):
            self.values[op.results[0]] = Everywhere(ir.FloatAttr(op.attributes["value"]).value)
        elif isinstance(kind, ir.IntegerType):
            number = ir.IntegerAttr(op.attributes["value"]).value
            self.values[op.results[0]] = Everywhere(abs(number) if kind.width == 1 else number)
            self._cut(op, not -(1 << 31) <= number < 1 << 31)

    def _cut(self, op: ir.Operation, is_cut: bool) -> None:
        """Note that the result of an operation is more than the 32 bits that a register holds of it."""
        kind = op.results[0].type
        if is_cut and isinstance(kind, ir.IntegerType) and kind.width > 32:
            self.cut.add(op.results[0])

    def _demand_exact(self, op: ir.Operation) -> None:
        if any(operand in self.cut for operand in op.operands):
            hint = "assign it to an int32 first, if it fits"
            raise refusal("integers of more than 32 bits are compared, which registers do not hold", op, hint)

    def _compared(self, op: ir.Operation) -> Expression:
        """1 or 0 for each element."""
        known, number = COMPARED[op.name], ir.IntegerAttr(op.attributes["predicate"]).value
        name = known[number] if number < len(known) else None
        left, right = op.operands
        self._demand_exact(op)
        if name is None or left not in self.values or right not in self.values:
            raise refusal("what is compared here is no element of a tile", op, _MEANT)
        return Apply(name, (self.values[left], self.values[right]))

    def _chosen(self, op: ir.Operation, loops: tuple[ElementLoop, ...]) -> None:
        """A choice by data: both sides are computed, and of what they give or store one is taken."""
        condition, sides, yielded = self._operand(op.operands[0], op), [], list[ir.Value]()
        for number, region in enumerate(op.regions):
            for block in region.blocks:
                self.under.append(ChoiceSide(condition, number == 0))
                for inner in statements(block):
                    self._statement(inner, loops)
                self.under.pop()
                last = list(block.operations)[-1].operation
                sides.append([self._operand(operand, op) for operand in last.operands])
                yielded += last.operands
        for result, *values in zip(op.results, *sides, strict=True) if len(op.results) else ():
            self.values[result] = choice(condition, *values)
            self._cut(op, any(v in self.cut for v in yielded))

    def _structured(self, op: ir.Operation) -> None:
        """An operation on whole arrays: its body, for each element."""
        maps, operands = indexing_maps(op), list(op.operands)
        extents = [1] * maps[0].n_dims
        for operand, access in zip(operands, maps, strict=True):
            for result, extent in zip(access.results, _shape(operand), strict=False):
                if not isinstance(result, ir.AffineDimExpr):
                    raise refusal(f"`{op.name}` does not go through its arrays element by element", op, _MEANT)
                extents[result.position] = extent
        loops = [ElementLoop(f"{string_of(op, 'allo.nest') or op.name}_{k}", n) for k, n in enumerate(extents)]
        block = op.regions[0].blocks[0]
        places: list[tuple[CoreTiles, tuple[ElementLoop, ...]] | None] = []
        for operand, access, argument in zip(operands, maps, block.arguments, strict=True):
            if not isinstance(operand.type, ir.MemRefType):
                self.values[argument] = self._operand(operand, op)
                places.append(None)
                continue
            if operand not in self.held:
                raise refusal(f"`{op.name}` takes an argument as it is", op, "load it to an array of the program")
            where = [loops[result.position] for result in access.results]
            place = (self.held[operand], tuple(loop for loop in where if loop.extent > 1))
            places.append(place)
            self.values[argument] = Read(*place)
        *body, last = list(block.operations)
        for inner in body:
            self._value(inner.operation)
        results = list(last.operation.operands)
        kept = tuple(loop for loop in loops if loop.extent > 1)
        for output, result in zip(places[len(places) - output_count(op) :], results, strict=True):
            assert output is not None
            self.found.append(ElementStatement(*output, self._operand(result, op), kept, op))


def _shape(value: ir.Value) -> tuple[int, ...]:
    return tuple(ir.MemRefType(value.type).shape) if isinstance(value.type, ir.MemRefType) else ()


def _stands_behind(use: ir.Operation, op: ir.Operation) -> bool:
    """Whether an operation stands behind another one in the same block, or inside of one that does."""
    block = op.block
    while use.block != block:
        parent = use.parent
        if parent is None or parent.name == "func.func":
            return False
        use = parent.operation
    order = list(statements(block))
    return order.index(use) > order.index(op)


def _demand_distributed(found: Sequence[ElementStatement], loop: ElementLoop, op: ir.Operation) -> None:
    """Refuse a loop over elements whose statements cannot run one after the other, each for all iterations."""
    for target in dict.fromkeys(statement.target for statement in found):
        users = [(s, r.loops) for s in found for r in reads_of(s.value) if r.held is target]
        users += [(s, s.where) for s in found if s.target is target]
        places = {where.index(loop) if loop in where else None for _, where in users}
        if places == {None}:
            if len({statement for statement, _ in users}) == 1:
                continue  # one statement that adds up
        elif len(places) == 1:
            continue
        raise refusal(
            f"iterations of '{loop.name}' depend on one another by '{target.name}'",
            op,
            "split the loop, so that each part does one thing with all elements",
        )
