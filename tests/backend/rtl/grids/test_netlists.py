"""Structural hardware with grids: arrays in the place of modules, at random connections and in chains."""

from __future__ import annotations

import numpy as np
import pytest

from allo.backend.rtl.grids import grid_design
from allo.backend.rtl.grids.alike import alike
from allo.backend.rtl.grids.expressions import Chain, chain_of, expression
from allo.backend.rtl.library import grid_files, library_files
from allo.backend.rtl.netlist.builder import ModuleBuilder
from allo.backend.rtl.netlist.design import Direction, HardwareModule, Signal
from allo.backend.rtl.netlist.printer import printed
from allo.backend.rtl.simulate import Simulation

CYCLES = 20


def element(name: str, argument: str, *, kept: bool, by: int = 3) -> HardwareModule:
    """`y = by x + 1` at once, or the sum of such since the start, and the sum of all odd `x`."""
    made = ModuleBuilder(name)
    for port in ("clk", "rst", "en"):
        made.port(port, 1, Direction.INPUT)
    x, y = made.port(argument, 16, Direction.INPUT), made.port("y", 16, Direction.OUTPUT)
    total = made.signal("total", 16)
    last = made.signal("p", 16)
    made.register(total, f"{total.name} + {x.name}", enable=f"en && {x.name}[0]", reset=5)
    made.register(last, f"{last.name} + {by} * {x.name} + 1", reset=1)
    made.drive(y, f"{last.name}" if kept else f"{by} * {x.name} + 1")
    return made.module


def controlled(modules: list[HardwareModule]) -> tuple[ModuleBuilder, Signal]:
    """A module on top that runs for some cycles, and the number of the cycle."""
    top = ModuleBuilder("top")
    for port in ("clk", "rst", "start"):
        top.port(port, 1, Direction.INPUT)
    now = top.signal("now", 16)
    top.register(now, f"(start || {now.name} != 0) ? {now.name} + 1 : 0", reset=0)
    for port, text in (("done", f"{now.name} == {CYCLES}"), ("stuck", "1'b0")):
        top.drive(top.port(port, 1, Direction.OUTPUT), text)
    modules.append(top.module)
    return top, now


def halves(inside: HardwareModule, words: int) -> HardwareModule:
    """Elements that all get half of a number with a sign, divided by powers of two."""
    made = ModuleBuilder("halves")
    for port in ("clk", "rst"):
        made.port(port, 1, Direction.INPUT)
    x = made.port("x", 16, Direction.INPUT, signed=True)
    for number in range(words):
        half = made.wire("half", 16, f"{x.name} >>> {number}", signed=True)
        ports = {"clk": "clk", "rst": "rst", "en": "1'b1", "x": half.name, "y": made.signal("y", 16).name}
        made.instance(inside.name, f"half_{number}_call", {}, ports)
    return made.module


def random_netlist(seed: int) -> tuple[list[HardwareModule], list[str]]:
    """Elements of two kinds and FIFOs, at random connections; and paths of what they keep."""
    draw = np.random.default_rng(seed)
    modules = [element("one", "x", kept=True), element("two", "x", kept=False), element("like_one", "z", kept=True)]
    modules += [element("behind", "x", kept=False, by=5), element("half", "x", kept=False, by=7)]
    modules += [halves(modules[-1], 8)]
    top, now = controlled(modules)
    count = int(draw.integers(9, 30))
    outputs = [top.signal(f"out_{n}", 16) for n in range(count)]
    stored = [top.signal(f"stored_{n}_word", 16) for n in range(count)]
    empties = [top.signal(f"empty_{n}", 1) for n in range(count)]
    words = [top.wire(f"word_{n}", 16, f"{empties[n].name} ? 16'd0 : {stored[n].name}") for n in range(count)]
    paths = []
    for number, output in enumerate(outputs):
        kind = modules[draw.choice([0, 0, 2, 1])].name
        source = draw.choice([words[draw.integers(count)].name, now.name, f"{now.name} ^ {words[0].name}"])
        enable = f"{now.name}[{draw.integers(2)}]"
        ports = {"clk": "clk", "rst": "rst", "en": enable, "z" if kind == "like_one" else "x": source, "y": output.name}
        paths.append(top.instance(kind, f"{kind}_{number}_call", {}, ports) + ".total")
    for number in draw.permutation(count):
        word, full, empty = stored[number], top.signal(f"full_{number}", 1), empties[number]
        ports = {
            "clk": "clk", "rst": "rst", "put": f"!{full.name} && {now.name}[0]", "put_data": outputs[number].name,
            "get": f"!{empty.name} && {now.name} > 3", "full": full.name, "empty": empty.name, "get_data": word.name,
        }  # fmt: skip
        name = top.instance("allo_fifo", f"stored_{number}_fifo", {"W": 16, "DEPTH": 2}, ports)
        paths += [f"{name}.all_puts", f"{name}.all_gets"]
    for number in draw.permutation(count):
        enable, source = f"!{empties[number].name}", stored[number].name
        ports = {"clk": "clk", "rst": "rst", "en": enable, "x": source, "y": top.signal("seen", 16).name}
        paths.append(top.instance("behind", f"behind_{number}_call", {}, ports) + ".total")
    low = top.wire("low", 16, f"{now.name} - 10")  # the port that it is connected to has a sign
    name = top.instance("halves", "halves_call", {}, {"clk": "clk", "rst": "rst", "x": low.name})
    paths += [f"{name}.half_{number}_call.total" for number in range(8)]
    total = top.signal("every", 1)
    top.drive(total, " || ".join(f"({word.name} == 16'd{n})" for n, word in enumerate(words)))
    return modules, [*paths, total.name]


