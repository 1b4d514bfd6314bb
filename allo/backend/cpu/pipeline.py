"""The passes from a module to the LLVM dialect, as data, each with the reason of its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mlir import ir

from ...errors import InternalError, TargetError
from ...ir.builder import string_attr
from ...ir.context import context
from ...ir.elementary.values import define, hide
from ...ir.linalg import lower_linalg
from ...ir.module import Module
from ...ir.passes import run_passes
from ...ir.subnormals import flush_subnormals
from ...ir.walk import entry_block, location_of, operations


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass of MLIR by name, with its options and what it runs on."""

    name: str
    options: str = ""
    on: str = ""

    def __str__(self) -> str:
        text = f"{self.name}{{{self.options}}}" if self.options else self.name
        return f"{self.on}({text})" if self.on else text


FUNCTION, _TYPES = "func.func", "allo-lower-types"
RESULTS_TO_ARGUMENTS = Pass("buffer-results-to-out-params", "hoist-static-allocs=true")
PIPELINE: tuple[Pass, ...] = (
    # before any pass that folds, which MLIR does wrongly for bounds that are always equal
    Pass("allo-simplify-bounds", on=FUNCTION),
    Pass("allo-expand-remainders", on=FUNCTION),  # before any pass that folds, which MLIR does wrongly for them
    Pass("convert-linalg-to-affine-loops", on=FUNCTION),  # early: all passes on loops and types see those loops too
    # results go to the caller's buffers, without a copy
    RESULTS_TO_ARGUMENTS,
    Pass(_TYPES),  # before all else: upstream passes know neither our types nor odd widths
    Pass("canonicalize"),
    Pass("allo-cpu-locality", on=FUNCTION),  # while loops and accesses are still affine
    Pass("allo-vectorize", on=FUNCTION),  # before unrolling: one vector operation instead of many scalar copies
    Pass("allo-unroll-annotated", on=FUNCTION),
    # after all that changes loops, which say what waits for what: a * b + c may become one instruction, as in C
    Pass("allo-fp-contract", on=FUNCTION),
    Pass("allo-outline-parallel"),  # after unrolling: the outlined body is final
    Pass("allo-place-buffers", on=FUNCTION),  # after outlining: a buffer of the body stays with its thread
    Pass("expand-strided-metadata"),  # other looks at arrays; what it computes of extents and strides is affine
    Pass("allo-call-elementary"),  # after all passes on loops, for which a call may do anything
    Pass("lower-affine"),
    Pass("canonicalize"),
    Pass("cse"),
    Pass("convert-scf-to-cf"),
    Pass("convert-math-to-llvm"),
    Pass("convert-math-to-libm"),
    Pass("allo-saturate-casts", on=FUNCTION),  # late: one operation vectorizes and folds better than its selects
    Pass("allo-exact-extrema", on=FUNCTION),  # before the next one, whose maxima take the first of two zeros
    Pass("arith-expand"),
    Pass("allo-expand-wide-division", on=FUNCTION),  # after rounding divisions became plain ones
    Pass("allo-native-integers", on=FUNCTION),  # late: all other passes see the declared widths
    Pass("convert-vector-to-llvm"),
    Pass("convert-arith-to-llvm"),
    Pass("convert-cf-to-llvm"),
    Pass("finalize-memref-to-llvm", "use-aligned-alloc=true"),  # aligning by hand hides that buffers are distinct
    Pass("convert-func-to-llvm", "use-bare-ptr-memref-call-conv=true"),  # so that `llvm.noalias` reaches pointers
    Pass("reconcile-unrealized-casts"),
    Pass("allo-parallel-runtime"),  # fills the fork functions with calls of the thread pool
    Pass("allo-task-runtime"),  # fills the functions that start processes of dataflow regions
)


# a debug build allocates through the run-time library, which frees what a call leaves behind
_CHECKED = {"finalize-memref-to-llvm": "use-aligned-alloc=true use-generic-functions=true"}


