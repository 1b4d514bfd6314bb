"""Einsum expressions as programs: a TEC, a plan and machine code for each step of a contraction tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import prod
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...customize import Schedule
from ...errors import ContractionError
from ...mapping.teir import DataType, PrimMain, Processor, Tec, TecPlan, chosen_plan, word
from .contraction import Operand, alone, binary_tec, operand, unary_tec
from .expression import EinsumExpression
from .kernel import plain_schedule, tec_schedule
from .memory import ResultMemory
from .parts import sum_in_parts
from .tree import TreeStep, contraction_tree

Array = NDArray[Any]


@dataclass(frozen=True)
class EinsumStep:
    """One contraction: the numbers of its operands, what they and the result are, and its plan."""

    inputs: tuple[int, ...]
    operands: tuple[Operand, ...]
    result: Operand
    plan: TecPlan
    processor: Processor

    @property
    def tec(self) -> Tec:
        """The TEC that is run."""
        return self.plan.tec

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The positions of `inputs` that are in0 and in1, which a plan may have swapped."""
        return ((1, 0) if self.plan.is_swapped else (0, 1))[: len(self.inputs)]

    def extents(self, order: Sequence[int]) -> tuple[int, int, int]:
        """Elements of in0, in1 and the output."""
        sizes = [prod(self.operands[k].shape) for k in order]
        return sizes[0], sizes[1] if len(sizes) > 1 else 0, self.elements

    @cached_property
    def elements(self) -> int:
        """Elements of the output."""
        return prod(self.result.shape)

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The numbers of in0 and in1 among the values of a program."""
        return tuple(self.inputs[k] for k in self.order)

    @cached_property
    def schedule(self) -> Schedule:
        """The kernel that is run, on flat arrays, as a schedule."""
        return tec_schedule(self.plan.tec, self.extents(self.order), self.processor)

    @cached_property
    def plain(self) -> Schedule:
        """What it has to compute: the TEC before all steps, as loops around one statement.

        Its inputs are in the order of `schedule`, so that `allo.verify(step.plain, step.schedule)` compares the two.
        """
        return plain_schedule(self.plan.meaning, self.extents(self.order))

    @cached_property
    def run(self) -> Callable[..., None]:
        """Machine code, for arrays as `EinsumProgram.flat` gives.

        Contractions that differ in the names of their dimensions share it.
        """
        tec = self.plan.tec
        named = tec.with_dimensions([replace(d, name=f"d{k}") for k, d in enumerate(tec.dimensions)])
        return _built(named, self.extents(self.order), self.processor)


@lru_cache(maxsize=256)
def _built(tec: Tec, extents: tuple[int, int, int], processor: Processor) -> Callable[..., None]:
    schedule = tec_schedule(tec, extents, processor)
    marked = tec.prim_main in (PrimMain.GEMM, PrimMain.BRGEMM)  # the loops that are to be unrolled: no others
    run: Callable[..., None] = schedule.build(contract=True, fastmath=not marked, rolled=marked).on_arrays
    return run


@dataclass(frozen=True)
class EinsumProgram:
    """The steps of an einsum expression on arrays of given shapes; call it with such arrays.

    Sums of bfloat16 are float32, and rounded when a step ends.
    """

    expression: EinsumExpression
    shapes: tuple[tuple[int, ...], ...]
    data_type: DataType
    steps: tuple[EinsumStep, ...]

    def __call__(self, *arrays: Array) -> Array:
        """The result, a new array. Raises ContractionError for what is no array, or of another shape or type."""
        values = self.flat(*arrays)
        for step in self.steps:
            values.append(self.step(step, values))
        return values[-1].reshape(self.steps[-1].result.shape)

    def flat(self, *arrays: Array) -> list[Array]:
        """The operands as flat arrays of the type of the program. Raises ContractionError as a call does."""
        wanted = NUMPY[self.data_type]
        for number, array in enumerate(arrays):
            if not isinstance(array, np.ndarray):
                kind = type(array).__name__
                raise ContractionError(f"operand {number} is no array of NumPy, but a {kind}", hint="use np.asarray()")
            if array.dtype != wanted and not np.can_cast(array.dtype, wanted, "same_kind"):
                message = f"operand {number} has elements of {array.dtype}, and the program is for {self.data_type}"
                raise ContractionError(message, hint="use .astype()")
        shapes = tuple([array.shape for array in arrays])
        if shapes != self.shapes:
            expected, given = (", ".join(map(str, s)) for s in (self.shapes, shapes))
            raise ContractionError(f"the program is for arrays of shapes {expected}, got {given}")
        return [np.ascontiguousarray(array, wanted).reshape(-1) for array in arrays]

    def step(self, step: EinsumStep, values: Sequence[Array]) -> Array:
        """The result of one step, flat; `values` are those before."""
        out = _results.empty(step.elements, _SUMS[self.data_type])
        step.run(*[values[k] for k in step.places], out)
        return out if self.data_type is not DataType.BF16 else out.astype(NUMPY[self.data_type])

    @property
    def operations(self) -> int:
        """Multiplications and additions of all steps."""
        return sum(step.tec.operations for step in self.steps)

    def __str__(self) -> str:
        lines = [f"{self.expression} on {self.data_type}: {len(self.steps)} steps, {self.operations:,} operations"]
        for number, step in enumerate(self.steps):
            given = ",".join(o.labels for o in step.operands)
            what = f"{given}->{step.result.labels} of {step.inputs}"
            lines.append(f"  {len(self.shapes) + number} = {what}: {_shape(step)}")
        return "\n".join(lines)


def _shape(step: EinsumStep) -> str:
    prims = " x ".join(f"{d.type}={d.size}" for d in step.tec.primitive)
    loops = ", ".join(f"{d.name}={d.size}{' ' + d.execution if d.execution != 'seq' else ''}" for d in step.tec.outer)
    inner = f"{step.tec.prim_main} {prims}" if prims else "one statement"
    return f"{inner} in loops {loops}" if loops else inner


def _numpy_types() -> dict[DataType, np.dtype[Any]]:
    import ml_dtypes

    return {
        DataType.FP32: np.dtype(np.float32),
        DataType.FP64: np.dtype(np.float64),
        DataType.BF16: np.dtype(ml_dtypes.bfloat16),
    }


NUMPY = _numpy_types()
_SUMS = NUMPY | {DataType.BF16: NUMPY[DataType.FP32]}
_results = ResultMemory(64 << 20)


def einsum_program(
    subscripts: str,
    *shapes: Sequence[int],
    data_type: str = "FP64",
    path: Any = "auto",
    processor: Processor | None = None,
) -> EinsumProgram:
    """The program of an einsum expression for arrays of `shapes`.

    `path` is how several operands meet (`contraction_tree`), `processor` what plans are chosen for. Raises
    ContractionError for expressions, shapes and paths that do not fit.
    """
    found = tuple(_shape_of(number, shape) for number, shape in enumerate(shapes))
    expression = EinsumExpression.parse(subscripts, [len(shape) for shape in found])
    sizes = expression.sizes(found)
    for label, size in sizes.items():
        if size < 1:
            raise ContractionError(f"label '{label}' of '{expression}' has size {size}: there is nothing to contract")
    given = [_without_broadcasts(*pair, sizes) for pair in zip(expression.inputs, found, strict=True)]
    own = EinsumExpression(tuple(o.labels for o in given), expression.output)
    tree = contraction_tree(own, [o.shape for o in given], path)
    kind = word(DataType, "data_type", data_type)
    writer = _ProgramWriter(sizes, kind, processor or Processor(), given)
    return EinsumProgram(expression, found, kind, writer.steps_of(tree))


def _shape_of(number: int, shape: Any) -> tuple[int, ...]:
    try:
        return tuple(index(n) for n in shape)
    except TypeError:
        raise ContractionError(f"shape {number} is a sequence of whole numbers, got {shape!r}") from None


def _without_broadcasts(labels: str, shape: tuple[int, ...], sizes: Mapping[str, int]) -> Operand:
    """The array without dimensions of one element that stands for all."""
    kept = [(label, n) for label, n in zip(labels, shape, strict=True) if n == sizes[label]]
    return Operand("".join(label for label, _ in kept), tuple(n for _, n in kept))


@dataclass(slots=True)
class _ProgramWriter:
    """Steps that are being found; `values` are the operands and all results so far."""

    sizes: Mapping[str, int]
    data_type: DataType
    processor: Processor
    values: list[Operand]
    steps: list[EinsumStep] = field(default_factory=list)

    def steps_of(self, tree: Sequence[TreeStep]) -> tuple[EinsumStep, ...]:
        """The steps of a tree; sums of one operand are steps of their own."""
        place = list(range(len(self.values)))
        for step in tree:
            inputs = tuple(place[k] for k in step.operands)
            found = self.unary(inputs[0], step.output) if len(inputs) == 1 else self.binary(inputs, step.output)
            place.append(found)
        return tuple(self.steps)

    def unary(self, given: int, output: str) -> int:
        """The number of a copy or sum of one value."""
        return self._append((given,), output)

    def binary(self, inputs: tuple[int, ...], output: str) -> int:
        """The number of the contraction of two values."""
        first, second = inputs
        ready = (self._reduced(first, second, output), self._reduced(second, first, output))
        return self._append(ready, output)

    def _reduced(self, given: int, other: int, output: str) -> int:
        """The operand without the labels that only it has: its sum over them."""
        value = self.values[given]
        summed = alone(value, (self.values[other].labels, output), self.sizes)
        if not summed:
            return given
        return self.unary(given, "".join(label for label in dict.fromkeys(value.labels) if label not in summed))

    def _append(self, inputs: tuple[int, ...], output: str) -> int:
        """The number of what some values give; a large sum of all elements is one of parts before."""
        given = tuple(self.values[k] for k in inputs)
        parts = sum_in_parts(given, output, self.sizes, self.data_type, self.processor)
        if parts is None:
            return self._step(inputs, given, output, self.sizes)
        number = self._step(inputs, parts.operands, parts.label + output, parts.sizes)
        return self._step((number,), (self.values[number],), output, parts.sizes)

    def _step(
        self, inputs: tuple[int, ...], given: tuple[Operand, ...], output: str, sizes: Mapping[str, int]
    ) -> int:
        if len(given) == 1:
            tec = unary_tec(given[0], output, sizes, self.data_type)
        else:
            tec = binary_tec(given[0], given[1], output, sizes, self.data_type)
        plan = chosen_plan(tec, self.processor)
        result = operand(output, sizes)
        self.steps.append(EinsumStep(inputs, given, result, plan, self.processor))
        self.values.append(result)
        return len(self.values) - 1
