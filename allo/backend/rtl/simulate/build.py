"""Machine code of a design: Verilator's C++ in one translation unit, kept by the hash of all that goes into it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from ....errors import ToolError
from ....messages import working
from ...external.compiler import Compiler, compiled_header, content_key, find_compiler, kept
from ..library import library_directory, simulation_sources
from .tool import Verilator, find_verilator

_KEPT = "rtl"  # the folder of the cache
_FLAGS = (
    "-std=c++14",  # headers of later standards cost a tenth of a second more, in each design
    "-O1", "-fPIC", "-fvisibility=hidden", "-w",
    "-pthread",  # all that a precompiled header is made with must be said again, or it is not taken
    "-fno-tree-dse", "-fno-tree-dominator-opts",  # a tenth of the time; Verilator leaves them little
    "-fno-gnu-unique",  # two models in one process share nothing
    "-ffp-contract=off",  # an addition and a multiplication are two units
    "-DVL_TIME_CONTEXT", "-DVERILATOR=1", "-DVL_PRINTF=allo_sim_print",
    "-DVL_USER_STOP", "-DVL_USER_FINISH", "-DVL_USER_FATAL",
)  # fmt: skip
# Loops stay loops; tables of Verilator 5.48 take copies of whole arrays for numbers.
_GRIDS = ("--unroll-count", "1", "-fno-table")
_SPLIT = ("--output-split-cfuncs", "1000")  # the parts of a long function are optimised in half of its time
_LONG = 200_000  # bytes of C++ that take two tenths of a second, unoptimised
_RUNTIME = ("verilated.cpp", "verilated_dpi.cpp", "verilated_threads.cpp")


class Waveform(Enum):
    """A format of waveforms: Verilator's name, its source file, its class."""

    VCD = ("--trace-vcd", "verilated_vcd_c", "VerilatedVcdC")
    FST = ("--trace-fst", "verilated_fst_c", "VerilatedFstC")

    @staticmethod
    def of(path: Path) -> Waveform:
        """The format that the name of a file asks for; ToolError for any other name, and where no file can be."""
        if not path.resolve().parent.is_dir():
            raise ToolError(f"a waveform cannot be written to '{path}'", hint="make its folder first")
        match path.suffix:
            case ".vcd":
                return Waveform.VCD
            case ".fst":
                return Waveform.FST
        raise ToolError(f"a waveform cannot be written to '{path}'", hint="name a file .vcd or .fst")


@dataclass(frozen=True, slots=True)
class Design:
    """SystemVerilog files by name, the module on top, and what of it can be seen: pairs of module and variable.

    `grids` keeps loops over arrays of elements as loops, which large grids need to compile. `bus`: it has AXI
    interfaces in place of `start`, `done` and `stuck`.
    """

    files: Mapping[str, str]
    top: str
    visible: tuple[tuple[str, str], ...] = ()
    waveform: Waveform | None = None
    grids: bool = False
    bus: bool = False

    def arguments(self) -> list[str]:
        """For Verilator."""
        tracing = [] if self.waveform is None else [self.waveform.value[0], "--trace-structs"]
        return [
            "--cc", "-O3", "--prefix", "Vsim", "--top-module", self.top, "--assert", "-DALLO_SIMULATION",
            "--x-assign", "unique", "--x-initial", "unique", "-Wno-fatal", "-Wno-lint", "-Wno-style",
            *(_GRIDS if self.grids else _SPLIT), *tracing,
        ]  # fmt: skip

    def seen(self) -> str:
        """Verilator's list of what can be seen, so that the SystemVerilog needs no pragmas."""
        lines = (f'public_flat_rw -module "{module}" -var "{name}"' for module, name in self.visible)
        return "\n".join(["`verilator_config", *lines, ""])


def model_library(design: Design) -> Path:
    """The shared library of a design: the one in the cache, or a new one; ToolError with what a tool says."""
    compiler, verilator = find_compiler(), find_verilator()
    flags = [*_FLAGS, *_tracing(design.waveform)]
    models = ("bus.h", "driver.cpp") if design.bus else ("driver.cpp",)
    sources = {**simulation_sources(design.files.values()), **{name: _text(name) for name in models}}
    more = [_text("bus.cpp")] if design.bus else []
    parts = [*flags, *_identity(verilator), *design.arguments(), design.seen(), *more]
    parts += [part for item in (*design.files.items(), *sources.items()) for part in item]

    def make(place: Path) -> None:
        with working(f"compiling the simulation of '{design.top}'"):
            _compiled(design, place, sources, flags, compiler, verilator)

    return kept(_KEPT, f"{content_key(compiler, parts)}.so", make)


