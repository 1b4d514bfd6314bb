"""Channels of memory beside the chip for arguments: as many bytes through each as may be, none fuller than it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import ScheduleError
from ...picture import aligned, preformatted


@dataclass(frozen=True, slots=True)
class ChannelUser:
    """An argument: its bytes, and those that a call moves, twice as many if it is read and written."""

    array: str
    size: int
    moved: int


@dataclass(frozen=True, slots=True)
class ChannelPlace:
    """The channels of an argument, from `first` on: more than one if it is larger than what one holds."""

    user: ChannelUser
    kind: str
    first: int
    count: int

    @property
    def bank(self) -> str:
        """As linkers call it, `HBM[3]` or `HBM[3:4]`."""
        last = f":{self.first + self.count - 1}" if self.count > 1 else ""
        return f"{self.kind}[{self.first}{last}]"


@dataclass(frozen=True, slots=True)
class ChannelPlan:
    """Places of arguments, the one that moves most first, in `channels` channels of a kind of memory of a target."""

    target: str
    kind: str
    channels: int
    places: tuple[ChannelPlace, ...]

    @property
    def loads(self) -> tuple[int, ...]:
        """The bytes that a call moves through each channel."""
        loads = [0] * self.channels
        for place in self.places:
            for n in range(place.first, place.first + place.count):
                loads[n] += -(-place.user.moved // place.count)
        return tuple(loads)

    @property
    def bound(self) -> int:
        """What the fullest channel moves at least, whatever the places: the largest share, or an even one of all."""
        largest = max((-(-place.user.moved // place.count) for place in self.places), default=0)
        return max(largest, -(-sum(place.user.moved for place in self.places) // self.channels))

    def __str__(self) -> str:
        head = (
            f"arguments on {self.target}: at most {max(self.loads):,} bytes a call through one of {self.channels} "
            f"channels of {self.kind}, {self.bound:,} at best"
        )
        rows = [("argument", "bytes", "moved", "channel")]
        rows += [(p.user.array, f"{p.user.size:,}", f"{p.user.moved:,}", p.bank) for p in self.places]
        return "\n".join([head, *aligned(rows)])

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def channel_plan(users: Sequence[ChannelUser], target: str, kind: str, channels: int, capacity: int) -> ChannelPlan:
    """Each argument, the one that moves most first, to the channels that move least by then and have room.

    `capacity` are the bytes of a channel. That is at most 4/3 of the best where each fits into one channel and room is
    no matter (Graham, SIAM J. Appl. Math. 1969). Raises ScheduleError where there is no room.
    """
    loads, left, places = [0] * channels, [capacity] * channels, []
    for user in sorted(users, key=lambda user: (-user.moved, user.array)):
        count = max(1, -(-user.size // capacity))
        size, moved = -(-user.size // count), -(-user.moved // count)
        starts = [n for n in range(channels - count + 1) if min(left[n : n + count]) >= size]
        if not starts:
            raise ScheduleError(
                f"'{user.array}' of {user.size:,} bytes has no room in {kind} of {target}: {channels} channels of "
                f"{capacity:,} bytes, of which {sum(left):,} bytes are left",
                hint="choose another kind of memory, or arrays of smaller elements",
            )
        first = min(starts, key=lambda n: max(loads[n : n + count]))
        for n in range(first, first + count):
            loads[n], left[n] = loads[n] + moved, left[n] - size
        places.append(ChannelPlace(user, kind, first, count))
    return ChannelPlan(target, kind, channels, tuple(places))
