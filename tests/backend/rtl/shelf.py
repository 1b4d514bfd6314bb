"""Many designs in one simulation, which is compiled once: of the time that a small design takes, most is the same for
all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from allo.backend.rtl import RTLModule
from allo.backend.rtl.left import FifoCounters
from allo.backend.rtl.library import MODULES, library_files
from allo.backend.rtl.loops import LoopMonitors
from allo.backend.rtl.netlist.design import Direction, HardwareModule
from allo.backend.rtl.netlist.printer import printed
from allo.backend.rtl.simulate import SimulatedRun, Simulation

TOP = "shelf"


class Shelved:
    """A design of a shelf, in the place of a simulation of its own."""

    def __init__(self, shelf: Simulation, place: int) -> None:
        self.shelf = shelf
        self.place = place

    def view(self, name: str) -> Any:
        return self.shelf.view(f"u{self.place}.{name}")

    def read(self, name: str) -> Any:
        return self.shelf.read(f"u{self.place}.{name}")

    def number(self, name: str) -> int:
        return self.shelf.number(f"u{self.place}.{name}")

    def element(self, name: str) -> tuple[Any, int]:
        return self.shelf.element(f"u{self.place}.{name}")

    def load(self, name: str, words: Any) -> None:
        self.shelf.load(f"u{self.place}.{name}", words)

    def run(self, limit: int | None = None, moved: Callable[[], int] | None = None) -> SimulatedRun:
        self.shelf.load("picked", [self.place])
        return self.shelf.run(limit, moved)

    def reset(self) -> None:
        self.shelf.reset()


def shelve(designs: Sequence[RTLModule], random_state: int = 1) -> None:
    """Let designs run in one simulation."""
    modules: list[list[HardwareModule]] = [list(_renamed(made, f"k{n}_")) for n, made in enumerate(designs)]
    used = {one.module for part in modules for module in part for one in module.instances if one.module in MODULES}
    files = library_files(sorted(used), fast=True)
    files |= {f"k{n}.sv": printed(part) for n, part in enumerate(modules)}
    files[f"{TOP}.sv"] = _top(modules)
    seen = [(name, MODULES[name].memory or "mem") for name in sorted(used) if MODULES[name].memory]
    seen += [("allo_fifo", name) for name in ("all_puts", "all_gets") if "allo_fifo" in used]
    for part, made in zip(modules, designs, strict=True):
        seen += [(part[-1].name, name) for name in made.design.results if isinstance(name, str)]
    shelf = Simulation(files, TOP, visible=[*seen, (TOP, "picked")], random_state=random_state)
    for number, made in enumerate(designs):
        model: Any = Shelved(shelf, number)
        made._model, made._monitors = model, LoopMonitors(model, made.design.loops)
        made._counters = FifoCounters(model, made.design.waits)
        made.reset()


def _renamed(made: RTLModule, prefix: str) -> Iterator[HardwareModule]:
    for module in made.design.modules:
        instances = [
            one if one.module in MODULES else one._replace(module=prefix + one.module) for one in module.instances
        ]
        yield replace(module, name=prefix + module.name, instances=instances)


def _top(modules: Sequence[Sequence[HardwareModule]]) -> str:
    count = len(modules)
    lines = [
        f"module {TOP}(input logic clk, input logic rst, input logic start, output logic done, output logic stuck);",
        "  logic [15:0] picked; // by the host",
        f"  logic [{count - 1}:0] ended, waits;",
    ]
    for number, part in enumerate(modules):
        given = {"clk": "clk", "rst": "rst", "start": f"start && picked == 16'd{number}"}
        given |= {"done": f"ended[{number}]", "stuck": f"waits[{number}]"}
        outputs = [port.signal.name for port in part[-1].ports if port.direction is Direction.OUTPUT]
        given |= {name: "" for name in outputs if name not in given}
        ports = ", ".join(f".{name}({text})" for name, text in given.items())
        lines.append(f"  {part[-1].name} u{number} ({ports});")
    return "\n".join([*lines, "  assign done = |ended;", "  assign stuck = |waits;", "endmodule", ""])
