"""Answers of the verifier, how they print, and what the methods tell each other."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from ..poly.model import Source

type Element = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class InputValue:
    """One element of an argument (the empty tuple for a scalar) and the bits that it must have, without a sign."""

    argument: str
    element: Element
    bits: int


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A method has found an output element whose value the two programs compute differently; not yet confirmed.

    `output` is an argument, a stateful variable or `result 0`, ...; `element` its subscripts (a sample where the
    method treats sets). `left` and `right` are the two values in the terms of the user, such as
    `A[3, 4] * B[4, 2] + ...`. `reason` says what differs ("reads A[i - 1, j] instead of A[i, j]", "order of tokens in
    'pipe'", "counts", "deadlock"). `inputs` are the input elements for which the scalar solver found different
    values; other elements may have any.
    """

    output: str
    element: Element
    left: str
    right: str
    reason: str
    left_at: Source | None = None
    right_at: Source | None = None
    inputs: tuple[InputValue, ...] = ()
    elements: int = 1  # how many elements differ, where that is known


@dataclass(frozen=True, slots=True)
class Stuck:
    """A method does not apply, or has not concluded, because of a statement."""

    reason: str
    at: Source | None = None


@dataclass(frozen=True, slots=True)
class FirstStep:
    """The first step of a schedule after which its program differs from the kernel: its number and its text."""

    number: int
    text: str
    at: str  # file and line of the schedule, empty if unknown


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Inputs on which both programs were run, and the element of the output in which their results differ.

    `inputs` holds for each argument a value as text, or, where only some elements matter, these; `seen_left` and
    `seen_right` are the values that running the programs gave.
    """

    output: str
    element: Element
    left: str
    right: str
    reason: str
    inputs: tuple[tuple[str, str], ...]
    seen_left: str
    seen_right: str
    first_step: FirstStep | None = None
    left_at: Source | None = None
    right_at: Source | None = None
    arguments: tuple[Any, ...] = field(default=(), compare=False, repr=False)  # what to call the programs with

    @property
    def place(self) -> str:
        """The output element, such as `C[3, 4]`."""
        return f"{self.output}[{', '.join(map(str, self.element))}]" if self.element else self.output

    def __str__(self) -> str:
        if self.seen_left or self.seen_right:
            lines = [f"{self.place} differs: {self.seen_left} and {self.seen_right}", f"  because: {self.reason}"]
        else:  # an access or a stream shows it, not an output
            lines = [self.reason]
        if self.left or self.right:
            lines.append(f"  first program:  {_shortened(self.left)}{_line(self.left_at)}")
            lines.append(f"  second program: {_shortened(self.right)}{_line(self.right_at)}")
        if self.inputs:
            lines.append("  inputs on which both were run:")
        lines.extend(f"    {name} = {_shortened(value)}" for name, value in self.inputs)
        if self.first_step is not None:
            step = self.first_step
            lines.append(f"  first step after which they differ: {step.text} (step {step.number})")
            if step.at:
                lines.append(f"    {step.at}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Equivalent:
    """The programs compute the same values from all inputs: true as a condition."""

    method: str
    seconds: float
    certificate: Any = field(default=None, compare=False, repr=False)
    first: str = ""
    second: str = ""

    def __bool__(self) -> bool:
        return True

    @property
    def said(self) -> str:
        """The answer without the time that it took: the same text each time."""
        return f"Equivalent: {self.first} and {self.second}, by {self.method}"

    def __str__(self) -> str:
        return f"{self.said} in {self.seconds:.2f} s"

    __repr__ = __str__

    def to_json(self, *, certificate: bool = False) -> str:
        """The answer as JSON; with `certificate` that of the proof, which is long, if the method writes one."""
        answer = {"answer": "equivalent", **_programs(self)}
        if not certificate:
            return _json(answer)
        text = self.certificate.to_json() if hasattr(self.certificate, "to_json") else self.certificate
        return _json({**answer, "certificate": json.loads(text) if isinstance(text, str) else text})


@dataclass(frozen=True, slots=True)
class Different:
    """The programs differ: running them has confirmed it, or no call fits both. False as a condition."""

    method: str
    seconds: float
    counterexample: Counterexample
    first: str = ""
    second: str = ""

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        head = f"Different: {self.first} and {self.second}, by {self.method} in {self.seconds:.2f} s"
        return f"{head}\n{self.counterexample}"

    __repr__ = __str__

    def to_json(self, *, certificate: bool = False) -> str:
        """The answer as JSON, which has no certificate; the arguments of the counterexample only as text."""
        example = self.counterexample
        told = {
            "output": example.output,
            "element": list(example.element),
            "expressions": [example.left, example.right],
            "reason": example.reason,
            "inputs": dict(example.inputs),
            "values": [example.seen_left, example.seen_right],
            "first_step": None
            if example.first_step is None
            else {"number": example.first_step.number, "text": example.first_step.text, "at": example.first_step.at},
        }
        return _json({"answer": "different", **_programs(self), "counterexample": told})


@dataclass(frozen=True, slots=True)
class Unknown:
    """Neither was shown: why, and the statement that stopped the methods. False as a condition."""

    reason: str
    at: Source | None
    seconds: float
    tried: tuple[str, ...] = ()  # a line for each method
    suspected: Mismatch | None = None  # what a method took for a difference and running did not confirm
    first: str = ""
    second: str = ""

    def __bool__(self) -> bool:
        return False

    @property
    def said(self) -> str:
        """The answer without the time that it took."""
        return "\n".join([self._head, *self._why()])

    def __str__(self) -> str:
        return "\n".join([f"{self._head}, after {self.seconds:.2f} s", *self._why()])

    @property
    def _head(self) -> str:
        return f"Unknown: {self.first} and {self.second}"

    def _why(self) -> list[str]:
        lines = [f"  {self.reason}{_line(self.at)}"]
        lines.extend(f"  {line}" for line in self.tried)
        if self.suspected is not None:
            s = self.suspected
            place = f"{s.output}[{', '.join(map(str, s.element))}]" if s.element else s.output
            lines.append(f"  suspected but not confirmed: {place}: {s.reason}")
            if s.left or s.right:
                lines.append(f"    first program:  {_shortened(s.left)}{_line(s.left_at)}")
                lines.append(f"    second program: {_shortened(s.right)}{_line(s.right_at)}")
        return lines

    __repr__ = __str__

    def to_json(self, *, certificate: bool = False) -> str:
        """The answer as JSON, which has no certificate."""
        at = None if self.at is None else {"file": self.at.file, "line": self.at.line}
        return _json(
            {"answer": "unknown", **_programs(self), "reason": self.reason, "at": at, "tried": list(self.tried)}
        )


type Result = Equivalent | Different | Unknown


def _programs(result: Equivalent | Different | Unknown) -> dict[str, Any]:
    method = {} if isinstance(result, Unknown) else {"method": result.method}
    return {"first": result.first, "second": result.second, "seconds": round(result.seconds, 3), **method}


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2)


def _line(source: Source | None) -> str:
    return f"   ({source})" if source is not None and source.line else ""


def _shortened(text: str, limit: int = 400) -> str:
    """Long text without its middle, so that an answer stays one screen."""
    return text if len(text) <= limit else f"{text[: limit // 2]} ... {text[-limit // 2 :]}"
