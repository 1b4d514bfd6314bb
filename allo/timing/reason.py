"""Reason for an initiation interval."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an interval is not lower: `kind` is requested, recurrence, ports, call, schedule or not pipelined."""

    kind: str
    text: str

    def __str__(self) -> str:
        return self.text
