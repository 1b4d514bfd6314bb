"""Sums of all elements in parts, one a thread or more: a label of the sum is cut in two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from string import ascii_letters

from ...mapping.teir import DataType, Processor
from .contraction import Operand

_LEAST = 2  # products in a part, in numbers of what it takes to hand one to a thread


@dataclass(frozen=True, slots=True)
class SumInParts:
    """The operands and sizes of a sum, one of whose labels is cut: `label` counts the parts."""

    label: str
    operands: tuple[Operand, ...]
    sizes: Mapping[str, int]


def sum_in_parts(
    given: Sequence[Operand], output: str, sizes: Mapping[str, int], data_type: DataType, processor: Processor
) -> SumInParts | None:
    """The parts of a sum to one element that threads can share, if it is large enough; those of bfloat16 would be
    rounded once more."""
    labels = dict.fromkeys("".join(operand.labels for operand in given))
    work = prod(sizes[label] for label in labels)
    one = all(sizes[label] == 1 for label in output)
    if processor.cores == 1 or not one or data_type is DataType.BF16 or work < _LEAST * processor.per_task:
        return None
    for label in labels:
        if any(operand.labels.count(label) != 1 for operand in given):
            continue
        counts = range(processor.parts * processor.cores, processor.cores - 1, -1)
        parts = next((count for count in counts if sizes[label] % count == 0), None)
        new = next((letter for letter in ascii_letters if letter not in sizes), None)
        if parts is not None and new is not None:
            changed = {**sizes, new: parts, label: sizes[label] // parts}
            return SumInParts(new, tuple(_cut(o, label, new, changed) for o in given), changed)
    return None


def _cut(given: Operand, label: str, new: str, sizes: Mapping[str, int]) -> Operand:
    labels = given.labels.replace(label, new + label)
    at = given.labels.index(label)
    return Operand(labels, (*given.shape[:at], sizes[new], sizes[label], *given.shape[at + 1 :]))
