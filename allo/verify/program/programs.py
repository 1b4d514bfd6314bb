"""Programs of the verifier: one function with the interface of the kernel, however it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from mlir import ir

from ...customize import Schedule, customize
from ...customize.step.record import Steps
from ...errors import VerificationError, counted
from ...ir.access import callee_name
from ...ir.effects import Effects
from ...ir.mlir_types import from_mlir
from ...ir.module import Module
from ...ir.types import AlloType, TensorType
from ...ir.walk import argument_names, entry_block, operations
from ...poly.extract import Reading
from ...poly.model import Source, source_of
from .branches import Guards, select_instead_of_branching
from .flatten import Bits, Flattened, flatten
from .interface import TypeChange, changes_of, guessed_changes, restore, same_signature
from .undefined import undefined_case

_PROMISES = ("fastmath", "overflowFlags", "isExact", "nonNeg")  # attributes, see `_promises`

type _Typed = list[tuple[str, AlloType | TensorType | None]]
type Subject = Schedule | Module | ir.Module | str | Path | Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a program, or a Stateful variable that became one."""

    name: str
    type: AlloType | TensorType | None  # None: a stream
    is_written: bool
    is_state: bool


@dataclass(frozen=True, slots=True)
class Opaque:
    """A statement that could not be turned into plain loops, or is not defined for all operands: what it is."""

    what: str
    at: Source
    is_promise: bool = False


@dataclass(frozen=True)  # without slots, for what is found out of it once
class Program:
    """One function of plain loops that computes what a schedule, kernel or module does.

    Calls are inlined, operators on whole arrays are loops, partitions are gone, constants and `allo.element_cast`
    stay, streams stay operations on streams, with tasks in an order in which they can run. Stateful variables are the
    last arguments. If steps reshaped or packed an argument, the function starts and ends with loops that copy it, so
    that its arguments are those of the kernel; words are put together with `allo.set_slice` and taken apart with
    `allo.get_slice`. `opaque` has what is left of calls (recursion, external C++) and `while`, and operations with
    promises, such as `fastmath`, or with operands for which they are undefined; `cycle` says which tasks wait for each
    other, if they cannot run one after the other.
    """

    name: str
    module: Module = field(compare=False, repr=False)
    arguments: tuple[Argument, ...]
    results: tuple[AlloType | TensorType | None, ...]
    opaque: tuple[Opaque, ...]
    cycle: str
    steps: Steps = field(compare=False, repr=False)
    original: Module = field(compare=False, repr=False)  # what a build of the subject runs
    changes: tuple[TypeChange, ...] = ()
    schedule: Schedule | None = field(default=None, compare=False, repr=False)
    starts: tuple[Bits | None, ...] = field(default=(), compare=False, repr=False)  # of the Stateful variables

    def __reduce__(self) -> tuple[Any, ...]:
        """What another process gets: the module as text, with locations; not the schedule."""
        text = self.module.mlir.operation.get_asm(enable_debug_info=True)
        return _received, (self.name, text, self.arguments, self.results, self.opaque, self.cycle)

    @property
    def function(self) -> ir.OpView:
        """The only function with a body (if nothing is recursive)."""
        return self.module.function(self.module.top)

    @cached_property
    def read(self) -> Reading:
        """The function as poly knows it."""
        return Reading.of(self.module)

    def straight(self, form: Guards) -> Reading:
        """The same of the function with selections in the place of branches, where that is possible."""
        return self._with_terms or self._with_values if form is Guards.TERMS else self._with_values

    @property
    def has_terms(self) -> bool:
        """Whether sums under conditions are sums only in that form."""
        return self._with_terms is not None

    @cached_property
    def _with_values(self) -> Reading:
        module = self.module.clone()
        return Reading.of(module) if select_instead_of_branching(module, Guards.VALUES) else self.read

    @cached_property
    def _with_terms(self) -> Reading | None:
        module = self.module.clone()
        return Reading.of(module) if select_instead_of_branching(module, Guards.TERMS) else None

    @property
    def digest(self) -> str:
        """What tells the program from others."""
        return sha256(str(self.module).encode()).hexdigest()

    @property
    def entry(self) -> ir.Block:
        """The body of the function."""
        block = entry_block(self.function)
        assert block is not None
        return block


def _received(name: str, text: str, *parts: Any) -> Program:
    """A program from another process."""
    module = Module.parse(text)
    arguments, results, opaque, cycle = parts
    return Program(name, module, arguments, results, opaque, cycle, Steps(), module)


def load(
    subject: Subject,
    *,
    instantiate: Sequence[Any] | Mapping[str, Any] | None = None,
    like: Program | None = None,
) -> Program:
    """The program that a schedule, a kernel, a module or the text of one means; the subject is not changed.

    `instantiate` gives the values of the parameters of a kernel that is a template. `like` is the program that it
    will be compared with: a module without steps may have the types of arguments from after its steps, arrays of such a
    module may have another shape there, and Stateful variables of the same names correspond.
    """
    schedule = subject if isinstance(subject, Schedule) else None
    module = _module(subject, instantiate)
    has_steps = schedule is not None and bool(schedule.steps)
    changes = changes_of(schedule) if schedule is not None else ()
    if like is not None and not (has_steps and like.steps):
        if same_signature(module, like.original):
            changes = like.changes if not has_steps else ()
        elif not changes and not has_steps:
            changes = guessed_changes(module, like.original)
    flat = module.clone()
    told = flatten(flat, () if like is None else [x.name for x in like.arguments if x.is_state])
    if changes:
        restore(flat, changes, told.states)
        flat.verify()
    return Program(
        name=module.top,
        module=flat,
        arguments=_arguments(flat, len(_inputs(module))),
        results=tuple(_type(kind) for kind in _results(flat)),
        opaque=_opaque(flat, told.recursive),
        cycle=told.cycle,
        steps=Steps() if schedule is None else schedule.steps,
        original=module,
        changes=changes,
        schedule=schedule,
        starts=_starts(told, changes),
    )


