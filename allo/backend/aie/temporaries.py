"""Bodies of tasks without arrays that only pass values from one nest of loops to the next."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir

from ...ir.access import is_end
from ...ir.elementary.values import hidden
from ...ir.module import Module
from ...ir.narrowing import narrow_integers
from ...ir.passes import run_passes
from ...ir.walk import entry_block, operations
from ...ir.words import container_width
from .constants import keep_constants
from .copies import without_copies
from .fusing import contract_arrays, drop_unread_arrays, fuse_nests

_BEFORE = "builtin.module(func.func(canonicalize,cse))"
_FORWARD = "builtin.module(func.func(affine-scalrep))"  # takes a store of an else part to be under the condition itself
_AFTER = "builtin.module(func.func(canonicalize))"
_KNOWN = ("affine.", "arith.", "math.", "memref.alloc", "memref.dealloc", "func.return")


def without_temporaries(
    module: Module, name: str, source: Module, stays: Callable[[ir.Block], bool] | None = None
) -> None:
    """Let a function keep no more than it has to, in place.

    Integers have the bits that are needed; no array is a copy of an argument, or between nests if these can be one.
    Nests that use streams or call functions stay in their order, as all that is around them; those of functions that
    `stays` tells are not joined. Constant arrays, which the module `source` has, are marked arrays of the function.
    """
    function = module.function(name)
    narrow_integers(function, container_width)
    without_copies(function)
    keep_constants(module, source, name)
    entry = entry_block(function)
    assert entry is not None
    if all(op.name.startswith(_KNOWN) and not is_end(op) for op in operations(entry)):
        alone = Module.empty(name)
        function.operation.clone(ir.InsertionPoint(alone.mlir.body))
        drop_unread_arrays(alone.function(name))
        with hidden(alone.mlir.body):
            run_passes(_BEFORE, alone.mlir.operation)
        if stays is None or not stays(alone.function(name).regions[0].blocks[0]):
            fuse_nests(alone.function(name))
            contract_arrays(alone.function(name))
        branches = operations(alone.mlir.body, "affine.if")
        with hidden(alone.mlir.body):
            if not any(len(branch.regions[1].blocks) for branch in branches):
                run_passes(_FORWARD, alone.mlir.operation)
            run_passes(_AFTER, alone.mlir.operation)
        made = alone.function(name).operation.clone(ir.InsertionPoint(function.operation))
        function.operation.erase()
        made.attributes["sym_name"] = ir.StringAttr.get(name, made.context)
