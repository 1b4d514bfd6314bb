"""Decides what `s.report(target=...)` says of a schedule: what it costs on hardware, estimated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..estimate import DEFAULT_WORD_BITS, Estimate, estimate
from ..target import Target

if TYPE_CHECKING:
    from ..customize import Schedule


def estimate_report(
    schedule: Schedule,
    target: str | Path | Target,
    *,
    frequency: float | None = None,
    auto_pipeline: bool = False,
    trips: Mapping[str, int] | None = None,
    operators: Mapping[str, str] | None = None,
    memory: str | Mapping[str, str] | None = None,
    in_place: Sequence[str] = (),
    word_bits: int = DEFAULT_WORD_BITS,
) -> Estimate:
    """The estimate of `schedule` for `target`; raises TypeError for options that `allo.estimate` does not have."""
    return estimate(
        schedule, target, frequency=frequency, auto_pipeline=auto_pipeline, trips=trips, operators=operators,
        memory=memory, in_place=in_place, word_bits=word_bits,
    )  # fmt: skip
