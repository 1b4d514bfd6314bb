"""Records of rewrites: what was done, or left as it is and why, at which line of the kernel."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import Location


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What the pass `name` did in a function, or (not `done`) what it left and why."""

    name: str
    function: str
    what: str
    at: Location | None
    done: bool = True

    def __str__(self) -> str:
        place = f"line {self.at.line}" if self.at is not None else "an unknown line"
        return f"{self.function}, {place}: {self.name}{'' if self.done else ' left it'}: {self.what}"
