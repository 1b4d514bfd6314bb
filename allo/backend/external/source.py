"""Source of an external kernel: files, folders of headers, and the entry function."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...errors import ToolError
from ..headers import include_directory

_UNINCLUDABLE = re.compile(r'["\\\x00-\x1f]')

Facts = tuple[tuple[str, str | bool | tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class ExternalSource:
    """The files of an external kernel.

    `signature` are the types of its parameters, and `streams` the directions of its streams ("a in"), if the user gave
    them.
    """

    top: str
    implementations: tuple[str, ...]
    headers: tuple[str, ...] = ()
    include_paths: tuple[str, ...] = ()
    link_hls: bool = False
    signature: tuple[str, ...] = ()
    streams: tuple[str, ...] = ()

    def facts(self) -> Facts:
        """The entries of the declaration in MLIR: what a backend needs to link the kernel."""
        return (
            ("headers", self.headers),
            ("implementations", self.implementations),
            ("include_paths", self.include_paths),
            ("link_hls", self.link_hls),
            ("signature", self.signature),
            *((("streams", self.streams),) if self.streams else ()),
            ("top", self.top),
        )

    @property
    def directions(self) -> dict[str, str]:
        """The directions of streams that the user gave, by name."""
        return {name: side for name, side in (text.split() for text in self.streams)}

    @classmethod
    def of_facts(cls, facts: Mapping[str, object]) -> ExternalSource:
        """The source that the entries of a declaration name."""
        return cls(**facts)  # type: ignore[arg-type]

    @property
    def search_paths(self) -> tuple[str, ...]:
        """Where headers are looked for: the folders that were given, then those of headers and implementations."""
        folders = [
            *self.include_paths,
            *(str(Path(file).parent) for file in (*self.headers, *self.implementations)),
        ]
        return tuple(dict.fromkeys(folders))


def vendor_folders() -> tuple[str, ...]:
    """Where the headers of HLS types are: our simulation headers, else those of an installed vendor tool."""
    named = [
        os.environ[name] for name in ("XILINX_HLS", "XILINX_VITIS", "XILINX_VIVADO") if os.environ.get(name)
    ]
    folders = (include_directory(), *(Path(folder) / "include" for folder in named))
    return tuple(str(folder) for folder in folders if folder.is_dir())[:1]


def found_files(
    files: Iterable[str | os.PathLike[str]], what: str, folders: tuple[Path, ...]
) -> tuple[str, ...]:
    """The absolute paths of files that are given from one of `folders`; ToolError for one that is not there."""
    found = []
    for file in files:
        candidates = [(folder / file).resolve() for folder in folders]
        path = next((candidate for candidate in candidates if candidate.is_file()), None)
        if path is None:
            looked = " or ".join(dict.fromkeys(str(folder) for folder in folders))
            hint = None if Path(file).is_absolute() else f"a relative path starts from {looked}"
            raise ToolError(f"there is no {what} '{os.fspath(file)}'", hint=hint)
        if _UNINCLUDABLE.search(str(path)):
            raise ToolError(
                f"the {what} {str(path)!r} has a quote, a backslash or a control character in its path, "
                "and no #include can name it",
                hint="rename the file, or its folder",
            )
        found.append(str(path))
    return tuple(found)
