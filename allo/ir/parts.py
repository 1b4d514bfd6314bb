"""Parts of modules: functions, constants and states, shared by the states of schedules that have them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any
from weakref import ref

from mlir import ir

from .access import callee_name
from .builder import string_attr
from .context import context, unknown_location
from .function_arrays import FunctionArrays, function_arrays, retype
from .walk import entry_block, operations, statements, string_of

type Types = frozenset[tuple[int, ir.Type]]  # of arrays by their numbers; that of a constant has number -1


class Part:
    """What a module holds by a name: never changed, in a module that may have other functions around it than a state.

    One that is another one with other types of arrays (`retyped`) is written when somebody looks at its operation.
    """

    __slots__ = ("__weakref__", "_facts", "_of", "_op", "_retyped", "_types", "is_function")

    def __init__(self, op: ir.Operation) -> None:
        self._op: ir.Operation | None = op
        self._facts: dict[Hashable, Any] = {}
        self._of: Part | None = None  # what this is but for types, which is written
        self._types: Types = frozenset()  # that are others there
        self._retyped: dict[Types, ref[Part]] = {}  # what has been made of this one
        self.is_function: bool = op.name == "func.func"

    @property
    def plain(self) -> Part:
        """What this is but for types of arrays; it is written."""
        return self if self._of is None else self._of

    @property
    def op(self) -> ir.Operation:
        """The operation."""
        if self._op is None:
            alone = ir.Module.create(unknown_location())
            self.copy(ir.InsertionPoint(alone.body))
            self.written(statements(alone.body)[0])
        assert self._op is not None
        return self._op

    @property
    def is_written(self) -> bool:
        """Whether the operation is there."""
        return self._op is not None

    def copy(self, point: ir.InsertionPoint, name: str | None = None) -> None:
        """Put a copy of the operation somewhere, with other types of arrays if it is not written yet, and a `name`."""
        made = (self._op or self.plain.op).clone(point)
        if name is not None and name != string_of(made.operation, "sym_name"):
            made.operation.attributes["sym_name"] = string_attr(name)

    def written(self, op: ir.Operation) -> None:
        """`op` is the same but for types: it gets those of this one, and is its operation from now on."""
        write_types(op, self.plain.arrays, dict(self._types))
        self._op = op

    def retyped(self, types: Mapping[int, ir.Type]) -> Part:
        """The same with other types of arrays; equal answers are one."""
        plain = self.plain
        wanted = dict(self._types) | dict(types)
        key = frozenset((number, kind) for number, kind in wanted.items() if kind != plain.array_type(number))
        if not key:
            return plain
        known = plain._retyped.get(key)
        made = None if known is None else known()
        if made is None:
            made = Part.__new__(Part)
            made._op, made._of, made._types, made._retyped = None, plain, key, {}
            made.is_function = plain.is_function
            made._facts = {"arrays": plain.arrays.retyped(dict(key))} if plain.is_function else {}
            plain._retyped[key] = ref(made)
        return made

    @property
    def arrays(self) -> FunctionArrays:
        """The arrays of a function; of a constant none."""
        return self.fact("arrays", _arrays)

    def array_type(self, number: int) -> ir.Type:
        """The type of array `number` of a function, or of a constant."""
        if self.is_function:
            return self.arrays.arrays[number].type
        known = dict(self._types).get(-1)
        return known or ir.TypeAttr(self.op.attributes["type"]).value

    @property
    def calls(self) -> tuple[str, ...]:
        """The functions that a function calls itself, each once, in the order of the text."""
        return self.fact("calls", called_functions, any_layout=True)

    def learn(self, key: Hashable, fact: Any) -> None:
        """Keep a fact; a value without operations in it."""
        self._facts[key] = fact

    def fact[T](self, key: Hashable, find: Callable[[ir.Operation], T], any_layout: bool = False) -> T:
        """What `find` says of the operation, found once; a value without operations in it.

        With `any_layout` it does not depend on types of arrays.
        """
        holder = self.plain if any_layout else self
        if key not in holder._facts:
            holder._facts[key] = find(holder.op)
        found: T = holder._facts[key]
        return found


def called_functions(function: ir.Operation) -> tuple[str, ...]:
    """The functions that a function calls itself, each once, in the order of the text."""
    entry = entry_block(function.opview) if function.name == "func.func" else None
    calls = operations(entry, "func.call") if entry is not None else []
    return tuple(dict.fromkeys(callee_name(call) for call in calls))


def write_types(op: ir.Operation, arrays: FunctionArrays, types: Mapping[int, ir.Type]) -> None:
    """Give arrays of a function, or a constant, other types."""
    if op.name == "func.func":
        retype(op.opview, arrays, types)
    else:
        op.attributes["type"] = ir.TypeAttr.get(types[-1], context())


def _arrays(op: ir.Operation) -> FunctionArrays:
    return function_arrays(op) if op.name == "func.func" else FunctionArrays((), (), None, ())
