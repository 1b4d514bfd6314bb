"""Memory in C++: declarations with their pragmas, accesses, bits of variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ....errors import Location, TargetError
from ....ir.memory import Memory
from ....ir.mlir_types import scalar_from_mlir
from ....ir.partitions import divisions_of, is_partitioned
from ....ir.registers import fixed_place
from ....ir.walk import location_of, string_of
from ...open_arrays import is_open
from .expression import Expr
from .names import Names, identifier
from .stream_statements import StreamWriter
from .vendor import Array, Banks, BoundMemory

MEMORY = "allo.memory"  # the attribute of an array that the user has bound


class MemoryWriter(StreamWriter):
    """The statements that declare, read and write."""

    def element(self, op: ir.Operation, first: int) -> Expr:
        """The element of an array that an access names: its operands from `first` on, the array in front of them."""
        operands = self.body.operands(op)
        memref, values = operands[first - 1], operands[first:]
        subscripts = self._affine(op, "map", values) if "map" in op.attributes else self.take(values)
        array = self.exprs[memref].text
        _, type_text, width = self.types.of_elements(memref.type)
        texts = [subscript.text for subscript in subscripts]
        text = array + "".join([f"[{subscript}]" for subscript in texts])
        if not type_text:
            if self.vendor.streams.array is not None:
                text = f"{array}[{linear(texts, ir.MemRefType(memref.type).shape)}]"
            return Expr(text)
        return Expr(text, reads=True, type=type_text, width=width)

    def _load(self, op: ir.Operation) -> list[str]:
        lines = self._declared(self.body.operands(op)[:1])
        expr = self.element(op, 1)
        if not expr.type:  # a stream is a reference
            self.exprs[op.results[0]] = expr
            return lines
        return [*lines, *self.set_value(op, expr)]

    def _store(self, op: ir.Operation) -> list[str]:
        stored, memref, *rest = self.body.operands(op)
        kind = self.types.of_elements(memref.type)[0]
        if memref in self.undeclared and memref not in rest:
            value = self.take([stored])[0]
            if value.kind != "set":
                lines = self.flush(())
                name = self.undeclared.pop(memref)
                return [
                    *lines,
                    f"{self.types.of(kind)} {name} = {self.assigned(value, kind)};",
                    *self._unread(memref, name),
                ]
        lines = self._declared([memref])
        value = self.take([stored])[0]
        target = self.element(op, 2)
        lines += self.flush(())
        if value.kind == "set":
            return [*lines, *self._store_bits(value, target, kind)]
        return [*lines, f"{target.text} = {self.assigned(value, kind)};"]

    def _declared(self, memrefs: Sequence[ir.Value]) -> list[str]:
        """Declarations of the variables among `memrefs` that still wait for one."""
        lines = []
        for memref in memrefs:
            if memref in self.undeclared:
                name = self.undeclared.pop(memref)
                lines.append(f"{self.types.of(ir.MemRefType(memref.type).element_type)} {name};")
                lines += self._unread(memref, name)
        return lines

    def _declare_all(self) -> list[str]:
        return self._declared(list(self.undeclared))

    def _unread(self, memref: ir.Value, name: str) -> list[str]:
        """Compilers warn of variables that are only assigned."""
        return [f"(void){name};"] if self.body.is_only_stored_to(memref) else []

    def _declare(self, op: ir.Operation) -> list[str]:
        result = op.results[0]
        if op.name == "allo.element_cast":
            self.exprs[result] = self.exprs[op.operands[0]]
            return []
        if op.name == "memref.get_global":
            name = self.globals[ir.FlatSymbolRefAttr(op.attributes["name"]).value]
            self.exprs[result] = Expr(name)
            _check_depthless(op)
            return [*self.layout(result.type, name), *self.storage(op.attributes, result.type, name)]
        if result in self.outputs:
            self.exprs[result] = Expr(self.outputs[result])
            return self.storage(op.attributes, result.type, self.outputs[result], location_of(op))
        if not self.body.uses(result):
            return []
        name = identifier(string_of(op, "allo.name") or "buffer", self.taken)
        self.exprs[result] = Expr(name)
        if op.name == "allo.stream_create":
            return self._stream_declaration(op, result.type, (), name)
        memref = ir.MemRefType(result.type)
        if isinstance(memref.element_type, allo_d.StreamType):
            return self._stream_declaration(op, memref.element_type, memref.shape, name)
        if not memref.shape:
            self.undeclared[result] = name
            return []
        return [*self.array(memref, name, op), *self._unread(result, name)]

    def _register(self, op: ir.Operation) -> list[str]:
        """A name for one element of an array, which calls of processing elements pass."""
        array = op.operands[0]
        place = () if is_open(op.results[0].type) else fixed_place(op)
        if place is None:
            raise TargetError(f"HLS C++ has no form of '{op.name}'", at=location_of(op))
        self.exprs[op.results[0]] = Expr(self.exprs[array].text + "".join(f"[{k}]" for k in place))
        return []

    def array(self, memref: ir.MemRefType, name: str, op: ir.Operation) -> list[str]:
        """The declaration of an array that a function makes."""
        array = self._described(memref, name, is_argument=False, at=location_of(op))
        banks, memory = _banks(memref), bound_memory(op.attributes)
        arrays, element = self.vendor.arrays, self.types.of(memref.element_type)
        declared = f"{arrays.attributes(array, banks, memory)}{element} {name}{self.extents(memref)};"
        return [declared, *self.vendor.partition(array, banks), *(arrays.storage(array, memory) if memory else ())]

    def _described(
        self, memref: ir.MemRefType, name: str, *, is_argument: bool, at: Location | None = None
    ) -> Array:
        kind = memref.element_type
        bits = 0 if isinstance(kind, allo_d.StreamType) else scalar_from_mlir(kind).bits
        return Array(name, tuple(memref.shape), bits, is_argument, at)

    def extents(self, memref: ir.MemRefType) -> str:
        return "".join("[]" if extent < 0 else f"[{extent}]" for extent in memref.shape)

    def layout(self, kind: ir.Type, name: str) -> list[str]:
        """What partitions an array from outside of the function."""
        memref = ir.MemRefType(kind)
        banks = _banks(memref)
        return self.vendor.partition(self._described(memref, name, is_argument=True), banks) if banks else []

    def storage(
        self, attributes: ir.OpAttributeMap | ir.DictAttr, kind: ir.Type, name: str, at: Location | None = None
    ) -> list[str]:
        """What binds the memory of an array from outside of the function, called `name`."""
        memory = bound_memory(attributes)
        if memory is None:
            return []
        array = self._described(ir.MemRefType(kind), name, is_argument=True, at=at)
        lines = self.vendor.arrays.storage(array, memory)
        if self.array_port and memory.depth is not None and memory.kind != "fifo":
            lines.append(self.array_port.format(name=name, depth=memory.depth))
        return lines

    def _copy(self, op: ir.Operation) -> list[str]:
        """Element by element, in loops."""
        operands = self.body.operands(op)
        source, target = self.take(operands)
        lines = [*self._declared(operands), *self.flush(())]
        return [*lines, *copy_loops(ir.MemRefType(operands[0].type), source.text, target.text, self.taken)]

    # -- bits ------------------------------------------------------------------------------------

    def _set_bits(self, op: ir.Operation) -> list[str]:
        operands = self.take(self.body.operands(op))
        word = self.operations.word(op.operands[0], operands[0])
        if op.name == "allo.set_bit":
            change = f"[{operands[1].text}] = {operands[2].text}"
        else:
            value = self.operations.word(op.operands[3], operands[3])
            change = self.operations.words.change(*self.operations.span(operands[1:3]), value.text)
        kind = op.results[0].type
        whole = Expr(
            word.text, word.binds, True, kind="set", type=word.type, width=kind.width, operator=change
        )
        if self._goes_to_store(op.results[0]):
            self.exprs[op.results[0]] = self.pending[op.results[0]] = whole
            return []
        lines = self.flush(self.body.operands(op))
        name = identifier("bits", self.taken)
        made = self.operations.integer_result(Expr(name, type=word.type, width=kind.width), kind)
        self.exprs[op.results[0]] = made
        return [*lines, f"{word.type} {name} = {word.text};", f"{name}{change};"]

    def _goes_to_store(self, value: ir.Value) -> bool:
        """Whether the next operations store the value and nothing else uses it."""
        uses = list(value.uses)
        if len(uses) != 1:
            return False
        user = uses[0].owner.operation
        if user.name == "allo.sign_cast":
            return self._goes_to_store(user.results[0])
        return (
            user.name in ("affine.store", "memref.store")
            and bool(user.operands[0] == value)
            and self._directly(value, user)
        )

    def _directly(self, value: ir.Value, store: ir.Operation) -> bool:
        block = value.owner.operation.block if not isinstance(value.owner, ir.Block) else None
        return bool(block == store.block)

    def _store_bits(self, value: Expr, target: Expr, kind: ir.Type) -> list[str]:
        if value.text == target.text and target.type.startswith("ap_"):
            return [f"{target.text}{value.operator};"]
        name = identifier("bits", self.taken)
        made = Expr(name, type=value.type, width=value.width)
        return [
            f"{value.type} {name} = {value.text};",
            f"{name}{value.operator};",
            f"{target.text} = {self.assigned(made, kind)};",
        ]


def _banks(memref: ir.MemRefType) -> Banks:
    return divisions_of(memref) if is_partitioned(memref) else ()


def bound_memory(attributes: ir.OpAttributeMap | ir.DictAttr) -> BoundMemory | None:
    """What the user has bound an array to."""
    if MEMORY not in attributes:
        return None
    memory = ir.DictAttr(attributes[MEMORY])
    resource = ir.StringAttr(memory["resource"]).value
    given = ir.StringAttr(memory["storage_type"]).value if "storage_type" in memory else None
    latency, depth = (
        int(ir.IntegerAttr(memory[name]).value) if name in memory else None for name in ("latency", "depth")
    )
    try:
        known = Memory(resource, given, latency, depth)
    except ValueError as error:  # of a module from text: kernels and primitives name memories that there are
        raise TargetError(f"the module binds an array to a memory that there is not: {error}") from None
    kind = known.storage_type or ("AUTO" if resource == "AUTO" else "RAM_2P")
    return BoundMemory(kind.lower(), known.resource.lower(), latency, depth)


def _check_depthless(op: ir.Operation) -> None:
    """A constant, or a state, is not filled like a FIFO and not reached from outside: it can be bound with no depth."""
    memory = bound_memory(op.attributes)
    if memory is not None and memory.depth is not None:
        name = string_of(op, "allo.name")
        raise TargetError(
            f"'{name}' is bound with depth={memory.depth}, and is a constant or a state with its own extents: a depth "
            "is that of a FIFO, or of what an argument or a result points to",
            at=location_of(op), hint="leave out the depth",
        )  # fmt: skip


def linear(subscripts: Sequence[str], extents: Sequence[int]) -> str:
    """The position of an element, the last dimension fastest."""
    text = subscripts[0]
    for subscript, extent in zip(subscripts[1:], extents[1:], strict=True):
        text = f"({text}) * {extent} + {subscript}" if " " in text else f"{text} * {extent} + {subscript}"
    return text


def copy_loops(memref: ir.MemRefType, source: str, target: str, taken: Names) -> Iterator[str]:
    """Loops that copy an array."""
    subscripts = ""
    names = taken.copy()
    for depth, extent in enumerate(memref.shape):
        name = identifier(f"c{depth}", names)
        yield f"{'  ' * depth}for (int {name} = 0; {name} < {extent}; {name}++) {{"
        subscripts += f"[{name}]"
    rank = len(memref.shape)
    yield f"{'  ' * rank}{target}{subscripts} = {source}{subscripts};"
    for depth in reversed(range(rank)):
        yield f"{'  ' * depth}}}"
