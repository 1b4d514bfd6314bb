"""The values that statements of a dataflow region make for its processes: which of them move into their users."""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir

from ....ir.access import accessed, base_of, is_load, is_store, is_view, reads_element, stored
from ....ir.effects import Effects
from ....ir.module import Module
from ....ir.processes import CHECK, is_process
from ....ir.walk import operations, statements

_PURE = ("arith.", "math.", "affine.apply", "affine.min", "affine.max", "allo.", "memref.get_global")
_NOT_PURE = ("allo.assert", "allo.stream_")
_ENDS = frozenset({"affine.yield", "scf.yield"})


def is_pure(op: ir.Operation) -> bool:
    """Whether an operation makes a value out of its operands alone, so that each user may have its own copy."""
    if op.regions:
        inner = [i for r in op.regions for b in r.blocks for i in operations(b)]
        return op.name in ("affine.if", "scf.if") and all(is_pure(i) or i.name in _ENDS for i in inner)
    return op.name.startswith(_PURE) and not op.name.startswith(_NOT_PURE)


def _is_declaration(op: ir.Operation) -> bool:
    """Whether an operation makes an array, a FIFO, or a name for one of several FIFOs or for a part of an array."""
    return (
        op.name in ("memref.alloc", "allo.stream_create")
        or is_view(op)
        or (is_load(op) and not reads_element(op))
    )


def named_values(module: Module, block: ir.Block) -> list[ir.Operation]:
    """What makes the values of a region that its processes cannot take copies of; see `_Values.needs_name`."""
    values = _Values(module, block)
    return [op for op in values.statements if values.needs_name(op)]


class _Values:
    """Who uses the values of one region, which does not change meanwhile: operations are known by what they are."""

    def __init__(self, module: Module, block: ir.Block) -> None:
        self.block = block
        self.module = module
        self.statements = statements(block)[:-1]
        self._place = {op: n for n, op in enumerate(self.statements)}
        self._effects = Effects(module)
        self._users: dict[ir.Operation, frozenset[int]] = {}
        for op in reversed(self.statements):
            self._users[op] = frozenset(self._found_users(op))

    def needs_name(self, op: ir.Operation) -> bool:
        """Whether a value has to be made once, where it stands: it has an effect, or reads what is written later.

        An element that several processes would read is read once too, but for variables, which all may read.
        """
        users = self._users[op]
        if is_process(op) or not users or is_pure(op) or _is_declaration(op):
            return False
        if not reads_element(op):
            return True
        array = base_of(accessed(op))
        place = self._effects.place(array)
        if len(users) > 1 and ir.MemRefType(array.type).rank:
            return True
        between = self.statements[self._place[op] + 1 : max(users)]
        return any(place in self._effects.touched(other).writes for other in between)

    def _found_users(self, op: ir.Operation) -> Iterator[int]:
        for result in op.results:
            for use in result.uses:
                user = self._statement_around(use.owner.operation)
                if user is None:
                    continue
                if is_pure(user) or reads_element(user):
                    yield from self._users[user]
                elif not _is_declaration(user) and CHECK not in user.attributes:
                    yield self._place[user]

    def _statement_around(self, op: ir.Operation) -> ir.Operation | None:
        """The statement of the region that `op` is or is in; None for the terminator."""
        while op.block != self.block:
            parent = op.parent
            assert parent is not None
            op = parent.operation
        return op if op in self._place else None


def join_variables(module: Module, block: ir.Block) -> None:
    """Let one variable stand for a second one that is nothing but its copy, in place."""
    for op in statements(block):
        if not is_store(op) or isinstance(stored(op).owner, ir.Block):
            continue
        load, copy = stored(op).owner.operation, accessed(op)
        if load.block != block or not reads_element(load) or len(list(load.results[0].uses)) != 1:
            continue
        source = accessed(load)
        if not (source.type == copy.type and _is_variable(source, block) and _is_variable(copy, block)):
            continue
        used = _Touched(module, block)
        if len(used.writers(source)) == 1 and used.writers(copy) == [op] == used.users(copy)[:1]:
            op.erase()
            load.erase()
            _join(source, copy)


def _is_variable(value: ir.Value, block: ir.Block) -> bool:
    """Whether a value is a variable of the region itself."""
    if isinstance(value.owner, ir.Block) or ir.MemRefType(value.type).rank:
        return False
    maker = value.owner.operation
    return maker.block == block and maker.name in ("memref.alloc", "func.call")


class _Touched:
    """The statements of a region that use a variable."""

    def __init__(self, module: Module, block: ir.Block) -> None:
        self._effects = Effects(module)
        self._found = [(op, self._effects.touched(op)) for op in statements(block)[:-1]]

    def users(self, variable: ir.Value) -> list[ir.Operation]:
        place = self._effects.place(variable)
        return [op for op, own in self._found if place in own.reads | own.writes]

    def writers(self, variable: ir.Value) -> list[ir.Operation]:
        place = self._effects.place(variable)
        return [op for op, own in self._found if place in own.writes]


def _join(source: ir.Value, copy: ir.Value) -> None:
    """Put `source` in the place of `copy`, under its name."""
    old, new = copy.owner.operation, source.owner.operation
    if old.name == "memref.alloc" and "allo.name" in old.attributes:
        new.attributes["allo.name"] = old.attributes["allo.name"]
    copy.replace_all_uses_with(source)
    if old.name == "memref.alloc":
        old.erase()
