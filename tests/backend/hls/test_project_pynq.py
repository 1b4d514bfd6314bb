"""The driver of a PYNQ project runs a kernel by its registers; here on a board of our own making."""

from __future__ import annotations

import ctypes
import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allo.backend.hls.csim.library import compile_library

from .designs import DESIGNS
from .test_csim import inputs, same
from .tools import needs_make


class Buffer(np.ndarray[Any, Any]):
    """Memory that the board sees after `flush`, and the host after `invalidate`."""

    def __array_finalize__(self, other: Any) -> None:
        self.card = getattr(other, "card", None)

    @property
    def device_address(self) -> int:
        return int(self.card.ctypes.data)

    def flush(self) -> None:
        self.card[:] = self

    def invalidate(self) -> None:
        self[:] = self.card


def allocate(shape: tuple[int, ...], dtype: Any) -> Buffer:
    buffer = np.zeros(shape, dtype).view(Buffer)
    buffer.card = np.full(shape, 77, dtype)
    return buffer


class Board:
    """The registers of a kernel that is a library."""

    def __init__(self, folder: Path) -> None:
        self.arguments = json.loads((folder / "registers.json").read_text())["arguments"]
        self.entry = ctypes.CDLL(str(folder / "csim.so")).allo_csim
        self.words: dict[int, int] = {}
        self.done = False

    def write(self, offset: int, value: int) -> None:
        assert offset % 4 == 0 and 0 <= value < 2**32
        self.words[offset] = value
        if offset == 0 and value == 1:
            self.start()

    def read(self, offset: int) -> int:
        assert offset == 0
        return 2 if self.done else 0

    def start(self) -> None:
        blocks = []
        for a in self.arguments:
            value = sum(self.words[a["offset"] + 4 * n] << 32 * n for n in range(a["registers"]))
            blocks.append(ctypes.c_void_p(value) if a["kind"] == "memory" else np.array([value], np.uint64))
        packed = [b if isinstance(b, ctypes.c_void_p) else ctypes.c_void_p(b.ctypes.data) for b in blocks]
        assert self.entry((ctypes.c_void_p * len(packed))(*packed)) == 0
        self.done = True


def driver(folder: Path, board: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module `driver.py` of a project, for `board`."""
    overlay = types.SimpleNamespace(allo_kernel=board)
    pynq = types.SimpleNamespace(Overlay=lambda path: overlay, allocate=allocate)
    monkeypatch.setitem(sys.modules, "pynq", pynq)
    module = types.ModuleType("driver")
    module.__file__ = str(folder / "driver.py")
    exec(compile((folder / "driver.py").read_text(), module.__file__, "exec"), module.__dict__)
    return module


@needs_make
@pytest.mark.slow
@pytest.mark.parametrize("name", ["scheduled_gemm", "points"])
def test_the_driver_computes_what_the_cpu_computes(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    module = DESIGNS[name]().build(target="pynq", mode="csim", project=tmp_path)
    arguments = inputs(name)[0]
    result = module(*(np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments))
    (tmp_path / "csim.cpp").write_text(module.sources()["csim.cpp"])
    compile_library(tmp_path)
    kernel = driver(tmp_path, Board(tmp_path), monkeypatch).Kernel()
    given = [np.fromfile(tmp_path / "data" / f"{p.name}.bin", np.uint8) for p in module.ports if p.reads]
    *_, data = kernel(*given)
    written = [p.name for p in module.ports if p.writes]
    assert data == (tmp_path / "data" / f"{written[-1]}.expected.bin").read_bytes()
    if isinstance(result, np.ndarray):
        assert same(np.frombuffer(data, result.dtype).reshape(result.shape), result)


def test_the_driver_refuses_what_does_not_fit(tmp_path: Path, monkeypatch: Any) -> None:
    DESIGNS["gemm"]().build(target="pynq", mode="csim", project=tmp_path)
    board = types.SimpleNamespace(write=lambda *_: None, read=lambda _: 0)
    kernel = driver(tmp_path, board, monkeypatch).Kernel()
    A = np.zeros((8, 8), np.float32)
    with pytest.raises(TypeError, match=r"gemm_top reads 2 arguments \(A, B\), got 1"):
        kernel(A)
    with pytest.raises(ValueError, match="argument 'B' must have 256 bytes, got 512"):
        kernel(A, A.astype(np.float64))
    with pytest.raises(TimeoutError, match=r"gemm_top did not end within 0\.1 s"):
        kernel(A, A, timeout=0.1)
