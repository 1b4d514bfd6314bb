"""Reports of the vendors' tools, and what of them a user sees."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ....errors import ToolError

# elements of reports, and what we call them
_RESOURCES = {
    "BRAM_18K": "BRAM_18K", "BRAM": "BRAM", "DSP": "DSP", "DSP48E": "DSP", "FF": "FF", "LUT": "LUT", "URAM": "URAM",
}  # fmt: skip
_INTERNAL = frozenset({"Name", "Slack", "TripCount", "Latency", "AbsoluteTimeLatency", "PipelineII", "PipelineDepth",
                       "PipelineType", "InstanceList", "IterationLatency", "performance_pragma"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Range:
    """From the best case to the worst; None where the tool does not know."""

    least: int | None
    most: int | None

    def __str__(self) -> str:
        ends = [("?" if end is None else f"{end:,}") for end in (self.least, self.most)]
        return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


@dataclass(frozen=True, slots=True)
class LoopReport:
    """A loop as synthesised: `interval` is the initiation interval, None for a loop that is no pipeline."""

    name: str
    trips: Range
    latency: Range
    interval: int | None
    depth: int | None
    loops: tuple[LoopReport, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """What a design takes of a resource, and what the device has (None if the report does not say)."""

    resource: str
    used: float  # a block of memory may be used by half
    available: float | None

    def __str__(self) -> str:
        if not self.available:
            return f"{self.resource}: {self.used:,}"
        return (
            f"{self.resource}: {self.used:,} of {self.available:,} ({100 * self.used / self.available:.0f} %)"
        )


@dataclass(frozen=True, slots=True)
class ModuleReport:
    """An instance of hardware below the top: a function that was not inlined, or a pipeline made of a loop."""

    name: str
    latency: Range
    interval: Range
    loops: tuple[LoopReport, ...]
    resources: tuple[Usage, ...]


@dataclass(frozen=True, slots=True)
class SynthesisReport:
    """The tool's estimates after synthesis: cycles, clock in ns, loops, resources, and the same of its modules."""

    top: str
    part: str
    target_clock: float
    estimated_clock: float
    latency: Range
    interval: Range
    loops: tuple[LoopReport, ...]
    resources: tuple[Usage, ...]
    modules: tuple[ModuleReport, ...]
    path: Path

    def __str__(self) -> str:
        lines = [
            f"{self.top} on {self.part}, as estimated by synthesis",
            f"  clock: {self.estimated_clock:g} ns of {self.target_clock:g} ns",
            f"  latency: {self.latency} cycles, a new call every {self.interval} cycles",
            *(line for loop in self.loops for line in _loop_lines(loop, "  ")),
            *(line for module in self.modules for line in _module_lines(module)),
            *(f"  {usage}" for usage in self.resources),
        ]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class CosimReport:
    """Cycles as simulated at the level of registers."""

    language: str
    passed: bool
    latency: Range
    interval: Range
    total: int | None
    path: Path

    def __str__(self) -> str:
        result = "passed" if self.passed else "failed"
        cycles = f"latency {self.latency} cycles, interval {self.interval} cycles"
        return f"co-simulation of {self.language} {result}: {cycles}"


@dataclass(frozen=True, slots=True)
class ImplementationReport:
    """After placement and routing: the clock that was asked for and the one achieved in ns, resources.

    `slack` is the worst of all paths in ns, None where the report does not say.
    """

    target_clock: float
    achieved_clock: float
    resources: tuple[Usage, ...]
    path: Path
    slack: float | None = None

    @property
    def meets_timing(self) -> bool:
        return self.achieved_clock <= self.target_clock

    def __str__(self) -> str:
        slack = "" if self.slack is None else f", worst slack {self.slack:g} ns"
        head = f"after placement and routing: {self.achieved_clock:g} ns of {self.target_clock:g} ns{slack}"
        return "\n".join([head, *(f"  {usage}" for usage in self.resources)])


def read_synthesis(path: Path) -> SynthesisReport:
    """`csynth.xml`, or `<top>_csynth.xml`; ToolError if it is no such report."""
    root = _root(path)
    timing = "PerformanceEstimates/SummaryOfTimingAnalysis"
    latency, interval, loops = _performance(root, path)
    return SynthesisReport(
        top=_text(root, "UserAssignments/TopModelName", path),
        part=_text(root, "UserAssignments/Part", path),
        target_clock=_number(root, "UserAssignments/TargetClockPeriod", path),
        estimated_clock=_number(root, f"{timing}/EstimatedClockPeriod", path),
        latency=latency,
        interval=interval,
        loops=loops,
        resources=_usages(root, "AreaEstimates", path),
        modules=tuple(_module(module, path) for module in root.findall("ModuleInformation/Module")),
        path=path,
    )


def _module(element: ET.Element, path: Path) -> ModuleReport:
    latency, interval, loops = _performance(element, path)
    return ModuleReport(
        _text(element, "Name", path), latency, interval, loops, _usages(element, "AreaEstimates", path)
    )


