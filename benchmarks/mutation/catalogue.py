"""The catalogue of faults: edits of the sources of `allo`, each with the tests that should notice it."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAULTS = Path(__file__).resolve().parent / "faults"

# The package that a fault is in, and the folders of tests that should notice it; the first prefix that fits.
PACKAGES: dict[str, tuple[str, ...]] = {
    "allo/backend/aie": ("backend/aie", "mapping"),
    "allo/backend/arguments": ("backend/cpu",),
    "allo/backend/cpu": ("backend/cpu", "transforms"),
    "allo/backend/checked": ("backend/cpu",),
    "allo/backend/external": ("backend/external",),
    "allo/backend/rtl": ("backend/rtl",),
    "allo/backend": ("backend/hls",),
    "allo/compose": ("compose",),
    "allo/customize": ("customize", "dataflow"),
    "allo/dataflow": ("dataflow",),
    "allo/estimate": ("estimate",),
    "allo/frontend": ("frontend", "dataflow"),
    "allo/importers": ("importers",),
    "allo/ir": ("ir", "dialect"),
    "allo/layout": ("layout",),
    "allo/mapping": ("mapping", "backend/aie"),
    "allo/poly": ("poly", "customize", "dataflow"),
    "allo/target": ("target", "estimate"),
    "allo/timing": ("timing", "estimate"),
    "allo/verify/affine": ("verify/affine",),
    "allo/verify/concrete": ("verify/concrete",),
    "allo/verify": ("verify",),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """The only `before` of a file becomes `after`; `equivalent` says why no program shows it, if none does.

    `tests` are the files of tests that should notice it, where they are others than those of its package, or few.
    """

    id: str
    file: str
    before: str
    after: str
    equivalent: str = ""
    tests: tuple[str, ...] = ()

    @property
    def package(self) -> str:
        return next(prefix for prefix in PACKAGES if self.file.startswith(prefix + "/"))

    @property
    def folders(self) -> tuple[str, ...]:
        return PACKAGES[self.package]

    def lines(self, root: Path) -> tuple[int, int] | None:
        """The lines that change, from 1; None if the fault is stale."""
        path = root / self.file
        text = path.read_text() if path.exists() else ""
        if text.count(self.before) != 1:
            return None
        first = text[: text.index(self.before)].count("\n") + 1
        same = 0
        before, after = self.before.splitlines(), self.after.splitlines()
        while same < min(len(before), len(after)) - 1 and before[same] == after[same]:
            same += 1
        return first + same, first + self.before.rstrip("\n").count("\n")

    def apply(self, root: Path) -> None:
        path = root / self.file
        path.write_text(path.read_text().replace(self.before, self.after))


def read(paths: Sequence[Path] = ()) -> list[Fault]:
    """The faults of the catalogue, or of other files of its form."""
    found: list[Fault] = []
    for path in paths or sorted(FAULTS.glob("*.toml")):
        entries = tomllib.loads(path.read_text())["fault"]
        found += [Fault(**{**entry, "tests": tuple(entry.get("tests", ()))}) for entry in entries]
    names = [fault.id for fault in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise SystemExit(f"several faults have the names {', '.join(sorted(twice))}")
    return found


def chosen(faults: list[Fault], package: str, names: Sequence[str], sample: int, seed: int) -> list[Fault]:
    """The faults of a package or with the names, or some of them at random."""
    unknown = set(names) - {fault.id for fault in faults}
    if unknown:
        raise SystemExit(f"no fault has the name {', '.join(sorted(unknown))}")
    found = [f for f in faults if f.file.startswith(package) and (not names or f.id in names)]
    return (
        sorted(random.Random(seed).sample(found, sample), key=found.index)
        if 0 < sample < len(found)
        else found
    )


def toml(fault: Fault) -> str:
    """An entry of the catalogue."""
    lines = ["[[fault]]", f'id = "{fault.id}"', f'file = "{fault.file}"']
    for key, text in (("before", fault.before), ("after", fault.after)):
        lines.append(f"{key} = {_quoted(text)}")
    if fault.tests:
        lines.append(f"tests = [{', '.join(map(_quoted, fault.tests))}]")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    if "\n" in text:
        return f"'''\n{text}'''"
    return f"'{text}'" if "'" not in text else f"'''{text}'''"
