"""Loops on the lanes of the vector unit: which loop of a nest can be, and its C++ for the AIE vector API."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from mlir import ir

from ....ir.access import accessed, is_load, is_store, stored
from ....ir.walk import constant_bounds, induction_variable, operations, statements, string_of
from .contract import NAMES_OF_ELEMENTS
from .nests import address_of
from .operators import NoLanes, cpp_type, reduced_by, scalar_text, vector_text

_LANE_BYTES = (64, 32, 16)  # sizes of vectors, the best first
_BYTES = {"i8": 1, "i16": 2, "i32": 4, "bf16": 2, "f32": 4}


@dataclass(frozen=True, slots=True)
class LoopKernel:
    """A nest as a function of C++; `arrays` are its arguments, of which it writes those at `written`. `lanes` are how
    many iterations of loops are done at once."""

    name: str
    text: str
    arrays: tuple[ir.Value, ...]
    written: tuple[int, ...]
    lanes: Mapping[ir.Operation, int]


def loop_kernel(nest: ir.Operation, shared: Container[ir.Value] = ()) -> LoopKernel | str:
    """The kernel of a nest of loops; why there is none, if so. Arrays that are `shared` may be in the same memory."""
    try:
        return _Writer(nest, shared).kernel()
    except NoLanes as reason:
        return str(reason)


@dataclass(frozen=True, slots=True)
class _Lanes:
    """The loop that is on lanes: its variable, how many they are, and values that each lane has its own of."""

    variable: ir.Value
    count: int


@dataclass(slots=True)
class _Writer:
    """The function of one nest while it is written."""

    nest: ir.Operation
    shared: Container[ir.Value]
    lines: list[str] = field(default_factory=list)
    names: dict[ir.Value, str] = field(default_factory=dict)
    wide: set[ir.Value] = field(default_factory=set)  # values with a lane each
    own: dict[ir.Value, str] = field(default_factory=dict)  # arrays of one element that the nest alone uses
    lanes: dict[ir.Operation, int] = field(default_factory=dict)

    def kernel(self) -> LoopKernel:
        inside = [op for op in operations(self.nest.regions[0].blocks[0]) if is_load(op) or is_store(op)]
        arrays = list(dict.fromkeys(accessed(op) for op in inside))
        for array in arrays:
            if self._is_private(array, inside):
                self.own[array] = f"own{len(self.own)}"
            elif str(ir.MemRefType(array.type).element_type) not in NAMES_OF_ELEMENTS:
                raise NoLanes(f"the vector unit has no elements of type {ir.MemRefType(array.type).element_type}")
        passed = [array for array in arrays if array not in self.own]
        stores = {accessed(op) for op in inside if is_store(op)}
        passed.sort(key=lambda array: array in stores)
        for number, array in enumerate(passed):
            self.names[array] = f"a{number}"
        for array, name in self.own.items():
            self.lines.append(f"  {cpp_type(ir.MemRefType(array.type).element_type)} {name};")
        self._loop(self.nest, "  ")
        if not self.lanes:
            raise NoLanes("no loop goes over elements that follow one another, or their number fills no vectors")
        kinds = [cpp_type(ir.MemRefType(array.type).element_type) for array in passed]
        parameters = ", ".join(
            f"{'' if array in stores else 'const '}{kind} *{'' if array in self.shared else '__restrict '}a{k}"
            for k, (array, kind) in enumerate(zip(passed, kinds, strict=True))
        )
        body = "\n".join(self.lines)
        key = sha256("".join([parameters, body, *(str(array.type) for array in passed)]).encode()).hexdigest()[:8]
        name = f"{string_of(self.nest, 'allo.nest') or 'loops'}_{key}"
        text = (
            f'#include "allo_kernels.h"\n\nextern "C" void {name}({parameters}) {{\n'
            f"  allo_kernels::set_modes();\n{body}\n}}\n"
        )
        written = tuple(k for k, array in enumerate(passed) if array in stores)
        return LoopKernel(name, text, tuple(passed), written, self.lanes)

    def _is_private(self, array: ir.Value, inside: list[ir.Operation]) -> bool:
        kind = ir.MemRefType(array.type)
        alone = all(use.owner.operation in inside for use in array.uses)
        return not isinstance(array.owner, ir.Block) and alone and all(extent == 1 for extent in kind.shape)

    # -- loops -------------------------------------------------------------------------------------

    def _loop(self, loop: ir.Operation, indent: str, lanes: _Lanes | None = None) -> None:
        bounds = constant_bounds(loop)
        if loop.name != "affine.for" or bounds is None:
            raise NoLanes("a loop has bounds that are not constant, or there are branches")
        low, high, step = bounds
        variable = induction_variable(loop)
        self.names[variable] = name = f"i{len(self.names)}"
        count = _lanes_of(loop, high - low)
        if lanes is None and step == 1 and count > 1:
            if self._is_parallel(loop):
                self._head(indent, name, bounds, count)
                self.lanes[loop] = count
                self._body(loop, indent + "  ", _Lanes(variable, count))
                self.lines.append(f"{indent}}}")
                return
            if (found := self._reduction(loop)) is not None:
                self._reduced(loop, indent, bounds, _Lanes(variable, count), found)
                return
        self._head(indent, name, bounds, step)
        self._body(loop, indent + "  ", lanes)
        self.lines.append(f"{indent}}}")

    def _head(self, indent: str, name: str, bounds: tuple[int, int, int], step: int) -> None:
        low, high, _ = bounds
        self.lines.append(f"{indent}ALLO_PIPELINED({max((high - low) // step, 1)})")
        self.lines.append(f"{indent}for (int {name} = {low}; {name} < {high}; {name} += {step}) {{")

    def _body(self, loop: ir.Operation, indent: str, lanes: _Lanes | None) -> None:
        if lanes is not None and induction_variable(loop) == lanes.variable:
            for array in self._own_of(loop):
                kind = cpp_type(ir.MemRefType(array.type).element_type)
                self.lines.append(f"{indent}aie::vector<{kind}, {lanes.count}> {self.own[array]};")
        for op in statements(loop.regions[0].blocks[0])[:-1]:
            if len(op.regions):
                self._loop(op, indent, lanes)
            else:
                self._statement(op, indent, lanes)

    def _own_of(self, loop: ir.Operation) -> list[ir.Value]:
        used = dict.fromkeys(accessed(op) for op in _accesses(loop))
        return [array for array in used if array in self.own and self._begins(loop, array)]

    def _is_parallel(self, loop: ir.Operation) -> bool:
        """Whether iterations of a loop may be lanes: each has elements of its own, one after the other."""
        variable = induction_variable(loop)
        accesses = list(_accesses(loop))
        stores = [op for op in accesses if is_store(op)]
        forms = {op: address_of(op) for op in accesses}
        for op in accesses:
            array, form = accessed(op), forms[op]
            if array in self.own:
                if any(accessed(store) == array for store in stores) and not self._begins(loop, array):
                    return False
                continue
            if form is None or form[0].get(variable, 0) not in (0, 1):
                return False
            if any(accessed(store) == array for store in stores) and any(
                forms[other] != form or form[0].get(variable, 0) != 1
                for other in accesses if accessed(other) == array
            ):  # fmt: skip
                return False
        return bool(stores) and any(
            (form := forms[op]) is not None and form[0].get(variable, 0) == 1 for op in accesses
        )

    def _begins(self, loop: ir.Operation, array: ir.Value) -> bool:
        """Whether each iteration of a loop stores into an array of one element before it reads it."""
        own = [op for op in _accesses(loop) if accessed(op) == array]
        outside = any(use.owner.operation not in own for use in array.uses)
        return bool(own) and not outside and is_store(own[0]) and own[0].block == loop.regions[0].blocks[0]

    def _reduction(self, loop: ir.Operation) -> tuple[ir.Operation, ir.Operation, ir.Value, str] | None:
        """The store of what an innermost loop sums, or is the largest of, its load, what is added, and the function."""
        body = statements(loop.regions[0].blocks[0])[:-1]
        variable = induction_variable(loop)
        if any(len(op.regions) for op in body):
            return None
        still = [op for op in body if is_store(op) and _stride(op, variable) == 0]
        moving = [op for op in body if (is_load(op) or is_store(op)) and op not in still]
        if len(still) != 1:
            return None
        (store,) = still
        loads = [op for op in moving if is_load(op) and accessed(op) == accessed(store)]
        if len(loads) != 1 or address_of(loads[0]) != address_of(store) or any(
            _stride(op, variable) not in (0, 1) or (is_store(op) and _stride(op, variable) != 1) for op in moving
        ):
            return None
        written = {accessed(op) for op in moving if is_store(op)}
        if any(is_load(op) and accessed(op) in written for op in moving):
            return None
        found = reduced_by(stored(store), loads[0].results[0])
        return None if found is None else (store, loads[0], *found)

    def _reduced(
        self, loop: ir.Operation, indent: str, bounds: tuple[int, int, int], lanes: _Lanes,
        found: tuple[ir.Operation, ir.Operation, ir.Value, str],
    ) -> None:  # fmt: skip
        """Write an innermost loop whose lanes keep a result each, which are joined behind it."""
        store, load, value, function = found
        kind, count = cpp_type(value.type), lanes.count
        total, place = f"sum{len(self.lines)}", self._place(load, None)
        begin = f"aie::zeros<{kind}, {count}>()" if function == "add" else f"aie::broadcast<{kind}, {count}>({place})"
        self.lines.append(f"{indent}aie::vector<{kind}, {count}> {total} = {begin};")
        self._head(indent, self.names[lanes.variable], bounds, count)
        self.lanes[loop] = count
        skipped = {store, load, *_made_of(stored(store), value)}
        for op in statements(loop.regions[0].blocks[0])[:-1]:
            if op not in skipped:
                self._statement(op, indent + "  ", lanes)
        self.lines.append(f"{indent}  {total} = aie::{function}({total}, {self._wide(value, count)});")
        self.lines.append(f"{indent}}}")
        reduced = f"aie::reduce_{function}({total})"
        joined = {
            "add": f"{kind}({place} + {reduced})",
            "max": f"{place} > {reduced} ? {place} : {reduced}",
            "min": f"{place} < {reduced} ? {place} : {reduced}",
        }[function]
        self.lines.append(f"{indent}{place} = {joined};")

    # -- statements --------------------------------------------------------------------------------

    def _statement(self, op: ir.Operation, indent: str, lanes: _Lanes | None) -> None:
        if is_store(op):
            self._store(op, indent, lanes)
            return
        if op.name == "memref.alloc" and op.results[0] in self.own:
            return
        if len(op.results) != 1:
            raise NoLanes(f"there is no '{op.name}' for lanes")
        result = op.results[0]
        name = f"v{len(self.names)}"
        if is_load(op):
            text, is_wide = self._load(op, lanes)
        elif lanes is not None and any(operand in self.wide for operand in op.operands):
            text = vector_text(op, [self._wide(operand, lanes.count) for operand in op.operands], lanes.count)
            is_wide = True
        else:
            text, is_wide = scalar_text(op, [self.names.get(operand, "") for operand in op.operands]), False
        self.names[result] = name
        if is_wide:
            self.wide.add(result)
        self.lines.append(f"{indent}auto {name} = {text};")

    def _load(self, op: ir.Operation, lanes: _Lanes | None) -> tuple[str, bool]:
        array = accessed(op)
        if array in self.own:
            return self.own[array], lanes is not None and self._begins(_loop_of(op, lanes.variable), array)
        if lanes is None or not _stride(op, lanes.variable):
            return self._place(op, lanes), False
        return f"aie::load_unaligned_v<{lanes.count}>(&{self._place(op, lanes)})", True

    def _store(self, op: ir.Operation, indent: str, lanes: _Lanes | None) -> None:
        array, value = accessed(op), stored(op)
        if lanes is None:
            text = self.names.get(value) or _constant(value)
            self.lines.append(f"{indent}{self._place(op, None)} = {text};")
        elif array in self.own:
            self.lines.append(f"{indent}{self.own[array]} = {self._wide(value, lanes.count)};")
        else:
            wide = self._wide(value, lanes.count)
            self.lines.append(f"{indent}aie::store_unaligned_v(&{self._place(op, lanes)}, {wide});")

    def _wide(self, value: ir.Value, count: int) -> str:
        """A value with the same number in all lanes, if it has no lanes yet."""
        if value in self.wide:
            return self.names[value]
        return f"aie::broadcast<{cpp_type(value.type)}, {count}>({self.names.get(value) or _constant(value)})"

    def _place(self, op: ir.Operation, lanes: _Lanes | None) -> str:
        """An element of an array, that of the first lane."""
        if accessed(op) in self.own:
            return self.own[accessed(op)]
        form = address_of(op)
        if form is None:
            raise NoLanes("subscripts are no sums of loop variables")
        strides, offset = form
        terms = [f"{self.names[variable]} * {stride}" for variable, stride in strides.items() if stride]
        return f"{self.names[accessed(op)]}[{' + '.join([*terms, str(offset)])}]"


def _constant(value: ir.Value) -> str:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        raise NoLanes("a number from outside of the nest is used")
    return scalar_text(owner.operation, [])


def _accesses(loop: ir.Operation) -> Iterator[ir.Operation]:
    return (op for op in operations(loop.regions[0].blocks[0]) if is_load(op) or is_store(op))


def _stride(op: ir.Operation, variable: ir.Value) -> int | None:
    form = address_of(op)
    return None if form is None else form[0].get(variable, 0)


def _loop_of(op: ir.Operation, variable: ir.Value) -> ir.Operation:
    """The loop around a statement that has a variable."""
    around = op.parent.operation
    while induction_variable(around) != variable:
        around = around.parent.operation
    return around


def _made_of(result: ir.Value, value: ir.Value) -> list[ir.Operation]:
    """The operations that join a value to a result."""
    made: list[ir.Operation] = []
    pending = [result]
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, ir.Block) or is_load(owner.operation) or owner.operation in made:
            continue
        if value in owner.operation.results:
            continue
        made.append(owner.operation)
        pending += list(owner.operation.operands)
    return made


def _lanes_of(loop: ir.Operation, trips: int) -> int:
    """How many lanes a loop has: those of the widest values in it, which fill a vector or a part of one; 1 if none."""
    kinds: Mapping[str, int] = _BYTES
    values = [op.results[0].type for op in operations(loop.regions[0].blocks[0]) if len(op.results) == 1]
    values += [stored(op).type for op in _accesses(loop) if is_store(op)]
    sizes = [kinds[str(kind)] for kind in values if str(kind) in kinds] or [1]
    if any(isinstance(kind, ir.IntegerType) and kind.width > 32 for kind in values):
        raise NoLanes("integers of more than 32 bits are computed")
    counts = (size // max(sizes) for size in _LANE_BYTES)
    return next((n for n in counts if trips and trips % n == 0 and n * min(sizes) >= _LANE_BYTES[-1]), 1)
