"""Writes of a kernel, and the arrays that an expression depends on.

The same question on a module is `allo.ir.effects`: here it is asked while the module does not exist yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from functools import cache
from typing import Any

from .nodes import (
    AssignScalar,
    Call,
    CallEffects,
    CallSite,
    Cast,
    CheckedFunction,
    Copy,
    Declare,
    Expr,
    Fill,
    KernelCall,
    Load,
    Shared,
    Stmt,
    Store,
    StreamAsked,
    StreamGet,
    StreamPut,
    StreamTryGet,
    StreamTryPut,
    Structured,
    Symbol,
    SymbolKind,
    Var,
)

NO_EFFECTS = CallEffects(frozenset(), False)
_AT_STREAM = StreamGet | StreamPut | StreamAsked | StreamTryGet | StreamTryPut
_FOUND = StreamGet | StreamAsked | StreamTryPut  # one value, which nothing else changes


def writes(function: CheckedFunction, parameter: Symbol) -> bool:
    """Whether `function`, or a kernel that it calls, may change the elements of its `parameter`."""
    return parameter in effects_of(function).written


def effects_of(function: CheckedFunction) -> CallEffects:
    """What a call of `function` changes; computed once for a checked kernel."""
    if function.effects is None:
        by_reference = [p for p in function.params if p.kind is SymbolKind.TENSOR]
        function.effects = effects_on(by_reference, function.body)
    return function.effects


def effects_on(arrays: Iterable[Symbol], body: tuple[Stmt, ...]) -> CallEffects:
    """Which of `arrays` statements change, and whether they use streams or change a state."""
    written = {symbol for part in parts(body) for symbol in changed_by(part)}
    calls = (part for part in parts(body) if isinstance(part, CallSite))
    state = any(symbol.state is not None for symbol in written) or any(effects_of(c.callee).state for c in calls)
    state = state or any(isinstance(part, _AT_STREAM) for part in parts(body))
    return CallEffects(frozenset(array for array in arrays if array in written), state)


def effects_in(expr: Expr) -> CallEffects:
    """What the kernels change that `expr` calls."""
    called = [effects_of(part.callee) for part in parts(expr) if isinstance(part, CallSite)]
    written = frozenset(symbol for effects in called for symbol in effects.written)
    return CallEffects(written, any(effects.state for effects in called))


def changed_by(part: Stmt | Expr | CallSite) -> Iterator[Symbol]:
    """The variables and arrays that one statement or call changes; not those of the statements in it."""
    match part:
        case Store(tensor=target) | Fill(tensor=target) | Copy(tensor=target):
            yield target
        case AssignScalar(symbol=target) | StreamTryGet(into=target):
            yield target
        case Structured(output=element):
            yield element.tensor
        case Call(targets=targets):
            yield from targets
        case CallSite(callee=callee, arguments=arguments):
            written = effects_of(callee).written
            for argument, parameter in zip(arguments, callee.params, strict=True):
                if parameter in written and isinstance(argument, Symbol):
                    yield argument


def inlined(before: list[Stmt], statements: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """What is done in front of statements, and these; what a stream gives for one value it gives where that is used."""
    got = before[0] if len(before) == len(statements) == 1 else None
    if not isinstance(got, Declare) or not isinstance(got.init, _FOUND):
        return (*before, *statements)
    match statements[0]:
        case Declare(symbol=Symbol(kind=SymbolKind.SCALAR), init=Expr() as value) as whole if _is_only_use(
            got.symbol, whole, value
        ):  # all elements of an array have one value
            return (replace(whole, init=_recast(value, got.init)),)
        case AssignScalar(value=value) | Store(value=value) | StreamPut(value=value) as whole:
            if _is_only_use(got.symbol, whole, value):
                return (replace(whole, value=_recast(value, got.init)),)
    return (*before, *statements)


def _is_only_use(symbol: Symbol, statement: Stmt, value: Expr) -> bool:
    """Whether a statement uses a variable once, as its value, which may be converted."""
    while isinstance(value, Cast):
        value = value.operand
    uses = [part for part in parts(statement) if isinstance(part, Var) and part.symbol is symbol]
    return len(uses) == 1 and uses[0] is value


def _recast(value: Expr, operand: Expr) -> Expr:
    """The conversions of `value` applied to another operand."""
    return replace(value, operand=_recast(value.operand, operand)) if isinstance(value, Cast) else operand


def arrays_read(expr: Expr) -> list[Symbol]:
    """The arrays whose elements `expr` depends on."""
    found: list[Symbol] = []
    for node in parts(expr):
        match node:
            case Load(tensor=tensor):
                found.append(tensor)
            case CallSite(arguments=arguments):
                found.extend(argument for argument in arguments if isinstance(argument, Symbol))
    return found


def calls_kernel(expr: Expr) -> bool:
    """Whether `expr` calls a kernel, which may have a state."""
    return any(isinstance(node, KernelCall) for node in parts(expr))


def shared(expr: Expr) -> Expr:
    """`expr` to be used twice in an expression: a kernel that it calls is called once."""
    return Shared(expr.type, expr.at, expr) if calls_kernel(expr) else expr


@cache
def _inner(node_type: Any) -> tuple[str, ...]:
    """The fields of a node that may hold other nodes."""
    leaves = ("at", "type", "op", "exact", "nest", "symbol", "tensor", "function", "declares", "targets", "callee")
    return tuple(field.name for field in fields(node_type) if field.name not in leaves)


def parts(value: Any) -> Iterator[Stmt | Expr | CallSite]:
    """All statements, expressions and calls of a typed tree; not those of the kernels that it calls."""
    if isinstance(value, tuple):
        for part in value:
            yield from parts(part)
    elif isinstance(value, Stmt | Expr | CallSite):
        yield value
        kind: Any = type(value)
        for name in _inner(kind):
            yield from parts(getattr(value, name))
