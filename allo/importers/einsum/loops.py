"""Text of kernels, line by line, and names for the loops of a TEC."""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...mapping.teir import DataType, Tec, TecDimension

TYPES = {DataType.FP32: "float32", DataType.FP64: "float64", DataType.BF16: "bfloat16"}
SUMS = {DataType.FP32: "float32", DataType.FP64: "float64", DataType.BF16: "float32"}
_TAKEN = frozenset({"in0", "in1", "out", "init", "acc", "pack0", "pack1", "range", "max", *TYPES.values()})


@dataclass(slots=True)
class LoopText:
    """A kernel that is being written; `unrolled` and `parallel` are loops that its schedule marks."""

    lines: list[str] = field(default_factory=list)
    unrolled: list[str] = field(default_factory=list)
    parallel: list[str] = field(default_factory=list)
    _depth: int = 0
    _fresh: int = 0

    def line(self, text: str) -> None:
        """One line at the depth of the loops that are open."""
        self.lines.append("    " * self._depth + text)

    def variable(self, stem: str) -> str:
        """A name that no other loop has."""
        self._fresh += 1
        return f"{stem}_{self._fresh}"

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """What is written inside is the body of `head`."""
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1

    @contextmanager
    def loop(self, variable: str, extent: int, nest: str | None = None) -> Iterator[None]:
        """A loop; the outermost of a nest is given its name."""
        named = f', name="{nest}"' if nest else ""
        with self.block(f"for {variable} in range({extent}{named}):"):
            yield

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"


def loop_names(tec: Tec) -> dict[str, str]:
    """A variable for each dimension: its name where Python takes that, with `_` in the place of dots."""
    found: dict[str, str] = {}
    for number, d in enumerate(tec.dimensions):
        name = d.name.replace(".", "_")
        fits = name.isascii() and name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")
        if not fits or name in _TAKEN or name in found.values():
            name = f"dim{number}"
        found[d.name] = name
    return found


def address(dimensions: Sequence[TecDimension], tensor: int, variables: dict[str, str]) -> str:
    """The element of a tensor that the loops are at."""
    terms = [
        variables[d.name] if d.strides[tensor] == 1 else f"{d.strides[tensor]} * {variables[d.name]}"
        for d in dimensions
        if d.strides[tensor] and d.size > 1
    ]
    return " + ".join(terms) or "0"


def head(tec: Tec, extents: Sequence[int], name: str = "contraction") -> str:
    """The `def` of a kernel on flat arrays with so many elements."""
    given, sums = TYPES[tec.data_type], SUMS[tec.data_type]
    arrays = [f"in0: {given}[{extents[0]}]"]
    if not tec.is_unary:
        arrays.append(f"in1: {given}[{extents[1]}]")
    if tec.prim_first == "copy":
        arrays.append(f"init: {sums}[{extents[2]}]")
    return f"def {name}({', '.join(arrays)}, out: {sums}[{extents[2]}]):"
