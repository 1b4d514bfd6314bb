"""Counterexamples: small inputs on which both programs were run, and what came out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ir.types import TensorType
from ..deadline import Deadline
from ..program.programs import Argument
from ..result import Counterexample, FirstStep, InputValue, Mismatch
from .differential import Agreement, Difference, Inconclusive, ProgramPair
from .inputs import Array, Inputs, Values, directed_inputs, with_bits

_SHOWN = 6  # elements of an input that are written out
_MINIMISING_RUNS = 80
_MINIMISING_SECONDS = 5.0
_FOR_ANY_ORDER = ("positive numbers", "small integers", "a single 1")  # where rounding is no difference


@dataclass(frozen=True, slots=True)
class Found:
    """Inputs on which the programs differ."""

    inputs: Inputs
    difference: Difference


@dataclass(frozen=True, slots=True)
class NotFound:
    """Running showed no difference: on how many inputs the programs agreed, and why others say nothing."""

    agreed: int
    undecided: tuple[Inconclusive, ...]


def search(pair: ProgramPair, deadline: Deadline, suspected: Mismatch | None = None) -> Found | NotFound:
    """Run the programs on directed inputs until they differ, first on those that a method suspects."""
    agreed = 0
    undecided: list[Inconclusive] = []
    wanted = None if suspected is None else (suspected.output, suspected.element)
    pair.deadline = deadline
    for inputs in _candidates(pair, suspected):
        if deadline.is_over and (agreed or undecided):
            break
        compared = pair.compare(inputs.values, wanted)
        if isinstance(compared, Difference):
            return Found(inputs, compared)
        if isinstance(compared, Agreement):
            agreed += 1
        else:
            undecided.append(compared)
            if compared.is_late:
                break
    return NotFound(agreed, tuple(undecided))


def _candidates(pair: ProgramPair, suspected: Mismatch | None) -> Iterator[Inputs]:
    directed = [i for i in directed_inputs(pair.a.arguments) if not pair.reassociate or i.kind in _FOR_ANY_ORDER]
    if suspected is not None and suspected.inputs:
        for inputs in directed[:2]:
            yield Inputs("found by the solver", _with(pair.a.arguments, inputs.values, suspected.inputs))
    yield from directed


def _with(arguments: tuple[Argument, ...], values: Values, wanted: tuple[InputValue, ...]) -> Values:
    """`values` with some elements replaced."""
    made = list(values)
    names = [argument.name for argument in arguments]
    for item in wanted:
        position = names.index(item.argument)
        kind = arguments[position].type
        assert kind is not None, "streams are no inputs"
        made[position] = with_bits(kind, made[position], item.element, item.bits)
    return tuple(made)


def smaller(pair: ProgramPair, found: Found, deadline: Deadline) -> Found:
    """Inputs with fewer elements that are not zero on which the same output differs."""
    until = min(deadline, Deadline.after(_MINIMISING_SECONDS), key=lambda d: d.until)
    last = pair.runs + _MINIMISING_RUNS
    pair.deadline = until
    best = found

    def attempt(values: Values) -> bool:
        nonlocal best
        if until.is_over or pair.runs >= last:
            return False
        wanted = (best.difference.output, best.difference.element)
        compared = pair.compare(values, wanted)
        if not isinstance(compared, Difference) or compared.output != best.difference.output:
            return False
        if bool(compared.reason) != bool(best.difference.reason):
            return False
        best = Found(Inputs(found.inputs.kind, values), compared)
        return True

    for position, argument in enumerate(pair.a.arguments):
        if isinstance(argument.type, TensorType) and best.inputs.values[position].size:
            _shrink(lambda: best.inputs.values, position, attempt)
    return best


def _shrink(current: Callable[[], Values], position: int, attempt: Callable[[Values], bool]) -> None:
    """Make as many elements of one array zero as possible, then the others whole numbers."""

    def replaced(array: Array) -> Values:
        values = current()
        return (*values[:position], array, *values[position + 1 :])

    array: Array = current()[position]
    zero = np.zeros_like(array)
    if _is_zero(array) or attempt(replaced(zero)):
        return
    if array.size > 1:
        _keep_half(lambda: current()[position], zero, lambda made: attempt(replaced(made)))
    array = current()[position]
    if array.dtype.kind == "f":
        whole = np.where(array == 0, array, np.sign(array) * np.maximum(1, np.floor(np.abs(array))))
        attempt(replaced(whole.astype(array.dtype)))


def _keep_half(current: Callable[[], Array], zero: Array, attempt: Callable[[Array], bool]) -> None:
    """Bisect the elements that are not zero: keep one half of them as long as that suffices."""
    parts = 2
    while True:
        array = current()
        places = np.flatnonzero(_nonzero(array))
        if len(places) < 2 or parts > min(len(places), 8):
            return
        chunks = np.array_split(places, parts)
        for kept in (*chunks, *(np.setdiff1d(places, c) for c in chunks if parts > 2)):
            made = zero.copy()
            made.flat[kept] = array.flat[kept]
            if attempt(made):
                parts = 2
                break
        else:
            parts *= 2


def _nonzero(array: Array) -> Array:
    """Which elements are not zero; -0.0 is not."""
    if array.dtype.names is not None:
        return np.asarray(np.logical_or.reduce([_nonzero(array[name]) for name in array.dtype.names]))
    mask = np.asarray(array != np.zeros_like(array))
    return mask if array.dtype.kind not in "fV" else mask | np.signbit(array)


def _is_zero(array: Array) -> bool:
    return not _nonzero(array).any()


def counterexample(
    pair: ProgramPair, found: Found, suspected: Mismatch | None, first_step: FirstStep | None, order: str = ""
) -> Counterexample:
    """What is told about a difference: the expressions of the method that suspected it, if it is at its element."""
    difference = found.difference
    is_there = suspected is not None and (
        (suspected.output, suspected.element) == (difference.output, difference.element) or not difference.output
    )
    known = suspected if is_there else None
    reason = order or difference.reason or (suspected.reason if suspected is not None else "")
    names = [argument.name for argument in pair.a.arguments]
    first, second = pair.given(found.inputs.values)
    shown = tuple((name, _both(one, other)) for name, one, other in zip(names, first, second, strict=True))
    return Counterexample(
        output=difference.output or (suspected.output if suspected is not None else ""),
        element=difference.element if difference.output or suspected is None else suspected.element,
        left=known.left if known is not None else "",
        right=known.right if known is not None else "",
        reason=reason or "the second program computes another value",
        inputs=shown,
        seen_left=difference.left,
        seen_right=difference.right,
        first_step=first_step,
        left_at=known.left_at if known is not None else None,
        right_at=known.right_at if known is not None else None,
        arguments=first,
    )


def _both(first: Any, second: Any) -> str:
    """What the programs are called with, which is the same but for variables that do not start alike."""
    one, other = value_text(first), value_text(second)
    return one if one == other else f"{one} in the first program, {other} in the second"


def value_text(value: Any) -> str:
    """An input in one line: what is in all elements, the few that are not zero, or some of many."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    if value.ndim == 0 or value.size == 0:
        return repr(value.item() if value.ndim == 0 else value)
    places = np.argwhere(_nonzero(value))
    if not len(places):
        return "0 everywhere"
    first = value[tuple(places[0])]
    if len(places) == value.size and bool(np.all(value == first)):
        return f"{_one(first)} everywhere"
    listed = ", ".join(f"{_place(place)} = {_one(value[tuple(place)])}" for place in places[:_SHOWN])
    if len(places) <= _SHOWN:
        return f"0 except {listed}"
    return f"{listed}, ... ({len(places)} of {value.size} elements are not 0)"


def _place(place: Array) -> str:
    return f"[{', '.join(str(int(k)) for k in place)}]"


def _one(value: Any) -> str:
    return repr(value.item()) if isinstance(value, np.generic) and value.dtype.names is None else str(value)
