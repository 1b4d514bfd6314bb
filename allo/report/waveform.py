"""Excerpts of waveforms: signals of a value change dump (IEEE 1364, 18.2) between two times, as pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import ToolError, nearest
from ..picture.drawing import Drawing
from ..picture.waves import Wave, waves

_MOST = 24  # signals that are drawn if none are named
_VARIABLE = re.compile(r"\$var\s+\S+\s+(\d+)\s+(\S+)\s+(\S+)(?:\s+\[[^\]]*\])?\s+\$end")


def draw_waveform(
    path: str | Path, signals: Sequence[str] | None = None, *, begin: int = 0, end: int | None = None
) -> Drawing:
    """The picture of `signals` of a `.vcd` file from the time `begin` to `end`, in the unit of the file.

    Names are those in the file with their scopes, `"top.done"`, or the last part of them; without names the first ones
    that change in the excerpt are drawn. Raises ToolError for a file that is no dump, for names that it does not have,
    and for an excerpt without time.
    """
    file = Path(path)
    if file.suffix != ".vcd":
        raise ToolError(f"'{file.name}' is no value change dump", hint="simulate with waveform='run.vcd'")
    text = file.read_text(encoding="utf-8", errors="replace")
    head, mark, body = text.partition("$enddefinitions")
    if not mark:
        raise ToolError(f"'{file.name}' is no value change dump: its definitions have no end")
    names = _names(head)
    changes, last = _changes(body.partition("$end")[2].splitlines())
    until = last if end is None else end
    if not begin < until:
        raise ToolError(f"there is no time from {begin} to {until}; the dump ends at {last}")
    if signals is None:
        first: dict[str, str] = {}  # names of one wire have one code
        for name, (code, _) in names.items():
            first.setdefault(code, name)
        moving = [c for c in first if any(begin < time < until for time, _ in changes.get(c, ()))]
        chosen = [first[code] for code in moving][:_MOST] or [*names][:_MOST]
    else:
        chosen = [_found(name, names, file) for name in signals]
    drawn = [Wave(n, names[n][1], tuple(changes.get(names[n][0], ()))) for n in chosen]
    scale = re.search(r"\$timescale\s+(.*?)\s*\$end", head, re.DOTALL)
    return Drawing("", waves(drawn, begin, until, scale[1] if scale else ""))


def _names(head: str) -> dict[str, tuple[str, int]]:
    """Code and bits of each signal by its name with scopes."""
    scopes: list[str] = []
    found: dict[str, tuple[str, int]] = {}
    for part in re.findall(r"\$(?:scope|upscope|var)\b.*?\$end", head, re.DOTALL):
        if part.startswith("$scope"):
            scopes.append(part.split()[2])
        elif part.startswith("$upscope"):
            scopes.pop()
        elif (match := _VARIABLE.fullmatch(part)) is not None:
            found[".".join([*scopes, match[3]])] = match[2], int(match[1])
    return found


def _changes(lines: Iterable[str]) -> tuple[dict[str, list[tuple[int, str]]], int]:
    """The values of each code from some times on, words in hexadecimal, and the last time."""
    found: dict[str, list[tuple[int, str]]] = {}
    time = 0
    for line in map(str.strip, lines):
        if not line or line.startswith("$"):
            continue
        if line.startswith("#"):
            time = int(line[1:])
            continue
        value, code = line.split() if line[0] in "bBrR" else (line[0], line[1:])
        values = found.setdefault(code, [])
        if values and values[-1][0] == time:
            values.pop()
        values.append((time, _shown(value.lower())))
    return found, time


def _shown(value: str) -> str:
    if not value.startswith("b"):
        return value.removeprefix("r")
    return value[1:] if set(value) & set("xz") else f"{int(value[1:], 2):x}"


def _found(name: str, names: dict[str, tuple[str, int]], file: Path) -> str:
    """The signal of a name, or of the last part of it; the outermost of several."""
    if name in names:
        return name
    ends = sorted((n for n in names if n.endswith(f".{name}")), key=lambda n: (n.count("."), n))
    if not ends:
        raise ToolError(f"'{file.name}' has no signal '{name}'", hint=nearest(name, names) or "open it in a viewer")
    return ends[0]
