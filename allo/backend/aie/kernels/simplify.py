"""Moves of a function that cancel, that follow one another, and that nobody needs (Dato paper, section 5.2)."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ....ir.access import callee_name
from ....ir.builder import Builder
from ....ir.effects import Effects
from ....ir.module import Module
from ....ir.walk import entry_block, statement_of, statements
from ....layout import ArrayMove
from .move_calls import erase_move, move_in, write_move
from .source import in_place


def simplify_moves(module: Module, name: str) -> None:
    """Let moves of moved arrays begin at their source, and arrays that are the same be one, in place."""
    one = _Moves(module, name)
    while one.join() or one.merge() or one.drop():
        pass


@dataclass(frozen=True, slots=True)
class _Moves:
    """The moves among the statements of a flat function."""

    module: Module
    name: str

    @property
    def _body(self) -> list[ir.Operation]:
        entry = entry_block(self.module.function(self.name))
        assert entry is not None
        return statements(entry)[:-1]

    def _calls(self) -> list[tuple[ir.Operation, ArrayMove]]:
        found = [(op, move_in(self.module, op)) for op in self._body]
        return [(op, move) for op, move in found if move is not None]

    def join(self) -> bool:
        """Let a move from an array that another move has filled begin at the source of that."""
        calls = self._calls()
        for call, move in calls:
            between = call.operands[0]
            fills = [(op, own) for op, own in calls if op.operands[1] == between]
            if len(fills) != 1 or not _is_local(between) or self._writers(between) != [fills[0][0]]:
                continue
            fill, first = fills[0]
            source = fill.operands[0]
            both = first.then(move)
            body = self._body
            if both is None or body.index(fill) > body.index(call) or self._is_written(source, fill, call):
                continue
            write_move(self.module, Builder.before(call), source, call.operands[1], both.normal)
            erase_move(self.module, call)
            return True
        return False

    def merge(self) -> bool:
        """Let arrays of which one is a copy of the other be one."""
        for call, move in self._calls():
            source, target = call.operands
            if not move.is_identity or source.type != target.type:
                continue
            is_copy = _is_local(target) and self._writers(target) == [call]
            if is_copy and not self._is_written(source, call, self._users(target)[-1]):
                self._becomes(call, target, source)
                return True
            first = self._users(source)[0]
            others = [op for op in self._users(target) if op != call and not self._may_share(op, target, first, call)]
            if _is_local(source) and self._users(source)[-1] == call and not others:
                self._becomes(call, source, target)
                return True
        return False

    def _may_share(self, op: ir.Operation, target: ir.Value, first: ir.Operation, last: ir.Operation) -> bool:
        """Whether a user of an array may stay if that is written from `first` to `last`."""
        if op != first:
            return not self._is_between(op, first, last)
        places = [k for k, operand in enumerate(op.operands) if operand == target]
        marked = in_place(self.module.function(callee_name(op)).operation) if op.name == "func.call" else ()
        return all(place in marked for place in places)

    def drop(self) -> bool:
        """Let arrays that are only written by moves go."""
        for op in self._body:
            if op.name == "memref.alloc" and self._users(op.results[0]) == self._filling(op.results[0]):
                for call in self._filling(op.results[0]):
                    erase_move(self.module, call)
                op.erase()
                return True
        return False

    def _filling(self, array: ir.Value) -> list[ir.Operation]:
        return [call for call, _ in self._calls() if call.operands[1] == array]

    def _becomes(self, call: ir.Operation, old: ir.Value, new: ir.Value) -> None:
        made = old.owner
        erase_move(self.module, call)
        old.replace_all_uses_with(new)
        made.erase()

    def _users(self, array: ir.Value) -> list[ir.Operation]:
        """The statements that use an array, in their order, without its declaration."""
        users = {statement_of(use.owner.operation) for use in array.uses}
        return [op for op in self._body if op in users]

    def _writers(self, array: ir.Value) -> list[ir.Operation]:
        effects = Effects(self.module)
        return [op for op in self._users(array) if array in effects.touched(op).writes]

    def _is_written(self, array: ir.Value, first: ir.Operation, last: ir.Operation) -> bool:
        """Whether an array is written behind `first`, up to `last`."""
        return any(self._is_between(op, first, last) or op == last for op in self._writers(array) if op != first)

    def _is_between(self, op: ir.Operation, first: ir.Operation, last: ir.Operation) -> bool:
        body = self._body
        return body.index(first) < body.index(op) < body.index(last)


def _is_local(array: ir.Value) -> bool:
    return not isinstance(array.owner, ir.Block)
