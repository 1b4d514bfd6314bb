"""What a PolyBench benchmark consists of: sizes, kernel, inputs, reference, and designs for hardware."""

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import allo
from allo.ir.types import AlloType, float32


@dataclass(frozen=True, slots=True)
class Design:
    """A kernel cut into stages, and the schedule that makes an accelerator of it.

    `kernel(size, T)` takes the arguments of the benchmark's kernel and computes the same; `schedule(s, size)` applies
    the primitives to its schedule `s`.
    """

    kernel: Callable[..., Callable[..., None]]
    schedule: Callable[[allo.Schedule, str], None]

    def customized(self, size: str, T: AlloType = float32) -> allo.Schedule:
        """The schedule with all steps applied."""
        s = allo.customize(self.kernel(size, T))
        self.schedule(s, size)
        return s

    def lines(self) -> int:
        """The lines of the schedule: primitives and loops over them; factors may be chosen above."""
        definition = ast.parse(inspect.getsource(self.schedule)).body[0]
        lines: set[int] = set()
        for node in ast.walk(definition):
            if isinstance(node, ast.For):
                lines.add(node.lineno)
            elif isinstance(node, ast.Expr | ast.Assign) and _names_schedule(node):
                lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        return len(lines)


def _names_schedule(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "s" for node in ast.walk(statement))


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One PolyBench/C 4.2.1 kernel.

    `sizes` maps MINI, SMALL, MEDIUM, LARGE, EXTRALARGE to the extents named by `extents`; `kernel(size)` is the
    Allo kernel of that size, `arguments(size)` fresh inputs (arrays and numbers) in the order of its parameters, with
    the elements float32 (int32 in floyd_warshall and nussinov) or the type given, `kernel(size, float64)` and
    `arguments(size, float64)`; `reference(size, *arguments)` does in NumPy what the kernel does: it changes the arrays
    in place. `designs` are accelerators for it by name; `"best"` is the fastest.
    """

    name: str
    extents: tuple[str, ...]
    sizes: Mapping[str, tuple[int, ...]]
    kernel: Callable[..., Callable[..., None]]
    arguments: Callable[..., tuple[Any, ...]]
    reference: Callable[..., None]
    designs: Mapping[str, Design] = field(default_factory=dict)


def divisor(extent: int, most: int) -> int:
    """The largest divisor of `extent` that is at most `most`: a number of lanes that leaves no tail."""
    return max(d for d in range(1, most + 1) if extent % d == 0)
