"""The polyhedral model of one function: loops, parameters, buffers, and every access to memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import islpy as isl
from mlir import ir

from .linear import Linear, Pieces, Quotient, Row, variable
from .systems import basic_map, named_space, set_of


class AccessKind(StrEnum):
    READ = "read"
    WRITE = "write"


class Source(NamedTuple):
    """Where in the kernel's source something comes from; line 0 if unknown."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}" if self.line else "an unknown line"


def source_of(op: ir.Operation) -> Source:
    location = op.location
    while not location.is_a_file():
        if location.is_a_name():
            location = location.child_loc
        elif location.is_a_callsite():
            location = location.callee
        elif location.is_a_fused() and location.locations:
            location = location.locations[0]
        else:
            return Source("", 0, 0)
    return Source(location.filename, location.start_line, location.start_col)


@dataclass(frozen=True, slots=True)
class ModelLoop:
    """`path` are the textual positions down to this loop, one for each enclosing loop and its own last."""

    variable: int
    name: str
    op: ir.Operation = field(compare=False, repr=False)
    depth: int
    path: tuple[int, ...]
    pieces: Pieces = field(compare=False, repr=False)
    exact: bool
    source: Source = field(compare=False)
    span: int | None = field(compare=False)  # no two values of the variable are further apart, if that is known


@dataclass(frozen=True, slots=True)
class ModelParameter:
    """A value that is fixed during a call of the function."""

    variable: int
    name: str
    value: ir.Value = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ModelBuffer:
    """One memory, or one in each iteration of the loops in `scope`, inside of which it is allocated."""

    label: str  # unique in the model
    name: str
    value: ir.Value | None = field(compare=False, repr=False)  # None: a global that only callees use
    shape: tuple[int | None, ...]
    scope: tuple[ModelLoop, ...]
    origin: str  # "argument", "alloc", "global", "result", "stream" or "carried"
    source: Source = field(compare=False)

    @property
    def is_stream(self) -> bool:
        """Is it a stream or an array of streams? Each access changes it: their order is its content."""
        return self.value is not None and "!allo.stream" in str(self.value.type)


