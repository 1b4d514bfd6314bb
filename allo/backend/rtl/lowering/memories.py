"""Memories of the library for the banks of an array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..netlist.builder import ModuleBuilder
from ..netlist.design import Signal
from .arrays import BankedArray

_STYLES = {"BRAM": "block", "LUTRAM": "distributed", "URAM": "ultra"}


def place_memory(
    builder: ModuleBuilder,
    name: str,
    array: BankedArray,
    drivers: Mapping[int, tuple[Signal, ...]],
    words: Mapping[int, Signal],
    writing: set[int],
    enable: str = "en",
    contents: Sequence[int] | None = None,
) -> str:
    """A memory for one bank, by port: what drives it and what it reads; the name of the instance.

    It stands still while it is not enabled; `contents` are the bits of its words at first.
    """
    memory = array.memory
    parameters: dict[str, int | str] = {"W": memory.width, "DEPTH": array.depth, "READ_LATENCY": memory.read}
    parameters |= _filled(memory.width, contents)
    count = max(drivers) + 1
    if memory.read and count <= 2:
        parameters["STYLE"] = f'"{_STYLES.get(memory.kind.name, "auto")}"'
        sides = ("",) if count == 1 else ("a_", "b_")
        sockets = {"clk": "clk"}
        for port, side in enumerate(sides):
            sockets |= _side(side, drivers.get(port), words.get(port), builder, memory.width, enable)
        return builder.instance("allo_ram_1rw" if count == 1 else "allo_ram_tdp", f"{name}_memory", parameters, sockets)
    ports = sorted(drivers)
    outputs = builder.signal(f"{name}_words", memory.width * len(ports))
    for place, port in enumerate(ports):
        part = "" if outputs.width == 1 else f"[{place * memory.width} +: {memory.width}]"
        builder.drive(words[port], f"{outputs.name}{part}")
    sockets = {"clk": "clk", "ren": enable, "raddr": _joined([drivers[port][2].name for port in ports])}
    writers = sorted(writing)
    if len(writers) <= 1:
        write, data = (drivers[writers[0]][n].name for n in (1, 3)) if writers else ("1'b0", f"{memory.width}'d0")
        address = drivers[writers[0]][2].name if writers else f"{array.address_bits}'d0"
        sockets |= {"we": f"{write} && {enable}", "waddr": address, "wdata": data, "rdata": outputs.name}
        return builder.instance("allo_lutram", f"{name}_memory", {**parameters, "READS": len(ports)}, sockets)
    sockets |= {
        "we": _joined([f"{drivers[port][1].name} && {enable}" for port in writers]),
        "waddr": _joined([drivers[port][2].name for port in writers]),
        "wdata": _joined([drivers[port][3].name for port in writers]), "rdata": outputs.name,
    }  # fmt: skip
    parameters |= {"WRITES": len(writers), "READS": len(ports)}
    return builder.instance("allo_regs", f"{name}_memory", parameters, sockets)


def place_cell(
    builder: ModuleBuilder, name: str, width: int, value: str, write: str, data: str,
    contents: Sequence[int] | None = None,
) -> str:  # fmt: skip
    """A register that the simulation can look into, as a memory of one word; the name of the instance."""
    parameters: dict[str, int | str] = {"W": width, "DEPTH": 1, "WRITES": 1, "READS": 1, "READ_LATENCY": 0}
    parameters |= _filled(width, contents)
    sockets = {"clk": "clk", "we": write, "waddr": "1'b0", "wdata": data}
    sockets |= {"ren": "1'b1", "raddr": "1'b0", "rdata": value}
    return builder.instance("allo_regs", f"{name}_memory", parameters, sockets)


def _filled(width: int, contents: Sequence[int] | None) -> dict[str, int | str]:
    """The parameters that say what words hold at first."""
    if contents is None:
        return {}
    words = [f"{width}'h{bits & ((1 << width) - 1):x}" for bits in contents]
    if len(set(words)) == 1:
        return {"FILL": 1, "INIT": words[0]}
    return {"FILL": 2, "INIT": _joined(words)}


def _side(
    side: str,
    drivers: tuple[Signal, ...] | None,
    word: Signal | None,
    builder: ModuleBuilder,
    width: int,
    enable: str,
) -> dict[str, str]:
    if drivers is None or word is None:
        unused = builder.signal("unused", width)
        nothing = {"en": "1'b0", "we": "1'b0", "addr": "'0", "d": "'0", "q": unused.name}
        return {f"{side}{name}": text for name, text in nothing.items()}
    used, write, address, data = (signal.name for signal in drivers)
    return {
        f"{side}en": enable, f"{side}we": f"{used} && {write}", f"{side}addr": address, f"{side}d": data,
        f"{side}q": word.name,
    }  # fmt: skip


def _joined(parts: list[str]) -> str:
    """Parts of a vector, the first one in its low bits."""
    return parts[0] if len(parts) == 1 else "{" + ", ".join(reversed(parts)) + "}"
