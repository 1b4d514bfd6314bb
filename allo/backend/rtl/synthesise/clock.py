"""Clock of a synthesised netlist, estimated: its longest path, with a delay for each cell and one for all nets."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ....errors import InternalError
from ..library import library_directory

type Bit = int
type Pins = Mapping[str, Sequence[int | str]]  # bits that are texts are constants

_THROUGH = ("IBUF", "OBUF", "BUFG")  # ports lie on the chip
_CLOCKS = ("C", "CLK", "WCLK", "CLKARDCLK", "CLKBWRCLK")
_CASCADE = ("PCIN", "ACIN", "BCIN")


@cache
def delays() -> Mapping[str, Any]:
    """The table of delays, in ns."""
    return tomllib.loads((library_directory() / "synthesise" / "ultrascale.toml").read_text())


@dataclass(slots=True)
class TimingGraph:
    """Ways between bits of a netlist, in ns: `starts` are what registers give, `ends` what they take."""

    starts: dict[Bit, float] = field(default_factory=dict)
    ways: dict[Bit, list[tuple[Bit, float]]] = field(default_factory=lambda: defaultdict(list))
    ends: dict[Bit, float] = field(default_factory=dict)
    inside: float = 0.0  # the longest path within a cell

    def start(self, bits: Iterable[int | str], delay: float) -> None:
        for bit in bits:
            if isinstance(bit, int):
                self.starts[bit] = max(delay, self.starts.get(bit, 0.0))

    def end(self, bits: Iterable[int | str], delay: float) -> None:
        for bit in bits:
            if isinstance(bit, int):
                self.ends[bit] = max(delay, self.ends.get(bit, 0.0))

    def way(self, sources: Iterable[int | str], targets: Sequence[int | str], delay: float) -> None:
        for source in sources:
            if isinstance(source, int):
                self.ways[source] += [(target, delay) for target in targets if isinstance(target, int)]

    def longest(self) -> float:
        """The longest path in ns; InternalError if one comes back to where it began."""
        waiting: dict[Bit, int] = defaultdict(int)
        for ways in self.ways.values():
            for target, _ in ways:
                waiting[target] += 1
        arrival = dict(self.starts)
        ready = [bit for bit in {*self.starts, *self.ways, *self.ends} if not waiting[bit]]
        done = 0
        while ready:
            bit = ready.pop()
            done += 1
            for target, delay in self.ways.get(bit, ()):
                if bit in arrival:
                    arrival[target] = max(arrival.get(target, 0.0), arrival[bit] + delay)
                waiting[target] -= 1
                if not waiting[target]:
                    ready.append(target)
        if any(waiting.values()):
            raise InternalError("a netlist has a path of logic that comes back to where it began")
        paths = (arrival[bit] + delay for bit, delay in self.ends.items() if bit in arrival)
        return max(paths, default=0.0) if not self.inside else max(self.inside, *paths, 0.0)


def clock_of(netlist: Mapping[str, Any], top: str) -> float | None:
    """The clock in MHz that the module `top` of a netlist (JSON of Yosys) reaches; None if nothing takes any time.

    What comes in is as late as what a block RAM gives, and what goes out is taken as by a block RAM.
    """
    table, module = delays(), netlist["modules"][top]
    graph, fixed = TimingGraph(), _from_luts(module["cells"].values())
    for port in module["ports"].values():
        if port["direction"] == "input":
            graph.start(port["bits"], table["memory"]["block"])
        else:
            graph.end(port["bits"], table["memory"]["setup"] + table["net"])
    for cell in module["cells"].values():
        _add(graph, cell, fixed)
    period = graph.longest()
    return min(1000 / period, float(table["highest"])) if period else None


def _from_luts(cells: Iterable[Mapping[str, Any]]) -> frozenset[int | str]:
    """Bits that look-up tables and multiplexers behind them give."""
    return frozenset(
        bit for cell in cells if cell["type"].startswith(("LUT", "MUXF", "INV")) for bit in cell["connections"]["O"]
    )


def _add(graph: TimingGraph, cell: Mapping[str, Any], fixed: frozenset[int | str]) -> None:
    table, kind = delays(), str(cell["type"])
    net = table["net"]
    ways = cell["port_directions"]
    inputs = {pin: bits for pin, bits in cell["connections"].items() if ways[pin] == "input" and pin not in _CLOCKS}
    outputs = {pin: bits for pin, bits in cell["connections"].items() if ways[pin] == "output"}
    given = [bit for bits in outputs.values() for bit in bits]
    if kind in _THROUGH:
        graph.way(_bits(inputs), given, 0.0)
    elif kind.startswith("MUXF"):
        for pin, bits in inputs.items():
            is_fixed = pin != "S" and set(bits) <= fixed
            graph.way(bits, given, table["logic"]["MUXF"] + (0.0 if is_fixed else net))
    elif kind.startswith(("LUT", "INV")):
        graph.way(_bits(inputs), given, table["logic"]["INV" if kind == "INV" else "LUT"] + net)
    elif kind.startswith("CARRY"):
        _add_carry(graph, inputs, outputs, fixed)
    elif kind.startswith("FD"):
        graph.start(given, table["register"]["out"])
        graph.end(_bits(inputs), table["register"]["setup"] + net)
    elif kind.startswith("SRL"):
        graph.start(given, table["memory"]["shift"])
        graph.end(_bits(inputs), table["register"]["setup"] + net)
        graph.way(_bits({p: b for p, b in inputs.items() if p[0] == "A"}), given, table["logic"]["LUT"] + net)
    elif kind.startswith(("RAMB", "URAM")):
        _add_block(graph, cell, inputs, given)
    elif kind.startswith("RAM"):
        graph.start(given, table["register"]["out"])
        graph.end(_bits(inputs), table["memory"]["setup"] + net)
        for pin, bits in outputs.items():  # what is written in this cycle is not read in it
            addresses = {"SPO": "A", "O": "A", "DPO": "DPRA"}.get(pin, f"ADDR{pin[-1]}")
            read = {name: ports for name, ports in inputs.items() if name.rstrip("0123456789") == addresses}
            graph.way(_bits(read), bits, table["memory"]["distributed"] + net)
    elif kind.startswith("DSP"):
        _add_product(graph, cell, inputs, outputs)
    else:
        raise InternalError(f"nobody says how long a {kind} takes")


def _bits(pins: Pins) -> list[int | str]:
    return [bit for bits in pins.values() for bit in bits]


def _add_carry(graph: TimingGraph, inputs: Pins, outputs: Pins, fixed: frozenset[int | str]) -> None:
    table = delays()
    carry, net, look_up = table["carry"], table["net"], table["logic"]["LUT"]
    sums, carries = outputs.get("O", ()), outputs.get("CO", ())
    for pin, bits in inputs.items():
        for number, bit in enumerate(bits):
            if pin == "CI":
                before, on = 0.0, carry["along"]
            else:  # what comes from elsewhere goes through the LUT beside the carry
                before = 0.0 if bit in fixed else net + (look_up if pin == "S" else 0.0)
                on = carry["enter"]
            first = number if pin in ("S", "DI") else 0  # none below changes
            graph.way((bit,), carries[first:], before + on)
            graph.way((bit,), sums[first + (pin == "DI") :], before + carry["leave"])


def _add_block(graph: TimingGraph, cell: Mapping[str, Any], inputs: Pins, given: Sequence[int | str]) -> None:
    memory, parameters = delays()["memory"], cell["parameters"]
    registered = all(_number(parameters.get(name, "0")) for name in ("DOA_REG", "DOB_REG"))
    graph.start(given, memory["block_register" if registered else "block"])
    graph.end(_bits(inputs), memory["setup"] + delays()["net"])


def _add_product(graph: TimingGraph, cell: Mapping[str, Any], inputs: Pins, outputs: Pins) -> None:
    """A DSP: operands, with a register or without, a product, with or without, a sum, with or without."""
    dsp, net, parameters = delays()["dsp"], delays()["net"], cell["parameters"]

    def has(register: str) -> bool:
        return _number(parameters.get(register, "0")) > 0

    given = _bits(outputs)
    behind_product, behind_sum = has("MREG"), has("PREG")
    if behind_sum:
        graph.start(given, dsp["out"])
    for pin, bits in inputs.items():
        if not set(bits) - {"0", "1", "x", "z"}:
            continue
        wire = 0.0 if pin in _CASCADE else net
        multiplied = pin in ("A", "B", "D", "ACIN", "BCIN")
        own = has({"A": "AREG", "ACIN": "AREG", "B": "BREG", "BCIN": "BREG", "C": "CREG", "D": "DREG"}.get(pin, ""))
        if pin not in ("A", "B", "C", "D", "PCIN", "ACIN", "BCIN", "CARRYIN") or own:
            graph.end(bits, wire + dsp["setup"])
        stages = [(dsp["product"], behind_product)] if multiplied else []
        _through(graph, [*stages, (dsp["sum"], behind_sum)], None if own else (bits, wire), given)


def _through(
    graph: TimingGraph, stages: Sequence[tuple[float, bool]], source: tuple[Sequence[int | str], float] | None,
    given: Sequence[int | str],
) -> None:  # fmt: skip
    """Stages of logic, each with a register behind it or without, from pins or (None) from a register."""
    register = delays()["register"]
    so_far = register["out"] if source is None else source[1]
    for delay, registered in stages:
        so_far += delay
        if registered:
            if source is None:
                graph.inside = max(graph.inside, so_far + register["setup"])
            else:
                graph.end(source[0], so_far + register["setup"])
            source, so_far = None, register["out"]
    if source is not None:
        graph.way(source[0], given, so_far)
    elif not stages[-1][1]:
        graph.start(given, so_far)


def _number(text: str | int) -> int:
    return text if isinstance(text, int) else int(text.replace("x", "0") or "0", 2)
