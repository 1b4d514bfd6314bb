"""The same loops in C (`c/`), compiled by gcc: what the kernels are compared and measured with."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .benchmark import Benchmark

FAST = ("-O3", "-march=native")
EXACT = ("-O2", "-ffp-contract=off")  # each operation rounds by itself

_SOURCES = Path(__file__).resolve().parent / "c"
_TYPES: dict[str, tuple[str, Any]] = {
    "float32": ("float", ctypes.c_float),
    "float64": ("double", ctypes.c_double),
    "int32": ("int", ctypes.c_int),
}


def is_available() -> bool:
    """Is there a C compiler?"""
    return shutil.which("gcc") is not None


def compile_c(
    benchmark: Benchmark,
    size: str,
    element: str,
    folder: Path,
    *,
    restrict: bool = False,
    options: Sequence[str] = FAST,
) -> Callable[..., None]:
    """The C function of `benchmark` with elements of that type, called with the same arguments as the kernel.

    The library is written to `folder`. Raises subprocess.CalledProcessError if gcc refuses.
    """
    name, scalar = _TYPES[element]
    library = folder / f"{benchmark.name}_{size}_{element}_{restrict:d}.so"
    extents = zip(benchmark.extents, benchmark.sizes[size], strict=True)
    defines = [f"-D{extent}={number}" for extent, number in extents]
    defines += [f"-DDATA_TYPE={name}", f"-DRESTRICT={'restrict' if restrict else ''}"]
    source = _SOURCES / f"{benchmark.name}.c"
    command = ["gcc", *options, "-shared", "-fPIC", *defines, str(source), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    function = getattr(ctypes.CDLL(str(library)), benchmark.name)
    function.restype = None

    def call(*arguments: Any) -> None:
        pointers = (ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else scalar(a) for a in arguments)
        function(*pointers)

    return call
