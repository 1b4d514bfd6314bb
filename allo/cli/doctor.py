"""Report of what works on this machine: kernels on the CPU, the tools that parts of targets need, optional packages."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..backend.registry import backends
from ..customize import customize
from ..errors import AlloError, ToolError
from ..ir.types import int32

_EXTRAS = {  # of a package: the extra that has it, and what needs it
    "torch": ("torch", "from_pytorch, torch.compile"),
    "onnx": ("onnx", "from_onnx"),
    "ortools": ("exact", "optimal schedules and placements"),
    "matplotlib": ("polybench", "plots"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Parts of Allo, what they have found here, or why they do not work and what to do."""

    of: str
    parts: tuple[str, ...]
    found: str | None
    lacks: str | None = None
    hint: str | None = None

    @property
    def label(self) -> str:
        return f"{self.of}: {', '.join(self.parts)}"

    def __str__(self) -> str:
        if self.found is not None:
            return self.found
        return f"no: {self.lacks}" + (f"; {self.hint}" if self.hint else "")


def findings() -> list[Finding]:
    """What works here: parts of one target that find the same are one line."""
    whole: list[Finding] = []
    for one in _looked():
        last = whole[-1] if whole else None
        if last is not None and (last.of, str(last)) == (one.of, str(one)):
            whole[-1] = Finding(one.of, (*last.parts, *one.parts), one.found, one.lacks, one.hint)
        else:
            whole.append(one)
    return whole


def system() -> str:
    """The machine and its system."""
    return f"{platform.system()} {platform.machine()}"


def _looked() -> Iterator[Finding]:
    for backend in backends():
        of = ", ".join(backend.names)
        if "llvm" in backend.names:
            yield _tried(of, "kernels", _kernel_runs)
        elif not backend.parts:
            yield Finding(of, ("code",), "needs no tool")
        for part in backend.parts:
            yield _tried(of, part.name, part.require)
    for package, (extra, needed) in _EXTRAS.items():
        if importlib.util.find_spec(package) is None:
            yield Finding("packages", (needed,), None, f"{package} is not installed", f"pip install 'allo[{extra}]'")
        else:
            yield Finding("packages", (needed,), f"{package} {importlib.metadata.version(package)}")


def _tried(of: str, part: str, require: Callable[[], str]) -> Finding:
    try:
        return Finding(of, (part,), require())
    except AlloError as error:
        (told,) = error.diagnostics
        return Finding(of, (part,), None, told.message, told.hint)


def _kernel_runs() -> str:
    def square(x: int32[4]) -> None:
        for i in range(4):
            x[i] *= x[i]

    numbers = np.arange(4, dtype=np.int32)
    customize(square).build()(numbers)
    if numbers.tolist() != [0, 1, 4, 9]:
        raise ToolError(f"a kernel that squares 0, 1, 2, 3 gives {numbers.tolist()}", hint="please report it")
    return "one was compiled, and gives what it must"
