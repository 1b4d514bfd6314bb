"""Interface of the process that runs programs: a layer above gives the verifier a runner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from ...ir.module import Module
from ..deadline import Deadline
from ..program.programs import Program


@dataclass(frozen=True, slots=True)
class Ran:
    """The arguments after a call, in their order, and what it returned."""

    arguments: tuple[Any, ...]
    results: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """A call that gave no results: it took too long (`is_late`), or ended with an error or a crash."""

    message: str
    is_late: bool = False


class Runner(Protocol):
    """Runs modules, and long computations, in a process of their own: neither can harm this one, and both can end."""

    def prepare(self, module: Module) -> int:
        """A number for a module that will be run; it is compiled when it is run for the first time."""
        ...

    def run(
        self, number: int, arguments: tuple[Any, ...], seconds: float, deadline: Deadline
    ) -> Ran | Failed:
        """Call the module with copies of `arguments`, for at most so many seconds of the processor (compiling
        included), and until the deadline."""
        ...

    def compare(self, a: Program, b: Program, *, reassociate: bool, deadline: Deadline) -> Any:
        """`concrete.compare` of the programs there: Equal, Mismatch or Stuck (also if it does not end in time)."""
        ...
