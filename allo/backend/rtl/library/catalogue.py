"""Table of the library's modules."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ....errors import InternalError
from .described import LibraryModule, Width, address_width
from .interfaces import INTERFACES

_SINGLE = {"EXP": 8, "MAN": 23}


def _one(_: Mapping[str, int]) -> int:
    return 1


def _of(name: str, count: str | None = None) -> Width:
    return lambda p: p[name] * (1 if count is None else p[count])


def _address(count: str | None = None) -> Width:
    return lambda p: address_width(p["DEPTH"]) * (1 if count is None else p[count])


def _float(p: Mapping[str, int]) -> int:
    return 1 + p["EXP"] + p["MAN"]


def _elements(p: Mapping[str, int]) -> int:
    return p["DEPTH"].bit_length()


_CLOCK = (("clk", _one), ("en", _one))
_BEHIND = ("allo_pipe",)
_PORT = (("en", _one), ("we", _one), ("addr", _address()), ("d", _of("W")))
_STYLE = {"STYLE": "auto"}
_CONTENTS: dict[str, int | str] = {"FILL": 0, "INIT": "'0"}
_DATA = {"W": 32, "DEPTH": 64}


def _unit(
    name: str, latency: int, *operands: str, needs: tuple[str, ...] = _BEHIND, fast: bool = False, **more: int
) -> LibraryModule:
    """A unit whose operands and result are floats of one format."""
    inputs = (*_CLOCK, *((operand, _float) for operand in operands))
    defaults = {**_SINGLE, "LAT": latency, **more}
    return LibraryModule(name, defaults, inputs, (("y", _float),), "LAT", needs, has_fast_model=fast)


_ROUNDED = ("allo_pipe", "allo_fopen", "allo_fround")

_STORAGE = (
    LibraryModule("allo_pipe", {"W": 32, "N": 1}, (*_CLOCK, ("d", _of("W"))), (("q", _of("W")),), "N", has_grid=True),
    LibraryModule(
        "allo_fifo", {"W": 32, "DEPTH": 2},
        (("clk", _one), ("rst", _one), ("put", _one), ("put_data", _of("W")), ("get", _one)),
        (
            ("full", _one), ("get_data", _of("W")), ("empty", _one), ("count", _elements), ("most", _elements),
        ),
        memory="mem", has_grid=True,
    ),
    LibraryModule(
        "allo_settle", {"W": 32, "LAT": 1, "DEPTH": 1},
        (("clk", _one), ("rst", _one), ("issued", _one), ("d", _of("W")), ("take", _one)),
        (("y", _of("W")),), needs=("allo_fifo",), has_grid=True,
    ),
    LibraryModule(
        "allo_ram_1rw", {**_DATA, "READ_LATENCY": 1, **_STYLE, **_CONTENTS}, (("clk", _one), *_PORT),
        (("q", _of("W")),), "READ_LATENCY", _BEHIND, "mem", has_grid=True,
    ),
    LibraryModule(
        "allo_ram_sdp", {**_DATA, "READ_LATENCY": 1, **_STYLE, **_CONTENTS},
        (
            ("clk", _one), ("we", _one), ("waddr", _address()), ("wdata", _of("W")),
            ("ren", _one), ("raddr", _address()),
        ),
        (("rdata", _of("W")),), "READ_LATENCY", _BEHIND, "mem",
    ),
    LibraryModule(
        "allo_ram_tdp", {**_DATA, "READ_LATENCY": 1, **_STYLE, **_CONTENTS},
        (("clk", _one), *((f"{side}_{name}", width) for side in "ab" for name, width in _PORT)),
        (("a_q", _of("W")), ("b_q", _of("W"))), "READ_LATENCY", _BEHIND, "mem", has_grid=True,
    ),
    LibraryModule(
        "allo_lutram", {**_DATA, "READS": 1, "READ_LATENCY": 0, "STYLE": "distributed", **_CONTENTS},
        (
            ("clk", _one), ("we", _one), ("waddr", _address()), ("wdata", _of("W")),
            ("ren", _one), ("raddr", _address("READS")),
        ),
        (("rdata", _of("W", "READS")),), "READ_LATENCY", _BEHIND, "mem", has_grid=True,
    ),
    LibraryModule(
        "allo_regs", {"W": 32, "DEPTH": 4, "WRITES": 1, "READS": 1, "READ_LATENCY": 0, **_CONTENTS},
        (
            ("clk", _one), ("we", _of("WRITES")), ("waddr", _address("WRITES")), ("wdata", _of("W", "WRITES")),
            ("ren", _one), ("raddr", _address("READS")),
        ),
        (("rdata", _of("W", "READS")),), "READ_LATENCY", _BEHIND, "mem", has_grid=True,
    ),
    LibraryModule(
        "allo_rom", {**_DATA, "READS": 1, "READ_LATENCY": 1, "FILE": "", **_STYLE},
        (("clk", _one), ("ren", _one), ("raddr", _address("READS"))),
        (("rdata", _of("W", "READS")),), "READ_LATENCY", _BEHIND, "mem",
    ),
)  # fmt: skip

_HOST = LibraryModule(
    "allo_spi", {"N": 8, "W": 4},
    (
        ("clk", _one), ("sck", _one), ("select_n", _one), ("mosi", _one), ("answered", _one), ("answer", _of("W")),
    ),
    (("miso", _one), ("access", _one), ("word", _of("N"))),
)  # fmt: skip

_OBSERVERS = (
    LibraryModule(
        "allo_monitor", {"W": 64}, (*_CLOCK, ("begins", _one), ("steps", _one), ("ends", _one)), (), memory="seen",
        has_grid=True,
    ),
)

_INTEGERS = (
    LibraryModule(
        "allo_mul", {"WA": 32, "WB": 32, "WO": 32, "SIGNED": 1, "LAT": 3},
        (*_CLOCK, ("a", _of("WA")), ("b", _of("WB"))), (("y", _of("WO")),), "LAT", _BEHIND, has_grid=True,
    ),
    LibraryModule(
        "allo_divmod", {"W": 32, "SIGNED": 1, "ROUND": 0, "LAT": 32},
        (*_CLOCK, ("a", _of("W")), ("b", _of("W"))), (("quotient", _of("W")), ("remainder", _of("W"))),
        "LAT", _BEHIND, has_fast_model=True,
    ),
    LibraryModule(
        "allo_shift", {"W": 32, "WB": 32, "KIND": 0, "AMOUNT_SIGNED": 0, "LAT": 0},
        (*_CLOCK, ("a", _of("W")), ("b", _of("WB"))), (("y", _of("W")),), "LAT", _BEHIND,
    ),
)  # fmt: skip

_FLOATS = (
    _unit("allo_fadd", 7, "a", "b", needs=_ROUNDED, fast=True, SUB=0, FLUSH=0),
    _unit("allo_fsub", 7, "a", "b", needs=("allo_fadd",), FLUSH=0),
    _unit("allo_fmul", 4, "a", "b", needs=_ROUNDED, fast=True, FLUSH=0),
    _unit("allo_fdiv", 14, "a", "b", needs=(*_ROUNDED, "allo_fnormal", "allo_digits"), fast=True, FLUSH=0),
    _unit("allo_fsqrt", 14, "a", needs=(*_ROUNDED, "allo_fnormal", "allo_root"), fast=True, FLUSH=0),
    LibraryModule(
        "allo_fcmp", {**_SINGLE, "PRED": 1, "LAT": 1}, (*_CLOCK, ("a", _float), ("b", _float)),
        (("y", _one),), "LAT", _BEHIND,
    ),
    _unit("allo_fextreme", 1, "a", "b", LESS=0, NUMBER=0),
    _unit("allo_fmax", 1, "a", "b", needs=("allo_fextreme",), NUMBER=0),
    _unit("allo_fmin", 1, "a", "b", needs=("allo_fextreme",), NUMBER=0),
    _unit("allo_fneg", 0, "a"),
    _unit("allo_fabs", 0, "a"),
    _unit("allo_ffloor", 3, "a"),
    LibraryModule(
        "allo_fconv", {"EXP_A": 8, "MAN_A": 23, "EXP_Y": 5, "MAN_Y": 10, "LAT": 2, "FLUSH": 0},
        (*_CLOCK, ("a", lambda p: 1 + p["EXP_A"] + p["MAN_A"])), (("y", lambda p: 1 + p["EXP_Y"] + p["MAN_Y"]),),
        "LAT", _ROUNDED,
    ),
    LibraryModule(
        "allo_itof", {"W": 32, "SIGNED": 1, **_SINGLE, "LAT": 3}, (*_CLOCK, ("a", _of("W"))),
        (("y", _float),), "LAT", ("allo_pipe", "allo_fround"),
    ),
    LibraryModule(
        "allo_ftoi", {**_SINGLE, "W": 32, "SIGNED": 1, "LAT": 2}, (*_CLOCK, ("a", _float)),
        (("y", _of("W")),), "LAT", ("allo_pipe", "allo_fopen"),
    ),
)  # fmt: skip

# Modules that only modules of the library instantiate, and what they need themselves.
PARTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "allo_fopen": (), "allo_fnormal": (), "allo_fround": _BEHIND, "allo_digits": _BEHIND, "allo_root": _BEHIND,
        "allo_axi_bursts": (),
    }
)  # fmt: skip
MODULES = MappingProxyType(
    {module.name: module for module in (*_STORAGE, _HOST, *_OBSERVERS, *_INTEGERS, *_FLOATS, *INTERFACES)}
)
UNITS = frozenset({"allo_divmod", *(module.name for module in _FLOATS)})
"""Those that are large, and the same wherever they stand."""


def library_module(name: str) -> LibraryModule:
    """The module of this name."""
    try:
        return MODULES[name]
    except KeyError:
        raise InternalError(f"the library of SystemVerilog has no module '{name}'") from None
