"""Decides what the tests have in place of the vendors' tools: scripts on PATH, and headers of XRT and OpenCL."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from allo.backend.headers import include_directory

HERE = Path(__file__).parent
needs_make = pytest.mark.skipif(
    shutil.which("make") is None or shutil.which("g++") is None, reason="the project needs make and g++"
)


def install(monkeypatch: pytest.MonkeyPatch, *names: str, folder: Path) -> Path:
    """Put stand-ins for the tools `names` in front of PATH; their folder."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    for name in names:
        shutil.copy(HERE / "fake_tools" / name, bin_folder / name)
        (bin_folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_REPORTS", str(HERE / "reports"))
    monkeypatch.setenv("FAKE_INCLUDE", str(include_directory()))
    monkeypatch.setenv("FAKE_TAPA", str(HERE / "fake_tapa"))
    (folder / "mgc" / "shared").mkdir(parents=True)
    (folder / "mgc" / "shared" / "include").symlink_to(include_directory())
    monkeypatch.setenv("FAKE_MGC", str(folder / "mgc"))
    return bin_folder


def install_xrt(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Stand-ins for the headers and the libraries of XRT."""
    root = folder / "xrt"
    (root / "lib").mkdir(parents=True)
    (root / "include").symlink_to(HERE / "fake_xrt")
    for name in ("xrt_coreutil", "OpenCL"):
        library = root / "lib" / f"lib{name}.so"
        subprocess.run(["g++", "-shared", "-x", "c++", "/dev/null", "-o", str(library)], check=True)
    monkeypatch.setenv("XILINX_XRT", str(root))


def script(bin_folder: Path, name: str, text: str) -> None:
    """A stand-in of one's own."""
    path = bin_folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
