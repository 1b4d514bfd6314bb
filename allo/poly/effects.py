"""What each operation does to the memrefs and streams that it is given, calls included."""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from ..ir.effects import read_only_arguments
from ..ir.walk import statements


@dataclass(frozen=True, slots=True)
class Effect:
    """One operand (or the global `symbol`) is read and/or written.

    Exactly all elements are if `whole_read` or `whole_write`; otherwise any of them may be.
    """

    operand: int
    reads: bool
    writes: bool
    whole_read: bool = False
    whole_write: bool = False
    symbol: str = ""


_NONE = frozenset(
    {
        "func.return",
        "memref.dim",
        "memref.dealloc",
        "memref.prefetch",
        "memref.extract_strided_metadata",
        "memref.extract_aligned_pointer_as_index",
        "memref.assume_alignment",
        "affine.prefetch",
        "scf.yield",
        "affine.yield",
        "scf.condition",
    }
)
_WHOLE_READERS = frozenset(
    {
        "linalg.copy",
        "linalg.transpose",
        "linalg.broadcast",
        "linalg.map",
        "linalg.elementwise",
        "linalg.matmul",
        "linalg.batch_matmul",
        "linalg.matvec",
        "linalg.vecmat",
        "linalg.dot",
        *(
            f"linalg.{name}"
            for name in (
                *("abs", "add", "ceil", "div", "div_unsigned", "erf", "exp", "floor", "log", "max", "min"),
                *("mul", "negf", "powf", "reciprocal", "round", "rsqrt", "select", "sqrt", "square", "sub"),
                "tanh",
            )
        ),
    }
)
# Linalg operations that never look at the old contents of what they write.
_OVERWRITERS = (_WHOLE_READERS | {"linalg.fill"}) - {
    "linalg.matmul",
    "linalg.batch_matmul",
    "linalg.matvec",
    "linalg.vecmat",
    "linalg.dot",
}


def is_memory(value: ir.Value) -> bool:
    return isinstance(value.type, (ir.MemRefType, ir.UnrankedMemRefType))


def is_stream(value: ir.Value) -> bool:
    return str(value.type).startswith("!allo.stream")


def is_view(op: ir.Operation) -> bool:
    """Does the (first) result alias the first operand?"""
    if op.name in ("func.call", "memref.load", "affine.load", "scf.if", "scf.for", "scf.while", "affine.for"):
        return False
    operands = op.operands
    return len(op.results) > 0 and len(operands) > 0 and is_memory(op.results[0]) and is_memory(operands[0])


