"""Decides how the C++ programs of these tests are compiled and run."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from allo.backend.headers import include_directory

FLAGS = ("-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused-label")
PROGRAMS = Path(__file__).parent / "programs"
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")


def compiled(name: str, folder: Path, *flags: str, cases: Iterable[str] = ()) -> Path:
    """The program `programs/<name>.cpp`, with `cases` as its `cases.inc`."""
    (folder / "cases.inc").write_text("\n".join(cases))
    return compiled_file(PROGRAMS / f"{name}.cpp", folder, *flags)


def compiled_file(source: Path, folder: Path, *flags: str) -> Path:
    """The program of a file."""
    made = folder / source.stem
    command = ["g++", *FLAGS, *flags, f"-I{include_directory()}", f"-I{folder}", str(source), "-o", str(made)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:5000]
    return made


def lines(program: Path, given: Sequence[str] = ()) -> list[str]:
    """What the program prints for the lines `given`."""
    done = subprocess.run([str(program)], input="\n".join(given), capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr[:5000]
    return done.stdout.splitlines()
