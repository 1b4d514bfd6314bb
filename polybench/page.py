"""The results as one HTML page, with plots, that needs nothing besides itself."""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

from .attachments import attachments
from .evaluation import TARGET, Evaluation
from .published import points
from .tables import COLUMNS, rows, speedups

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2.5rem auto; max-width: 76rem; padding: 0 1.5rem; color: #222; }
h1, h2 { line-height: 1.2; margin: 2.2rem 0 .8rem; } h1 { margin-top: 0; }
.wide { overflow-x: auto; margin: 1rem 0 1.5rem; border: 1px solid #ddd; border-radius: 6px; max-height: 85vh; }
table { border-collapse: collapse; font-size: 0.87rem; }
th { position: sticky; top: 0; background: #f5f7fa; }
th, td { border-bottom: 1px solid #e3e3e3; padding: 0.3rem 0.7rem; text-align: left; white-space: nowrap; }
tr:hover td { background: #f2f6fc; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.bad { color: #b00020; font-weight: bold; }
a { color: #1f5fa8; }
svg { max-width: 100%; height: auto; display: block; margin: 0 auto 1rem; }
"""
_INCHES = 10.5  # the width of a plot


def page(results: Sequence[Evaluation], model_error: str) -> str:
    """The text of the page. `model_error` says how far the estimates are known to be off."""
    parts = [
        "<!DOCTYPE html><html lang='en'><meta charset='utf-8'><title>PolyBench</title>",
        f"<style>{_STYLE}</style><h1>PolyBench</h1>",
        f"<p>{date.today().isoformat()}. Cycles and resources are <em>estimated</em> for {TARGET} by the static "
        f"scheduler; {html.escape(model_error)} Checks ran, and milliseconds are <em>measured</em>, on the machine "
        "that did the run: CPU time on one core, with C by gcc -O3 in turn, whose pointers may overlap (C) or not (C "
        "restrict). Points of other tools are simulated RTL as recorded in the artifact of Stream-HLS (FPGA 2025).</p>",
        _table(results),
        _problems(results),
        *_plots(results),
        "</html>",
    ]
    return "\n".join(part for part in parts if part)


def _table(results: Sequence[Evaluation]) -> str:
    head = "".join(f"<th>{html.escape(column)}</th>" for column in (*COLUMNS, "see"))
    body = "".join(
        "<tr>" + "".join(_cell(value) for value in cells.values()) + f"<td>{_links(result)}</td></tr>\n"
        for result, cells in zip(results, rows(results), strict=True)
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div class='wide'>{table}</div>"


def _links(result: Evaluation) -> str:
    """The files of a design, beside the page."""
    return " · ".join(f"<a href='{html.escape(a.path)}'>{a.label}</a>" for a in attachments(result))


def _cell(value: Any) -> str:
    if isinstance(value, int | float):
        return f"<td class='number'>{value:,}</td>"
    return (
        f"<td class='bad'>{value}</td>" if value in ("NO", "ERROR") else f"<td>{html.escape(str(value))}</td>"
    )


def _problems(results: Sequence[Evaluation]) -> str:
    """What did not pass, with its reason, and the initiation intervals above 1."""
    lines = [
        f"{r.kernel} {r.design} {r.size}, {name}: {check.status}: {check.detail}"
        for r in results
        for name, check in r.checks.items()
        if check.status not in ("passed", "skipped")
    ]
    lines += [
        f"{r.kernel} {r.design} {r.size}: II = {r.figures.ii}: {r.figures.reason}"
        for r in results
        if r.figures and (r.figures.ii or 1) > 1
    ]
    if not lines:
        return ""
    return "<h2>Remarks</h2><ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in lines) + "</ul>"


def _plots(results: Sequence[Evaluation]) -> list[str]:
    try:
        import matplotlib
    except ImportError:
        return ["<p>Plots need matplotlib: <code>pip install matplotlib</code>.</p>"]
    matplotlib.use("svg")
    plots = []
    if any(design != "vanilla" for _, design, _ in speedups(results)):
        drawn = _drawn(_draw_speedups, results, _height(len(speedups(results))))
        plots += ["<h2>Speed-up over vanilla (estimated cycles)</h2>", drawn]
    measured = [r for r in results if r.timing]
    if measured:
        drawn = _drawn(_draw_measured, measured, _height(len(measured)))
        plots += ["<h2>Times as fast as C on one core (measured)</h2>", drawn]
    drawn = _drawn(_draw_times, results, _height(len(results)))
    plots += ["<h2>CPU time of customize, primitives and HLS code</h2>", drawn]
    kernels = dict.fromkeys(
        r.kernel for r in results if r.figures and r.size == "MEDIUM" and points(r.kernel)
    )
    for kernel in kernels:
        mine = [r for r in results if r.kernel == kernel and r.size == "MEDIUM"]
        plots += [f"<h2>{kernel}, MEDIUM: cycles against DSPs</h2>", _drawn(_draw_points, mine, 4.5)]
    return plots


def _drawn(draw: Callable[[Any, Sequence[Evaluation]], None], results: Sequence[Evaluation], height: float) -> str:
    """The figure as SVG, the same text each time; `height` is in inches."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["svg.hashsalt"] = "polybench"
    figure = Figure(figsize=(_INCHES, height), layout="constrained")
    draw(figure.subplots(), results)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def _height(bars: int) -> float:
    """Of a plot with so many labels, each of which can be read."""
    return 0.8 + 0.23 * bars


def _bars(axes: Any, labels: Sequence[str]) -> list[int]:
    """The places of bars from the top to the bottom, with their labels."""
    places = list(range(len(labels)))
    axes.set_yticks(places, labels, fontsize=9)
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    return places


def _label(result: Evaluation) -> str:
    return f"{result.kernel} {result.design}"


def _draw_speedups(axes: Any, results: Sequence[Evaluation]) -> None:
    found = {key: value for key, value in speedups(results).items() if key[1] != "vanilla"}
    places = _bars(axes, [" ".join(key[:2]) if key[1] != "best" else key[0] for key in found])
    bars = axes.barh(places, list(found.values()), color="#4a7ab5")
    axes.bar_label(bars, [f"{v:,.0f}" if v >= 100 else f"{v:.3g}" for v in found.values()], fontsize=8, padding=3)
    axes.set_xscale("log")
    axes.margins(x=0.08)
    axes.set_xlabel("times fewer cycles (log)")
    axes.axvline(1, color="black", linewidth=0.8)


def _draw_measured(axes: Any, results: Sequence[Evaluation]) -> None:
    timings = [(r, r.timing) for r in results if r.timing]
    places = _bars(axes, [_label(r) for r, _ in timings])
    axes.barh([p - 0.2 for p in places], [1 / t.of_c for _, t in timings], 0.4, label="as C", color="#4a7ab5")
    axes.barh(
        [p + 0.2 for p in places], [1 / t.of_restrict for _, t in timings], 0.4, label="as C restrict", color="#e0a458"
    )
    axes.set_xscale("log")
    axes.set_xlabel("times as fast (log)")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.legend(loc="lower right")


def _draw_times(axes: Any, results: Sequence[Evaluation]) -> None:
    places = _bars(axes, [_label(r) for r in results])
    axes.barh(places, [r.compile_seconds * 1e3 for r in results], color="#4a7ab5")
    axes.set_xlabel("ms of CPU time")


def _draw_points(axes: Any, results: Sequence[Evaluation]) -> None:
    for tool in dict.fromkeys(point.tool for point in points(results[0].kernel)):
        theirs = [point for point in points(results[0].kernel) if point.tool == tool]
        dsps, cycles = [max(p.dsp, 1) for p in theirs], [p.cycles for p in theirs]
        marker = "o" if all(p.simulated for p in theirs) else "X"
        axes.scatter(dsps, cycles, marker=marker, s=45, alpha=0.8, label=tool, edgecolors="white")
    for number, result in enumerate(r for r in results if r.figures and r.figures.cycles):
        assert result.figures is not None
        place = (max(result.figures.dsp, 1), result.figures.cycles)
        label = "ours, estimated" if not number else None
        axes.scatter(*place, color="#c0392b", marker="*", s=110, label=label)
        axes.annotate(
            result.design, place, xytext=(6, 5), textcoords="offset points", fontsize=9, color="#c0392b"
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(0.12)
    axes.grid(color="#e3e3e3", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel("DSPs (log)")
    axes.set_ylabel("cycles (log)")
    axes.legend(fontsize=9)