def _starts(told: Flattened, changes: tuple[TypeChange, ...]) -> tuple[Bits | None, ...]:
    """What the Stateful variables start with, before the steps that changed their types."""
    found = dict(zip(told.states, told.starts, strict=True))
    for change in reversed(changes):
        start = found.get(change.symbol)
        if start is not None:
            found[change.symbol] = change.started(start)
    return tuple(found.values())


def _module(subject: Subject, instantiate: Sequence[Any] | Mapping[str, Any] | None) -> Module:
    match subject:
        case Schedule():
            return subject.ir
        case Module():
            return subject
        case ir.Module():
            return Schedule.from_mlir(str(subject)).ir
        case str() | Path():
            return Schedule.from_mlir(subject).ir
    if callable(subject):
        return customize(subject, instantiate=instantiate).ir
    raise VerificationError(
        f"a program is a schedule, a kernel or a module, got {type(subject).__name__}",
        hint="pass allo.customize(kernel), the kernel itself, or the text of a module",
    )


def _signature(module: Module) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(module.function(module.top).operation.attributes["function_type"]).value)


def _inputs(module: Module) -> list[ir.Type]:
    return list(_signature(module).inputs)


def _results(module: Module) -> list[ir.Type]:
    return list(_signature(module).results)


def _type(kind: ir.Type) -> AlloType | TensorType | None:
    return None if "!allo.stream" in str(kind) else from_mlir(kind)


def _arguments(module: Module, count: int) -> tuple[Argument, ...]:
    function = module.function(module.top)
    entry = entry_block(function)
    assert entry is not None
    written = Effects(module).written_arguments(module.top)
    return tuple(
        Argument(name, _type(argument.type), k in written, k >= count)
        for k, (name, argument) in enumerate(zip(argument_names(function), entry.arguments, strict=True))
    )


def _opaque(module: Module, recursive: str) -> tuple[Opaque, ...]:
    entry = entry_block(module.function(module.top))
    assert entry is not None
    found = []
    for op in operations(entry):
        if op.name == "func.call":
            callee = callee_name(op)
            kind = "which calls itself" if recursive else "which has no body here"
            found.append(Opaque(f"the call of '{callee}', {kind}", source_of(op)))
        elif op.name == "scf.while":
            found.append(Opaque("a `while` loop", source_of(op)))
        found.extend(Opaque(f"`{op.name}` with `{it}`", source_of(op), is_promise=True) for it in _promises(op))
        if case := undefined_case(op):
            found.append(Opaque(f"`{op.name}` with {case}", source_of(op), is_promise=True))
    return tuple(found)


def _promises(op: ir.Operation) -> Iterator[str]:
    """The attributes that leave a result open for some operands; sums of indices never overflow."""
    if len(op.results) and not isinstance(op.results[0].type, ir.IndexType):
        for promise in (str(op.attributes[name]) for name in _PROMISES if name in op.attributes):
            if promise != "false" and not promise.endswith("<none>"):
                yield promise


def other_start(a: Program, b: Program) -> str:
    """The first Stateful variable that does not start alike in both programs; empty if there is none."""
    names = [argument.name for argument in a.arguments if argument.is_state]
    for name, first, second in zip(names, a.starts, b.starts, strict=True):
        if first is None or second is None:
            if first is not second:
                return name
        elif not np.array_equal(first, second):
            return name
    return ""


def other_interface(a: Program, b: Program) -> str:
    """Why no call fits both programs, whose arguments and results match by position, with equal types; else empty."""
    given = [[(x.name, x.type) for x in p.arguments if not x.is_state] for p in (a, b)]
    results = [[(str(k), kind) for k, kind in enumerate(p.results)] for p in (a, b)]
    return _unmatched("argument", *given) or _unmatched("result", *results)


def other_states(a: Program, b: Program) -> str:
    """Why the Stateful variables of two programs, which are inputs and outputs, do not match; empty if they do."""
    left, right = ([(x.name, x.type) for x in p.arguments if x.is_state] for p in (a, b))
    told = _unmatched("Stateful variable", left, right)
    return f"{told}; their values are inputs and outputs: {_names(left)} and {_names(right)}" if told else ""


def _unmatched(what: str, left: _Typed, right: _Typed) -> str:
    """What is not the same in two lists of names and types."""
    for (name, first), (other, second) in zip(left, right, strict=False):
        if first != second:
            return f"{what} '{name}' of the first is {_told(first)}, and '{other}' of the second is {_told(second)}"
    if len(left) != len(right):
        return f"the first has {counted(len(left), what)} and the second has {counted(len(right), what)}"
    return ""


def _names(values: Sequence[tuple[str, object]]) -> str:
    return ", ".join(sorted(f"'{name}'" for name, _ in values)) or "none"


def _told(kind: AlloType | TensorType | None) -> str:
    return "a stream" if kind is None else str(kind)
