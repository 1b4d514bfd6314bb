"""What the tests of the affine method start from: programs of schedules, and mutants of their text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from allo import Schedule, customize
from allo.ir.module import Module
from allo.verify.affine import Proof, prove
from allo.verify.program.programs import Program, load
from allo.verify.result import Mismatch, Stuck

type Answer = Proof | Mismatch | Stuck


def compared(kernel: Callable[..., Any], steps: Callable[[Schedule], Any], **options: Any) -> Answer:
    """The kernel against itself with a schedule."""
    s = customize(kernel)
    steps(s)
    return prove(load(customize(kernel)), load(s), **options)


def mutant(program: Program, old: str, new: str, count: int = 1) -> Program:
    """The program with a part of its text replaced."""
    text = str(program.module)
    assert text.count(old) >= 1, text
    return load(Module.parse(text.replace(old, new, count)))


def against_mutant(program: Program, old: str, new: str) -> Answer:
    return prove(program, mutant(program, old, new))
