"""A design placed and routed: blocks of the device, the clock of several runs, and a bitstream."""

from __future__ import annotations

import json
import statistics
import zipfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from ....errors import InternalError, TargetError
from ....messages import working
from ....target import Fpga, PlaceAndRoute
from ...external.compiler import kept
from ..library import library_directory
from .nextpnr import TOOL, nextpnr_version, run_ecppack, run_nextpnr, seen
from .yosys import reading, run_yosys, yosys_version

_KEPT = "rtl"  # the folder of the cache
_LOGIC, _REGISTERS, _PRODUCTS, _BLOCKS = "TRELLIS_COMB", "TRELLIS_FF", "MULT18X18D", "DP16KD"
_LIMITS = "limits.lpf"


@dataclass(frozen=True, slots=True)
class PlacedDesign:
    """A design on a device, placed and routed by nextpnr.

    `clocks` are what it reaches, in MHz, with the seeds 1, 2, ...; `bitstream` and `configuration` (its text) are those
    of the run whose clock is the median. `lut` counts look-up tables with four inputs, also those of sums and memories,
    `bram18` blocks of 18 Kb.
    """

    device: str
    lut: int
    ff: int
    dsp: int
    bram18: int
    clocks: tuple[float, ...]
    bitstream: bytes = field(repr=False)
    configuration: str = field(repr=False)

    @property
    def clock(self) -> float:
        """The median of the runs in MHz; of an even number of them the lower one of the middle."""
        return statistics.median_low(self.clocks)

    @property
    def bram(self) -> float:
        """Block RAMs of 36 Kb."""
        return self.bram18 / 2

    def write(self, path: str | Path) -> None:
        """Write the bitstream to a file."""
        Path(path).write_bytes(self.bitstream)

    def __str__(self) -> str:
        counted = f"{self.lut} LUT, {self.ff} FF, {self.dsp} DSP, {self.bram:g} BRAM, {self.clock:.1f} MHz"
        runs = ", ".join(f"{clock:.1f}" for clock in self.clocks)
        return f"{counted} (measured: nextpnr for {self.device}, median of {runs})"


def placed(
    files: Mapping[str, str], top: str, target: Fpga, *, seeds: int = 3, constraints: str | None = None
) -> PlacedDesign:
    """The module `top`, its ports as pins, on a device; ToolError with what a tool says.

    `constraints` is the text of a file in Lattice's format (LPF), which then has a pin for each port.
    """
    device, files = _device(target), _of_the_device(files)
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise TargetError(f"seeds must be the number of runs, at least 1, got {seeds!r}")
    recipe = (library_directory() / "synthesise" / "ecp5.ys").read_text()
    options = [f"--{device.device}", "--package", device.package, "--speed", str(device.speed)]
    options += ["--freq", f"{target.frequency:g}"]
    parts = [yosys_version(), nextpnr_version(), recipe, top, *options, str(seeds), constraints or ""]
    parts += [text for file in files.items() for text in file]
    key = sha256("\0".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()[:32]

    def make(place: Path) -> None:
        folder = place.parent
        for name, text in files.items():
            (folder / name).write_text(text)
        lines = [line.replace("TOP", top) for line in recipe.splitlines() if line and line[0] != "#"]
        with working(f"synthesising '{top}'"):
            run_yosys([reading(list(files), top), *lines], folder, f"the design '{top}'")
        limits = ["--lpf-allow-unconstrained"]
        if constraints is not None:
            (folder / _LIMITS).write_text(constraints)
            limits = ["--lpf", seen(_LIMITS)]
        with working(f"placing and routing '{top}'"), ThreadPoolExecutor(min(seeds, 2)) as pool:
            runs = list(pool.map(lambda seed: _run(folder, [*options, *limits], seed, top), range(1, seeds + 1)))
        middle = _middle([clock for clock, _ in runs])
        run_ecppack([seen(f"{middle + 1}.config"), seen("kernel.bit"), "--compress"], folder, f"'{top}'")
        with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("runs.json", json.dumps({"clocks": [clock for clock, _ in runs], "used": runs[middle][1]}))
            archive.write(folder / "kernel.bit", "kernel.bit")
            archive.write(folder / f"{middle + 1}.config", "kernel.config")

    with zipfile.ZipFile(kept(_KEPT, f"{key}.zip", make)) as archive:
        told = json.loads(archive.read("runs.json"))
        used = told["used"]
        return PlacedDesign(
            target.part, used[_LOGIC], used[_REGISTERS], used[_PRODUCTS], used[_BLOCKS], tuple(told["clocks"]),
            archive.read("kernel.bit"), archive.read("kernel.config").decode(),
        )  # fmt: skip


def _of_the_device(files: Mapping[str, str]) -> dict[str, str]:
    """The same files, with modules of the library that are made of blocks of the device in the place of their own."""
    folder = library_directory() / "synthesise" / "ecp5"
    return {
        name: (folder / name).read_text() if (folder / name).is_file() else text for name, text in files.items()
    }


def _device(target: Fpga) -> PlaceAndRoute:
    device = target.place_and_route
    if device is None:
        raise TargetError(
            f"no tool without a vendor places and routes for '{target.name}'", hint='there is one for target="ecp5"'
        )
    if device.tool != TOOL:
        raise TargetError(f"target '{target.name}' is placed by '{device.tool}', and only '{TOOL}' is known")
    return device


def _run(folder: Path, options: Sequence[str], seed: int, top: str) -> tuple[float, dict[str, int]]:
    """The clock in MHz of one run, and how many blocks of each kind it takes; the configuration is a file."""
    report = f"{seed}.json"
    files = ["--json", seen("netlist.json"), "--textcfg", seen(f"{seed}.config"), "--report", seen(report)]
    run_nextpnr([*options, *files, "--seed", str(seed), "--timing-allow-fail", "--quiet"], folder, f"'{top}'")
    told = json.loads((folder / report).read_text())
    clocks = [clock["achieved"] for clock in told["fmax"].values()]
    if not clocks:
        raise InternalError(f"nextpnr tells no clock of '{top}'")
    return min(clocks), {kind: numbers["used"] for kind, numbers in told["utilization"].items()}


def _middle(clocks: Sequence[float]) -> int:
    return list(clocks).index(statistics.median_low(clocks))
