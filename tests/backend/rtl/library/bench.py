"""Bench of library units: all of them in one simulation, each fed a vector a cycle, with stalls in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from allo.backend.rtl.library import library_files, library_module
from allo.backend.rtl.simulate import Simulation

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Unit:
    """An instance: its operands are words of the vectors called `vectors`."""

    name: str
    module: str
    vectors: str
    parameters: Mapping[str, int] = field(default_factory=dict)
    output: str = "y"


def bench_text(units: Sequence[Unit], vectors: Sequence[str], count: int) -> str:
    """A module that reads all vectors and stores all results; `latest` is when the slowest unit has answered."""
    latest = max(library_module(unit.module).latency(unit.parameters) for unit in units)
    lines = [
        "module bench(input logic clk, input logic rst, input logic start, output logic done, output logic stuck);",
        "  logic [31:0] i, random;",
        "  wire en = random[0] | random[3]; // stalls",
        "  assign stuck = 0;",
    ]
    for name in vectors:
        lines += [f"  logic [63:0] {name}_{side} [0:{count - 1}];" for side in "ab"]
        lines += [
            f"  wire [63:0] {name}_{side}_now = i < {count} ? {name}_{side}[i] : '0;" for side in "ab"
        ]
    stores = []
    for unit in units:
        module = library_module(unit.module)
        ports = {port.name: port for port in module.ports(unit.parameters)}
        width, latency = ports[unit.output].width, module.latency(unit.parameters)
        values = ", ".join(f".{name}({value})" for name, value in unit.parameters.items())
        operands = "".join(
            f", .{side}({unit.vectors}_{side}_now[{ports[side].width - 1}:0])"
            for side in "ab"
            if side in ports
        )
        lines += [
            f"  logic [63:0] {unit.name}_y [0:{count - 1}];",
            f"  logic [{width - 1}:0] {unit.name};",
            f"  {unit.module} #({values}) u_{unit.name} (.clk, .en{operands}, .{unit.output}({unit.name}));",
        ]
        stores.append(
            f"    if (i >= {latency} && i - {latency} < {count}) {unit.name}_y[i - {latency}] <= 64'({unit.name});"
        )
    lines += [
        "  always_ff @(posedge clk) if (rst) begin i <= 0; done <= 0; random <= 1; end else begin",
        "    random <= {random[30:0], random[31] ^ random[21] ^ random[1] ^ random[0]};",
        "    if (en) i <= i + 1;",
        f"    if (en && i == {count + latest}) done <= 1;",
        "  end",
        "  always_ff @(posedge clk) if (en) begin",
        *stores,
        "  end",
        "endmodule",
    ]
    return "\n".join([*lines, ""])


def results(
    units: Sequence[Unit],
    vectors: Mapping[str, tuple[Words, Words]],
    *,
    fast: bool,
    files: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What each unit makes of its vectors; `files` take the place of those of the library."""
    count = len(next(iter(vectors.values()))[0])
    names = list(dict.fromkeys(unit.module for unit in units))
    texts = {
        **library_files(names, fast=fast),
        **(files or {}),
        "bench.sv": bench_text(units, tuple(vectors), count),
    }
    sides = [("bench", f"{name}_{side}") for name in vectors for side in "ab"]
    model = Simulation(
        texts, "bench", visible=[*sides, *(("bench", f"{unit.name}_y") for unit in units)], random_state=1
    )
    for name, (a, b) in vectors.items():
        model.load(f"{name}_a", a)
        model.load(f"{name}_b", b)
    assert model.run(100 * count + 10_000).finished
    return {unit.name: model.read(f"{unit.name}_y") for unit in units}