@dataclass(frozen=True, slots=True)
class Access:
    """One operation's reads or writes of one buffer: which iterations, which elements.

    Where `exact_domain` or `exact_elements` is false the model over-approximates and `reason` says why.
    """

    id: str
    kind: AccessKind
    buffer: ModelBuffer
    loops: tuple[ModelLoop, ...]
    path: tuple[int, ...]  # len(loops) + 1 textual positions
    pieces: Pieces = field(repr=False)
    subscripts: tuple[Linear, ...]
    rows: tuple[Row, ...] = field(repr=False)  # on the existential variables of the subscripts
    quotients: tuple[Quotient, ...] = field(repr=False)
    exact_domain: bool
    exact_elements: bool
    reason: str
    parameters: tuple[ModelParameter, ...] = field(repr=False)
    source: Source
    op: ir.Operation = field(compare=False, repr=False)

    @property
    def exact(self) -> bool:
        return self.exact_domain and self.exact_elements

    @property
    def is_write(self) -> bool:
        return self.kind is AccessKind.WRITE

    @property
    def variables(self) -> tuple[int, ...]:
        return tuple(loop.variable for loop in self.loops)

    @property
    def loop_names(self) -> tuple[str, ...]:
        return tuple(loop.name for loop in self.loops)

    @property
    def domain(self) -> isl.Set:
        """The iterations, e.g. `{ A3[i, j] : ... }`."""
        space = named_space(self._parameter_names, self.loop_names, self.id)
        return set_of(self._parameter_variables, self.variables, self.pieces, space)

    @property
    def map(self) -> isl.Map:
        """The elements, e.g. `{ A3[i, j] -> B[j] }`, without the domain; over-approximated if not exact.

        A buffer that is allocated inside loops has their variables before its subscripts.
        """
        scope = tuple(loop.variable for loop in self.buffer.scope)
        forms = (*(variable(v) for v in scope), *self.subscripts)
        outputs = tuple(-1 - k for k in range(len(forms)))
        rows = [Row(variable(out) - form, True) for out, form in zip(outputs, forms, strict=True)]
        space = named_space(
            self._parameter_names,
            self.loop_names,
            self.id,
            [f"e{k}" for k in range(len(forms))],
            self.buffer.label,
        )
        parameters = self._parameter_variables
        return isl.Map.from_basic_map(
            basic_map(parameters, self.variables, outputs, (*rows, *self.rows), space)
        )

    @property
    def _parameter_names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def _parameter_variables(self) -> tuple[int, ...]:
        return tuple(parameter.variable for parameter in self.parameters)

    @property
    def text(self) -> str:
        """The subscripted buffer as in the source, e.g. `A[i - 1, j // 2]`; `?` where not affine."""
        if not self.subscripts:
            return self.buffer.name
        return f"{self.buffer.name}[{', '.join(self._subscript(form) for form in self.subscripts)}]"

    def _subscript(self, form: Linear) -> str:
        names = {loop.variable: loop.name for loop in self.loops}
        names |= {parameter.variable: parameter.name for parameter in self.parameters}
        quotients = {quotient.variable: quotient for quotient in self.quotients}

        def name(number: int) -> str:
            if number in names:
                return names[number]
            quotient = quotients.get(number)
            if quotient is None:
                return "?"
            numerator = quotient.numerator.text(name)
            simple = numerator.isidentifier()
            return f"({numerator if simple else f'({numerator})'} // {quotient.divisor})"

        for quotient in self.quotients:  # e - c*(e // c) is e % c
            remainder = quotient.numerator - variable(quotient.variable).scaled(quotient.divisor)
            if form == remainder:
                numerator = quotient.numerator.text(name)
                return f"{numerator if numerator.isidentifier() else f'({numerator})'} % {quotient.divisor}"
        text = form.text(name)
        return text[1:-1] if len(form.terms) == 1 and text.startswith("(") and text.endswith(")") else text

    def schedule(self, depth: int) -> isl.Map:
        """The 2d+1 schedule, padded with zeros to `depth` loops: `{ A3[i, j] -> [0, i, 0, j, 1] }`."""
        outputs = tuple(-1 - k for k in range(2 * depth + 1))
        rows = []
        for k in range(depth + 1):
            position = self.path[k] if k < len(self.path) else 0
            rows.append(Row(variable(outputs[2 * k]).plus(-position), True))
        for k in range(depth):
            time = variable(outputs[2 * k + 1])
            rows.append(Row(time - variable(self.loops[k].variable) if k < len(self.loops) else time, True))
        names = [f"t{k}" for k in range(2 * depth + 1)]
        space = named_space(self._parameter_names, self.loop_names, self.id, names)
        return isl.Map.from_basic_map(
            basic_map(self._parameter_variables, self.variables, outputs, rows, space)
        )


@dataclass(frozen=True, slots=True)
class Model:
    """A snapshot: it is not updated when the function is rewritten."""

    function: str
    loops: tuple[ModelLoop, ...]
    parameters: tuple[ModelParameter, ...]
    buffers: tuple[ModelBuffer, ...]
    accesses: tuple[Access, ...]
    values: tuple[tuple[ir.Value, ModelBuffer], ...] = field(compare=False, repr=False)

    def loop(self, op: ir.Operation | ir.OpView) -> ModelLoop:
        """The loop of an operation; KeyError if the function had no such loop when the model was made."""
        operation = op.operation
        for loop in self.loops:
            if loop.op == operation:
                return loop
        raise KeyError(f"{operation.name} is not a loop of '{self.function}'")

    def buffer(self, value: ir.Value) -> ModelBuffer | None:
        """The memory behind a memref value; None if no operation touches it."""
        return next((buffer for known, buffer in self.values if known == value), None)

    def used_only_in(self, buffer: ModelBuffer, places: Sequence[ir.Operation]) -> bool:
        """Is every use of the memory inside of `places`? Also by operations that the model leaves out?"""
        values = [value for value, known in self.values if known.label == buffer.label]
        return all(_is_in(use.owner.operation, places) for value in values for use in value.uses)

    def inside(self, loop: ModelLoop) -> Iterator[Access]:
        for access in self.accesses:
            if len(access.loops) > loop.depth and access.loops[loop.depth].variable == loop.variable:
                yield access

    @property
    def depth(self) -> int:
        return max((len(access.loops) for access in self.accesses), default=0)

    @property
    def parameter_variables(self) -> frozenset[int]:
        return frozenset(parameter.variable for parameter in self.parameters)


def _is_in(op: ir.Operation, places: Sequence[ir.Operation]) -> bool:
    current: ir.Operation | None = op
    while current is not None:
        if current in places:
            return True
        current = None if current.parent is None else current.parent.operation
    return False
