"""Arrays that processes of a dataflow region share otherwise than AMD's tools allow: one writes, one other reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from mlir import ir

from ....errors import Note, TargetError
from ....ir.access import (
    Effect,
    access_map,
    base_of,
    callee_name,
    effects_of,
    global_name,
    is_access,
    subscripts,
)
from ....ir.effects import Effects
from ....ir.module import Module
from ....ir.partitions import divisions_of, is_partitioned
from ....ir.processes import ELEMENT_NAME, ELEMENT_OF, region_blocks
from ....ir.registers import fixed_place
from ....ir.walk import (
    LOOP_OPERATIONS,
    argument_names,
    constant_bounds,
    entry_block,
    location_of,
    operations,
    statements,
    string_of,
)
from ....layout import Banks
from ....poly.formula import compile_map
from ....poly.linear import Linear

_HINTS = {
    "read": "let one of them read it and hand on what the other needs, or partition it so that they read different "
    "banks",
    "write": "let each write an array of its own, partition it so that they write different banks, or let one task "
    "write what the others put into streams",
    "use": "let one process do all that uses it",
}
_ELEMENTS = 64  # that each have a copy of an array
type _Place = tuple[int | None, ...]  # the bank in each dimension; None: any
type _Array = ir.Value | str  # a state of the module is known by its name


@dataclass(frozen=True, slots=True)
class _Use:
    """Where a process may read an array, and where it may write it."""

    reads: frozenset[_Place] = frozenset()
    writes: frozenset[_Place] = frozenset()

    def joined(self, other: _Use) -> _Use:
        return _Use(self.reads | other.reads, self.writes | other.writes)


class SharingChecks:
    """The regions of a module whose processes are calls, as `vendor` sees them."""

    def __init__(self, module: Module, vendor: str) -> None:
        self.vendor = vendor
        self.uses = _Uses(module)

    def check(self, function: ir.OpView) -> None:
        """Refuse the regions of a function in which processes share an array. Raises TargetError with both of them.

        An array has one process that writes it and one other that reads it; a variable may have several that read it,
        a state belongs to one process. Banks of a partitioned array are arrays of their own.
        """
        for block in region_blocks(function):
            found: dict[_Array, _Sharing] = {}
            for op in statements(block):
                if op.name == "func.call":
                    for array, use in self.uses.of_statement(op).items():
                        shared = found.setdefault(array, _Sharing(array)).add(op, use)
                        if shared is not None:
                            does, first = shared
                            raise self._refused(function, array, does, (first, op))

    def read_by_several(self, block: ir.Block) -> list[tuple[ir.Value, list[ir.Operation]]]:
        """The arrays of a region that several processes read, after at most one has written them, with those processes.

        Only arrays of known extents that the processes are given as a whole. Of processing elements, of which there may
        be thousands, up to 64 have copies.
        """
        users: dict[_Array, list[tuple[ir.Operation, _Use]]] = {}
        for op in statements(block):
            for array, use in self.uses.of_statement(op).items() if op.name == "func.call" else ():
                users.setdefault(array, []).append((op, use))
        found = []
        for array, uses in users.items():
            shared = _Sharing(array)
            conflicts = [told[0] for op, use in uses if (told := shared.add(op, use)) is not None]
            readers = [op for op, use in uses if not use.writes]
            are_last = all(use.writes for _, use in uses[: len(uses) - len(readers)])
            if isinstance(array, str) or "read" not in conflicts or {*conflicts} != {"read"} or not are_last:
                continue
            elements = sum(ELEMENT_OF in op.attributes for op in readers)
            is_whole = all(array in op.operands for op in readers) and elements <= _ELEMENTS
            views = [op for op in readers for value in op.operands if value != array and base_of(value) == array]
            if is_whole and not views and ir.MemRefType(array.type).has_static_shape:
                found.append((array, readers))
        return found

    def _refused(
        self, function: ir.OpView, array: _Array, does: str, processes: tuple[ir.Operation, ir.Operation]
    ) -> TargetError:
        names = [string_of(op, ELEMENT_NAME) or callee_name(op) for op in processes]
        notes = [Note("this process is here", location_of(op)) for op in processes]
        what, name = ("state", array) if isinstance(array, str) else ("array", name_of_array(function, array))
        return TargetError(
            f"{self.vendor} runs no dataflow region in which two processes {does} one {what}: in "
            f"'{function.name.value}' both '{names[0]}' and '{names[1]}' {does} '{name}'",
            at=location_of(processes[1]), hint=_HINTS[does], notes=notes,
        )  # fmt: skip


class _Sharing:
    """The processes of a region that use one array, in the order of the text."""

    def __init__(self, array: _Array) -> None:
        self._is_state = isinstance(array, str)
        self._is_variable = not isinstance(array, str) and not ir.MemRefType(array.type).rank
        self._writers = _Banks()
        self._readers = _Banks()  # that do not write it too

    def add(self, process: ir.Operation, use: _Use) -> tuple[str, ir.Operation] | None:
        """Take note of one more; what it and an earlier one must not both do, and the earlier one, if there is such."""
        if self._is_state:
            first = self._writers.first({()})
            self._writers.add({()}, process)
            return ("use", first) if first is not None else None
        if (first := self._writers.first(use.writes)) is not None:
            return "write", first
        self._writers.add(use.writes, process)
        if self._is_variable or use.writes:
            return None
        if (first := self._readers.first(use.reads)) is not None:
            return "read", first
        self._readers.add(use.reads, process)
        return None


class _Banks:
    """Which process has reached a bank first; banks that are known in the same dimensions are together."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, ...], dict[_Place, ir.Operation]] = {}

    def add(self, places: Collection[_Place], process: ir.Operation) -> None:
        for place in places:
            self._found.setdefault(_known(place), {}).setdefault(place, process)

    def first(self, places: Collection[_Place]) -> ir.Operation | None:
        """A process that may reach one of the banks."""
        for known, banks in self._found.items():
            for place in places:
                if known == _known(place):
                    if place in banks:
                        return banks[place]
                    continue
                for other, process in banks.items():
                    if all(a is None or b is None or a == b for a, b in zip(place, other, strict=True)):
                        return process
        return None


