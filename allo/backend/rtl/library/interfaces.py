"""Table of the library's modules for AXI interfaces: registers, phases, readers and writers of memory."""

from __future__ import annotations

from collections.abc import Mapping

from .described import LibraryModule, Width

_MEMORY = {"W": 64, "A": 64, "OUTSTANDING": 4}


def _one(_: Mapping[str, int]) -> int:
    return 1


def _bits(count: int) -> Width:
    return lambda _: count


def _of(name: str, count: str | None = None, part: int = 1) -> Width:
    return lambda p: p[name] * (1 if count is None else p[count]) // part


def _registers(name: str) -> Width:
    return lambda p: p[name] * 32


def _register_address(p: Mapping[str, int]) -> int:
    return (15 + 4 * (p["WORDS"] + p["READS"])).bit_length()


def _ones(*names: str) -> tuple[tuple[str, Width], ...]:
    return tuple((name, _one) for name in names)


_REQUEST = (("from", _of("A")), ("beats", _bits(32)))

INTERFACES = (
    LibraryModule(
        "allo_digit",
        {
            "COUNT": 8, "FAST": 8, "FAST_BANK": 0, "FAST_ADDR": 1, "SLOW_BANK": 0, "SLOW_ADDR": 0, "BW": 1, "AW": 3,
        },
        _ones("clk", "rst", "step"), (("bank", _of("BW")), ("addr", _of("AW")), ("last", _one)),
    ),
    LibraryModule(
        "allo_turns", {"COUNT": 2}, _ones("clk", "rst", "begins", "next"), (("turn", _of("COUNT")),)
    ),
    LibraryModule(
        "allo_phases", {}, _ones("clk", "rst", "start", "loaded", "ran", "stored"),
        _ones("load", "run", "store", "done", "idle"), memory="seen",
    ),
    LibraryModule(
        "allo_axi_lite", {"WORDS": 1, "READS": 1},
        (
            *_ones("clk", "rst", "awvalid"), ("awaddr", _register_address), ("wvalid", _one), ("wdata", _bits(32)),
            ("wstrb", _bits(4)), *_ones("bready", "arvalid"), ("araddr", _register_address),
            *_ones("rready", "done", "idle", "failed", "stuck"), ("results", _registers("READS")),
        ),
        (
            *_ones("awready", "wready", "bvalid"), ("bresp", _bits(2)), *_ones("arready", "rvalid"),
            ("rdata", _bits(32)), ("rresp", _bits(2)), *_ones("start", "interrupt"), ("values", _registers("WORDS")),
        ),
    ),
    LibraryModule(
        "allo_axi_read", _MEMORY,
        (
            *_ones("clk", "rst", "req"), *_REQUEST, *_ones("arready", "rvalid"), ("rdata", _of("W")),
            ("rresp", _bits(2)), *_ones("rlast", "take"),
        ),
        (
            *_ones("req_ready", "arvalid"), ("araddr", _of("A")), ("arlen", _bits(8)), *_ones("rready", "valid"),
            ("data", _of("W")), ("failed", _one),
        ),
        needs=("allo_axi_bursts", "allo_fifo"),
    ),
    LibraryModule(
        "allo_axi_write", _MEMORY,
        (
            *_ones("clk", "rst", "req"), *_REQUEST, ("put", _one), ("data", _of("W")),
            ("strobes", _of("W", part=8)), *_ones("awready", "wready", "bvalid"), ("bresp", _bits(2)),
        ),
        (
            *_ones("req_ready", "full", "awvalid"), ("awaddr", _of("A")), ("awlen", _bits(8)), ("wvalid", _one),
            ("wdata", _of("W")), ("wstrb", _of("W", part=8)), *_ones("wlast", "bready", "idle", "failed"),
        ),
        needs=("allo_axi_bursts", "allo_fifo"),
    ),
    LibraryModule(
        "allo_load", {"W": 64, "E": 32, "B": 32, "LANES": 1},
        (*_ones("clk", "rst", "active", "valid"), ("data", _of("W")), ("last", _one)),
        (*_ones("take", "step"), ("group", _of("LANES", "B"))),
    ),
    LibraryModule(
        "allo_store", {"W": 64, "E": 32, "LANES": 1, "LAT": 1},
        (
            *_ones("clk", "rst", "active", "last"), ("group", _of("LANES", "E")), ("keep", _of("LANES")),
            ("full", _one),
        ),
        (*_ones("step", "en", "put"), ("data", _of("W")), ("strobes", _of("W", part=8)), ("ends", _one)),
    ),
)  # fmt: skip
