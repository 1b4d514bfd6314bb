"""One array in all functions that see it: through calls, returns and constants, with everything that uses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir import ir

from ...errors import Note, ScheduleError
from ...ir.access import is_access
from ...ir.context import context, unknown_location
from ...ir.module import Module
from ...ir.partitions import is_partitioned, with_divisions
from ...ir.walk import entry_block, location_of, operations
from ...layout import NONE, Banks


@dataclass(slots=True)
class WholeArray:
    """All values that are one array (or, in different calls, arrays that must have one type), and their uses."""

    values: list[ir.Value] = field(default_factory=list)
    accesses: list[ir.Operation] = field(default_factory=list)
    constants: list[ir.Operation] = field(default_factory=list)
    views: list[ir.Operation] = field(default_factory=list)

    def retype(
        self, module: Module, shape: Sequence[int], banks: Sequence[Banks], element: ir.Type | None = None
    ) -> None:
        """Give the array another shape, in every function; constants keep their old contents.

        If it is partitioned, it is now divided into `banks`.
        """
        divided = any(b != NONE for b in banks)

        def new_type(old: ir.MemRefType) -> ir.MemRefType:
            kind = element or old.element_type
            made = ir.MemRefType.get(shape, kind, None, old.memory_space, unknown_location())
            return with_divisions(made, [b.entry for b in banks]) if divided and is_partitioned(old) else made

        for value in self.values:
            value.set_type(new_type(ir.MemRefType(value.type)))
        for constant in self.constants:
            made = new_type(ir.MemRefType(ir.TypeAttr(constant.attributes["type"]).value))
            constant.attributes["type"] = ir.TypeAttr.get(made, context())
        for function in module.functions():
            entry = entry_block(function)
            if entry is not None:
                end = entry.operations[len(entry.operations) - 1]
                inputs = [argument.type for argument in entry.arguments]
                signature = ir.FunctionType.get(inputs, [value.type for value in end.operands], context())
                function.operation.attributes["function_type"] = ir.TypeAttr.get(signature, context())


def whole_array(module: Module, value: ir.Value, what: str) -> WholeArray:
    """Everything that is the same array as `value`.

    Raises ScheduleError (`what` says which array cannot be changed how, such as "'A' cannot be reshaped") if it is
    given to a function without a body, or used as a whole by something else than a call or a return.
    """
    return _Search(module, what).run(value)


class _Search:
    def __init__(self, module: Module, what: str) -> None:
        self.what = what
        self.found = WholeArray()
        self.entries = {f.name.value: entry_block(f) for f in module.functions()}
        self.calls: dict[str, list[ir.Operation]] = {}
        self.addresses: dict[str, list[ir.Operation]] = {}
        self.globals: dict[str, ir.Operation] = {}
        for top in module.mlir.body.operations:
            if top.operation.name == "memref.global":
                self.globals[ir.StringAttr(top.operation.attributes["sym_name"]).value] = top.operation
        for entry in self.entries.values():
            for op in operations(entry) if entry is not None else ():
                if op.name == "func.call":
                    self.calls.setdefault(_symbol(op, "callee"), []).append(op)
                elif op.name == "memref.get_global":
                    self.addresses.setdefault(_symbol(op, "name"), []).append(op)

    def run(self, start: ir.Value) -> WholeArray:
        todo, seen = [start], {start}
        while todo:
            value = todo.pop()
            self.found.values.append(value)
            for other in [*self._source(value), *(v for use in value.uses for v in self._use(value, use))]:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return self.found

    def _source(self, value: ir.Value) -> list[ir.Value]:
        """What `value` is another name of, by where it comes from."""
        owner = value.owner
        if isinstance(owner, ir.Block):
            name = next(name for name, entry in self.entries.items() if entry is not None and entry == owner)
            position = ir.BlockArgument(value).arg_number
            return [call.operands[position] for call in self.calls.get(name, [])]
        op = owner.operation
        match op.name:
            case "memref.alloc":
                return []
            case "memref.get_global":
                symbol = _symbol(op, "name")
                if self.globals[symbol] not in self.found.constants:
                    self.found.constants.append(self.globals[symbol])
                return [other.results[0] for other in self.addresses[symbol]]
            case "func.call":
                entry = self._body(op)
                position = ir.OpResult(value).result_number
                return [
                    entry.operations[len(entry.operations) - 1].operands[position],
                    *self._results(op, position),
                ]
            case "allo.element_cast":
                self._add_view(op)
                return [op.operands[0]]
        raise self._refusal(op, f"it is made by {op.name}")

    def _use(self, value: ir.Value, use: ir.OpOperand) -> list[ir.Value]:
        """What is the same array because of this use."""
        op = use.owner.operation
        match op.name:
            case _ if is_access(op):
                if op not in self.found.accesses:
                    self.found.accesses.append(op)
                return []
            case "func.call":
                return [self._body(op).arguments[use.operand_number]]
            case "func.return":
                return [call.results[use.operand_number] for call in self.calls.get(function_of(op), [])]
            case "allo.element_cast":
                self._add_view(op)
                return [op.results[0]]
        raise self._refusal(op, f"a statement uses it as a whole ({op.name})")

    def _add_view(self, op: ir.Operation) -> None:
        if op not in self.found.views:
            self.found.views.append(op)

    def _results(self, call: ir.Operation, position: int) -> list[ir.Value]:
        return [other.results[position] for other in self.calls[_symbol(call, "callee")]]

    def _body(self, call: ir.Operation) -> ir.Block:
        entry = self.entries[_symbol(call, "callee")]
        if entry is None:
            raise self._refusal(call, f"'{_symbol(call, 'callee')}', which it is passed to, has no body here")
        return entry

    def _refusal(self, op: ir.Operation, reason: str) -> ScheduleError:
        structured = op.name.startswith("linalg.")
        return ScheduleError(
            f"{self.what}: {reason}",
            hint="allo.customize(kernel, lower_linalg=True) makes loops of it" if structured else None,
            notes=[Note("the statement is here", location_of(op))],
        )


def function_of(op: ir.Operation) -> str:
    """The name of the function that an operation is in."""
    while op.name != "func.func":
        parent = op.parent
        assert parent is not None
        op = parent.operation
    name: str = ir.StringAttr(op.attributes["sym_name"]).value
    return name


def _symbol(op: ir.Operation, name: str) -> str:
    symbol: str = ir.FlatSymbolRefAttr(op.attributes[name]).value
    return symbol
