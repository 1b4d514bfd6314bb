"""Rooflines: operations a second of designs over operations for each byte of memory, below what a machine allows.

After Williams, Waterman and Patterson (CACM, 2009).
"""

from __future__ import annotations

from ..errors import ToolError
from ..estimate.report.result import Estimate
from ..ir.recursion import reads_programs
from ..picture.drawing import Drawing
from ..picture.plot import Mark, plot
from .traffic import Traffic


@reads_programs
def draw_roofline(*reports: Estimate, peak: float, bandwidth: float) -> Drawing:
    """The picture of designs below the roof of `peak` (in 10^9 operations a second) and `bandwidth` (in 10^9 bytes).

    `reports` are those of schedules with arguments in a memory, `s.report("u280", memory="HBM")`, whose bursts are the
    bytes; operations are counted in the text of the program. Raises ToolError for other reports, where something
    depends on run-time values, and for a roof that is not above 0.
    """
    if not peak > 0 or not bandwidth > 0:
        raise ToolError(f"a roof is above 0, got peak={peak!r} and bandwidth={bandwidth!r}")
    if not reports:
        raise ToolError("a roofline is that of one design or more", hint='give s.report("u280", memory="HBM")')
    marks = [_mark(report) for report in reports]
    ridge = peak / bandwidth
    left, right = min(ridge, *(mark.x for mark in marks)) / 4, max(ridge, *(mark.x for mark in marks)) * 4
    roof = [(left, left * bandwidth), (ridge, peak), (right, peak)]
    remark = f"roof: {peak:g} GOP/s, {bandwidth:g} GB/s; designs are estimated"
    return Drawing("", plot("roofline", "operations for each byte", "GOP/s", marks, [roof], remark))


def _mark(report: Estimate) -> Mark:
    if report.design is None or not report.transfers:
        raise ToolError(
            f"the report of '{report.top}' has no bytes between a memory and the chip",
            hint='take that of a schedule with a memory: s.report("u280", memory="HBM")',
        )
    operations = Traffic(report.design.ir).of_function(report.top).operations.value
    words = [transfer.words for transfer in report.transfers]
    if report.milliseconds is None or None in words or not operations:
        raise ToolError(f"how much '{report.top}' computes and moves depends on values of a run, or is nothing")
    moved = sum((t.words or 0) * t.word_bits for t in report.transfers) / 8
    return Mark(float(operations) / moved, float(operations) / report.milliseconds / 1e6, report.top, best=True)
