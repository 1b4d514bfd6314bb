"""Table of designs beside published ones, in hardware of our own: their cycles, and what they take.

    python -m polybench.points_rtl

The designs are those of `reproduce_points` and of `reproduce_table3`. One that takes more DSPs here than the published
one, or more LUTs than the device has, or is slower, is followed by the fastest of all for which none of that holds.
Cycles are those of `reproduce_rtl`; a design that is too large to be simulated has those of its schedule alone. DSPs
and LUTs are estimated.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import allo

from .measured_rtl import read
from .published import TABLE_3
from .reproduce_points import chosen, titled
from .suite import load
from .tables import print_table

SIZE = "MEDIUM"
HEADER = (
    *("kernel", "published design", "DSP (published)", "LUT (published)", "cycles (published)", "our design"),
    *("DSP (ours, estimated)", "LUT (ours, estimated)", "cycles (ours, simulated)", "cycles (ours, estimated)"),
    "ours / published",
)
type Theirs = tuple[str, str, int, int | str, int]  # as the first columns


@cache
def stated(kernel: str, design: str) -> allo.Estimate:
    """The estimate of a design for hardware of our own, in units that know no subnormal numbers, as those of tools."""
    schedule = load(kernel).designs[design].customized(SIZE)
    return allo.estimate(schedule, profile="rtl", rewritten=True, subnormals="flush")


def within(theirs: Theirs) -> str | None:
    """The fastest of our designs with no more DSPs than a published one, if there is any."""
    kernel, _, dsp, *_ = theirs
    fitting = {}
    for name in load(kernel).designs:
        found = None if name in ("vanilla", "cpu") else stated(kernel, name)
        if found is None or found.resources.lut > found.available.lut or found.resources.dsp > dsp:
            continue
        fitting[name] = found.cycles or 0
    return min(fitting, key=lambda name: fitting[name], default=None)


def pairs() -> Iterator[tuple[Theirs, str]]:
    """Published points and designs beside them, in their order, then those of Table 3 of the Allo paper."""
    first: dict[Theirs, str] = {}
    for point, name, _ in chosen():
        first.setdefault((point.kernel, titled(point), point.dsp, point.lut, point.cycles), name)
    first |= {(kernel, "Allo (Table 3)", row.dsp, "", row.cycles): "table3" for kernel, row in TABLE_3.items()}
    for theirs, name in first.items():
        yield theirs, name
        found = stated(theirs[0], name)
        is_larger = found.resources.dsp > theirs[2] or found.resources.lut > found.available.lut
        if is_larger or (found.cycles or 0) > theirs[4]:
            other = within(theirs)
            if other is not None and other != name:
                yield theirs, other


def beside_published_ones() -> list[tuple[str, str]]:
    """The kernels and designs of the table."""
    return list(dict.fromkeys((theirs[0], name) for theirs, name in pairs()))


def rows() -> Iterator[Sequence[Any]]:
    """The rows of the table."""
    for theirs, name in pairs():
        yield _row(theirs, name)


@cache
def simulated() -> dict[tuple[str, str], int | None]:
    """The cycles of what was simulated, by kernel and design."""
    return {(row.kernel, row.design): row.simulated for row in read() if row.size == SIZE}


def _row(theirs: Theirs, name: str) -> Sequence[Any]:
    kernel, *_, published = theirs
    found = stated(kernel, name)
    cycles = simulated().get((kernel, name))
    ratio = round((cycles or found.cycles or 0) / published, 3)
    sizes = (found.resources.dsp, found.resources.lut)
    return *theirs, name, *sizes, "" if cycles is None else cycles, found.cycles, ratio


if __name__ == "__main__":
    sys.exit(print_table(__doc__, HEADER, lambda: list(rows())))
