"""Buffers behind memref and stream values, and their names."""

from __future__ import annotations

from mlir import ir

from ..ir.access import accessed, global_name, is_array, is_load, is_view
from ..ir.effects import Effects
from ..ir.streams import is_stream
from ..ir.walk import argument_name
from .linear import Linear, Quotient
from .model import ModelBuffer, ModelLoop, Source, source_of
from .values import Terms, Values
from .views import through_view

ALLOCATIONS = ("memref.alloc", "memref.alloca", "allo.stream_create")
_DYNAMIC = -(1 << 63)


class Buffers:
    """The memories of one function: with `all_arguments` these first, then each when it is first met."""

    def __init__(self, function: ir.Operation, values: Values, effects: Effects, *, all_arguments: bool) -> None:
        self.made: list[ModelBuffer] = []
        self._values = values
        self._effects = effects
        self._of: dict[ir.Value, ModelBuffer] = {}
        self._globals: dict[str, ModelBuffer] = {}
        self._labels: set[str] = set()
        self._entry = values.entry
        if all_arguments and len(function.regions[0].blocks):
            for argument in function.regions[0].blocks[0].arguments:
                if is_array(argument.type):
                    self._argument(argument)

    def values(self) -> list[tuple[ir.Value, ModelBuffer]]:
        return list(self._of.items())

    def _argument(self, value: ir.Value) -> ModelBuffer:
        name = argument_name(value) or f"arg{ir.BlockArgument(value).arg_number}"
        return self._make(value, name, (), "argument", Source("", 0, 0))

    def _make(
        self, value: ir.Value, name: str, scope: tuple[ModelLoop, ...], origin: str, source: Source
    ) -> ModelBuffer:
        kind = value.type
        shape: tuple[int | None, ...] = ()
        if isinstance(kind, ir.MemRefType) and origin != "carried":
            shape = tuple(None if extent == _DYNAMIC else extent for extent in kind.shape)
        label, count = name, 1
        while label in self._labels:
            count += 1
            label = f"{name}#{count}"
        self._labels.add(label)
        buffer = ModelBuffer(label, name, value, shape, scope, origin, source)
        self.made.append(buffer)
        if origin != "carried":
            self._of[value] = buffer
        return buffer

    def allocate(self, op: ir.Operation, scope: tuple[ModelLoop, ...], source: Source) -> ModelBuffer:
        origin = "stream" if is_stream(op.results[0].type) else "alloc"
        return self._make(op.results[0], _name(op, len(self.made)), scope, origin, source)

    def results(self, op: ir.Operation, scope: tuple[ModelLoop, ...], source: Source) -> None:
        """New memories that an operation other than an allocation returns."""
        for result in op.results:
            is_new = global_name(result) is None and self._effects.base(result) == result
            if is_new and isinstance(result.type, ir.MemRefType):
                self._make(result, _name(op, len(self.made)), scope, "result", source)

    def carried(self, op: ir.Operation, scope: tuple[ModelLoop, ...], source: Source) -> ModelBuffer:
        """What a loop passes from one iteration to the next in SSA values."""
        return self._make(op.results[0], "a value carried by the loop", scope, "carried", source)

    def of_global(self, symbol: str) -> ModelBuffer:
        """A global that a callee uses and that this function may or may not use itself."""
        buffer = self._globals.get(symbol)
        if buffer is None:
            declared = self._effects.symbols[symbol]
            kind = ir.MemRefType(ir.TypeAttr(declared.attributes["type"]).value)
            shape = tuple(None if extent == _DYNAMIC else extent for extent in kind.shape)
            buffer = ModelBuffer(symbol, symbol, None, shape, (), "global", Source("", 0, 0))
            self._globals[symbol] = buffer
            self.made.append(buffer)
        return buffer

    def base(self, value: ir.Value) -> tuple[ModelBuffer, bool]:
        """The memory behind a memref, and whether the value is a view that may show only a part of it."""
        start = self._effects.base(value)
        buffer = self._of.get(start) or self._first_met(start)
        if start == value:
            return buffer, False
        self._of.setdefault(value, buffer)
        return buffer, True

    def _first_met(self, value: ir.Value) -> ModelBuffer:
        symbol = global_name(value)
        if symbol is not None:
            buffer = self._globals.get(symbol)
            if buffer is None:
                op = _owner(value)
                assert op is not None
                name = _name(op, 0) if "allo.name" in op.attributes else symbol
                buffer = self._globals[symbol] = self._make(value, name, (), "global", Source("", 0, 0))
            self._of[value] = buffer
            return buffer
        op = _owner(value)
        if op is None and value.owner == self._entry:
            return self._argument(value)
        if op is not None and op.name in ALLOCATIONS and op.block == self._entry:
            return self.allocate(op, (), source_of(op))
        name = _name(op, len(self.made)) if op is not None else f"buffer{len(self.made)}"
        return self._make(value, name, (), "result", Source("", 0, 0))

    def resolve(self, value: ir.Value, terms: Terms) -> tuple[ModelBuffer, Terms]:
        """The memory behind `value` and the subscripts there."""
        known = self._of.get(value)
        if known is not None and (known.origin == "global" or _same(known, value)):
            return known, terms
        subscripts: list[Linear | None] | None = list(terms.forms)
        quotients: tuple[Quotient, ...] = terms.quotients
        current = value
        while subscripts is not None and (op := _owner(current)) is not None and is_view(op):
            through = through_view(op, subscripts, self._values)
            subscripts = None if through is None else through[0]
            quotients += () if through is None else through[1]
            current = op.operands[0]
        buffer, _ = self.base(value)
        aliased = global_name(current) is None and not _same(buffer, current)  # came back from a call
        if aliased or subscripts is None or len(subscripts) != len(buffer.shape):
            return buffer, Terms([None] * len(buffer.shape))
        return buffer, Terms(subscripts, quotients)

    def of_stream(self, value: ir.Value) -> tuple[ModelBuffer, Terms]:
        """A stream has one place, which every operation changes: their order is part of the meaning."""
        op = _owner(value)
        if op is not None and is_load(op):
            return self.resolve(accessed(op), self._values.subscripts(op))
        buffer, _ = self.base(value)
        return buffer, Terms([])


def _same(buffer: ModelBuffer, value: ir.Value) -> bool:
    return buffer.value is not None and buffer.value == value


def _owner(value: ir.Value) -> ir.Operation | None:
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation


def _name(op: ir.Operation, number: int) -> str:
    attributes = op.attributes
    return ir.StringAttr(attributes["allo.name"]).value if "allo.name" in attributes else f"buffer{number}"
