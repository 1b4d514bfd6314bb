"""Projects for TT-Metalium on disk, and their files run on this machine, in an emulation of its interface."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import TargetError, ToolError
from ...mapping.tiles.choices import TileMapping
from ...target.mesh_routes import MeshRoutes
from ..external.compiler import Compiler, compiled_header, find_compiler
from ..headers import templates_directory
from ..mesh.reading import ReadProgram
from .buffers import CoreBuffers
from .compute import HEADERS, ComputeText
from .host import HostText
from .lowering import LoweredProgram
from .movement import MovementText
from .nest import NestText
from .statements import FORMATS

type Array = np.ndarray[Any, Any]

_KERNELS = ("reader", "compute", "writer")
_HOST = ("distributed", "host_api", "tt_metal")
_FLAGS = ("-std=gnu++17", "-O0", "-w", "-no-pie")  # of TT-Metalium it is C++20, whose headers take twice as long
_PART = "Wormhole"


@dataclass(frozen=True)
class MetaliumProject:
    """The project of a plan: its files, `path` where they are, and the names of circular buffers and arrays.

    `run` executes the texts that are on disk. Nothing that it says is measured, and it has no times.
    """

    path: Path
    name: str
    files: Mapping[str, str]
    buffers: tuple[str, ...]
    arrays: tuple[tuple[str, bool], ...]  # by number; whether a program writes them

    def run(self, *arrays: Array, seed: int = 0, timeout: float = 60.0) -> None:
        """Compile the files with a C++ compiler here, and run all kernels of all cores on arrays, changed in place.

        `seed` decides which kernel goes on where several can. Raises TargetError if the program hangs, or does what
        the hardware does not, with the core and the kernel; ToolError without a compiler, or after `timeout` seconds.
        """
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            program = self._compiled(place, seed)
            for (name, _), array in zip(self.arrays, arrays, strict=True):
                (place / f"{name}.bin").write_bytes(np.ascontiguousarray(array).tobytes())
            try:
                command = [str(program), folder]
                ended = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
            except subprocess.TimeoutExpired:
                raise ToolError(f"the emulation of '{self.name}' took longer than {timeout} seconds") from None
            if ended.returncode:
                text = ended.stderr.strip() or f"the emulation ended with {ended.returncode}"
                raise TargetError(f"'{self.name}' for TT-Metalium: {text}", hint=f"the files are in {self.path}")
            for (name, written), array in zip(self.arrays, arrays, strict=True):
                if written:
                    data = np.frombuffer((place / f"{name}.bin").read_bytes(), array.dtype)
                    array[...] = data.reshape(array.shape)

    def _compiled(self, place: Path, seed: int) -> Path:
        """The program of the files on disk; headers of TT-Metalium are those of the emulation."""
        compiler, include = find_compiler(), place / "include"
        emulation = templates_directory() / "metalium" / "emulation"
        headers = [f"tt-metalium/{name}.hpp" for name in _HOST] + [f"api/compute/{name}.h" for name in HEADERS]
        for header in (*headers, "api/dataflow/dataflow_api.h"):  # empty: the emulation stands in front of all
            (include / header).parent.mkdir(parents=True, exist_ok=True)
            (include / header).touch()
        lines = ['#include "host.h"']
        for name in _KERNELS:
            lines += [f"namespace kernel_{name} {{", f'#include "kernels/{name}.cpp"', "}"]
        entries = ", ".join(f'{{"kernels/{name}.cpp", kernel_{name}::kernel_main}}' for name in _KERNELS)
        names = ", ".join(f'"{name}"' for name in self.buffers)
        lines += ["#define main metalium_main", '#include "host.cpp"', "#undef main"]
        lines += ["int main(int argc, char** argv) {"]
        lines += [f"    emulation::texts = {{{entries}}};", f"    emulation::buffer_names = {{{names}}};"]
        lines += [f"    emulation::seed = {seed};", "    return metalium_main(argc, argv);", "}", ""]
        source, program = place / "all.cpp", place / "program"
        source.write_text("\n".join(lines))
        folders = [include, emulation, self.path]
        flags = [*_FLAGS, *(f"-I{folder}" for folder in folders), *_headers(compiler, emulation)]
        compiler.run([*flags, str(source), "-o", str(program)], f"the project of '{self.name}' for TT-Metalium")
        return program


def _headers(compiler: Compiler, emulation: Path) -> list[str]:
    """The headers of the emulation, compiled for all projects after the first one."""
    texts = [file.read_text() for file in sorted(emulation.glob("*.h"))]
    flags = [*_FLAGS, f"-I{emulation}"]
    return compiled_header(
        compiler, "metalium", '#include "host.h"\n', flags, texts, "the emulation of TT-Metalium", at_first=False
    )


def metalium_project(
    read: ReadProgram, mapping: TileMapping, routes: MeshRoutes, plan: str, path: str | Path | None = None
) -> MetaliumProject:
    """Write the project of a plan to `path`, a folder that is made; without one, to a temporary one.

    Raises TargetError for what Tensix cores cannot do, and for what does not fit them, before anything is written.
    """
    files, buffers = _texts(read, mapping, routes, plan)
    folder = Path(tempfile.mkdtemp(prefix="allo-metalium-")) if path is None else Path(path)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    names = tuple(buffer.name.removeprefix("cb_") for buffer in buffers.made)
    arrays = [buffers.paged[array.number] for array in read.program.arrays]
    known = tuple((paged.array.name, paged.written) for paged in arrays)
    return MetaliumProject(folder, read.program.name, files, names, known)


def _texts(
    read: ReadProgram, mapping: TileMapping, routes: MeshRoutes, plan: str
) -> tuple[dict[str, str], CoreBuffers]:
    mesh, program = routes.mesh, read.program
    if _PART not in mesh.part or mesh.shape != (8, 8):
        raise TargetError(
            f"'{mesh.name}' is no Wormhole: projects for TT-Metalium need its grid of 8 x 8 cores and its two NoCs",
            hint='map the kernel on "wormhole_n300d"',
        )
    for array in program.arrays:
        if repr(array.element) not in FORMATS:
            raise TargetError(
                f"elements of '{array.name}' are {array.element!r}, which tiles do not have here",
                hint="use float32, bfloat16 or int32",
            )
    nest = NestText(program, mapping, routes)
    buffers = CoreBuffers(LoweredProgram(read), nest, mesh)
    unused = [array.name for array in program.arrays if array.number not in buffers.paged]
    if unused:
        raise TargetError(f"'{program.name}' does not use '{unused[0]}'", hint="leave it out of its arguments")
    compute, movement = ComputeText(nest, buffers), MovementText(nest, buffers, routes)
    host = HostText(nest, buffers, movement, compute)
    templates = templates_directory() / "metalium"
    cmake = (templates / "CMakeLists.txt").read_text().replace("{name}", program.name)
    files = {
        "CMakeLists.txt": cmake,
        "README.md": _readme((templates / "README.md").read_text(), mesh.title, plan, buffers, movement),
        "host.cpp": host.text(),
        "kernels/reader.cpp": movement.reader(),
        "kernels/compute.cpp": compute.text(),
        "kernels/writer.cpp": movement.writer(),
    }
    return files, buffers


def _readme(text: str, title: str, plan: str, buffers: CoreBuffers, movement: MovementText) -> str:
    program = buffers.nest.program
    rows = [f"| {b.number} | {b.name.removeprefix('cb_')} | {b.element} | {b.pages} |" for b in buffers.made]
    given = {
        "name": program.name,
        "mesh": title,
        "plan": plan,
        "cores": str(len(movement.cores)),
        "folder": program.name,
        "arrays": _listed([f"{array.name}.bin" for array in program.arrays]),
        "written": _listed([f"{paged.array.name}.bin" for paged in movement.written]),
        "bytes": str(sum(b.bytes for b in buffers.made)),
        "room": str(buffers.room),
        "buffers": "\n".join(["| number | array | elements | tiles |", "|---|---|---|---|", *rows]),
    }
    for key, value in given.items():
        text = text.replace(f"{{{key}}}", value)
    return text


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
