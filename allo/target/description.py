"""Hardware as a value, as far as all kinds of it agree: name, clock, sources, off-chip memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from ..errors import TargetError


@dataclass(frozen=True, slots=True)
class External:
    """Memory beside the chip: cycles from a request to its first word, and 10^9 bytes a second of one port.

    It has `channels` (0: not known), each with a port and 2^20 `megabytes` of its own.
    """

    name: str
    latency: int
    gigabytes: float
    channels: int = 0
    megabytes: int = 0

    def interval(self, word_bits: int, frequency: float) -> Fraction:
        """The cycles at `frequency` MHz between words that follow one another in a burst."""
        return max(Fraction(1), Fraction(frequency) * word_bits / 8 / Fraction(self.gigabytes * 1000))


@dataclass(frozen=True, slots=True)
class Target:
    """A device at a clock in MHz, at most `highest_frequency` (0: not known); `sources` say where its data are from."""

    name: str
    title: str
    part: str
    frequency: float
    highest_frequency: float
    sources: tuple[str, ...]
    external: Mapping[str, External]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.title}, {self.frequency:g} MHz>"

    def at(self, frequency: float) -> Self:
        """The same device at another clock in MHz. Raises TargetError for one that it cannot reach."""
        if 0 < self.highest_frequency < frequency:
            raise TargetError(
                f"target '{self.name}' reaches {self.highest_frequency:g} MHz at most, got {frequency:g} MHz",
                hint="ask for a lower clock",
            )
        return replace(self, frequency=frequency)
