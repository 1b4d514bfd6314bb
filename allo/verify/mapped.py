"""Mapped programs: kernels with decisions how hardware runs them, which prove that these change no result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..customize import Schedule
from .result import Equivalent, Result


class MappedProgram(ABC):
    """A kernel that was mapped on hardware, such as a plan of a tile program."""

    kernel: Callable[..., Any] | Schedule

    @property
    @abstractmethod
    def source(self) -> Schedule:
        """The program that was mapped, with the values of its template."""

    @abstractmethod
    def verify(self) -> Equivalent:
        """Prove that it computes what its source does. Raises VerificationError with what does not hold."""

    def joined(self, answer: Result, *, first: bool) -> Result:
        """The answer for this program, of that for its source; `first` says on which side of it this one is."""
        if not isinstance(answer, Equivalent):
            return answer
        own = self.verify()
        methods = f"{answer.method}, then {own.method}"
        joined = replace(answer, method=methods, seconds=answer.seconds + own.seconds, certificate=None)
        return replace(joined, first=own.second) if first else replace(joined, second=own.second)
