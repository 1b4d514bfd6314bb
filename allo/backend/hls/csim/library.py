"""C simulation: the C++ of a kernel compiled against our headers and called on this machine."""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from pathlib import Path
from typing import Any

from ....errors import DataflowError, RunTimeout
from ....ir.run_report import RunFacts
from ...arguments.calling import call as run
from ...arguments.simulated import Stopped, hang_error, shown_progress
from ...checked import CheckFailed
from ...external.compiler import Compiler, compiled_header, content_key, find_compiler, kept
from ...headers import include_directory
from ..text.external import NO_EXTERNAL, ExternalCode

FLAGS = (
    "-std=c++17", "-O2", "-fPIC", "-shared", "-fvisibility=hidden",
    "-DALLO_SIM_TURNS",  # processes take turns
    "-Wall", "-Wextra", "-Werror",
    "-Wno-unknown-pragmas",  # those of HLS tools
    "-Wno-unused-label",  # the names of loops
    "-Wno-unused-but-set-variable",  # what is multiplied by 0 is not in the code
    "-Wno-type-limits", "-Wno-tautological-compare",  # kernels may compare with what never or always is
    # kernels may leave elements without a value; `check=True` says which are read
    "-Wno-uninitialized", "-Wno-maybe-uninitialized",
    "-ffp-contract=off",  # an addition and a multiplication are two units of hardware, which round both
    "-fwrapv",  # integers wrap
    "-fno-finite-loops",  # a loop that never ends is none that does nothing
)  # fmt: skip

_ENTRY, _STATE = "allo_csim", "allo_csim_state"  # of `allo_sim/entry.cpp`
_KEPT = "csim"  # the folder of the cache
_OF_CHECK = "?\x01"  # what the message of an `allo_sim::check_failed` starts with
_OF_CALLS = ("#include <cstddef>", "#include <vector>", "#include <allo_sim/entry.h>")  # what `csim.cpp` includes too
_MANY_LINES = 20_000  # of C++, as of large unfolded arrays: beyond, the compiler takes longer than it saves


def simulation_library(sources: Mapping[str, str], external: ExternalCode) -> bytes:
    """The shared library of files by name: the one in the cache, or a new one; ToolError with what the compiler says.

    External kernels may include any file of this machine, so what is compiled with them is not kept.
    """
    files = {**sources, **dict(external.files)}
    if external.units:
        with tempfile.TemporaryDirectory(prefix="allo-csim-") as folder:
            return _written_and_compiled(files, Path(folder), external).read_bytes()

    def make(place: Path) -> None:
        os.replace(_written_and_compiled(files, place.parent, external), place)

    key = content_key(find_compiler(), [*FLAGS, *_headers(), *(text for file in files.items() for text in file)])
    return kept(_KEPT, f"{key}.so", make).read_bytes()


def _written_and_compiled(files: Mapping[str, str], folder: Path, external: ExternalCode) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return compile_library(folder, external)


def _headers() -> list[str]:
    """What any simulation may include of ours."""
    return [path.read_text() for path in sorted(include_directory().rglob("*")) if path.is_file()]


def compile_library(folder: Path, external: ExternalCode = NO_EXTERNAL) -> Path:
    """The shared library of `csim.cpp`, which includes `kernel.cpp`, and external kernels in `folder`; ToolError with
    what the compiler says."""
    compiler = find_compiler()
    library = folder / "csim.so"
    lines = (folder / "kernel.cpp").read_text().count("\n")
    level = ["-O0"] if lines > _MANY_LINES else []  # the last level counts
    folders = [f"-I{folder / name}" for name in external.folders]
    # their warnings are not ours to mend
    flags = [*(f for f in FLAGS if not f.startswith("-W") and f != "-shared"), "-w", "-c", *folders]

    def compiled(unit: str) -> str:
        made = str(folder / f"external_{external.units.index(unit)}.o")
        arguments = [*flags, f"-isystem{include_directory()}", str(folder / unit), "-o", made]
        compiler.run(arguments, "an external kernel in the HLS code")
        return made

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each waits for a process of its own
        entry = pool.submit(_compiled_entry, compiler)
        # with other flags, or headers that are not ours, what is compiled of headers is of no use
        headers = pool.submit(_compiled_headers, compiler, folder / "kernel.h") if not level and not folders else None
        objects = [*pool.map(compiled, external.units)]
        begin = [] if headers is None else headers.result()
        sources = [*begin, str(folder / "csim.cpp"), str(entry.result()), *objects]
    compiler.run(
        [*FLAGS, *level, f"-I{include_directory()}", f"-I{folder}", *sources, "-o", str(library)], "the HLS code"
    )
    return library


