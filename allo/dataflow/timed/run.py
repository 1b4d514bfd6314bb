"""TimedRun: the cycles of a dataflow design, what each task and channel does in them, and files that show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import TargetError, nearest
from ..replay import replay as replayed
from ..trace import Numbers
from .figures import RunFigures
from .page import fragment, page
from .perfetto import perfetto
from .pictures import Picture, fills, gantt, graph
from .table import table
from .waveform import vcd

_PICTURES: dict[str, Callable[[RunFigures], Picture]] = {"bars": gantt, "graph": graph, "occupancy": fills}


@dataclass(frozen=True, eq=False)
class TimedRun(RunFigures):
    """A run of the design `top` on `target`, *simulated* with the static schedules of its tasks.

    Printed, it is a table; `save` writes it for Perfetto, viewers of waveforms, and browsers.
    """

    def occupancy(self, channel: str) -> tuple[Numbers, Numbers]:
        """The cycles in which the number of elements in a channel changes, and how many it holds from then on.

        Raises TargetError if no channel has the name, or several.
        """
        return self.replayed.levels(self._number(channel))

    def with_depths(self, depths: Mapping[str, int]) -> TimedRun:
        """The same run with channels of other depths, by name, without running the design again.

        Raises TargetError for names that no channel has, and for depths with which tasks wait for one another for ever.
        """
        changed = self.replayed.depths.copy()
        for name, depth in depths.items():
            changed[self._number(name)] = depth
        found = replayed(self.replayed.trace, changed)
        if found.stuck:
            wait = (found.circle or found.stuck)[0]
            at = found.trace.channels[wait.channel].name if wait.channel is not None else ""
            raise TargetError(
                f"with these depths '{found.trace.processes[wait.process].name}' waits for ever: '{at}' is {wait.kind}",
                hint="give it more room",
            )
        return replace(self, replayed=found)

    def save(self, path: str | Path, picture: str = "bars") -> Path:
        """Write the run to a file: `.json` for Perfetto or chrome://tracing, `.vcd`, `.html`, or one picture as `.svg`.

        A picture is `"bars"`, of tasks over the cycles, `"graph"`, of tasks and streams, or `"occupancy"`.
        Raises TargetError for other endings and pictures.
        """
        if picture not in _PICTURES:
            listed = ", ".join(map(repr, _PICTURES))
            raise TargetError(f"a timed run has no picture {picture!r}", hint=f"its pictures are {listed}")
        drawn = _PICTURES[picture]
        writers: dict[str, Callable[[RunFigures], str]] = {
            ".json": perfetto, ".vcd": vcd, ".html": page, ".svg": lambda run: drawn(run)[0],
        }  # fmt: skip
        place = Path(path)
        if place.suffix not in writers:
            raise TargetError(
                f"a timed run is not written as '{place.name}'", hint="end the name with .json, .vcd, .html or .svg"
            )
        place.write_text(writers[place.suffix](self), encoding="utf-8")
        return place

    def __str__(self) -> str:
        return table(self)

    def __repr__(self) -> str:
        return f"<TimedRun of {self.top} on {self.target}: {self.cycles} cycles>"

    def _repr_html_(self) -> str:
        return fragment(self)

    def _number(self, name: str) -> int:
        names = [channel.name for channel in self.replayed.trace.channels]
        if names.count(name) != 1:
            state = "no channel" if name not in names else "more than one channel"
            listed = f"there are {', '.join(sorted(set(names))[:20])}" if names else "it has no streams"
            hint = nearest(name, names) or listed
            raise TargetError(f"{state} of '{self.top}' is called '{name}'", hint=hint)
        return names.index(name)