def lower(
    module: Module, *, fastmath: bool, contract: bool = False, check: bool = False, flush: bool = False,
    rolled: bool = False,
) -> None:
    """Turn `module` into the LLVM dialect, in place.

    `fastmath` lets floating-point arithmetic be reordered, `contract` lets `a * b + c` be rounded once; `check` is for
    a module with checks; `flush` lets arithmetic take and make zeros in the place of subnormal numbers; `rolled` keeps
    LLVM from unrolling loops.

    Raises TargetError if it holds something that the CPU cannot run.
    """
    if fastmath:
        _allow_reordering(module)
    steps = [step for step in PIPELINE if contract or step.name != "allo-fp-contract"]
    if check:
        steps = [replace(step, options=_CHECKED.get(step.name, step.options)) for step in steps]
    first = next(k for k, step in enumerate(steps) if step.name == _TYPES)
    try:
        if flush:
            lower_linalg(module)
        hide(module)  # before any pass that folds, which gives the bits of the C library
        if flush:
            _flush(module)
        run_passes(_text(steps[:first]), module.mlir.operation)
        hide(module)  # what was an operator on arrays
        define(module)
        run_passes(_text(steps[first:]), module.mlir.operation)
    except ir.MLIRError as error:
        message = str(error)
        if "allo." in message:
            raise TargetError(f"the module cannot run on the CPU: {message}") from None
        raise InternalError(f"lowering to LLVM failed: {message}") from None
    _refuse_what_is_left(module)
    if not check:
        _keep_memory(module)
    if rolled:
        _keep_loops(module)


_KEEPING = {"aligned_alloc": "allo_array_alloc", "free": "allo_array_free"}  # of the run-time library


def _keep_memory(module: Module) -> None:
    """Let threads keep the memory of arrays for their next calls: by the functions of the run-time library."""
    for function in operations(module.mlir.body, "llvm.func"):
        name = ir.StringAttr(function.attributes["sym_name"]).value
        if name in _KEEPING:
            function.attributes["sym_name"] = string_attr(_KEEPING[name])
            if name == "aligned_alloc":  # what LLVM knows of that of the C library
                function.attributes["res_attrs"] = ir.Attribute.parse("[{llvm.noalias}]", context())
    for call in operations(module.mlir.body, "llvm.call"):
        if "callee" not in call.attributes:
            continue
        name = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
        if name in _KEEPING:
            call.attributes["callee"] = ir.FlatSymbolRefAttr.get(_KEEPING[name], context())


def _keep_loops(module: Module) -> None:
    """Tell LLVM to unroll none of the loops of `module`, which is in the LLVM dialect."""
    keep = ir.Attribute.parse("#llvm.loop_annotation<unroll = <disable = true>>", context())
    for branch in operations(module.mlir.body, "llvm.br"):  # the one that leads back is what counts
        branch.attributes["loop_annotation"] = keep


def _flush(module: Module) -> None:
    """Before any pass that folds, for which `x * 1.0` is `x`; then what is made of numbers with a binary point."""
    flush_subnormals(module)
    run_passes("builtin.module(allo-lower-numbers)", module.mlir.operation)
    flush_subnormals(module)


def _text(steps: Sequence[Pass]) -> str:
    return f"builtin.module({','.join(map(str, steps))})"


def _refuse_what_is_left(module: Module) -> None:
    """Raises TargetError for an operation that no pass knew: LLVM would only say that there is one."""
    for left in operations(module.mlir.body, "builtin.unrealized_conversion_cast"):
        users = [use.owner.operation for result in left.results for use in result.uses]
        unknown = next((op for op in users if not op.name.startswith(("llvm.", "builtin."))), left)
        raise TargetError(f"'{unknown.name}' cannot run on the CPU", at=location_of(unknown))


_FLOAT_OPERATIONS = frozenset(
    f"arith.{name}" for name in ("addf", "subf", "mulf", "divf", "negf", "cmpf", "remf")
)


def _allow_reordering(module: Module) -> None:
    flags = ir.Attribute.parse("#arith.fastmath<fast>", context())
    for function in module.functions():
        entry = entry_block(function)
        for op in operations(entry) if entry is not None else ():
            if op.name in _FLOAT_OPERATIONS:
                op.attributes["fastmath"] = flags
