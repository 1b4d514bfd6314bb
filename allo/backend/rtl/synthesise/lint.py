"""Lint of SystemVerilog by slang: all its warnings, but for the classes that generated text has for a reason."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ....errors import ToolError
from .process import run_python

# What is not told, and why.
ACCEPTED = MappingProxyType(
    {
        "sign-conversion": "words are bits, in two's complement; what has a sign is compared and extended by $signed",
        "width-trunc": "addresses and banks take the low digits of a subscript, which lies within the array",
        "width-expand": "counters of loops of different extents meet in one subscript; they are signed and keep theirs",
        "arith-op-mismatch": "the same: terms of a subscript have the widths of their loops",
        "useless-cast": "a cast to a width that is a parameter is none where both are equal",
        "unused-port": "a port of a memory has all its wires, whether it reads, writes or does both",
        "unused-but-set-variable": "the same; delay lines and flags of loops are whole, and synthesis removes some",
        "unconnected-output-port": "a divider has two results, of which one may be wanted; FIFOs count, for tests",
    }
)
_RUN = """
import sys
from pyslang.driver import Driver
driver = Driver()
driver.addStandardArgs()
if not driver.parseCommandLine("slang " + sys.stdin.read()) or not driver.processOptions():
    sys.exit(2)
if driver.parseAllSources():
    compilation = driver.createCompilation()
    driver.reportCompilation(compilation, True)
    driver.runAnalysis(compilation)
driver.reportDiagnostics(True)
"""
_SAID = re.compile(
    r"(?P<file>[^\s:]+):(?P<line>\d+):\d+: (?:error|warning): (?P<text>.*?)(?: \[-W(?P<name>[\w-]+)\])?$"
)


@dataclass(frozen=True, slots=True)
class LintWarning:
    """What slang says of a line; `name` is the class of a warning, empty for an error."""

    file: str
    line: int
    text: str
    name: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}" + (f" [{self.name}]" if self.name else "")


def is_available() -> bool:
    """Whether slang is installed."""
    return importlib.util.find_spec("pyslang") is not None


def slang_version() -> str:
    """Its version; ToolError if it is not there."""
    if not is_available():
        raise ToolError("lint needs slang, and it is not installed", hint="pip install allo[synth]")
    return importlib.metadata.version("pyslang")


def linted(files: Mapping[str, str], top: str) -> tuple[LintWarning, ...]:
    """Errors and warnings of the module `top` and all it is made of; ToolError if slang is not there."""
    slang_version()
    options = ["-Weverything", *(f"-Wno-{name}" for name in ACCEPTED), "--top", top, *files]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text)
        # what slang finds goes to stderr, which is the program's stdout here
        program = "import os; os.dup2(1, 2)\n" + _RUN
        said = run_python(program, (), Path(folder), f"slang does not read '{top}'", said=" ".join(options))
    refused = [line for line in said.splitlines() if line.startswith("error: ")]
    if refused:
        raise ToolError("\n".join([f"slang does not read '{top}':", *refused]))
    found = [match for match in map(_SAID.match, said.splitlines()) if match is not None]
    return tuple(LintWarning(one["file"], int(one["line"]), one["text"], one["name"] or "") for one in found)
