"""Differential runs of two programs: guarded copies of both on given inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import counted
from ...ir.types import Float, TensorType
from ...ir.walk import entry_block, operations
from ..deadline import Deadline
from ..program.programs import Program, other_start
from ..result import Element
from .guarded import Guarded, guarded
from .inputs import Array, Values, array_of_bits
from .runner import Failed, Ran, Runner


@dataclass(frozen=True, slots=True)
class Rounding:
    """How far sums of positive numbers in two orders may be apart: relatively, if both are less than `most`.

    Larger ones may be apart by any factor: a short mantissa takes no more small terms.
    """

    tolerance: float
    most: float = math.inf


UNWRITTEN = "the second program uses an element that it has not written"
_EXACT = Rounding(0.0)
_ROUNDING = {16: Rounding(5e-2, 32), 32: Rounding(1e-4), 64: Rounding(1e-10)}
_BRAIN = Rounding(0.1, 8)
RUN_SECONDS = 20.0  # of one call of one program
_FEWEST_SECONDS = 1.0  # that a run on the first inputs gets when the time is over
_SPREADING = ("arith.subf", "arith.divf", "arith.remf", "arith.cmpf", "arith.fptosi", "arith.fptoui")


@dataclass(frozen=True, slots=True)
class Agreement:
    """The programs give the same on these inputs."""


@dataclass(frozen=True, slots=True)
class Inconclusive:
    """These inputs show nothing: why."""

    reason: str
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """An element that the programs left different; without `output` what the second program does wrong is `reason`."""

    output: str
    element: Element
    left: str
    right: str
    reason: str


type Comparison = Agreement | Inconclusive | Difference


@dataclass(slots=True)
class _Side:
    """One program, prepared to run."""

    guarded: Guarded
    number: int
    starts: dict[int, Array]  # what arguments that are Stateful variables always begin with, if the programs disagree

    def arguments(self, values: Values) -> Values:
        """Copies of the values, for one call."""
        chosen = (self.starts.get(k, value) for k, value in enumerate(values))
        return tuple(value.copy() if isinstance(value, np.ndarray) else value for value in chosen)


class ProgramPair:
    """Two programs with equal interfaces, to be run on the same inputs."""

    def __init__(
        self, a: Program, b: Program, runner: Runner, *, reassociate: bool, deadline: Deadline
    ) -> None:
        self.a, self.b = a, b
        self.runner, self.reassociate = runner, reassociate
        self.deadline = deadline  # of runs
        self.runs = 0
        self._rounding_spreads = reassociate and (_spreads_rounding(a) or _spreads_rounding(b))
        disagree = bool(other_start(a, b))
        self._sides = []
        for program in (a, b):
            made = guarded(program)
            self._sides.append(_Side(made, runner.prepare(made.module), _starts(program) if disagree else {}))

    def compare(self, values: Values, wanted: tuple[str, Element] | None = None) -> Comparison:
        """Run both; of the elements that differ the one that is `wanted`, if it does, else the first."""
        self.runs += 1
        for side, program in zip(self._sides, (self.a, self.b), strict=True):
            unclear = side.guarded.unclear or program.cycle  # what takes turns has no form without processes
            if unclear:
                return Inconclusive(unclear)
        outcomes: list[list[_Outcome]] = []
        for is_second, side in enumerate(self._sides):
            outcomes.append([])
            for seed in side.guarded.seeds:
                outcome = self._run(side, values, seed)
                if isinstance(outcome, Failed):
                    return _failure(outcome, bool(is_second))
                outcomes[-1].append(outcome)
                if outcome.outside:
                    return _left_array(side.guarded, outcome.outside, bool(is_second))
        first, second = outcomes
        masks = self._masks(first, second)
        differing = {name: mask for name, mask in masks.items() if mask.any()}
        if differing:
            undefined = self._undefined_after_all(values, first, differing)
            if isinstance(undefined, Inconclusive):
                return undefined
            if differing:
                return self._difference(differing, first[0], second, wanted)
        return _tokens(self._sides, first[0], second[0])

    def _undefined_after_all(
        self, values: Values, first: list[_Outcome], differing: dict[str, Array]
    ) -> Inconclusive | None:
        """Take out of `differing` the elements that the first program does not define, as more seeds show."""
        side = self._sides[0]
        for seed in side.guarded.more_seeds:
            outcome = self._run(side, values, seed)
            if isinstance(outcome, Failed):
                return Inconclusive(f"the first program: {outcome.message}", outcome.is_late)
            if outcome.outside:
                found = _left_array(side.guarded, outcome.outside, False)
                assert isinstance(found, Inconclusive)
                return found
            for name in list(differing):
                differing[name] &= ~_differs(first[0].outputs[name], outcome.outputs[name])
                if not differing[name].any():
                    del differing[name]
        return None

    def is_undefined(self, values: Values, difference: Difference) -> bool:
        """Whether an element of the second program depends on what it has not written, as all seeds show."""
        side, found = self._sides[1], []
        for seed in (*side.guarded.seeds, *side.guarded.more_seeds):
            outcome = self._run(side, values, seed)
            if isinstance(outcome, Failed) or outcome.outside:
                return False
            found.append(np.asarray(outcome.outputs[difference.output][difference.element]))
        return any(bool(_differs(found[0], other)) for other in found[1:])

    def given(self, values: Values) -> tuple[Values, Values]:
        """What both programs are called with."""
        first, second = (side.arguments(values) for side in self._sides)
        return first, second

    def differ(self, first: Ran, second: Ran, difference: Difference) -> bool:
        """Whether runs of the programs themselves differ in the element that their copies differ in."""
        left, right = (self._all_outputs(ran.arguments, ran.results) for ran in (first, second))
        mask = _differs(left[difference.output], right[difference.output], self._rounding(difference.output))
        return bool(mask[difference.element])

    def _run(self, side: _Side, values: Values, seed: int) -> _Outcome | Failed:
        outside, balance = np.zeros(1, np.int64), np.zeros(max(1, len(side.guarded.streams)), np.int64)
        last = self.deadline
        if self.runs < 2:  # so that there is an answer at all
            last = max(last, Deadline.after(_FEWEST_SECONDS), key=lambda d: d.until)
        seconds = round(min(RUN_SECONDS, last.left), 1)
        ran = self.runner.run(side.number, (*side.arguments(values), outside, balance, seed), seconds, last)
        if isinstance(ran, Failed):
            return ran
        *arguments, outside, balance, _ = ran.arguments
        return _Outcome(self._all_outputs(tuple(arguments), ran.results), int(outside[0]), balance)

    def _all_outputs(self, arguments: Values, results: Values) -> dict[str, Array]:
        pairs = zip(self.a.arguments, self.b.arguments, arguments, strict=True)
        found = {
            left.name: np.asarray(value)
            for left, right, value in pairs
            if left.is_written or right.is_written
        }
        found |= {f"result {k}": np.asarray(value) for k, value in enumerate(results)}
        return found

    def _masks(self, first: list[_Outcome], second: list[_Outcome]) -> dict[str, Array]:
        """Where outputs differ although the first program defines them."""
        found = {}
        for name, left in first[0].outputs.items():
            defined = ~_differs(left, first[-1].outputs[name])
            mask = np.zeros(left.shape, bool)
            for k in range(2):
                one = first[min(k, len(first) - 1)].outputs[name]
                other = second[min(k, len(second) - 1)].outputs[name]
                mask |= _differs(one, other, self._rounding(name))
            found[name] = mask & defined
        return found

    def _rounding(self, name: str) -> Rounding:
        if not self.reassociate:
            return _EXACT
        kinds = {argument.name: argument.type for argument in self.a.arguments}
        kinds |= {f"result {k}": kind for k, kind in enumerate(self.a.results)}
        kind = kinds[name]
        element = kind.element if isinstance(kind, TensorType) else kind
        if not isinstance(element, Float):
            return _EXACT
        if self._rounding_spreads:
            return Rounding(math.inf)
        return _BRAIN if element.brain else _ROUNDING[element.width]

    def _difference(
        self,
        differing: dict[str, Array],
        first: _Outcome,
        second: list[_Outcome],
        wanted: tuple[str, Element] | None,
    ) -> Difference:
        name, element = next(iter(differing)), None
        if wanted is not None and wanted[0] in differing:
            name = wanted[0]
            mask = differing[name]
            if len(wanted[1]) == mask.ndim and all(k < n for k, n in zip(wanted[1], mask.shape, strict=True)):
                element = wanted[1] if mask[wanted[1]] else None
        if element is None:
            element = tuple(int(k) for k in np.argwhere(differing[name])[0])
        left = first.outputs[name][element]
        others = [outcome.outputs[name][element] for outcome in second]
        other = next((value for value in others if _differs(np.asarray(left), np.asarray(value))), others[0])
        undefined = len(others) > 1 and bool(_differs(np.asarray(others[0]), np.asarray(others[1])))
        reason = ""
        if undefined:
            reason = UNWRITTEN
            if self._sides[1].guarded.calls_external:
                reason += ", or a C++ function of it gives something else each time"
        return Difference(name, element, _text(left), "undefined" if undefined else _text(other), reason)


@dataclass(frozen=True, slots=True)
class _Outcome:
    outputs: dict[str, Array]
    outside: int
    balance: Array


def _starts(program: Program) -> dict[int, Array]:
    """The first values of the Stateful variables, by their positions among the arguments."""
    states = [(k, argument.type) for k, argument in enumerate(program.arguments) if argument.is_state]
    return {
        position: array_of_bits(kind.element, bits)
        for (position, kind), bits in zip(states, program.starts, strict=True)
        if bits is not None and isinstance(kind, TensorType)
    }


def _failure(failed: Failed, is_second: bool) -> Comparison:
    # that tasks take turns is beyond the CPU, and no mistake
    if is_second and failed.message.startswith("DataflowError") and "tasks wait for each other" not in failed.message:
        message = failed.message.removeprefix("DataflowError: ").split("\n")[0]
        own = message.startswith("the external kernel") or "has two tasks at one end" in message
        what = "" if own else "deadlock: "
        return Difference("", (), "", "", what + message)
    which = "second" if is_second else "first"
    return Inconclusive(f"the {which} program: {failed.message}", failed.is_late)


def _left_array(side: Guarded, number: int, is_second: bool) -> Comparison:
    array, source = side.accesses[number - 1]
    where = f" ({source})" if source.line else ""
    if not is_second:
        return Inconclusive(f"the first program leaves '{array}'{where}")
    return Difference("", (), "", "", f"the second program accesses an element outside of '{array}'{where}")


def _tokens(sides: list[_Side], first: _Outcome, second: _Outcome) -> Comparison:
    """Elements that stay in a stream are a difference, unless the first program leaves some as well."""
    if first.balance.any() or not second.balance.any():
        return Agreement()
    position = int(np.flatnonzero(second.balance)[0])
    left = int(second.balance[position])
    name = sides[1].guarded.streams[position]
    return Difference("", (), "", "", f"counts: {counted(left, 'element')} put into '{name}' and never taken out")


def _spreads_rounding(program: Program) -> bool:
    """Whether sums in another order may change its floats by any amount, also where inputs are small integers.

    Sums and products of positive numbers keep a small relative error; differences that cancel, quotients, roots and
    decisions do not.
    """
    entry = entry_block(program.function)
    assert entry is not None
    return any(op.name in _SPREADING or op.name.startswith("math.") for op in operations(entry))


def _differs(left: Array, right: Array, rounding: Rounding = _EXACT) -> Array:
    """Where two arrays of one dtype differ, bit for bit, all NaN being equal."""
    if left.dtype.names is not None:
        fields = [_differs(left[name], right[name], rounding) for name in left.dtype.names]
        return np.asarray(np.logical_or.reduce(fields))
    if left.dtype.kind not in "fV":  # V without fields is bfloat16
        return np.asarray(left != right)
    if math.isinf(rounding.tolerance):
        return np.zeros(left.shape, bool)
    bits = np.dtype(f"uint{8 * left.dtype.itemsize}")
    numbers, others = left.astype(np.float64), right.astype(np.float64)
    both_nan = np.isnan(numbers) & np.isnan(others)
    mask = (np.ascontiguousarray(left).view(bits) != np.ascontiguousarray(right).view(bits)).reshape(left.shape)
    if rounding.tolerance:
        with np.errstate(invalid="ignore", over="ignore"):
            size = np.maximum(abs(numbers), abs(others))
            near = np.abs(numbers - others) <= rounding.tolerance * np.maximum(1.0, size)
            near |= ~(size <= rounding.most)
        mask &= ~near
    return np.asarray(mask & ~both_nan)


def _text(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()  # of a struct a tuple
    return repr(value) if not isinstance(value, float) or math.isfinite(value) else str(value)
