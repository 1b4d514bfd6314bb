"""Runner of MLIR passes."""

from __future__ import annotations

from functools import cache

from mlir import ir
from mlir.passmanager import PassManager

from .context import context


@cache
def _manager(pipeline: str, verify: bool) -> PassManager:
    with context():
        made = PassManager.parse(pipeline)
    made.enable_verifier(verify)
    return made


def run_passes(pipeline: str, op: ir.Operation, *, verify: bool = True) -> None:
    """Run a pipeline, as `func.func(cse)`, on an operation. Raises mlir.ir.MLIRError if a pass fails.

    `verify` looks at what each pass leaves behind.
    """
    _manager(pipeline, verify).run(op)
