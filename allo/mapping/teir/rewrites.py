"""Rewrites of TECs: each takes a TEC that means the same as the one it gives, or refuses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isqrt
from typing import Any

from ...errors import ContractionError
from .rules import PRIMITIVE_TYPES
from .values import DimType, ExecType, PrimMain, Tec, TecDimension, word


def divisors(number: int) -> list[int]:
    """The divisors of a positive number, from 1 on."""
    small = [d for d in range(1, isqrt(number) + 1) if number % d == 0]
    return small + [number // d for d in reversed(small) if d * d != number]


def split(tec: Tec, name: str, size: int) -> Tec:
    """Two loops, the inner one of `size`, in the place of one."""
    old = _loop(tec, name, "split")
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ContractionError(f"dimension '{name}' cannot be split by {size!r}: a size is a positive integer")
    if old.size % size:
        best = min(divisors(old.size), key=lambda d: abs(d - size))
        message = f"{size} does not divide the size {old.size} of dimension '{name}'"
        raise ContractionError(message, hint=f"the nearest size that does is {best}")
    outer = replace(
        old, name=f"{name}.outer", size=old.size // size, strides=_scaled(old.strides, size)
    )
    inner = replace(old, name=f"{name}.inner", size=size)
    return _replaced(tec, old, (outer, inner))


def fuse(tec: Tec, outer: str, inner: str, name: str | None = None) -> Tec:
    """One loop in the place of two."""
    first, second = _loop(tec, outer, "fuse"), _loop(tec, inner, "fuse")
    if first is second:
        raise ContractionError(f"dimension '{outer}' cannot be fused with itself")
    if first.type is not second.type:
        types = f"{first.type} and {second.type}"
        raise ContractionError(f"dimensions '{outer}' and '{inner}' have types {types} and cannot be fused")
    if first.execution is not second.execution:
        how = f"{first.execution} and {second.execution}"
        raise ContractionError(f"dimensions '{outer}' and '{inner}' are {how} and cannot be fused")
    for tensor, a, b in zip(("in0", "in1", "out"), first.strides, second.strides, strict=True):
        if a != b * second.size:
            message = (
                f"dimensions '{outer}' and '{inner}' cannot be fused: in {tensor}, a step of '{outer}' is {a} elements"
                f" and all of '{inner}' {b * second.size}"
            )
            raise ContractionError(message, hint=f"try fuse('{inner}', '{outer}'), or permute the tensor before")
    fused = replace(second, name=name or f"{outer}_{inner}", size=first.size * second.size)
    return tec.with_dimensions([fused if d is second else d for d in tec.dimensions if d is not first])


def can_fuse(first: TecDimension, second: TecDimension) -> bool:
    """Whether one loop can do what `second` inside of `first` does."""
    alike = first.type is second.type and first.execution is second.execution
    return alike and _scaled(second.strides, second.size) == first.strides


def permute(tec: Tec, *names: str) -> Tec:
    """The loops in another order."""
    known = [d.name for d in tec.dimensions]
    if len(names) != len(known) or set(names) != set(known):
        missing = [n for n in known if n not in names]
        extra = [n for n in dict.fromkeys(names) if n not in known or names.count(n) > 1]
        parts = [f"{what} {', '.join(map(repr, n))}" for what, n in (("lacks", missing), ("has", extra)) if n]
        hint = f"the dimensions are {', '.join(known)}"
        raise ContractionError(f"permute names each dimension once: the order {' and '.join(parts)}", hint=hint)
    return tec.with_dimensions([tec[name] for name in names])


def execute(tec: Tec, name: str, execution: str) -> Tec:
    """One loop run in another way."""
    old, how = _loop(tec, name, "execute"), word(ExecType, "execution", execution)
    if how is ExecType.PRIM:
        raise ContractionError(f"dimension '{name}' is made prim by the step primitive, which says of which")
    return _replaced(tec, old, (replace(old, execution=how),))


def primitive(tec: Tec, main: str, *names: str) -> Tec:
    """The named loops as a primitive, behind the others, which are loops."""
    kind = word(PrimMain, "primitive", main)
    unary = (PrimMain.COPY, PrimMain.ADD)
    if tec.is_unary != (kind in unary):
        inputs = "one input" if tec.is_unary else "two inputs"
        raise ContractionError(f"the primitive cannot be '{kind}': the TEC has {inputs}")
    free = [replace(d, execution=_as_loop(d.execution)) for d in tec.dimensions]
    wanted = PRIMITIVE_TYPES.get(kind)
    if wanted is not None and len(names) != len(wanted):
        listed = ", ".join(wanted)
        raise ContractionError(f"a {kind} has dimensions of types {listed}: got {len(names)} names")
    chosen: list[TecDimension] = []
    for k, name in enumerate(names):
        if name == "1" and wanted is not None:
            single = f"one_{wanted[k].lower()}" + ("" if k or len(wanted) == 3 else "_batch")
            chosen.append(TecDimension(single, DimType(wanted[k]), ExecType.PRIM, 1, (0, 0, 0)))
        else:
            _loop(tec, name, "primitive", prim=True)
            chosen.append(replace(tec[name], execution=ExecType.PRIM))
    rest = [d for d in free if d.name not in names]
    return replace(tec, dimensions=(*rest, *chosen), prim_main=kind)


def swap(tec: Tec) -> Tec:
    """The inputs exchanged."""
    if tec.is_unary:
        raise ContractionError(f"a TEC of a {tec.prim_main} has one input, which cannot be swapped")
    other = {DimType.M: DimType.N, DimType.N: DimType.M}
    swapped = [
        replace(d, type=other.get(d.type, d.type), strides=(d.strides[1], d.strides[0], d.strides[2]))
        for d in tec.dimensions
    ]
    prims = [d for d in swapped if d.execution is ExecType.PRIM]
    if tec.prim_main in PRIMITIVE_TYPES:  # their order is that of the types
        prims[-3], prims[-2] = prims[-2], prims[-3]
    return tec.with_dimensions([*(d for d in swapped if d.execution is not ExecType.PRIM), *prims])


def _as_loop(execution: ExecType) -> ExecType:
    return ExecType.SEQ if execution is ExecType.PRIM else execution


def _loop(tec: Tec, name: Any, step: str, prim: bool = False) -> TecDimension:
    if not isinstance(name, str):
        raise ContractionError(f"{step}: a dimension is given by its name, got {name!r}")
    found = tec[name]
    if found.execution is ExecType.PRIM and not prim:
        hint = 'take primitive("none") first, or do this before the primitive is chosen'
        raise ContractionError(f"{step}: dimension '{name}' is inside of the primitive", hint=hint)
    return found


def _scaled(strides: tuple[int, int, int], factor: int) -> tuple[int, int, int]:
    return (strides[0] * factor, strides[1] * factor, strides[2] * factor)


def _replaced(tec: Tec, old: TecDimension, new: Sequence[TecDimension]) -> Tec:
    return tec.with_dimensions([d for each in tec.dimensions for d in (new if each is old else (each,))])
