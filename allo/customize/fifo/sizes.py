"""Sizes of FIFOs as `size_fifos` returns them: a depth each with its reason, and the front of cycles against memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...picture import aligned, preformatted

STRATEGIES = ("exact", "normal", "conservative", "pareto")


@dataclass(frozen=True, slots=True)
class TokenCurve:
    """Elements that are put or got: `count` of them from cycle `first` to cycle `last` of a process, `burst` at once.

    Between them they come at even distances: C of them every II cycles, Allo, equation 2.
    """

    first: int
    last: int
    count: int
    burst: int = 1

    @property
    def interval(self) -> float:
        """Cycles from one burst to the next."""
        bursts = -(-self.count // self.burst)
        return (self.last - self.first) / (bursts - 1) if bursts > 1 else 0.0

    def at(self, cycle: int) -> int:
        """How many have passed at the end of a cycle."""
        if cycle < self.first:
            return 0
        if cycle >= self.last:
            return self.count
        return min(self.count, self.burst * (int((cycle - self.first) / self.interval) + 1))

    def __str__(self) -> str:
        each = f"{self.burst} at once, " if self.burst > 1 else ""
        return f"{self.first:,} to {self.last:,}, {each}every {self.interval:.4g}"


@dataclass(frozen=True, slots=True)
class FifoSize:
    """The depth of a FIFO `"f:name"`, or of each of `count` FIFOs of an array, and what it was `before`.

    A place of a stream of blocks holds one element of a block, that of a packed stream a word. `elements` of `bits`,
    as a place holds, pass through it, in an array through that which takes most, whose curves `puts` and `gets` are;
    None where depths were given and nothing was computed.
    """

    fifo: str
    depth: int
    before: int
    count: int
    bits: int
    reason: str
    elements: int | None = None
    puts: TokenCurve | None = None
    gets: TokenCurve | None = None


@dataclass(frozen=True, slots=True)
class DepthPoint:
    """A point on the front: cycles, blocks of BRAM (18 Kb), LUTs and bits of all FIFOs, and the depths, one a FIFO."""

    cycles: int
    bram18: int
    lut: int
    bits: int
    depths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FifoSizes:
    """The depths that a step gave to FIFOs, each with its reason.

    `cycles` are those of the timed trace with these depths, `unlimited` with FIFOs that are never full, `bram18` and
    `lut` what FIFOs take of the `target`; None where depths were given. `points` is the front, the fastest first.
    """

    strategy: str
    target: str
    fifos: tuple[FifoSize, ...]
    cycles: int | None = None
    unlimited: int | None = None
    bram18: int | None = None
    lut: int | None = None
    points: tuple[DepthPoint, ...] = ()

    @property
    def bits(self) -> int:
        """What all FIFOs store."""
        return sum(fifo.depth * fifo.bits * fifo.count for fifo in self.fifos)

    def depth(self, fifo: str) -> int:
        """The depth of `"f:name"`, or of `"name"`; KeyError if there is no such FIFO, or several."""
        found = [size for size in self.fifos if fifo in (size.fifo, size.fifo.partition(":")[2])]
        if len(found) != 1:
            known = ", ".join(size.fifo for size in self.fifos)
            raise KeyError(f"{'several FIFOs' if found else 'no FIFO'} '{fifo}'; the FIFOs are {known}")
        return found[0].depth

    def plot(self) -> Any:
        """The front as a figure of matplotlib, cycles against bits and blocks of BRAM. ImportError without it."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.add_subplot()
        axes.plot([p.bits for p in self.points], [p.cycles for p in self.points], "o-", drawstyle="steps-post")
        for point in self.points:
            axes.annotate(f"{point.bram18}", (point.bits, point.cycles), textcoords="offset points", xytext=(4, 4))
        axes.set(xlabel="bits of all FIFOs (labels: blocks of BRAM)", ylabel="cycles", xscale="log")
        return figure

    def __str__(self) -> str:
        head = f"FIFOs, {self.strategy}"
        if self.cycles is not None and self.unlimited is not None:
            more = self.cycles - self.unlimited
            slower = f"{more:,} more than" if more else "as many as"
            head += (
                f": {self.cycles:,} cycles, {slower} with FIFOs that are never full; {self.bits:,} bits, "
                f"{self.bram18} BRAM18 and {self.lut} LUT of {self.target}"
            )
        rows: list[tuple[str, ...]] = [("FIFO", "depth", "before", "elements", "bits", "put", "got", "because")]
        for size in self.fifos:
            name = size.fifo if size.count == 1 else f"{size.fifo} ({size.count})"
            passed = "?" if size.elements is None else f"{size.elements:,}"
            curves = ["?" if curve is None else str(curve) for curve in (size.puts, size.gets)]
            rows.append((name, f"{size.depth:,}", f"{size.before:,}", passed, str(size.bits), *curves, size.reason))
        lines = [head, "", *aligned(rows)]
        if self.points:
            front: list[tuple[str, ...]] = [("cycles", "BRAM18", "LUT", "bits", "depths")]
            for point in self.points:
                numbers = (f"{point.cycles:,}", str(point.bram18), f"{point.lut:,}", f"{point.bits:,}")
                front.append((*numbers, ", ".join(map(str, point.depths))))
            lines += ["", *aligned(front)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return preformatted(str(self))
