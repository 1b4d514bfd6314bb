"""Contractions of one or two tensors as TECs: which dimensions are of type C, M, N and K."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...mapping.teir import DataType, DimType, ExecType, PrimMain, Tec, TecDimension, inferred_type


@dataclass(frozen=True, slots=True)
class Operand:
    """An array in row-major order: a label for each dimension, and its shape."""

    labels: str
    shape: tuple[int, ...]

    def strides(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """The stride of each label, in elements; 0 where the array has one element for all. Labels that occur twice
        walk along a diagonal."""
        found: dict[str, int] = {}
        stride = 1
        for label, extent in zip(reversed(self.labels), reversed(self.shape), strict=True):
            found[label] = found.get(label, 0) + (stride if extent == sizes[label] > 1 else 0)
            stride *= extent
        return found


def operand(labels: str, sizes: Mapping[str, int]) -> Operand:
    """The array of these labels in which nothing is broadcast."""
    return Operand(labels, tuple(sizes[label] for label in labels))


def alone(given: Operand, others: Sequence[str], sizes: Mapping[str, int]) -> str:
    """The labels of `given` over which it can be summed before it meets the `others`."""
    strides = given.strides(sizes)
    kept = set("".join(others))
    return "".join(label for label in dict.fromkeys(given.labels) if strides[label] and label not in kept)


def unary_tec(given: Operand, output: str, sizes: Mapping[str, int], data_type: DataType) -> Tec:
    """The copy or sum of `given` that has the labels `output`."""
    inner, result = given.strides(sizes), operand(output, sizes).strides(sizes)
    summed = [label for label in dict.fromkeys(given.labels) if label not in result and inner[label]]
    dimensions = [
        TecDimension(label, DimType.M, ExecType.SEQ, sizes[label], (inner[label], 0, result[label]))
        for label in output
        if result[label]
    ]
    dimensions += [TecDimension(k, DimType.K, ExecType.SEQ, sizes[k], (inner[k], 0, 0)) for k in summed]
    if not dimensions:
        dimensions = [TecDimension("one", DimType.M, ExecType.SEQ, 1, (0, 0, 0))]
    return Tec(tuple(dimensions), data_type, prim_main=PrimMain.ADD if summed else PrimMain.COPY)


def binary_tec(first: Operand, second: Operand, output: str, sizes: Mapping[str, int], data_type: DataType) -> Tec:
    """The contraction of two arrays as plain loops: those of the result in its order, then those of sums.

    A label of one operand alone is in the result. Raises ContractionError if it is not.
    """
    strides = first.strides(sizes), second.strides(sizes), operand(output, sizes).strides(sizes)
    labels = [*output, *(k for k in dict.fromkeys(first.labels + second.labels) if k not in output)]
    dimensions = []
    for label in labels:
        three = (strides[0].get(label, 0), strides[1].get(label, 0), strides[2].get(label, 0))
        if any(three):
            kind = inferred_type(three) or DimType.K
            dimensions.append(TecDimension(label, kind, ExecType.SEQ, sizes[label], three))
    if not dimensions:
        dimensions = [TecDimension("one", DimType.C, ExecType.SEQ, 1, (0, 0, 0))]
    return Tec(tuple(dimensions), data_type)
