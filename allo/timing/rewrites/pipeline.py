"""The rewrites before scheduling, as data, each with the reason of its place, and their runner."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from ...errors import InternalError, TargetError, nearest
from ...ir.linalg import is_structured, lower_linalg
from ...ir.module import Module
from ...ir.streams import is_stream_type
from ...ir.walk import entry_block, loops_of, operations
from ...target import Fpga
from ..roles import Datapath, Roles
from .constant_division import constant_division
from .constant_multiplication import constant_multiplication
from .elementary_functions import NAME as ELEMENTARY
from .elementary_functions import elementary_functions
from .forward_stores import forward_stores
from .forwarding_registers import forwarding_registers
from .inline_calls import NAME as INLINE
from .inline_calls import inline_calls
from .mlir_passes import if_conversion, run
from .packed_products import packed_products
from .promote_scalars import promote_scalars
from .record import Rewrite
from .reduction_trees import reduction_trees


@dataclass(frozen=True, slots=True)
class RewriteOptions:
    """`auto_pipeline`: innermost loops are pipelined unasked, which decides where loops begin. `reassociate`: sums of
    floats may round otherwise. `depth`: through how many iterations a store is forwarded. `target`: what multipliers
    cost; None: they stay. `own`: for hardware of our own, whose pipelines have straight code that they call in them,
    and which has no units for elementary functions."""

    auto_pipeline: bool = False
    reassociate: bool = False
    depth: int = 0
    target: Fpga | None = None
    own: bool = False


@dataclass(frozen=True, slots=True)
class RewritePass:
    """A pass over one function; `wanted` says whether options ask for it."""

    name: str
    apply: Callable[[Module, str, RewriteOptions], list[Rewrite]]
    wanted: Callable[[RewriteOptions], bool] = lambda options: True


def _of_mlir(name: str) -> RewritePass:
    return RewritePass(name, lambda module, function, options: run(module, function, name))


def _datapaths(module: Module, function: str, options: RewriteOptions) -> list[Datapath]:
    """The parts of a function that are scheduled as one region each."""
    made = module.function(function)
    entry = entry_block(made)
    assert entry is not None
    return list(Roles({view.op: view for view in loops_of(made)}, options.auto_pipeline).datapaths(entry))


FOLD = "canonicalize{enable-patterns=none region-simplify=disabled}"
_FORWARD = RewritePass("allo-forward-stores", lambda module, function, _: forward_stores(module, function))
PIPELINE: tuple[RewritePass, ...] = (
    RewritePass(  # before all that looks at one function
        INLINE,
        lambda m, f, o: inline_calls(m, f, auto_pipeline=o.auto_pipeline, turns=o.own),
        lambda o: o.own,
    ),
    RewritePass(  # before all that folds, which gives the bits of the C library
        ELEMENTARY,
        lambda m, f, o: elementary_functions(m, f),
        lambda o: o.own,
    ),
    # before what looks at values: places are then functions of loop variables, not of values that are computed in loops
    _of_mlir("allo-compose-affine"),
    _FORWARD,  # before all that looks at values: variables of the kernel hide what depends on what
    # before sums and registers, for which only what is not guarded is certain
    RewritePass("allo-if-conversion", lambda module, function, _: if_conversion(module, function)),
    # before promotion, while an update still is a load, a sum and a store of one element
    RewritePass(
        "allo-reduction-trees",
        lambda m, f, o: reduction_trees(m, f, _datapaths(m, f, o), o.reassociate),
    ),
    RewritePass("allo-promote-scalars", lambda m, f, o: promote_scalars(m, f, lambda: _datapaths(m, f, o))),
    _FORWARD,  # again: what has been put into registers
    RewritePass(
        "allo-forwarding-registers",  # after promotion: what is left in memory moves with the loop
        lambda m, f, o: forwarding_registers(m, f, _datapaths(m, f, o), o.depth),
        lambda o: o.depth > 0,
    ),
    _of_mlir("allo-compose-affine"),  # the first iterations in the subscripts of those registers
    RewritePass(  # what forwarding has left, as a sum that starts at 0
        "canonicalize", lambda module, function, _: run(module, function, FOLD)
    ),
    _of_mlir("cse"),  # guarded values run always now, some of them twice
    # after `cse`; before products by constants, of which remainders have one
    RewritePass("allo-constant-division", lambda module, function, _: constant_division(module, function)),
    RewritePass(
        "allo-constant-multiplication",  # after `cse`, which sees one product more easily than its sums
        lambda m, f, o: constant_multiplication(m, f, o.target) if o.target is not None else [],
        lambda o: o.target is not None,
    ),
    RewritePass(
        "allo-packed-products",  # after products by constants, which are none any more
        lambda m, f, o: packed_products(m, f, o.target) if o.target is not None else [],
        lambda o: o.target is not None,
    ),
    # last, and only if it is asked for by name: counters are no functions of loop variables to `allo.poly`
    RewritePass(
        "allo-strength-reduce-addresses",
        lambda m, f, _: run(m, f, "allo-strength-reduce-addresses"),
        lambda o: False,
    ),
)
OF_OWN_HARDWARE = (INLINE, ELEMENTARY)
_CONNECTING = ("func.call", "func.return", "arith.constant", "memref.subview", "memref.cast")
NAMES = tuple(dict.fromkeys(entry.name for entry in PIPELINE))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A module as it is scheduled and emitted, and the records of what was done to it."""

    module: Module = field(repr=False)
    rewrites: tuple[Rewrite, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.rewrites))


