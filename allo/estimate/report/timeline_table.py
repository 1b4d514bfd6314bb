"""Timelines as printed tables: a bar for each part, and what lies between stages."""

from __future__ import annotations

import math

from ...timing.control.timeline import Stall, Timeline, TimelinePart

_WIDTH = 32  # characters of a bar
STRAIGHT = "straight code"


def timeline_rows(timeline: Timeline) -> list[tuple[str, ...]]:
    """A header, and a row for each part."""
    whole = timeline.cycles
    rows: list[tuple[str, ...]] = [(title(timeline), "from", "to", "" if whole is None else f"0 to {whole}", "waits")]
    for part in timeline.parts:
        rows.append((part.name, _count(part.begin), _count(part.end), _bar(part, whole), waits(part.stalls)))
    return rows if any(part.stalls for part in timeline.parts) else [row[:-1] for row in rows]


def link_rows(timeline: Timeline) -> list[tuple[str, ...]]:
    """A header, and a row for each FIFO and array between the stages."""
    rows: list[tuple[str, ...]] = [("between stages", "from", "to", "elements", "depth", "needed", "waits")]
    for link in timeline.links:
        ends = (timeline.parts[link.producer].name, timeline.parts[link.consumer].name)
        numbers = (link.elements, link.depth, link.needed)
        cells = ("?" if n is None else str(n) for n in numbers) if link.kind == "FIFO" else ("all", "", "")
        rows.append((link.name, *ends, *cells, str(timeline.stalls(link))))
    return rows


def title(timeline: Timeline) -> str:
    """What a timeline is about."""
    iteration = "an iteration of " if ":" in timeline.of else ""
    return f"{'stages' if timeline.dataflow else 'parts'} of {iteration}{timeline.of}"


def says_something(timeline: Timeline) -> bool:
    """Whether it has several parts but for straight code."""
    return sum(part.name != STRAIGHT for part in timeline.parts) > 1


def waits(stalls: tuple[Stall, ...]) -> str:
    """What a stage waits for, and how long."""
    return ", ".join(f"{stall.cycles} {because(stall)}".strip() for stall in stalls)


def because(stall: Stall) -> str:
    """Why a stage waits."""
    words = {"empty": "empty", "full": "full", "circle": "circle of", "array": "until complete:", "": ""}
    return f"{words[stall.kind]} {stall.name}".strip()


def _bar(part: TimelinePart, whole: int | None) -> str:
    """When a part runs, as characters: at least one."""
    if part.begin is None or part.end is None or not whole:
        return ""
    first = min(part.begin * _WIDTH // whole, _WIDTH - 1)
    last = max(math.ceil(part.end * _WIDTH / whole), first + 1)
    return "." * first + "#" * (last - first) + "." * (_WIDTH - last)


def _count(cycle: int | None) -> str:
    return "?" if cycle is None else str(cycle)
