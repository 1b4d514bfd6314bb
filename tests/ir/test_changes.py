"""Verification of what a step has changed, which looks at that alone, against MLIR's verifier of the whole module."""

from __future__ import annotations

import random

from mlir import ir

import allo
from allo import _mlir
from allo.ir.context import context
from allo.ir.types import float32, int8, int32
from allo.ir.walk import entry_block, operations

from ..seeds import sweep


def doubled(X: float32[8], Y: float32[8]):
    for i in range(8):
        Y[i] = X[i] * 2.0


def kernel(A: int32[8, 8], B: int32[8, 8], X: float32[8], X2: float32[8]):
    total: float32 = 0.0
    for i, j in allo.grid(8, 8):
        if A[i, j] > 0:
            B[i, j] = A[i, j] * 3 + i
    for k in range(2, 8):
        total += X[k]
        narrow: int8 = B[k, 0]
        B[k - 1, k] = narrow
    doubled(X, X2)


def prepared() -> allo.Schedule:
    s = allo.customize(kernel)
    s.split("i", 4)
    s.pipeline("j")
    s.partition("kernel:B", dim=2, factor=4)
    return s


class Mutation:
    """One change to a function, which may or may not be valid."""

    def __init__(self, function: ir.Operation, rng: random.Random) -> None:
        entry = entry_block(function)
        assert entry is not None
        self.rng = rng
        self.entry = entry
        self.found = operations(entry)

    def values(self) -> list[ir.Value]:
        return [*self.entry.arguments, *(value for op in self.found for value in op.results)]

    def attribute(self) -> None:
        """An operation gets an attribute of another one, or loses one."""
        op, other = self.rng.choice(self.found), self.rng.choice([o for o in self.found if len(o.attributes)])
        name = self.rng.choice([*other.attributes]) if self.rng.random() < 0.7 else "allo.unroll"
        if self.rng.random() < 0.2 and name in op.attributes:
            del op.attributes[name]
        else:
            source = self.rng.choice([o for o in self.found if len(o.attributes)])
            op.attributes[name] = source.attributes[self.rng.choice([*source.attributes])]

    def operand(self) -> None:
        """An operation takes another value."""
        op = self.rng.choice([o for o in self.found if len(o.operands)])
        op.operands[self.rng.randrange(len(op.operands))] = self.rng.choice(self.values())

    def kind(self) -> None:
        """A value gets another type, with or without all that uses it."""
        value, other = self.rng.choice(self.values()), self.rng.choice(self.values())
        value.set_type(other.type)

    def order(self) -> None:
        op, other = self.rng.choice(self.found), self.rng.choice(self.found)
        if op.block == other.block and op != other and op.name not in ("affine.yield", "func.return"):
            op.move_before(other)

    def run(self) -> None:
        self.rng.choice((self.attribute, self.attribute, self.operand, self.kind, self.order))()


@sweep(300)
def test_what_is_changed_is_valid_if_the_module_is(seed: int) -> None:
    rng = random.Random(seed)
    s = prepared()
    with context():
        before = ir.Module.parse(str(s.module))
        after = _mlir.clone_module(before.operation)
        old, new = (module.body.operations[1].operation for module in (before, after))
        assert _mlir.verify_changed(after.operation, [new], [old], False)
        Mutation(new, rng).run()
        try:
            valid = after.operation.verify()
        except ir.MLIRError:
            valid = False
        assert _mlir.verify_changed(after.operation, [new], [old], False) == valid
        assert _mlir.verify_changed(after.operation, [new], [None], True) == valid