def _compiled_headers(compiler: Compiler, kernel: Path) -> list[str]:
    """Flags by which the compiler begins with headers that it has compiled before: those that `kernel` begins with, and
    those of `csim.cpp`, which take longer than most kernels. They are compiled the second time that they are used."""
    lines = kernel.read_text().splitlines()
    first = takewhile(lambda line: not line or line.startswith(("#pragma once", "#include <", "#define ")), lines)
    text = "\n".join([*(line for line in first if line and line != "#pragma once"), *_OF_CALLS, ""])
    flags = [*(flag for flag in FLAGS if flag != "-shared"), f"-I{include_directory()}"]
    what = "the headers of HLS code"
    return compiled_header(compiler, _KEPT, text, flags, _headers(), what, at_first=False)


def _compiled_entry(compiler: Compiler) -> Path:
    """The object of `allo_sim/entry.cpp`: the one in the cache, or a new one.

    Its headers take longer to compile than most kernels.
    """
    include = include_directory()
    source = include / "allo_sim" / "entry.cpp"
    flags = [*(flag for flag in FLAGS if flag != "-shared"), "-c", f"-I{include}"]

    def make(place: Path) -> None:
        compiler.run([*flags, str(source), "-o", str(place)], "the simulation of HLS code")

    return kept(_KEPT, content_key(compiler, [*flags, *_headers()]) + ".o", make)


def load(library: bytes, facts: RunFacts, timeout: float | None = None) -> Callable[[Any, bool], None]:
    """The function that runs a kernel on packed addresses; it has states of its own each time.

    `facts` say what the numbers mean that it tells of streams and tasks; it may take `timeout` seconds.
    """
    with tempfile.NamedTemporaryFile(
        suffix=".so"
    ) as copy:  # a library that is loaded twice would share its states
        copy.write(library)
        copy.flush()
        loaded = ctypes.CDLL(copy.name)
    entry, state = getattr(loaded, _ENTRY), getattr(loaded, _STATE)
    state.restype = ctypes.c_char_p
    address = ctypes.cast(entry, ctypes.c_void_p).value
    assert address is not None

    stopped = Stopped(facts, lambda: state().decode())

    def call(packed: Any, can_stop: bool) -> None:
        with shown_progress(facts.top) as progress:
            try:
                found = run(address, packed, progress, address, can_stop, timeout)
            except (KeyboardInterrupt, RunTimeout) as error:
                stopped.tell(error)
                raise
        if not found:
            return
        message = ctypes.string_at(found).decode(errors="replace")
        if message.startswith(_OF_CHECK):
            site, *values = map(int, message.removeprefix(_OF_CHECK).split())
            failed = CheckFailed(site, tuple(values))
            stopped.tell(failed)
            raise failed
        if message[0] == "?":  # the code of an external kernel
            raise RuntimeError(f"the simulation of the HLS code threw: {message[1:]}")
        if message[0] != "!":
            raise hang_error(message, facts, lambda: None)  # what is seen without data was refused before
        raise DataflowError(
            f"the simulation of the HLS code ended: {message[1:]}",
            hint="put as many elements into a stream as are taken out",
        )

    return call