@dataclass(slots=True)
class Effects:
    """Effects of operations in one module; summaries of callees are kept while one model is made."""

    function: ir.Operation
    _symbols: dict[str, ir.Operation] | None = None
    _summaries: dict[str, tuple[Effect, ...] | None] = field(default_factory=dict)

    def of(self, op: ir.Operation) -> tuple[Effect, ...]:
        """For every operation but subscripted loads and stores."""
        name = op.name
        if name in _NONE or name.startswith("arith.") or is_view(op):
            return ()
        if name == "memref.copy":
            return (Effect(0, True, False, whole_read=True), Effect(1, False, True, whole_write=True))
        if name == "func.call":
            return self._call(op)
        touched = [k for k, value in enumerate(op.operands) if is_memory(value) or is_stream(value)]
        if not touched:
            return ()
        if name.startswith("linalg.") and "operandSegmentSizes" in op.attributes:
            return self._linalg(op, touched)
        return tuple(Effect(k, True, True) for k in touched)

    def _linalg(self, op: ir.Operation, touched: list[int]) -> tuple[Effect, ...]:
        """Structured operations write all of their outputs; only `generic` may leave elements out."""
        segments = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])
        inputs = segments[0]
        whole_read = op.name in _WHOLE_READERS
        effects = []
        for k in touched:
            if k < inputs:
                effects.append(Effect(k, True, False, whole_read=whole_read))
            else:
                updates = op.name not in _OVERWRITERS
                whole_write = op.name != "linalg.generic"
                effects.append(Effect(k, updates, True, whole_read=whole_read, whole_write=whole_write))
        return tuple(effects)

    def _call(self, op: ir.Operation) -> tuple[Effect, ...]:
        callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
        summary = self.summary(callee)
        operands = op.operands
        if summary is None:
            touched = [k for k, value in enumerate(operands) if is_memory(value) or is_stream(value)]
            declared = self.symbols.get(callee)
            kept = read_only_arguments(declared) if declared is not None else frozenset()
            return tuple(Effect(k, True, k not in kept) for k in touched)
        return summary

    def summary(self, name: str) -> tuple[Effect, ...] | None:
        """Effects of a call on arguments and globals; None if the body is not known (external, recursive)."""
        if name not in self._summaries:
            self._summaries[name] = None  # while it is being made: a recursive call may do anything
            function = self.symbols.get(name)
            if function is not None and function.name == "func.func" and function.regions[0].blocks:
                self._summaries[name] = self._summarise(function)
        return self._summaries[name]

    @property
    def symbols(self) -> dict[str, ir.Operation]:
        if self._symbols is None:
            self._symbols = {}
            module = self.function.parent
            if module is not None:
                for op in statements(module.regions[0].blocks[0]):
                    attributes = op.attributes
                    if "sym_name" in attributes:
                        self._symbols[ir.StringAttr(attributes["sym_name"]).value] = op
        return self._symbols

    def _summarise(self, function: ir.Operation) -> tuple[Effect, ...]:
        entry = function.regions[0].blocks[0]
        arguments: dict[ir.Value, int] = {value: k for k, value in enumerate(entry.arguments)}
        found: dict[int | str, tuple[bool, bool]] = {}

        def note(value: ir.Value, reads: bool, writes: bool) -> None:
            base = self.base(value)
            key: int | str | None = arguments.get(base)
            if key is None:
                key = global_name(base)
            if key is not None:
                add(key, reads, writes)

        def add(key: int | str, reads: bool, writes: bool) -> None:
            before = found.get(key, (False, False))
            found[key] = (before[0] or reads, before[1] or writes)

        def walk(op: ir.Operation) -> None:
            match op.name:
                case "affine.load" | "memref.load":
                    note(op.operands[0], True, False)
                case "affine.store" | "memref.store":
                    note(op.operands[1], False, True)
                case _:
                    for effect in self.of(op):
                        if effect.symbol:
                            add(effect.symbol, effect.reads, effect.writes)
                        else:
                            note(op.operands[effect.operand], effect.reads, effect.writes)
            if op.name.startswith("linalg."):
                return
            for region in op.regions:
                for block in region:
                    for inner in statements(block):
                        walk(inner)

        for op in statements(entry):
            walk(op)
        return tuple(
            Effect(-1, *touched, symbol=key) if isinstance(key, str) else Effect(key, *touched)
            for key, touched in found.items()
        )

    def base(self, value: ir.Value) -> ir.Value:
        """The memref that a chain of views, or a call that returns an argument, starts from."""
        while not isinstance(value.owner, ir.Block):
            op = value.owner.operation
            if is_view(op) or (op.name in ("affine.load", "memref.load") and is_stream(value)):
                value = op.operands[0]
            elif op.name == "func.call" and (operand := self._returned(op, value)) is not None:
                value = operand
            else:
                break
        return value

    def _returned(self, call: ir.Operation, value: ir.Value) -> ir.Value | None:
        """The operand of a call that comes back as its result `value`."""
        callee = self.symbols.get(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
        if callee is None or callee == self.function or not callee.regions[0].blocks:
            return None
        entry = callee.regions[0].blocks[0]
        position = next(k for k, result in enumerate(call.results) if result == value)
        last = list(entry.operations)[-1].operation
        if last.name != "func.return":
            return None
        returned = last.operands[position]
        while not isinstance(returned.owner, ir.Block) and is_view(returned.owner.operation):
            returned = returned.owner.operation.operands[0]
        for k, argument in enumerate(entry.arguments):
            if argument == returned:
                return call.operands[k]
        return None


def global_name(value: ir.Value) -> str | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "memref.get_global":
        return None
    return str(ir.FlatSymbolRefAttr(owner.operation.attributes["name"]).value)