def prepared(module: Module, options: RewriteOptions | None = None, only: Collection[str] | None = None) -> Prepared:
    """The rewritten module; the one that is given stays as it is.

    `only` are the names of the passes that run, whatever the options say; None: all that the options ask for.
    Raises TargetError for a name that no pass has, and for what is no list of names.
    """
    options = options or RewriteOptions()
    is_list = only is None or (isinstance(only, Collection) and not isinstance(only, str))
    if not is_list or not all(isinstance(name, str) for name in only or ()):
        raise TargetError(f"rewrites must be a list of names, got {only!r}", hint='as rewrites=["allo-forward-stores"]')
    for name in only or ():
        if name not in NAMES:
            hint = nearest(name, NAMES) or f"there are {', '.join(NAMES)}"
            raise TargetError(f"no rewrite is called '{name}'", hint=hint)
    made = module.clone()
    if any(is_structured(op) for name in _bodies(made) for op in _operations(made, name)):
        lower_linalg(made)
    records: list[Rewrite] = []
    connecting: set[str] = set()  # in which there is nothing to rewrite
    for entry in PIPELINE:
        if entry.wanted(options) if only is None else entry.name in only:
            if entry.name == INLINE:
                connecting.clear()
            else:
                connecting.update(name for name in _bodies(made) if name not in connecting and _only_calls(made, name))
            names = [name for name in _bodies(made) if name not in connecting]
            for name in names:
                records += entry.apply(made, name, options)
            _verify(made, entry.name, names)
    made.verify()
    return Prepared(made, tuple(dict.fromkeys(records)))


def prepared_again(module: Module, options: RewriteOptions | None = None) -> Prepared:
    """A module that was rewritten before, as it is after loops of one iteration are straight code, and values that
    nothing uses gone, which leaves more to do: hardware of our own is rewritten before and after it is cleaned up."""
    made = module.clone()
    for name in _bodies(made):
        run(made, name, "canonicalize")
    return prepared(made, options)


def _bodies(module: Module) -> list[str]:
    return [function.name.value for function in module.functions() if entry_block(function) is not None]


def _only_calls(module: Module, name: str) -> bool:
    """Whether a function only connects others, as the elements of a grid: there is nothing to rewrite."""
    entry = entry_block(module.function(name))
    found = [] if entry is None else operations(entry)
    return all(op.name in _CONNECTING or (len(op.results) == 1 and is_stream_type(op.results[0].type)) for op in found)


def _operations(module: Module, name: str) -> list[object]:
    entry = entry_block(module.function(name))
    return [] if entry is None else operations(entry)


def _verify(module: Module, name: str, rewritten: Iterable[str]) -> None:
    """Check the functions that a pass has rewritten."""
    try:
        for function in rewritten:
            module.verify(function)
    except InternalError as error:
        raise InternalError(f"rewrite '{name}': {error}") from None
