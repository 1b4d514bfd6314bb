"""The results as one HTML page, with plots, that needs nothing besides itself."""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

from .evaluation import TARGET, Evaluation
from .published import points
from .tables import COLUMNS, rows, speedups

_STYLE = """
body { font-family: system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; color: #222; }
table { border-collapse: collapse; font-size: 0.85rem; }
th, td { border-bottom: 1px solid #ddd; padding: 0.2rem 0.6rem; text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.bad { color: #b00020; font-weight: bold; }
svg { max-width: 100%; height: auto; }
"""


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
    head = "".join(f"<th>{html.escape(column)}</th>" for column in COLUMNS)
    body = "".join(
        "<tr>" + "".join(_cell(value) for value in cells.values()) + "</tr>" for cells in rows(results)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


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
        plots += ["<h2>Speed-up over vanilla (estimated cycles)</h2>", _drawn(_draw_speedups, results)]
    measured = [r for r in results if r.timing]
    if measured:
        plots += ["<h2>Times as fast as C on one core (measured)</h2>", _drawn(_draw_measured, measured)]
    plots += ["<h2>CPU time of customize, primitives and HLS code</h2>", _drawn(_draw_times, results)]
    kernels = dict.fromkeys(
        r.kernel for r in results if r.figures and r.size == "MEDIUM" and points(r.kernel)
    )
    for kernel in kernels:
        mine = [r for r in results if r.kernel == kernel and r.size == "MEDIUM"]
        plots += [f"<h2>{kernel}, MEDIUM: cycles against DSPs</h2>", _drawn(_draw_points, mine)]
    return plots


def _drawn(draw: Callable[[Any, Sequence[Evaluation]], None], results: Sequence[Evaluation]) -> str:
    """The figure as SVG, the same text each time."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["svg.hashsalt"] = "polybench"
    figure = Figure(figsize=(11, 4), layout="constrained")
    draw(figure.subplots(), results)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def _draw_speedups(axes: Any, results: Sequence[Evaluation]) -> None:
    found = {key: value for key, value in speedups(results).items() if key[1] != "vanilla"}
    labels = [" ".join(key[:2]) if key[1] != "best" else key[0] for key in found]
    axes.bar(range(len(found)), list(found.values()))
    axes.set_xticks(range(len(found)), labels, rotation=70, ha="right")
    axes.set_yscale("log")
    axes.set_ylabel("times fewer cycles")
    axes.axhline(1, color="black", linewidth=0.5)


def _draw_measured(axes: Any, results: Sequence[Evaluation]) -> None:
    timings = [(r, r.timing) for r in results if r.timing]
    places = range(len(timings))
    axes.bar([place - 0.2 for place in places], [1 / t.of_c for _, t in timings], 0.4, label="as C")
    axes.bar(
        [place + 0.2 for place in places], [1 / t.of_restrict for _, t in timings], 0.4, label="as C restrict"
    )
    axes.set_xticks(
        places, [f"{r.kernel} {r.design}" for r, _ in timings], rotation=80, ha="right", fontsize=6
    )
    axes.set_yscale("log")
    axes.axhline(1, color="black", linewidth=0.5)
    axes.legend()


def _draw_times(axes: Any, results: Sequence[Evaluation]) -> None:
    labels = [f"{r.kernel} {r.design}" for r in results]
    axes.bar(range(len(results)), [r.compile_seconds * 1e3 for r in results])
    axes.set_xticks(range(len(results)), labels, rotation=80, ha="right", fontsize=6)
    axes.set_ylabel("ms of CPU time")


def _draw_points(axes: Any, results: Sequence[Evaluation]) -> None:
    for point in points(results[0].kernel):
        axes.scatter(max(point.dsp, 1), point.cycles, color="#999999", marker="o" if point.simulated else "x")
        axes.annotate(point.tool, (max(point.dsp, 1), point.cycles), fontsize=6, color="#666666")
    for result in results:
        if result.figures and result.figures.cycles:
            place = (max(result.figures.dsp, 1), result.figures.cycles)
            axes.scatter(*place, color="#c0392b", marker="*", s=80)
            axes.annotate(result.design, place, fontsize=7, color="#c0392b")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("DSPs")
    axes.set_ylabel("cycles")
