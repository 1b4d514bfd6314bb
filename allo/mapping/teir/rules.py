"""Rules of TECs: what any TEC obeys, and the domains of Fig. 3 (processors) and Fig. 6 (XDNA)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ...errors import ContractionError, Diagnostic
from .values import (
    TENSORS,
    DataType,
    DimType,
    ExecType,
    PrimFirst,
    PrimLast,
    PrimMain,
    Tec,
    TecDimension,
    word,
)

# Tab. 2: the tensors (in0, in1, out) that a dimension of a type exists in.
EXISTS: dict[DimType, tuple[bool, bool, bool]] = {
    DimType.C: (True, True, True),
    DimType.M: (True, False, True),
    DimType.N: (False, True, True),
    DimType.K: (True, True, False),
}
# The same for a copy or a sum, which has one input.
EXISTS_UNARY: dict[DimType, tuple[bool, bool, bool]] = {
    DimType.M: (True, False, True),
    DimType.K: (True, False, False),
}
PRIMITIVE_TYPES = {PrimMain.GEMM: "MNK", PrimMain.BRGEMM: "KMNK"}


def inferred_type(strides: tuple[int, int, int], unary: bool = False) -> DimType | None:
    """The type of a dimension with these strides by Tab. 2, or None if no type exists in just these tensors."""
    there = tuple(stride != 0 for stride in strides)
    table = EXISTS_UNARY if unary else EXISTS
    return next((type for type, exists in table.items() if exists == there), None)


def check_tec(tec: Tec) -> None:
    """Raises ContractionError with all that makes `tec` no TEC of any domain."""
    _raise(list(_numbers(tec)) or [*_types(tec), *_primitives(tec), *_output(tec)])


def _raise(messages: list[tuple[str, str]]) -> None:
    if messages:
        raise ContractionError.collected([Diagnostic(message, None, hint or None) for message, hint in messages])


def _numbers(tec: Tec) -> Iterator[tuple[str, str]]:
    if not tec.dimensions:
        yield "a TEC has at least one dimension", "a scalar has one of size 1"
    wrong = [d for d in tec.dimensions if not isinstance(d, TecDimension) or len(d.strides) != len(TENSORS)]
    for d in wrong:
        yield f"{d!r} is no TecDimension with strides in {', '.join(TENSORS)}", ""
    if wrong:
        return
    names = [d.name for d in tec.dimensions]
    for name in dict.fromkeys(n for n in names if names.count(n) > 1):
        yield f"two dimensions are called '{name}'", ""
    for d in tec.dimensions:
        if not isinstance(d.name, str) or not d.name or any(c.isspace() for c in d.name):
            yield f"a dimension cannot be called {d.name!r}: names have letters and no blanks", ""
        if not _is_natural(d.size) or d.size < 1:
            yield f"dimension '{d.name}' has size {d.size!r}: sizes are positive integers", ""
        for tensor, stride in zip(TENSORS, d.strides, strict=True):
            if not _is_natural(stride):
                hint = "turn the dimension around before"
                yield f"dimension '{d.name}' has stride {stride!r} in {tensor}: strides are natural numbers", hint


def _is_natural(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _types(tec: Tec) -> Iterator[tuple[str, str]]:
    table = EXISTS_UNARY if tec.is_unary else EXISTS
    for d in tec.dimensions:
        if d.size == 1 and not any(d.strides):
            continue  # it stands for a dimension that the tensors lack
        there = [tensor for tensor, stride in zip(TENSORS, d.strides, strict=True) if stride]
        where = " and ".join(there) or "no tensor"
        right = inferred_type(d.strides, tec.is_unary)
        if right is None:
            yield f"dimension '{d.name}' exists in {where}, which is none of the types of Tab. 2", _remedy(there)
        elif right is not d.type:
            if d.type not in table:
                yield f"dimension '{d.name}' has type {d.type}: a {tec.prim_main} has the types M and K", ""
            else:
                yield f"dimension '{d.name}' exists in {where}: its type is {right}, not {d.type}", ""
    if tec.prim_main is PrimMain.COPY and DimType.K in tec.dim_types:
        first = next(d for d in tec.dimensions if d.type is DimType.K)
        yield f"dimension '{first.name}' of type K is summed, which a copy does not", "the primitive is 'add'"


def _remedy(there: list[str]) -> str:
    if there in (["in0"], ["in1"]):
        return f"sum {there[0]} over it in a TEC of its own (prim_main 'add') before"
    return "repeat the result along it afterwards" if there == ["out"] else "leave it out"


def _primitives(tec: Tec) -> Iterator[tuple[str, str]]:
    executions = [d.execution for d in tec.dimensions]
    last = len(executions) - executions.count(ExecType.PRIM)
    for d in tec.dimensions[:last]:
        if d.execution is ExecType.PRIM:
            yield f"dimension '{d.name}' is prim, and a loop follows it: prim dimensions come last", "permute them"
    types = "".join(d.type for d in tec.dimensions if d.execution is ExecType.PRIM)
    wanted = PRIMITIVE_TYPES.get(tec.prim_main)
    if wanted is not None and types != wanted:
        listed = ", ".join(wanted)
        got = f"of types {', '.join(types)}" if types else "none"
        yield f"a {tec.prim_main} has prim dimensions of types {listed}, in this order; got {got}", ""
    if tec.prim_main is PrimMain.NONE and types:
        yield "prim_main is none, and there are prim dimensions", "say which primitive they are of"
    for d in tec.dimensions:
        if d.type is DimType.K and d.execution is ExecType.SHARED and d.size > 1:
            message = f"dimension '{d.name}' of type K cannot be shared: threads would add to the same elements"
            yield message, "make it seq, or share a dimension of type C, M or N"
    shared = [k for k, e in enumerate(executions) if e is ExecType.SHARED]
    if shared and shared[-1] >= len(shared):
        late = tec.dimensions[shared[-1]]
        yield f"dimension '{late.name}' is shared and stands in a loop that is not: shared dimensions come first", ""


def _output(tec: Tec) -> Iterator[tuple[str, str]]:
    """Two indices must not mean one element of the output, else the result depends on the order."""
    reached = 0
    inside: TecDimension | None = None
    for d in sorted((d for d in tec.dimensions if d.strides[2] and d.size > 1), key=lambda d: d.strides[2]):
        if d.strides[2] <= reached:
            what = f"'{d.name}' (stride {d.strides[2]})" + (f" and '{inside.name}'" if inside else "")
            yield f"dimensions {what} may reach the same element of out", "sum it in another TEC"
        reached += (d.size - 1) * d.strides[2]
        inside = d


_PROPERTIES: dict[str, type[StrEnum]] = {
    "exec_types": ExecType,
    "data_type": DataType,
    "prim_first": PrimFirst,
    "prim_main": PrimMain,
    "prim_last": PrimLast,
}


@dataclass(frozen=True, slots=True)
class TecDomain:
    """The TECs that a machine takes: a set of words for each of their properties."""

    name: str
    execs: frozenset[ExecType]
    types: frozenset[DataType]
    firsts: frozenset[PrimFirst]
    mains: frozenset[PrimMain]
    lasts: frozenset[PrimLast]

    def __str__(self) -> str:
        """A line with the name, which has no line breaks, then one for each property."""
        lines = [f"domain {self.name}"]
        for (label, kind), words in zip(_PROPERTIES.items(), self._words(), strict=True):
            lines.append(f"  {label:10}  {', '.join(word for word in kind if word in words)}")
        return "\n".join(lines)

    def _words(self) -> tuple[frozenset[StrEnum], ...]:
        """Those of `_PROPERTIES`, in their order."""
        return self.execs, self.types, self.firsts, self.mains, self.lasts

    @classmethod
    def parse(cls, text: str) -> TecDomain:
        """The domain that prints so. Raises ContractionError with the line that cannot be read."""
        lines = text.splitlines() if isinstance(text, str) else []
        head, name = lines[0].split(maxsplit=1) if lines and len(lines[0].split()) > 1 else ("", "")
        if head != "domain":
            raise ContractionError("the text of a domain begins with 'domain' and its name", hint="print one to see")
        found: dict[str, frozenset[Any]] = {}
        for number, line in enumerate(lines[1:], 2):
            label, _, rest = line.strip().partition(" ")
            if label not in _PROPERTIES:
                raise ContractionError(f"line {number}: '{label}' is no property of a domain")
            if label in found:
                raise ContractionError(f"line {number}: '{label}' is given twice")
            words = [part.strip() for part in rest.split(",")]
            found[label] = frozenset(word(_PROPERTIES[label], f"line {number}: {label}", part) for part in words)
        for label in _PROPERTIES:
            if label not in found:
                raise ContractionError(f"the domain '{name}' has no line for '{label}'")
        return cls(name.strip(), *(found[label] for label in _PROPERTIES))

    def violations(self, tec: Tec) -> list[str]:
        """What of `tec` the domain does not have; empty if it is in it."""
        found = [
            f"{self.name} has no execution type '{d.execution}' (dimension '{d.name}')"
            for d in tec.dimensions
            if d.execution not in self.execs
        ]
        values = (tec.data_type, tec.prim_first, tec.prim_main, tec.prim_last)
        choices = zip(list(_PROPERTIES)[1:], values, self._words()[1:], strict=True)
        for what, value, allowed in choices:
            if value not in allowed:
                listed = ", ".join(f"'{member}'" for member in type(value) if member in allowed)
                found.append(f"{self.name} has no {what} '{value}'; it has {listed}")
        return found

    def check(self, tec: Tec) -> None:
        """Raises ContractionError with all violations."""
        _raise([(message, "") for message in self.violations(tec)])


# As published, for exchange with other implementations; those here take more.
ORIGINAL = TecDomain(  # Fig. 3
    "TEIR",
    frozenset({ExecType.SEQ, ExecType.SHARED, ExecType.PRIM}),
    frozenset({DataType.FP32, DataType.FP64}),
    frozenset({PrimFirst.NONE, PrimFirst.ZERO, PrimFirst.RELU}),
    frozenset({PrimMain.NONE, PrimMain.COPY, PrimMain.GEMM, PrimMain.BRGEMM}),
    frozenset(PrimLast),
)
ORIGINAL_NPU = TecDomain(  # Fig. 6
    "TEIR for XDNA",
    frozenset({ExecType.SEQ, ExecType.NPU, ExecType.PRIM}),
    frozenset({DataType.BF16}),
    frozenset({PrimFirst.ZERO}),
    frozenset({PrimMain.GEMM}),
    frozenset({PrimLast.NONE}),
)
PROCESSOR = TecDomain(
    "a processor",
    frozenset({ExecType.SEQ, ExecType.SHARED, ExecType.PRIM}),
    frozenset(DataType),
    frozenset(PrimFirst),
    frozenset(PrimMain),
    frozenset(PrimLast),
)
