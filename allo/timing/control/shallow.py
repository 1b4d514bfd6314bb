"""Elements of FIFOs that wait for room: how many are held at most, and which are looked at where too few fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from .fifos import Channel, Waits

_FEW = 8  # elements of a channel that are looked at if others, through stages in a row, add to them


def occupancy(channel: Channel, free: Waits) -> int:
    """How many elements are in a FIFO at most if it is deep enough."""
    puts, gets = ([free.at(free.token(channel, put, k)) for k in (0, channel.count - 1)] for put in (True, False))
    before_first = _number(channel.count, puts[0], puts[1], gets[0])
    behind_last = channel.count - _number(channel.count, gets[0], gets[1], puts[1])
    return max(before_first, behind_last, 1)


def _number(count: int, first: Fraction, last: Fraction, time: Fraction) -> int:
    """How many of `count` events between `first` and `last` have happened at `time`."""
    if time < first:
        return 0
    if time >= last or count == 1:
        return count
    return min(count, math.floor((time - first) * (count - 1) / (last - first)) + 1)


def too_shallow(waits: Waits, channels: Sequence[Channel]) -> list[list[int]]:
    """Let puts wait for the gets that make room, at the elements of each channel that are looked at."""
    numbers = looked_at(waits, channels)
    for channel, own in zip(channels, numbers, strict=True):
        for k in own:
            waits.wait(waits.token(channel, True, k), waits.token(channel, False, k), 1, ("empty", channel.name))
            if k >= channel.depth:
                made = waits.token(channel, False, k - channel.depth)
                waits.wait(made, waits.token(channel, True, k), 1, ("full", channel.name))
    return numbers


def looked_at(waits: Waits, channels: Sequence[Channel]) -> list[list[int]]:
    """The elements of each channel that pass when one of its ends begins or ends something else.

    Through stages in a row this goes on from one channel to the next, while a channel has few of them.
    """
    found = [[0, channel.count - 1] for channel in channels]
    ends: dict[int, list[tuple[int, bool]]] = {}  # by stage the channels that it puts to (True) and gets from
    for number, channel in enumerate(channels):
        ends.setdefault(channel.producer, []).append((number, True))
        ends.setdefault(channel.consumer, []).append((number, False))
    for again in range(len(waits.lengths)):
        before = [*found]
        for number, channel in enumerate(channels):
            if not again or len(found[number]) < _FEW:
                beside = {put: [(channels[n], way, before[n]) for n, way in ends[stage]]
                          for put, stage in ((True, channel.producer), (False, channel.consumer))}  # fmt: skip
                found[number] = _more(waits, channel, found[number], beside)
        if found == before:
            break
    return found


def _more(
    waits: Waits, channel: Channel, own: Sequence[int], beside: Mapping[bool, Sequence[tuple[Channel, bool, list[int]]]]
) -> list[int]:
    """Elements of a channel, with those that pass when elements of channels `beside` its ends do, put or got there."""
    found = {*own}
    for put, others in beside.items():
        first, last = (waits.token(channel, put, k)[0][1] for k in (0, channel.count - 1))
        for other, way, numbers in others:
            for k in numbers:
                at = _number(channel.count, first, last, waits.token(other, way, k)[0][1])
                found |= {at - 1, at}
    found |= {k + shift for k in found for shift in (channel.depth, -channel.depth)}
    return sorted(k for k in found if 0 <= k < channel.count)
