"""Report of a design as one page: figures with reasons and advice, pictures, proof, kernel and code side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from ..dataflow.timed.pictures import gantt
from ..dataflow.timed.run import TimedRun
from ..errors import AlloError
from ..estimate.report.page import content
from ..estimate.report.result import Estimate
from ..ir.recursion import reads_programs
from ..picture.page import page, panes, picture
from ..verify import Result
from .drawing import draw, draw_loops

if TYPE_CHECKING:
    from ..customize import Schedule

_UNPROVEN = "<p>Not verified: <code>to_html(verification=s.verify())</code> has the answer of the verifier here.</p>"
_CODE = {"vhls": "C++ for Vitis HLS", "rtl": "SystemVerilog"}


@reads_programs
def design_page(
    estimate: Estimate,
    design: Schedule,
    verification: Result | None = None,
    timing: TimedRun | None = None,
    code: Sequence[str] = ("vhls", "rtl"),
) -> str:
    """The page of a design with its estimate; it loads nothing and has no script.

    `verification` is what `s.verify()` has answered, `timing` that of a timed run of the design; `code` names the
    backends whose text is shown. What a backend refuses is told in its place.
    """
    figures = timing if timing is not None else estimate
    return page(
        f"{estimate.top} on {estimate.target}",
        [
            *content(estimate),
            "<h2>Verification</h2>",
            _UNPROVEN if verification is None else f"<pre>{escape(str(verification))}</pre>",
            "<h2>Dataflow</h2>",
            picture(draw(design, figures).svg),
            *(_run(timing) if timing is not None else ()),
            "<h2>Loops and steps</h2>",
            picture(draw_loops(design).svg),
            f"<pre>{escape(str(design.steps))}</pre>" if design.steps else "<p>No step was applied.</p>",
            "<h2>Code</h2>",
            panes(_texts(design, code)),
        ],
    )


def _run(timing: TimedRun) -> Iterator[str]:
    bars, remark = gantt(timing)
    yield "<h2>A run</h2>"
    yield f"<p>{timing.cycles} cycles, <em>simulated</em> {escape(timing.basis)}.</p>"
    yield picture(bars)
    yield f"<p class=note>{escape(remark)}</p>" if remark else ""


def _texts(design: Schedule, code: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The kernel as it was read, as it is scheduled, and what backends make of it."""
    yield "Kernel, as it was read", design.pseudocode(0)
    yield "With its schedule", design.pseudocode()
    for target in code:
        try:
            built = design.build(target=target)
            text = built.code if target == "rtl" else str(built)
        except AlloError as error:
            text = f"refused: {error}"
        yield _CODE.get(target, target), text