def _compiled(
    design: Design,
    place: Path,
    sources: Mapping[str, str],
    flags: Sequence[str],
    compiler: Compiler,
    verilator: Verilator,
) -> None:
    folder = place.parent
    for name, text in {**design.files, **sources, "visible.vlt": design.seen()}.items():
        (folder / name).write_text(text)
    generated = folder / "generated"
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each waits for a process of its own
        tracing = () if design.waveform is None else (f"{design.waveform.value[1]}.cpp",)
        runtime = [pool.submit(_runtime, name, compiler, verilator) for name in (*_RUNTIME, *tracing)]
        runtime += [pool.submit(_models, compiler, verilator)] if design.bus else []
        header = pool.submit(
            compiled_header, compiler, _KEPT, _text("driver.h"), [*flags, *_includes(verilator)], _identity(verilator),
            "the run time of Verilator",
        )  # fmt: skip
        given = [str(folder / name) for name in ("visible.vlt", *design.files)]
        verilator.run([*design.arguments(), "--Mdir", str(generated), *given], f"the design '{design.top}'")
        objects, begin = [str(made.result()) for made in runtime], header.result()
    units = _units(sorted(generated.glob("Vsim*.cpp")), [folder / name for name in sources])
    arguments = [*flags, *_includes(verilator), f"-I{generated}", *begin]
    libraries = ["-llz4", "-lz"] if design.waveform is Waveform.FST else []

    def compiled(number: int) -> str:
        unit = folder / f"unit_{number}.cpp"
        unit.write_text(units[number])
        if len(units) == 1:
            return str(unit)
        made = str(unit.with_suffix(".o"))
        compiler.run([*arguments, str(unit), "-c", "-o", made], f"the simulation of '{design.top}'")
        return made

    with ThreadPoolExecutor(len(units)) as pool:
        given = list(pool.map(compiled, range(len(units))))
    compiler.run(
        [*arguments, *given, *objects, "-shared", *libraries, "-o", str(place)], f"the simulation of '{design.top}'"
    )


def _units(generated: Sequence[Path], sources: Sequence[Path]) -> list[str]:
    """One translation unit; what runs once, half of the text, is compiled last and as it is.

    Where that is long, and there are processors for both, it is a unit of its own: a declaration of all that the run
    time has takes a tenth of a second in each.
    """
    slow = [unit for unit in generated if unit.stem.endswith("Slow")]
    fast = [unit for unit in generated if unit not in slow]
    often = "".join(f'#include "{unit}"\n' for unit in (*fast, *sources))
    once = "".join(['#pragma GCC optimize ("O0")\n', *(f'#include "{unit}"\n' for unit in slow)])
    is_long = sum(unit.stat().st_size for unit in slow) >= _LONG and (os.cpu_count() or 1) > 1
    return [often, once] if is_long else [often + once]


def _runtime(name: str, compiler: Compiler, verilator: Verilator) -> Path:
    """The object of a file of Verilator's own: the one in the cache, or a new one."""
    flags = [*_FLAGS, *_includes(verilator), "-c", str(verilator.include / name)]
    declared = library_directory() / "simulation" / "driver.h"

    def make(place: Path) -> None:
        try:
            compiler.run([*flags, "-include", str(declared), "-o", str(place)], "the run time of Verilator")
        except ToolError as error:
            if "lz4.h" not in str(error) and "zlib.h" not in str(error):
                raise
            raise ToolError(
                "FST waveforms need the headers of lz4 and zlib, and they are not here",
                hint="name a file .vcd, or install them (Debian: apt-get install liblz4-dev zlib1g-dev)",
            ) from None

    key = content_key(compiler, [*flags, *_identity(verilator), _text("driver.h")])
    return kept(_KEPT, f"{key}.o", make)


def _models(compiler: Compiler, verilator: Verilator) -> Path:
    """The object of the models of a bus, which know no design: the one in the cache, or a new one."""
    source = library_directory() / "simulation" / "bus.cpp"
    flags = [*_FLAGS, *_includes(verilator), "-c", str(source)]

    def make(place: Path) -> None:
        declared = library_directory() / "simulation" / "driver.h"
        compiler.run([*flags, "-include", str(declared), "-o", str(place)], "the models of a bus")

    texts = [_text(name) for name in ("bus.cpp", "bus.h", "driver.h")]
    return kept(_KEPT, f"{content_key(compiler, [*flags, *_identity(verilator), *texts])}.o", make)


def _tracing(waveform: Waveform | None) -> list[str]:
    if waveform is None:
        return []
    _, file, name = waveform.value
    return [f'-DALLO_TRACE="{file}.h"', f"-DALLO_TRACER={name}"]


def _includes(verilator: Verilator) -> list[str]:
    return [f"-I{verilator.include}", f"-I{verilator.include / 'vltstd'}"]


def _identity(verilator: Verilator) -> list[str]:
    return [verilator.version, str(verilator.root)]


def _text(name: str) -> str:
    return (library_directory() / "simulation" / name).read_text()