def _known(place: _Place) -> tuple[int, ...]:
    """The dimensions in which a bank is known."""
    return tuple(k for k, bank in enumerate(place) if bank is not None)


class _Uses:
    """What functions do with the arrays among their arguments and with states of the module, found once."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._found: dict[str, dict[int | str, _Use]] = {}

    def of_statement(self, statement: ir.Operation) -> dict[_Array, _Use]:
        """What a call does with each array."""
        found: dict[_Array, _Use] = {}
        for array, use in self._of(statement):
            found[array] = found.get(array, _Use()).joined(use)
        return found

    def _of(self, op: ir.Operation) -> Iterator[tuple[_Array, _Use]]:
        if op.name == "func.call":
            for key, use in self._of_function(callee_name(op)).items():
                yield _of_operand(op.operands[key], use) if isinstance(key, int) else (key, use)
            for result in op.results:
                if isinstance(result.type, ir.MemRefType):
                    yield result, _Use(writes=frozenset({_anywhere(result)}))
            return
        for effect in effects_of(op):
            if effect.reads or effect.writes:
                array = op.operands[effect.operand]
                yield base_of(array), _at(effect, _place(op, array) if is_access(op) else _anywhere(array))

    def _of_function(self, name: str) -> dict[int | str, _Use]:
        if name not in self._found:
            entry = entry_block(self.module.function(name))
            self._found[name] = self._declared(name) if entry is None else self._of_body(entry)
        return self._found[name]

    def _declared(self, name: str) -> dict[int | str, _Use]:
        """What a function without a body may do."""
        kinds = ir.FunctionType(ir.TypeAttr(self.module.function(name).operation.attributes["function_type"]).value)
        found: dict[int | str, _Use] = {}
        for effect in Effects(self.module).summary(name):
            if effect.reads or effect.writes:
                found[effect.operand] = _at(effect, (None,) * kinds.inputs[effect.operand].rank)
        return found

    def _of_body(self, entry: ir.Block) -> dict[int | str, _Use]:
        found: dict[int | str, _Use] = {}
        for op in operations(entry):
            for array, use in self._of(op):
                key = self._outside(array, entry)
                if key is not None:
                    found[key] = found.get(key, _Use()).joined(use)
        return found

    def _outside(self, array: _Array, entry: ir.Block) -> int | str | None:
        """The argument or the state that an array is; None for constants and for those of the function itself."""
        if isinstance(array, str):
            return array
        if isinstance(array.owner, ir.Block):
            return array.arg_number if array.owner == entry else None
        symbol = global_name(array)
        if symbol is None:
            return None
        made = ir.SymbolTable(self.module.mlir.operation)[symbol]
        return None if "constant" in made.operation.attributes else symbol


def _of_operand(value: ir.Value, use: _Use) -> tuple[ir.Value, _Use]:
    """What a callee does with an operand, as a use of the array that it is, or is an element of."""
    array = base_of(value)
    if ir.MemRefType(array.type).rank == ir.MemRefType(value.type).rank:
        return array, use
    while value != array and value.owner.operation.operands[0] != array:
        value = value.owner.operation.operands[0]
    place = fixed_place(value.owner.operation)
    bank = _anywhere(array) if place is None else _banks(array, [Linear(k) for k in place])
    found = frozenset({bank})
    return array, _Use(found if use.reads else frozenset(), found if use.writes else frozenset())


def _at(effect: Effect, place: _Place) -> _Use:
    """What is done to the elements of one bank."""
    nowhere, there = frozenset[_Place](), frozenset({place})
    return _Use(there if effect.reads else nowhere, there if effect.writes else nowhere)


def _anywhere(array: ir.Value) -> _Place:
    return (None,) * int(ir.MemRefType(array.type).rank)


def _place(access: ir.Operation, array: ir.Value) -> _Place:
    """The bank that an access reaches in each dimension, where that is the same each time."""
    found = access_map(access)
    if found is None:
        return _banks(array, [_constant(value) for value in subscripts(access)])
    return _banks(array, compile_map(found).results, [_range_of(value) for value in subscripts(access)])


def _constant(value: ir.Value) -> Linear | None:
    """A subscript that is a constant; None for what data decide."""
    made = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if made is None or made.name != "arith.constant":
        return None
    return Linear(ir.IntegerAttr(made.attributes["value"]).value)


def _range_of(value: ir.Value) -> tuple[int, int] | None:
    """The least and the greatest value of the variable of a loop with constant bounds; None for everything else."""
    loop = value.owner.owner if isinstance(value.owner, ir.Block) else None
    bounds = constant_bounds(loop.operation) if loop is not None and loop.name in LOOP_OPERATIONS else None
    if bounds is None or bounds[1] <= bounds[0]:
        return None
    low, high, step = bounds
    return low, low + (high - 1 - low) // step * step


def _banks(
    array: ir.Value, subscripts: Sequence[Linear | None], ranges: Sequence[tuple[int, int] | None] = ()
) -> _Place:
    memref = ir.MemRefType(array.type)
    if not is_partitioned(memref) or not memref.has_static_shape:
        return _anywhere(array)
    divisions = zip(subscripts, Banks.read(divisions_of(memref)), memref.shape, strict=True)
    return tuple(
        None if form is None else _bank(form, banks, extent, ranges) for form, banks, extent in divisions
    )


def _bank(form: Linear, banks: Banks, extent: int, ranges: Sequence[tuple[int, int] | None]) -> int | None:
    """The bank that a subscript is in, whatever its variables are: it moves by whole rounds of banks, or within one."""
    found = banks.bank(extent, form.constant, (c for _, c in form.terms))
    known = [ranges[variable - 1] for variable, _ in form.terms if variable <= len(ranges)]
    if found is not None or len(known) < len(form.terms):
        return found
    ends: list[tuple[int, int]] = []
    for reach, (_, factor) in zip(known, form.terms, strict=True):
        if reach is None:
            return None
        ends.append((min(reach[0] * factor, reach[1] * factor), max(reach[0] * factor, reach[1] * factor)))
    low, high = (form.constant + sum(end[k] for end in ends) for k in (0, 1))
    return banks.bank_between(extent, low, high)


def name_of_array(function: ir.OpView, array: ir.Value) -> str:
    """What an array of a function is called."""
    if isinstance(array.owner, ir.Block):
        return str(argument_names(function)[array.arg_number])
    return str(string_of(array.owner.operation, "allo.name") or "result")
