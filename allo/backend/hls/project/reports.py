"""Reports that the steps of a project leave: where they are, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ....errors import ToolError
from .link_reports import LinkReport, read_link
from .tool_reports import (
    CosimReport,
    ImplementationReport,
    SynthesisReport,
    read_cosim,
    read_implementation,
    read_synthesis,
)


@dataclass(frozen=True, slots=True)
class UnreadReport:
    """A report in a form that is not read: `path` is where it is."""

    path: Path

    def __str__(self) -> str:
        return f"not read by allo: {self.path}"


Report = SynthesisReport | CosimReport | ImplementationReport | LinkReport | UnreadReport


@dataclass(frozen=True, slots=True)
class Reported:
    """The report of a step: the first of the `places` that exists. `{top}` and `{mode}` are filled in.

    `read` gets the path, the name of the kernel, and the frequency in MHz. One that `may_lack` is not missed.
    """

    places: tuple[str, ...]
    read: Callable[[Path, str, float], Report]
    may_lack: bool = False

    def found(
        self, folder: Path, goal: str, log: Path, top: str, mode: str, frequency: float
    ) -> Report | None:
        """Raises ToolError for a report that is not there, or has another form."""
        paths = [folder / place.format(top=top, mode=mode) for place in self.places]
        path = next((path for path in paths if path.exists()), None)
        if path is not None:
            return self.read(path, top, frequency)
        if self.may_lack:
            return None
        raise ToolError(
            f"step '{goal}' ended well but left no report\n  looked for: {paths[0]}\n  log: {log}"
        )


def synthesis(*places: str, may_lack: bool = False) -> Reported:
    """Estimates of synthesis."""
    return Reported(places, lambda path, top, frequency: read_synthesis(path), may_lack)


def cosim(*places: str) -> Reported:
    """The outcome of a simulation of the RTL."""
    return Reported(places, lambda path, top, frequency: read_cosim(path))


def implementation(*places: str) -> Reported:
    """What placement and routing of an IP gave."""
    return Reported(places, lambda path, top, frequency: read_implementation(path))


def link(*places: str, is_placed: bool) -> Reported:
    """What `v++ --link` made, for a card or for an emulation."""
    return Reported(places, partial(read_link, is_placed=is_placed))


def unread(*places: str) -> Reported:
    """A report whose place is known, and whose form is not."""
    return Reported(places, lambda path, top, frequency: UnreadReport(path))
