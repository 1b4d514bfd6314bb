"""Sums that take turns, as `interleave_sums` returns them: the loop of each nest that goes inside, or why none does."""

from __future__ import annotations

from dataclasses import dataclass

from ...picture import aligned, preformatted


@dataclass(frozen=True, slots=True)
class Interleaved:
    """A nest that sums up along the loops `sums`: `loop` has become its innermost one, or there is a reason why not.

    `several` says how many iterations of a loop around the sums take turns, or why none do; it is empty if none need.
    """

    nest: str
    sums: tuple[str, ...]
    loop: str | None
    reason: str
    several: str = ""


@dataclass(frozen=True, slots=True)
class InterleavedSums:
    """What `interleave_sums` has done to the nests of a function that sum up."""

    nests: tuple[Interleaved, ...]

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("nest", "sums along", "inside", "why not", "in turns")]
        rows += [(one.nest, ", ".join(one.sums), one.loop or "", one.reason, one.several) for one in self.nests]
        if not any(one.several for one in self.nests):
            rows = [row[:-1] for row in rows]
        done = sum(one.loop is not None for one in self.nests)
        return "\n".join([f"{done} of {len(self.nests)} nests with sums interleave them", *aligned(rows)])

    def _repr_html_(self) -> str:
        return preformatted(str(self))
