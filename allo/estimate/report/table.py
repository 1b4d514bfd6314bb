"""Estimates as printed tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from ...poly import mean_with_range
from .result import Advice, Burst, Estimate, LoopEstimate, Resources
from .stages import stage_rows
from .timeline_table import link_rows, says_something, timeline_rows

OWN = ("without callees", "instances", "DSP", "BRAM18", "URAM", "LUT", "FF")
ADVICE = ("would gain", "at", "step")
TRANSFERS = ("burst", "memory", "words", "bits", "cycles")


def table(estimate: Estimate) -> str:
    """The estimate as text: the kernel, its functions, their loops, notes; all figures are estimated."""
    milliseconds = "" if estimate.milliseconds is None else f" = {estimate.milliseconds:.4g} ms"
    lines = [
        f"{estimate.top} on {estimate.on}; all figures are *estimated*",
        f"  latency *{count(estimate.cycles)}* cycles{milliseconds}",
        "  " + ", ".join(_resource(*item) for item in _resources(estimate.resources, estimate.available)),
        "",
    ]
    lines += aligned([("function", "latency", "interval", "DSP", "BRAM18", "URAM", "LUT", "FF", "instances")] + [
        (
            f.name + (" (dataflow)" if f.dataflow else ""), count(f.latency), count(f.interval),
            *(str(n) for n in astuple(f.resources)),
            str(f.instances),
        )
        for f in estimate.functions
    ])  # fmt: skip
    if len(estimate.functions) > 1:
        lines += ["", *aligned([OWN, *own_rows(estimate)])]
    for plan in estimate.dies:
        lines += ["", plan.head, *(line for rows in plan.tables() for line in ("", *aligned(rows)))]
    if estimate.transfers:
        lines += ["", *aligned([TRANSFERS, *map(transfer_row, estimate.transfers)])]
    header = ("loop", "trips", "latency", "II", "depth", "bound", "because")
    lines += ["", *aligned([header, *(_row(loop) for loop in estimate.loops)])]
    for timeline in (timeline for f in estimate.functions for timeline in f.timelines if says_something(timeline)):
        lines += ["", *aligned(timeline_rows(timeline))]
        lines += ["", *aligned(link_rows(timeline))] if timeline.links else []
        lines += ["", *aligned(stage_rows(estimate, timeline))] if timeline.dataflow else []
    if estimate.advice:
        lines += ["", *aligned([ADVICE, *map(advice_row, estimate.advice)])]
    lines += ["", *map(str, estimate.rewrites)] if estimate.rewrites else []
    lines += ["", *estimate.notes] if estimate.notes else []
    return "\n".join(lines)


def own_rows(estimate: Estimate) -> list[tuple[str, ...]]:
    """What one instance of each function takes without its callees, and the sum of all instances."""
    rows = [(f.name, str(f.instances), *map(str, astuple(f.own))) for f in estimate.functions]
    total = sum((f.own.times(f.instances) for f in estimate.functions), Resources())
    return [*rows, ("all instances", "", *map(str, astuple(total)))]


def transfer_row(transfer: Burst) -> tuple[str, ...]:
    """What a burst moves."""
    cells = (transfer.memory, count(transfer.words), f"{transfer.word_bits}", count(transfer.cycles))
    return f"{transfer.kind} {transfer.array}", *cells


def advice_row(advice: Advice) -> tuple[str, ...]:
    """What a step gains, and what it is about."""
    gain = "?" if advice.gain is None else str(advice.gain) if advice.gain else "nothing alone"
    return gain, advice.at, advice.step


def count(value: int | None) -> str:
    """A number that may not be known."""
    return "?" if value is None else f"{value}"


def trips_text(loop: LoopEstimate) -> str:
    """The iterations of a loop; `~` marks a mean or an assumption."""
    return mean_with_range(loop.trips, loop.fewest, loop.most)


def because(loop: LoopEstimate) -> str:
    """What binds a loop, or what it is part of."""
    if loop.reason is not None:
        return str(loop.reason)
    states = {
        "flattened": "one pipeline with the loop inside",
        "unrolled": "unrolled",
        "spatial": "one element each",
    }
    return states.get(loop.state, "not pipelined")


def _resources(used: Resources, available: Resources) -> list[tuple[str, int, int]]:
    names = (("DSP", "dsp"), ("BRAM18", "bram18"), ("URAM", "uram"), ("LUT", "lut"), ("FF", "ff"))
    return [(text, getattr(used, key), getattr(available, key)) for text, key in names]


def _resource(name: str, used: int, available: int) -> str:
    share = f" ({100 * used / available:.3g} %)" if available else ""
    return f"*{used}* {name}{share}"


def _row(loop: LoopEstimate) -> tuple[str, ...]:
    name = f"{'  ' * loop.level}{loop.name}" if loop.level else f"{loop.function}:{loop.nest}.{loop.name}"
    numbers = ("" if n is None else str(n) for n in (loop.interval, loop.depth, loop.bound))
    interval, depth, bound = numbers
    latency = "" if loop.unrolled else count(loop.latency)
    return name, trips_text(loop), latency, interval, depth, bound, because(loop)


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows with aligned columns, the first a header."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]
