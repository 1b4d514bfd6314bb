"""Canonical dataflow regions: declarations and calls of functions, the form that AMD's tools document."""

from __future__ import annotations

from mlir import ir

from ....ir.access import accessed, base_of, callee_name, is_copy, is_store, may_put, reads_element
from ....ir.builder import Builder
from ....ir.module import Module
from ....ir.names import unique_name
from ....ir.processes import APART_FROM, AT_END, DATAFLOW, ELEMENT_OF, TASK_NUMBER, is_process, region_blocks
from ....ir.streams import is_stream_type
from ....ir.walk import argument_names, entry_block, operations, statements, string_of
from ...outlining import nest_name, outline
from .dies import DIE
from .region_results import no_subscripts, return_arrays, variable, write
from .region_values import is_pure, join_variables, named_values

_MARKS = (AT_END, ELEMENT_OF, TASK_NUMBER, APART_FROM, DIE)


def make_canonical(module: Module) -> None:
    """Make each process of a dataflow region that is no call a function of its own, in place.

    The function of nest `last` of `chain` is called `chain_last`; it takes what the nest uses. Casts, sums and other
    values that processes use go into them; one that must be made where it stands becomes a process that writes a
    variable. Results of a region that are numbers are written by processes too, through arguments.
    """
    for name in _returning(module):
        return_arrays(module, module.function(name))
    taken = set(module.names())
    for function in list(module.functions()):
        for block in list(region_blocks(function)):
            _Region(module, function, block, taken).run()


def _returning(module: Module) -> list[str]:
    """The functions that are regions or processes."""
    found: dict[str, None] = {}
    for function in module.functions():
        if DATAFLOW in function.operation.attributes:
            found[function.name.value] = None
        calls = [op for block in region_blocks(function) for op in statements(block) if op.name == "func.call"]
        found.update(dict.fromkeys(callee_name(call) for call in calls))
    return [name for name in found if entry_block(module.function(name)) is not None]


class _Region:
    """One region on its way to calls."""

    def __init__(self, module: Module, function: ir.OpView, block: ir.Block, taken: set[str]) -> None:
        entry = entry_block(function)
        assert entry is not None
        self.module = module
        self.function = function
        self.block = block
        self.taken = taken
        self.names = dict(zip(entry.arguments, argument_names(function), strict=True))

    def run(self) -> None:
        join_variables(self.module, self.block)
        self._name_values()
        for op in statements(self.block)[:-1]:
            if is_process(op) and not self._is_plain_call(op):
                self._outline([op])
        for op in reversed(statements(self.block)[:-1]):
            if (is_pure(op) or reads_element(op)) and not any(len(list(result.uses)) for result in op.results):
                op.erase()

    # -- values ------------------------------------------------------------------------------------

    def _name_values(self) -> None:
        """Write the values that have to be made once to variables; what makes them becomes a process."""
        for op in named_values(self.module, self.block):
            self._name(op)

    def _name(self, op: ir.Operation) -> None:
        following = statements(self.block)
        after = Builder.before(following[following.index(op) + 1])
        variables = [variable(Builder.before(op), result.type, self._name_of(op)) for result in op.results]
        loads = [after.affine_load(target, no_subscripts(), []) for target in variables]
        for result, loaded in zip(op.results, loads, strict=True):
            result.replace_all_uses_with(loaded)
        store = Builder.before(loads[0].owner.operation)
        stores = [write(store, result, target) for result, target in zip(op.results, variables, strict=True)]
        self._outline([op, *stores])

    # -- processes ---------------------------------------------------------------------------------

    def _outline(self, process: list[ir.Operation]) -> None:
        """The function of a process, which is one statement and perhaps the stores of what it makes, and its call."""
        op = process[0]
        symbol = unique_name(f"{self.function.name.value}_{self._name_of(op)}", self.taken)
        marks = {mark: op.attributes[mark] for mark in _MARKS if mark in op.attributes}
        copies: dict[ir.Value, ir.Operation] = {}
        self._copy_operands(op, copies)
        made = {*copies.values(), *self._own_arrays(process)}
        in_front = [s for s in statements(self.block) if s in made] if made else []
        for own in in_front:
            own.move_before(op)
        call = outline(self.function, [*in_front, *process], symbol, self.names)
        for mark, value in marks.items():
            call.attributes[mark] = value

    def _copy_operands(self, user: ir.Operation, copies: dict[ir.Value, ir.Operation]) -> None:
        """Let `user` take copies, in front of it, of the values that move; they are kept by the first value."""
        inside = [user, *(i for r in user.regions for b in r.blocks for i in operations(b))]
        own = {result for op in inside for result in op.results}
        for op in inside:
            for number, operand in enumerate(op.operands):
                if isinstance(operand.owner, ir.Block) or operand in own:
                    continue
                maker = operand.owner.operation
                if not self._moves(maker):
                    continue
                first = maker.results[0]
                if first not in copies:
                    copies[first] = maker.clone(ir.InsertionPoint(user))
                    self._copy_operands(copies[first], copies)
                op.operands[number] = copies[first].results[ir.OpResult(operand).result_number]

    def _own_arrays(self, process: list[ir.Operation]) -> list[ir.Operation]:
        """The arrays of the region that no other process uses."""
        inner = [i for op in process for r in op.regions for b in r.blocks for i in operations(b)]
        own = {*process, *inner}
        makers = [v.owner.operation for op in own for v in op.operands if not isinstance(v.owner, ir.Block)]
        return [
            maker
            for maker in dict.fromkeys(makers)
            if maker.name == "memref.alloc"
            and maker.block == self.block
            and not is_stream_type(maker.results[0].type)
            and all(use.owner.operation in own for use in maker.results[0].uses)
        ]

    def _moves(self, maker: ir.Operation) -> bool:
        """Whether a process takes a copy of what makes a value; outlining itself copies constants."""
        is_own_load = reads_element(maker) and maker.block == self.block
        return is_own_load or (is_pure(maker) and maker.name != "arith.constant")

    def _is_plain_call(self, op: ir.Operation) -> bool:
        """A call that passes what has a name, and literals."""
        makers = [value.owner for value in op.operands if not isinstance(value.owner, ir.Block)]
        return op.name == "func.call" and not any(self._moves(maker.operation) for maker in makers)

    # -- names -------------------------------------------------------------------------------------

    def _name_of(self, op: ir.Operation) -> str:
        """What a process is called after: a nest, an array that it writes, a FIFO that it fills, a callee."""
        if is_store(op) or is_copy(op):
            return self._value_name(base_of(op.operands[1]))
        if may_put(op):
            return self._value_name(base_of(accessed(op)))
        if op.name == "func.call":
            return callee_name(op)
        return nest_name(op) if not len(op.results) else string_of(op, "allo.name") or "value"

    def _value_name(self, value: ir.Value) -> str:
        own = None if isinstance(value.owner, ir.Block) else string_of(value.owner.operation, "allo.name")
        return own or self.names.get(value, "task")
