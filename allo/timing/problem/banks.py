"""Banks of an array that one access comes to in the course of its loop, and what chooses among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd

from ...layout import Banks, Division
from ...poly import Form, Space
from ...target import Fpga, Operator
from .memory import ArrayMemory


def routing(space: Space, kind: str, forms: Sequence[Form | None], memory: ArrayMemory, target: Fpga) -> Operator:
    """What brings a word from, or to, the bank that the subscripts of an access name; wires if it is always one.

    A read chooses among the words of all banks that it may come to, a write enables one of them: a LUT each. Where
    banks, or the elements of one, are no power of two, a subscript is divided first: in the path if it is data, ahead
    of it if it is known from iterations.
    """
    reached = 1
    divided: list[Operator] = []
    for number, (banks, extent) in enumerate(zip(memory.dims, memory.shape, strict=True)):
        form = forms[number] if number < len(forms) else None
        count = banks.count(extent)
        among = count // told_apart(space, form, banks, extent) if form is not None else count
        reached *= among
        divisor = banks.run(extent) if banks.kind is Division.BLOCK else count
        if among > 1 and divisor & (divisor - 1) and banks.kind is not Division.COMPLETE:
            place = target.integer("place", (extent - 1).bit_length())
            divided.append(place if form is None else replace(place, delay=0))
    if reached == 1:
        return Operator("wire")
    lut, delay = sum(one.lut for one in divided), max((one.delay for one in divided), default=0)
    if kind == "write":
        return Operator("decoder", lut=reached + lut)
    chosen = target.multiplexer.of(reached, memory.width)
    return replace(chosen, lut=chosen.lut + lut, delay=chosen.delay + delay)


def told_apart(space: Space, form: Form, banks: Banks, extent: int) -> int:
    """How many classes of banks of a dimension one access tells apart; while iterations move it, it needs a class.

    For a cyclic or complete division a class are the banks with one residue.
    """
    number = banks.count(extent)
    moving = [c for c in form.time if c] + [c for _, c in form.other]
    if number == 1 or not moving:
        return number
    if banks.kind is Division.BLOCK:
        return number if _within_run(space, form, banks.run(extent)) else 1
    return gcd(number, *moving)


def _within_run(space: Space, form: Form, run: int) -> bool:
    """Whether copies start runs of a block division, and iterations never leave the run that they start in."""
    if form.other or any(c % run for _, c in form.copies):
        return False
    low = high = form.constant % run
    for c, loop in zip(form.time, space.time, strict=True):
        if c and loop.trip is None:
            return False
        most = c * ((loop.trip or 1) - 1)
        low, high = low + min(0, most), high + max(0, most)
    return low >= 0 and high < run
