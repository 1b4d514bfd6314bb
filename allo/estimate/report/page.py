"""Estimates as a page in a browser: the tree of loops, without scripts or other files."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from ...customize.fifo.dies import DiePlan
from ...picture.page import fragment as part
from ...picture.page import page as whole
from ...picture.page import picture, table
from ...timing.control.timeline import Timeline
from .result import Burst, Estimate, FunctionEstimate, LoopEstimate
from .stages import stage_rows
from .table import ADVICE, OWN, TRANSFERS, advice_row, because, count, own_rows, transfer_row, trips_text
from .timeline_picture import chart, graph
from .timeline_table import link_rows, title


def page(estimate: Estimate) -> str:
    """The whole page; every figure on it is estimated."""
    return whole(f"{estimate.top} on {estimate.target}", content(estimate))


def fragment(estimate: Estimate) -> str:
    """The page as a part of another, such as a notebook."""
    return part(content(estimate))


def content(estimate: Estimate) -> list[str]:
    """Summary, resources, advice, and each function with its timelines and loops."""
    milliseconds = "" if estimate.milliseconds is None else f" = {estimate.milliseconds:.4g} ms"
    return [
        f"<h1>{escape(estimate.top)} on {escape(estimate.on)}</h1>",
        "<p class=note>All figures are <em>estimated</em>: the program was scheduled, not synthesised.</p>",
        f"<p>Latency <strong>{count(estimate.cycles)}</strong> cycles{milliseconds}.</p>",
        _resources(estimate),
        _table(TRANSFERS, map(_transfer, estimate.transfers)) if estimate.transfers else "",
        _table(OWN, (tuple(map(escape, row)) for row in own_rows(estimate))) if len(estimate.functions) > 1 else "",
        *map(_dies, estimate.dies),
        _advice(estimate),
        *(_function(estimate, function, function.name == estimate.top) for function in reversed(estimate.functions)),
        *(f"<p class=note>{escape(str(rewrite))}</p>" for rewrite in estimate.rewrites),
        *(f"<p class=note>{escape(note)}</p>" for note in estimate.notes),
    ]


def _resources(estimate: Estimate) -> str:
    used, available = estimate.resources, estimate.available
    rows = []
    for name, key in (("DSP", "dsp"), ("BRAM (18 Kb)", "bram18"), ("URAM", "uram"), ("LUT", "lut"), ("FF", "ff")):
        taken, there = getattr(used, key), getattr(available, key)
        share = 100 * taken / there if there else 0.0
        bar = f'<span class=bar><i style="width:{min(share, 100):.1f}%"></i></span> {share:.3g} %'
        rows.append((name, str(taken), str(there), bar if there else "none on this device"))
    return _table(("resource", "used", "available", "share"), rows)


def _dies(plan: DiePlan) -> str:
    tables = (_table(rows[0], (tuple(map(escape, row)) for row in rows[1:])) for rows in plan.tables())
    return "\n".join([f"<p>{escape(plan.head)}.</p>", *tables])


def _function(estimate: Estimate, function: FunctionEstimate, opened: bool) -> str:
    kind = ", stages overlap" if function.dataflow else ""
    copies = "" if function.instances == 1 else f", {function.instances} instances"
    head = f"{escape(function.name)}: {count(function.latency)} cycles, every {count(function.interval)}{kind}{copies}"
    header = ("loop", "trips", "latency", "II", "depth", "bound", "because")
    body = "".join(_timeline(estimate, timeline) for timeline in function.timelines)
    body += _table(header, (_loop(loop) for loop in function.loops)) if function.loops else "<p>No loops.</p>"
    return f"<details{' open' if opened or function.loops else ''}><summary>{head}</summary>\n{body}</details>"


def _timeline(estimate: Estimate, timeline: Timeline) -> str:
    pictures = [chart(timeline), *([graph(timeline)] if timeline.links else [])]
    shown = "".join(map(picture, filter(None, pictures)))
    head, *rows = link_rows(timeline)
    links = _table(head, (tuple(map(escape, row)) for row in rows)) if rows else ""
    head, *rows = stage_rows(estimate, timeline)
    stages = _table(head, (tuple(map(escape, row)) for row in rows)) if timeline.dataflow else ""
    return f"<p>{escape(title(timeline))}</p>\n{shown}{links}{stages}\n"


def _loop(loop: LoopEstimate) -> tuple[str, ...]:
    name = "  " * loop.level + loop.name
    binds = loop.reason is not None and loop.reason.kind not in ("requested", "not pipelined")
    reason = escape(because(loop))
    text = f"<span class=binds>{reason}</span>" if binds else reason
    numbers = (None if loop.unrolled else loop.latency, loop.interval, loop.depth, loop.bound)
    return escape(name), trips_text(loop), *("" if n is None else str(n) for n in numbers), text


def _advice(estimate: Estimate) -> str:
    if not estimate.advice:
        return ""
    rows = (tuple(map(escape, advice_row(advice))) for advice in estimate.advice)
    return _table(ADVICE, ((gain, at, f"<code>{step}</code>") for gain, at, step in rows))


def _transfer(transfer: Burst) -> tuple[str, ...]:
    return tuple(map(escape, transfer_row(transfer)))


def _table(header: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    return table(header, rows, figures=True)
