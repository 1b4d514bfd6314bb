"""What a PolyBench benchmark consists of: sizes, kernel, inputs, reference, and designs for hardware."""

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import allo
from allo.ir.types import AlloType

DEVICE = 8490  # DSPs of the U280 beside the platform of its card


def unscheduled(s: allo.Schedule, size: str) -> None:
    """The schedule of a design that is the kernel as it is."""


def customized(kernel: Callable[..., Callable[..., None]], size: str, T: AlloType | None) -> allo.Schedule:
    """The kernel of that size without steps, for elements of its own type or of type `T`."""
    return allo.customize(kernel(size, T) if T else kernel(size))


@dataclass(frozen=True, slots=True)
class Part:
    """One nest of a design: a kernel that the design's kernel calls, and its own schedule `schedule(s, size)`."""

    kernel: Callable[..., Callable[..., None]]
    schedule: Callable[[allo.Schedule, str], None]

    def customized(self, size: str, T: AlloType | None = None) -> allo.Schedule:
        """The schedule of the part alone, with all steps applied."""
        s = customized(self.kernel, size, T)
        self.schedule(s, size)
        return s


@dataclass(frozen=True, slots=True)
class Design:
    """A kernel, cut into stages where that helps, and the schedule that makes an accelerator of it.

    `kernel(size, T)` takes the arguments of the benchmark's kernel and computes the same. The schedules of its `parts`,
    kernels that it calls, are composed; then `schedule(s, size)` applies the primitives to its schedule `s`. `dsp` are
    the DSPs it may use; `operators` are implementations that it asks of the synthesis tool, `{"add": "fabric"}` for
    adders without DSPs, as `allo.estimate` takes them. Sums that are added in another order than in the benchmark's
    kernel are said to be `reassociated`: they are the same up to rounding.
    A design that is `on_cpu` is for one core of a CPU: it is measured, and its `dsp` mean nothing.
    """

    kernel: Callable[..., Callable[..., None]]
    schedule: Callable[[allo.Schedule, str], None] = unscheduled
    dsp: int = DEVICE
    reassociated: bool = False
    operators: Mapping[str, str] = field(default_factory=dict)
    on_cpu: bool = False
    parts: tuple[Part, ...] = ()

    def customized(self, size: str, T: AlloType | None = None) -> allo.Schedule:
        """The schedule with all steps applied; without `T` the elements have the type of the benchmark."""
        s = customized(self.kernel, size, T)
        s.compose([part.customized(size, T) for part in self.parts])
        self.schedule(s, size)
        return s

    def lines(self) -> int:
        """The lines of the schedule: primitives and loops over them, also in functions that it calls with `s`.

        Those of the schedules of the parts count, and a line that composes them.
        """
        todo = [self.schedule, *(part.schedule for part in self.parts)]
        seen: list[Callable[..., None]] = []
        total = 1 if self.parts else 0
        while todo:
            function = todo.pop()
            function = function.func if isinstance(function, partial) else function
            if function in seen:
                continue
            seen.append(function)
            definition = ast.parse(inspect.getsource(function)).body[0]
            total += len(_lines_of_schedule(definition))
            names = {node.func.id for node in ast.walk(definition) if _calls_with_schedule(node)}
            todo += [function.__globals__[name] for name in sorted(names)]
        return total


def _lines_of_schedule(definition: ast.stmt) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(definition):
        if isinstance(node, ast.For):
            lines.add(node.lineno)
        elif isinstance(node, ast.Expr | ast.Assign) and _names_schedule(node):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def _calls_with_schedule(node: ast.AST) -> bool:
    """A call of a function with the schedule as argument."""
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and any(map(_is_schedule, node.args))
    )


def _is_schedule(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "s"


def _names_schedule(statement: ast.stmt) -> bool:
    return any(map(_is_schedule, ast.walk(statement)))


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One PolyBench/C 4.2.1 kernel.

    `sizes` maps MINI, SMALL, MEDIUM, LARGE, EXTRALARGE to the extents named by `extents`; `kernel(size)` is the
    Allo kernel of that size, `arguments(size)` fresh inputs (arrays and numbers) in the order of its parameters, with
    the elements float32 (int32 in floyd_warshall and nussinov) or the type given, `kernel(size, float64)` and
    `arguments(size, float64)`; `reference(size, *arguments)` does in NumPy what the kernel does: it changes the arrays
    in place. `designs` are accelerators for it by name: `"vanilla"` is the kernel without a schedule,
    `"best"` the fastest that fits a U280, `"dsp222"` the fastest beside a published point of 222 DSPs, `"cpu"` for one
    core of a CPU.
    """

    name: str
    extents: tuple[str, ...]
    sizes: Mapping[str, tuple[int, ...]]
    kernel: Callable[..., Callable[..., None]]
    arguments: Callable[..., tuple[Any, ...]]
    reference: Callable[..., None]
    designs: Mapping[str, Design] = field(default_factory=dict)
