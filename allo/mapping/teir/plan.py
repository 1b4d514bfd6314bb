"""Optimisation steps on a TEC: each is checked and recorded, and leaves a TEC that means the same."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from ...errors import ContractionError
from . import rewrites
from .values import Tec

STEPS: dict[str, Callable[..., Tec]] = {
    "split": rewrites.split,
    "fuse": rewrites.fuse,
    "permute": rewrites.permute,
    "execute": rewrites.execute,
    "primitive": rewrites.primitive,
    "swap": rewrites.swap,
}
_SIGNATURES = {name: signature(step) for name, step in STEPS.items()}


@dataclass(frozen=True, slots=True)
class TecStep:
    """One step: its name and what it was given."""

    name: str
    arguments: tuple[str | int, ...]

    def __str__(self) -> str:
        return f"p.{self.name}({', '.join(map(_literal, self.arguments))})"


@dataclass(frozen=True, slots=True)
class TecPlan:
    """A TEC, `first`, and the steps that made `tec` of it. Each method gives another plan; this one stays."""

    first: Tec
    tec: Tec
    steps: tuple[TecStep, ...] = ()

    @classmethod
    def begin(cls, tec: Tec) -> TecPlan:
        """The plan without steps."""
        return cls(tec, tec)

    @property
    def is_swapped(self) -> bool:
        """Whether in0 of `tec` is in1 of `first`, and the other way round."""
        return sum(step.name == "swap" for step in self.steps) % 2 == 1

    @property
    def meaning(self) -> Tec:
        """What `tec` has to compute: `first`, its inputs in the order that `tec` has."""
        return rewrites.swap(self.first) if self.is_swapped else self.first

    def _taken(self, name: str, *arguments: str | int) -> TecPlan:
        if name not in STEPS:
            raise ContractionError(f"there is no step '{name}'", hint=f"steps are {', '.join(STEPS)}")
        try:
            _SIGNATURES[name].bind(self.tec, *arguments)
        except TypeError as error:
            raise ContractionError(f"the step '{name}' is not given what it takes: {error}") from None
        made = STEPS[name](self.tec, *arguments)
        return replace(self, tec=made, steps=(*self.steps, TecStep(name, arguments)))

    def split(self, name: str, size: int) -> TecPlan:
        """Make two loops of dimension `name`: `name.outer`, and in its place behind it `name.inner` of `size`.

        Raises ContractionError if `size` does not divide it.
        """
        return self._taken("split", name, size)

    def fuse(self, outer: str, inner: str, name: str | None = None) -> TecPlan:
        """Make one loop, `name` (else `outer_inner`), of two of one type, in the place of `inner`.

        Raises ContractionError unless, in each tensor, a step of `outer` is as long as all of `inner`.
        """
        return self._taken("fuse", outer, inner, *(() if name is None else (name,)))

    def permute(self, *names: str) -> TecPlan:
        """Give the loops the order of `names`, the outermost first. Raises ContractionError if one is missing."""
        return self._taken("permute", *names)

    def execute(self, name: str, execution: str) -> TecPlan:
        """Run dimension `name` as `"seq"`, `"shared"` or `"npu"`."""
        return self._taken("execute", name, execution)

    def primitive(self, main: str, *names: str) -> TecPlan:
        """Compute dimensions `names`, which become the innermost, by the primitive `main`.

        A GEMM has dimensions of types M, N, K, a BRGEMM K, M, N, K; `"1"` stands for a new one of size 1.
        `primitive("none")` makes loops again.
        """
        return self._taken("primitive", main, *names)

    def swap(self) -> TecPlan:
        """Exchange the inputs: M is N and N is M, and blocks of the output are transposed."""
        return self._taken("swap")

    def replay(self, steps: str | Sequence[TecStep]) -> TecPlan:
        """Take `steps`, or the lines that printed ones are. Raises ContractionError, which names the step."""
        plan = self
        for number, step in enumerate(_read(steps) if isinstance(steps, str) else steps):
            try:
                plan = plan._taken(step.name, *step.arguments)
            except ContractionError as error:
                message = f"step {number}, {step}: {error.diagnostics[0].message}"
                raise ContractionError(message, hint=error.diagnostics[0].hint) from None
        return plan

    def __str__(self) -> str:
        return "\n".join(map(str, self.steps))


def _literal(value: str | int) -> str:
    return str(value) if isinstance(value, int) else f'"{value}"'


def _read(text: str) -> list[TecStep]:
    """The steps of a text; calls of literals only, nothing is executed."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError) as error:
        raise ContractionError(f"the text is not that of steps: {error}") from None
    return [_read_step(node) for node in body]


def _read_step(node: ast.stmt) -> TecStep:
    call: Any = node.value if isinstance(node, ast.Expr) else None
    line = f"line {node.lineno}: '{ast.unparse(node)}'"
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.keywords:
        raise ContractionError(f"{line} is no step", hint='a step is written as p.split("i", 8)')
    if call.func.attr not in STEPS:
        raise ContractionError(f"{line}: there is no step '{call.func.attr}'", hint=f"steps are {', '.join(STEPS)}")
    constants = [a.value for a in call.args if isinstance(a, ast.Constant)]
    values = [value for value in constants if isinstance(value, str | int)]
    if len(values) < len(call.args):
        raise ContractionError(f"{line}: arguments of steps are names and numbers")
    return TecStep(call.func.attr, tuple(values))