def final_state(modules: list[HardwareModule], paths: list[str], *, grids: bool) -> list[int]:
    """What is at some paths after a run."""
    visible = [("one", "total"), ("like_one", "total"), ("two", "total"), ("top", "every")]
    visible += [("behind", "total"), ("half", "total")]
    visible += [("allo_fifo", "all_puts"), ("allo_fifo", "all_gets")]
    made = grid_design(modules, visible) if grids else None
    if made is None:
        assert not grids
        files = {**library_files(["allo_fifo"]), "top.sv": printed(modules)}
        model = Simulation(files, "top", visible=visible, random_state=1)
    else:
        shown = [one for pair in visible for one in made.shown(*pair)]
        files = {**library_files(made.library), **grid_files(made.grids), "top.sv": made.text}
        model = Simulation(files, "top", visible=shown, random_state=2, places=made.places.place)
    assert model.run().cycles == CYCLES
    return [model.number(path) for path in paths]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(1, 12))])
def test_random_connections(seed: int) -> None:
    modules, paths = random_netlist(seed)
    assert final_state(modules, paths, grids=True) == final_state(modules, paths, grids=False)


def chained(kept: bool) -> list[HardwareModule]:
    """Twelve elements, of which each gets what the one before it gives."""
    modules = [element("one", "x", kept=kept)]
    top, now = controlled(modules)
    outputs = [now, *(top.signal(f"out_{n}", 16) for n in range(12))]
    for number in range(12):
        ports = {"clk": "clk", "rst": "rst", "en": "1'b1", "x": outputs[number].name, "y": outputs[number + 1].name}
        top.instance("one", "one_call", {}, ports)
    return modules


def test_elements_that_follow_from_each_other_at_once_stay_modules() -> None:
    found = {kept: grid_design(chained(kept)) for kept in (True, False)}
    texts = {kept: made.text for kept, made in found.items() if made is not None}
    assert "module one" not in texts[True] and "[0:15]" in texts[True]
    assert texts[False].count("  one one_call") == 12 and "[0:" not in texts[False]


def test_a_design_without_a_grid_has_no_other_form() -> None:
    modules = [element("one", "x", kept=True)]
    controlled(modules)
    assert grid_design(modules) is None


def test_modules_that_are_equal_but_for_names() -> None:
    modules = [element("one", "x", kept=True), element("other", "z", kept=False), element("same", "z", kept=True)]
    found = alike(modules)
    assert [found[module.name].module.name for module in modules] == ["one", "other", "one"]
    assert found["same"].names["z"] == "x"


def test_modules_are_not_equal_if_ports_within_are_connected_otherwise() -> None:
    modules = [element("one", "x", kept=True)]
    for name, (en, rst) in {"first": ("a", "b"), "other": ("b", "a"), "again": ("a", "b")}.items():
        made = ModuleBuilder(name)
        a, b = (made.port(port, 1, Direction.INPUT) for port in "ab")
        ports = {"en": {"a": a, "b": b}[en].name, "rst": {"a": a, "b": b}[rst].name}
        made.instance("one", "one_call", {}, dict(sorted(ports.items(), key=lambda own: own[1])))
        modules.append(made.module)
    found = alike(modules)
    assert [found[module.name].module.name for module in modules] == ["one", "first", "other", "first"]


def test_chains_of_conditions() -> None:
    made = chain_of("a && (b || c) && !d[3]", 3)
    assert made == Chain("&&", (expression("a"), expression("(b || c)"), expression("!d[3]")))
    assert chain_of("a && b || c", 3) is None and chain_of("a && b && c ? d : e", 3) is None
    assert chain_of("(a && b && c) ? d : e ? f : g", 3) is None
    assert expression("16'($signed(k)) + 8'hff").names == ("k",)
