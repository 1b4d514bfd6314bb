"""Deadline of a comparison, by the clock: every part of it asks how much time is left."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic


@dataclass(frozen=True, slots=True)
class Deadline:
    """A time of the clock `monotonic`."""

    until: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """In so many seconds."""
        return cls(monotonic() + seconds)

    @property
    def left(self) -> float:
        """The seconds until then, none if it is over."""
        return max(0.0, self.until - monotonic())

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return monotonic() >= self.until

    def part(self, share: float) -> Deadline:
        """The deadline of something that may take a share of what is left now."""
        return Deadline.after(share * self.left)