def _performance(element: ET.Element, path: Path) -> tuple[Range, Range, tuple[LoopReport, ...]]:
    """Latency, interval and loops; the interval of modules is one number."""
    overall = "PerformanceEstimates/SummaryOfOverallLatency"

    def count(*names: str) -> int | None:
        name = next((name for name in names if element.find(f"{overall}/{name}") is not None), names[0])
        return _count(_text(element, f"{overall}/{name}", path))

    latency = Range(count("Best-caseLatency"), count("Worst-caseLatency"))
    other = "PipelineInitiationInterval"
    interval = Range(count("Interval-min", other), count("Interval-max", other))
    loops = element.find("PerformanceEstimates/SummaryOfLoopLatency")
    return latency, interval, tuple(_loops(loops)) if loops is not None else ()


def read_cosim(path: Path) -> CosimReport:
    """`<top>_cosim.rpt`: the row of the language that was simulated; ToolError if there is none."""
    for line in read_text(path).splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) < 8 or cells[0] not in ("Verilog", "VHDL") or cells[1] in ("NA", ""):
            continue
        numbers = [_count(cell) for cell in cells[2:]]
        total = numbers[6] if len(numbers) > 6 else None
        latency, interval = Range(numbers[0], numbers[2]), Range(numbers[3], numbers[5])
        return CosimReport(cells[0], cells[1] == "Pass", latency, interval, total, path)
    raise ToolError(f"the report {path} has no row of a simulation that ran")


def read_implementation(path: Path) -> ImplementationReport:
    """The report of `export_design -flow impl`; ToolError if it is none."""
    root = _root(path)
    places = ("TimingReport/TargetClockPeriod", "TimingReport/CP_TARGET")  # of earlier and later releases
    wanted = next((place for place in places if root.find(place) is not None), places[-1])
    return ImplementationReport(
        target_clock=_number(root, wanted, path),
        achieved_clock=_number(root, "TimingReport/AchievedClockPeriod", path),
        resources=_usages(root, "AreaReport", path),
        path=path,
    )


def read_registers(path: Path) -> dict[str, int]:
    """The addresses of arguments in `x<top>_hw.h`, which the tool writes for drivers."""
    pattern = re.compile(r"#define\s+X\w+?_ADDR_(\w+?)_DATA\s+(0x[0-9a-fA-F]+)")
    return {match[1].lower(): int(match[2], 16) for match in pattern.finditer(read_text(path))}


# -- elements ----------------------------------------------------------------------------------------


def _loops(parent: ET.Element) -> Iterator[LoopReport]:
    for element in parent:
        if element.tag in _INTERNAL or (element.find("Name") is None and element.find("TripCount") is None):
            continue
        interval, depth = element.findtext("PipelineII"), element.findtext("PipelineDepth")
        yield LoopReport(
            name=element.findtext("Name") or element.tag,
            trips=_range(element.find("TripCount")),
            latency=_range(element.find("Latency")),
            interval=_count(interval),
            depth=_count(depth),
            loops=tuple(_loops(element)),
        )


def _range(element: ET.Element | None) -> Range:
    """A number, or `<range><min>..</min><max>..</max></range>`."""
    if element is None:
        return Range(None, None)
    low, high = element.findtext("range/min"), element.findtext("range/max")
    if low is None and high is None:
        low = high = element.text
    return Range(_count(low), _count(high))


def _usages(root: ET.Element, place: str, path: Path) -> tuple[Usage, ...]:
    used = root.find(f"{place}/Resources")
    if used is None:
        raise _missing(path, f"{place}/Resources")
    available = root.find(f"{place}/AvailableResources")
    usages = []
    for element in used:
        count = _count(element.text)
        if element.tag in _RESOURCES and count is not None:
            has = _count(available.findtext(element.tag)) if available is not None else None
            usages.append(Usage(_RESOURCES[element.tag], count, has))
    return tuple(usages)


def _loop_lines(loop: LoopReport, indent: str) -> Iterator[str]:
    pipeline = f", II {loop.interval}" if loop.interval is not None else ""
    depth = f", depth {loop.depth}" if loop.depth is not None else ""
    yield f"{indent}loop {loop.name}: {loop.trips} trips, {loop.latency} cycles{pipeline}{depth}"
    for inner in loop.loops:
        yield from _loop_lines(inner, indent + "  ")


def _module_lines(module: ModuleReport) -> Iterator[str]:
    used = ", ".join(str(usage) for usage in module.resources if usage.used)
    yield f"  {module.name}: {module.latency} cycles" + (f"; {used}" if used else "")
    for loop in module.loops:
        yield from _loop_lines(loop, "    ")


def _count(text: str | None) -> int | None:
    """A number of a report; None for `undef`, `NA`, `-`."""
    text = (text or "").strip()
    return int(text) if re.fullmatch(r"\d+", text) else None


def read_text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError as error:
        raise ToolError(f"the report {path} cannot be read: {error.strerror}") from None


def _root(path: Path) -> ET.Element:
    try:
        return ET.fromstring(read_text(path))
    except ET.ParseError as error:
        raise ToolError(f"the report {path} is no XML: {error}") from None


def _text(root: ET.Element, place: str, path: Path) -> str:
    text = root.findtext(place)
    if text is None:
        raise _missing(path, place)
    return text.strip()


def _number(root: ET.Element, place: str, path: Path) -> float:
    text = _text(root, place, path)
    try:
        return float(text)
    except ValueError:
        raise ToolError(f"the report {path} has '{text}' where a number is expected: {place}") from None


def _missing(path: Path, place: str) -> ToolError:
    return ToolError(
        f"the report {path} has no element {place}",
        hint="this release of the tool writes another form; read the report itself",
    )
