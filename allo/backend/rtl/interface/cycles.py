"""Cycles that loading and storing take, word by word, where memory does not wait at random.

They follow the text of `allo_axi_read`, `allo_axi_write`, `allo_load` and `allo_store`, and the models of a simulation:
each moment is the greatest of those that it has to wait for. Cycle 0 is that of the pulse with which a phase begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from .plan import ArrayTransfer, InterfacePlan, MemoryPort

_FIRST_ISSUE = 3  # the pulse, the turn of the first request, the request
_TURN = 2  # the first cycle of the first turn
_PAGE, _LONGEST = 4096, 256


def load_cycles(plan: InterfacePlan, frequency: float) -> int:
    """From the start to that of the kernel."""
    ends = [_loaded(port, frequency, plan.outstanding) for port in plan.ports if port.loads]
    ends += [_TURN + one.groups - 1 for one in plan.streams if one.loads]  # the first words have come before
    return max([_TURN, *(end + 1 for end in ends)]) + 1


def store_cycles(plan: InterfacePlan, frequency: float) -> int:
    """From the end of the kernel to that of all."""
    ends = [_stored(port, frequency, plan.outstanding) for port in plan.ports if port.stores]
    ends += [_TURN + one.latency + one.groups for one in plan.streams if one.stores]
    return max([_TURN, *(end + 1 for end in ends)]) + 1


class _Pace:
    """When a memory that has a word each `interval` cycles at most can have the next one."""

    def __init__(self, interval: Fraction) -> None:
        self.cycles, self.parts = interval.numerator, interval.denominator
        self.free = 0

    def next(self, earliest: int) -> int:
        """The cycle of the next word, which is taken then."""
        return max(earliest, -(-self.free // self.parts))

    def take(self, now: int) -> None:
        self.free = (self.free if self.free > (now - 1) * self.parts else now * self.parts) + self.cycles


class _Issue:
    """When bursts are asked for; those of an array begin at 4 KiB."""

    def __init__(self, outstanding: int) -> None:
        self.outstanding = outstanding
        self.ended: list[int] = []  # when each burst ended
        self.last: int | None = None

    def next(self, is_new: bool) -> int:
        """The cycle of the next one; `is_new`: it is the first of a request."""
        count = len(self.ended)
        found = _FIRST_ISSUE if self.last is None else self.last + (2 if is_new else 1)
        if count >= self.outstanding:
            found = max(found, self.ended[count - self.outstanding] + 1)
        self.last = found
        return found


def _bursts(words: int, word_bits: int) -> Iterator[int]:
    most = min(_LONGEST, _PAGE * 8 // word_bits)
    while words:
        yield min(words, most)
        words -= min(words, most)


def _groups(transfer: ArrayTransfer, word_bits: int) -> Iterator[int]:
    """The groups of elements in each word of an array; 1 for parts of an element."""
    each, left = max(1, word_bits // transfer.group_bits), transfer.groups
    if transfer.group_bits > word_bits:
        left *= transfer.group_bits // word_bits
    while left:
        yield min(each, left)
        left -= min(each, left)


def _loaded(port: MemoryPort, frequency: float, outstanding: int) -> int:
    """The cycle in which the last element is taken off its word."""
    pace, issue = _Pace(port.memory.interval(port.word_bits, frequency)), _Issue(outstanding)
    latency = max(1, port.memory.latency)
    come = 0  # when the last word came
    done = [0, 0]  # when the last two words were used up
    for transfer in port.loads:
        groups, is_new = _groups(transfer, port.word_bits), True
        for words in _bursts(transfer.words(port.word_bits), port.word_bits):
            ready = issue.next(is_new) + 1 + latency
            is_new = False
            for _ in range(words):
                offered = pace.next(max(ready, come + 1))
                pace.take(offered)
                come = max(offered, done[0] + 1)  # the buffer has two places
                done = [done[1], max(come, done[1]) + next(groups)]
            issue.ended.append(come)
    return done[1]


def _stored(port: MemoryPort, frequency: float, outstanding: int) -> int:
    """The cycle in which memory confirms the last burst."""
    pace, issue = _Pace(port.memory.interval(port.word_bits, frequency)), _Issue(outstanding)
    latency = max(1, port.memory.latency)
    put, gone, answered = _TURN - 1, [0, 0], 0  # `gone`: when the last two words went
    for transfer in port.stores:
        groups, is_new, delay = _groups(transfer, port.word_bits), True, transfer.latency
        for words in _bursts(transfer.words(port.word_bits), port.word_bits):
            issued = issue.next(is_new)
            is_new = False
            for _ in range(words):
                put = max(put, gone[0]) + delay + next(groups)  # the buffer has two places
                delay = 0
                went = pace.next(max(put + 1, gone[1] + 1, issued + 1))
                pace.take(went)
                gone = [gone[1], went]
            answered = max(max(issued + 1, gone[1]) + latency, answered + 1)
            issue.ended.append(answered)
    return answered
