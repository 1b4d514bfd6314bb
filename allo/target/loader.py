"""Loader of targets: where descriptions are found, the head that all files share, then the part of their kind."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from ..errors import TargetError, nearest
from .array_file import read_array
from .description import External, Target
from .fpga_file import read_fpga
from .mesh_file import read_mesh
from .places import PLACES
from .table import Table, each

_KINDS: Mapping[str, Callable[[Target, Table], Target]] = {"fpga": read_fpga, "array": read_array,
                                                             "mesh": read_mesh}


def known_targets() -> tuple[str, ...]:
    """The names of the targets that come with Allo."""
    return tuple(sorted({file.stem for place in PLACES for file in place.glob("*.toml")}))


def load_target(target: str | Path | Target) -> Target:
    """The target of that name, or that a TOML file describes; a `Target` is itself.

    Raises TargetError if there is none, or for a file that lacks something, with the key.
    """
    if isinstance(target, Target):
        return target
    text = str(target)
    if text.endswith(".toml") or "/" in text:
        return _read(Path(text).resolve())
    for place in PLACES:
        if (place / f"{text}.toml").is_file():
            return _read(place / f"{text}.toml")
    known = known_targets()
    raise TargetError(
        f"no target '{text}'; there are {', '.join(known)}",
        hint=nearest(text, known) or "give one of them, or the path of a TOML file like those in `targets/`",
    )


@cache
def _read(file: Path) -> Target:
    try:
        data = tomllib.loads(file.read_text())
    except OSError as error:
        raise TargetError(f"cannot read the target '{file}': {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TargetError(f"the target '{file}' is not valid TOML: {error}") from None
    return _target(Table(file, "", data))


def _target(root: Table) -> Target:
    kind = root.text("kind")
    if kind not in _KINDS:
        raise root.error("kind", f"must be one of {', '.join(_KINDS)}, got '{kind}'", nearest(kind, sorted(_KINDS)))
    target = _KINDS[kind](_head(root), root)
    root.done()
    return target


def _head(root: Table) -> Target:
    """What files of all kinds say."""
    sources = root.texts("sources")
    frequency = root.number("frequency")
    highest = root.number("highest_frequency", 0.0)
    if not frequency:
        raise root.error("frequency", "must be more than 0")
    if 0 < highest < frequency:
        raise root.error("frequency", f"must be at most {highest:g}, the limit of the device")
    external = each(root.table("external"), _external, ()) if "external" in root.data else {}
    name, title, part = (root.text(key) for key in ("name", "title", "part"))
    return Target(name, title, part, frequency, highest, sources, external)


def _external(name: str, table: Table) -> External:
    channels, megabytes = table.count("channels", 0), table.count("megabytes", 0)
    external = External(name, table.count("latency"), table.number("gigabytes"), channels, megabytes)
    table.done()
    if bool(channels) != bool(megabytes):
        raise table.error("megabytes", "is given with channels, and both are more than 0")
    if not external.gigabytes:
        raise table.error("gigabytes", "must be more than 0")
    return external
