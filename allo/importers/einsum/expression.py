"""Einsum expressions: the labels of each operand and of the result, and the sizes that arrays give to labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import ContractionError

_ELLIPSIS = "..."


@dataclass(frozen=True, slots=True)
class EinsumExpression:
    """`inputs` and `output`: a label, one letter, for each dimension."""

    inputs: tuple[str, ...]
    output: str

    def __str__(self) -> str:
        return f"{','.join(self.inputs)}->{self.output}"

    @classmethod
    def parse(cls, subscripts: str, ranks: Sequence[int] | None = None) -> EinsumExpression:
        """The expression that `numpy.einsum` would read, as `"ij,jk->ik"`; blanks mean nothing.

        Without `->`, the result has the labels that occur once, in the order of the alphabet, behind those of an
        ellipsis. `ranks` are those of the operands, which an ellipsis needs. Raises ContractionError.
        """
        if not isinstance(subscripts, str):
            raise ContractionError(f"an einsum expression is a string, got {type(subscripts).__name__}")
        text = "".join(subscripts.split())
        left, arrow, right = text.partition("->")
        inputs = left.split(",")
        for part in (*inputs, right):
            _check_letters(subscripts, part)
        if ranks is not None and len(ranks) != len(inputs):
            given = f"{len(ranks)} array" + ("s" if len(ranks) != 1 else "")
            raise ContractionError(f"'{subscripts}' has {len(inputs)} operands, and {given} given")
        if _ELLIPSIS in text:
            if ranks is None:
                raise ContractionError(f"'{subscripts}' has an ellipsis, whose rank follows from arrays only")
            inputs, right = _without_ellipsis(subscripts, inputs, right if arrow else None, ranks)
        elif not arrow:
            counts = Counter("".join(inputs))
            right = "".join(sorted(label for label, count in counts.items() if count == 1))
        _check_output(subscripts, inputs, right)
        return cls(tuple(inputs), right)

    def sizes(self, shapes: Sequence[Sequence[int]]) -> dict[str, int]:
        """The size of each label; an extent of 1 stands for any, but not along a diagonal.

        Raises ContractionError where arrays do not fit.
        """
        found: dict[str, tuple[int, int]] = {}
        for number, (labels, shape) in enumerate(zip(self.inputs, shapes, strict=True)):
            if len(labels) != len(shape):
                message = f"operand {number} of '{self}' has {len(labels)} labels, '{labels}', and its array "
                raise ContractionError(f"{message}{len(shape)} dimensions, {tuple(shape)}")
            for label, size in zip(labels, shape, strict=True):
                first = shape[labels.index(label)]
                if first != size:
                    raise ContractionError(
                        f"label '{label}' of '{self}' has sizes {first} and {size} in operand {number}, whose diagonal"
                        " it means"
                    )
                before = found.get(label)
                if before is None or before[0] == 1:
                    found[label] = (size, number)
                elif size not in (1, before[0]):
                    raise ContractionError(
                        f"label '{label}' of '{self}' has size {before[0]} in operand {before[1]}"
                        f" and {size} in operand {number}"
                    )
        return {label: size for label, (size, _) in found.items()}


def _check_letters(subscripts: str, part: str) -> None:
    for c in part.replace(_ELLIPSIS, "", 1):
        if not (c.isascii() and c.isalpha()):
            what = "a second '->'" if c in "->" and "->" in part else f"{c!r}"
            hint = "an ellipsis is three dots, once an operand" if c == "." else None
            raise ContractionError(f"'{subscripts}' has {what}, which is no label: labels are letters", hint=hint)


def _check_output(subscripts: str, inputs: Sequence[str], output: str) -> None:
    for label, count in Counter(output).items():
        if count > 1:
            raise ContractionError(f"label '{label}' occurs {count} times in the result of '{subscripts}'")
        if not any(label in labels for labels in inputs):
            raise ContractionError(f"label '{label}' of the result of '{subscripts}' is in no operand")


def _without_ellipsis(
    subscripts: str, inputs: Sequence[str], output: str | None, ranks: Sequence[int]
) -> tuple[list[str], str]:
    """Labels that the expression does not use in the places of ellipses, aligned to the right as in broadcasting."""
    hidden = []
    for number, (labels, rank) in enumerate(zip(inputs, ranks, strict=True)):
        own = len(labels.replace(_ELLIPSIS, ""))
        if own > rank:
            message = f"operand {number} of '{subscripts}' has {own} labels, and its array {rank} dimensions"
            raise ContractionError(message)
        hidden.append(rank - own if _ELLIPSIS in labels else 0)
    most = max(hidden)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    free = [c for c in letters if c not in subscripts][:most]
    if len(free) < most:
        raise ContractionError(f"'{subscripts}' has more dimensions than there are letters")
    new = "".join(free)
    replaced = [
        labels.replace(_ELLIPSIS, new[most - count :]) for labels, count in zip(inputs, hidden, strict=True)
    ]
    if output is None:
        counts = Counter("".join(inputs).replace(".", ""))
        return replaced, new + "".join(sorted(label for label, count in counts.items() if count == 1))
    if most and _ELLIPSIS not in output:
        message = f"the result of '{subscripts}' lacks the ellipsis of its operands"
        raise ContractionError(message, hint="give their dimensions labels to sum over them")
    return replaced, output.replace(_ELLIPSIS, new)
