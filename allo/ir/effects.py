"""Effects of operations on arrays and streams, with all inside of them and all that they call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mlir import ir

from .access import (
    Effect,
    base_of,
    callee_name,
    effects_of,
    global_name,
    is_array,
)
from .module import Module
from .streams import declared_sides, is_stream_type
from .walk import operations, statements, string_of

type Place = ir.Value | str  # an array or stream; the name of a constant or state of the module


@dataclass(frozen=True, slots=True)
class Touched:
    """The arrays that are read and written, and the streams (or arrays of them) that are put into and got from."""

    reads: frozenset[Place]
    writes: frozenset[Place]
    puts: frozenset[ir.Value]
    gets: frozenset[ir.Value]

    @property
    def streams(self) -> frozenset[ir.Value]:
        """The streams that are used."""
        return self.puts | self.gets

    def conflicts(self, later: Touched) -> frozenset[Place]:
        """The arrays for which it matters that what this describes runs before `later`."""
        return self.writes & (later.reads | later.writes) | self.reads & later.writes


_UNTOUCHED = Touched(frozenset(), frozenset(), frozenset(), frozenset())


class Effects:
    """Answers for one module, while it is not rewritten; keeps those for functions.

    What a call does are the effects of its callee on arguments, constants and states: any that the body may have, or
    all that a declaration does not rule out. Functions may call themselves.
    """

    def __init__(self, module: Module | ir.Operation | None) -> None:
        self._module = module.mlir.operation if isinstance(module, Module) else module
        self._symbols: dict[str, ir.Operation] | None = None
        self._summaries: dict[str, tuple[Effect, ...]] = {}
        self._streams: dict[str, bool] = {}

    def of(self, op: ir.Operation) -> tuple[Effect, ...]:
        """What `op` itself does, or what it calls; not what is inside of it."""
        return self.summary(callee_name(op)) if op.name == "func.call" else effects_of(op)

    def touched(self, op: ir.Operation, *, streams: bool = True) -> Touched:
        """All that `op`, what is inside of it, and what these call, may use; arrays that a call returns are written.

        Without `streams`, arrays only.
        """
        if not op.regions and op.name != "func.call" and not effects_of(op):
            return _UNTOUCHED
        reads: set[Place] = set()
        writes: set[Place] = set()
        puts: set[ir.Value] = set()
        gets: set[ir.Value] = set()
        for inner in with_inner(op):
            is_call = inner.name == "func.call"
            operands = inner.operands
            for effect in self.of(inner):
                if effect.reads or effect.writes:
                    place = effect.symbol or self.place(operands[effect.operand])
                    if effect.reads:
                        reads.add(place)
                    if effect.writes:
                        writes.add(place)
                elif streams:
                    stream = self.base(operands[effect.operand])
                    if effect.puts:
                        puts.add(stream)
                    if effect.gets:
                        gets.add(stream)
            if is_call:
                writes.update(self.place(result) for result in inner.results if isinstance(result.type, ir.MemRefType))
        return Touched(frozenset(reads), frozenset(writes), frozenset(puts), frozenset(gets))

    def place(self, value: ir.Value) -> Place:
        """What a value stands for; all addresses of a constant or state are one."""
        base = self.base(value)
        return global_name(base) or base

    def base(self, value: ir.Value) -> ir.Value:
        """As `base_of`, also through calls that return what they are given."""
        while True:
            value = base_of(value)
            owner = value.owner
            if isinstance(owner, ir.Block) or owner.operation.name != "func.call":
                return value
            given = self._returned(owner.operation, value)
            if given is None:
                return value
            value = given

    def _returned(self, call: ir.Operation, value: ir.Value) -> ir.Value | None:
        """The operand of a call that comes back as its result `value`."""
        entry = self._entry(callee_name(call))
        if entry is None:
            return None
        last = statements(entry)[-1]
        if last.name != "func.return":
            return None
        returned = base_of(last.operands[ir.OpResult(value).result_number])
        return call.operands[ir.BlockArgument(returned).arg_number] if returned.owner == entry else None

    def written_arguments(self, name: str) -> frozenset[int]:
        """The positions of the arguments of a function that are arrays which it may write."""
        return frozenset(effect.operand for effect in self.summary(name) if effect.writes and not effect.symbol)

    def fed_arguments(self, name: str) -> frozenset[int]:
        """The positions of the arguments of a function that are streams which it may get from."""
        return frozenset(effect.operand for effect in self.summary(name) if effect.gets)

    def uses_streams(self, op: ir.Operation) -> bool:
        """Whether `op`, what is inside of it, or what these call uses or makes a stream."""
        return any(
            has_stream(inner) or (inner.name == "func.call" and self._function_uses_streams(callee_name(inner)))
            for inner in with_inner(op)
        )

    def _function_uses_streams(self, name: str) -> bool:
        if name not in self._streams:
            reached, seen = [name], {name}
            for function in reached:
                callees = [callee for callee in self._callees(function) if callee not in seen]
                reached += dict.fromkeys(callees)
                seen.update(callees)
            self._streams[name] = any(self._body_uses_streams(function) for function in reached)
        return self._streams[name]

    def _body_uses_streams(self, name: str) -> bool:
        entry = self._entry(name)
        return entry is not None and any(has_stream(op) for op in operations(entry))

    def summary(self, name: str) -> tuple[Effect, ...]:
        """What a call of a function does: effects on its operands, and on constants and states."""
        if name not in self._summaries:
            order, recursive = self._callees_first(name)
            self._summaries.update((function, ()) for function in order)
            changed = True
            while changed:
                changed = False
                for function in order:
                    before, now = self._summaries[function], self._summarised(function)
                    changed = changed or (recursive and set(before) != set(now))
                    self._summaries[function] = now
        return self._summaries[name]

    def _callees_first(self, name: str) -> tuple[list[str], bool]:
        """The functions without a summary that a function may call, and itself, callees first if none is recursive."""
        order: dict[str, None] = {}
        open_, seen, recursive = [(name, self._callees(name))], {name}, False
        while open_:
            current, callees = open_[-1]
            callee = next(callees, None)
            if callee is None:
                order[current] = None
                open_.pop()
            elif callee not in self._summaries and callee not in seen:
                seen.add(callee)
                open_.append((callee, self._callees(callee)))
            elif callee in seen and callee not in order:
                recursive = True
        return list(order), recursive

    def _callees(self, name: str) -> Iterator[str]:
        entry = self._entry(name)
        return iter([] if entry is None else [callee_name(call) for call in operations(entry, "func.call")])

    def _summarised(self, name: str) -> tuple[Effect, ...]:
        entry = self._entry(name)
        if entry is None:
            return _declared(self.symbols[name])
        arguments = {value: k for k, value in enumerate(entry.arguments)}
        found: dict[int | str, Effect] = {}
        for op in operations(entry):
            for effect in self.of(op):
                place = effect.symbol or self.place(op.operands[effect.operand])
                key = place if isinstance(place, str) else arguments.get(place)
                if key is not None:
                    start = Effect(-1, symbol=key) if isinstance(key, str) else Effect(key)
                    found[key] = _joined(found.get(key, start), effect)
        return tuple(found.values())

    def _entry(self, name: str) -> ir.Block | None:
        function = self.symbols[name]
        blocks = function.regions[0].blocks
        return blocks[0] if len(blocks) else None

    @property
    def symbols(self) -> dict[str, ir.Operation]:
        """The functions, constants and states of the module."""
        if self._symbols is None:
            found = [] if self._module is None else statements(self._module.regions[0].blocks[0])
            named = [(string_of(op, "sym_name"), op) for op in found]
            self._symbols = {name: op for name, op in named if name is not None}
        return self._symbols


def with_inner(op: ir.Operation) -> Iterator[ir.Operation]:
    """An operation and all inside of it."""
    yield op
    for region in op.regions:
        for block in region.blocks:
            yield from operations(block)


def has_stream(op: ir.Operation) -> bool:
    """Whether an operation uses or makes a stream, or an array of streams."""
    return any(is_stream_type(value.type) for value in (*op.operands, *op.results))


def _joined(one: Effect, other: Effect) -> Effect:
    """Either of two effects on the operand or symbol of `one`."""
    return replace(
        one,
        reads=one.reads or other.reads,
        writes=one.writes or other.writes,
        puts=one.puts or other.puts,
        gets=one.gets or other.gets,
    )


def _declared(function: ir.Operation) -> tuple[Effect, ...]:
    """What a function without a body may do: all but what it promises to leave."""
    attributes = function.attributes
    marks = list(ir.ArrayAttr(attributes["arg_attrs"])) if "arg_attrs" in attributes else []
    kept = {k for k, mark in enumerate(marks) if "llvm.readonly" in ir.DictAttr(mark)}
    sides = declared_sides(function.opview)
    found = []
    for k, kind in enumerate(ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value).inputs):
        if is_stream_type(kind):
            found.append(Effect(k, puts=sides.get(k) != "in", gets=sides.get(k) != "out"))
        elif is_array(kind):
            found.append(Effect(k, reads=sides.get(k) != "out", writes=k not in kept and sides.get(k) != "in"))
    return tuple(found)
