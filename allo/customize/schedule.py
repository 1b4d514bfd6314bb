"""The schedule: a module, the steps that made it, and the whole schedule language on one screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from mlir import ir

from ..errors import ScheduleError, nearest
from ..frontend.program import compile_kernel
from ..ir.module import Module
from ..ir.walk import buffers_of
from .aliases import check_aliases
from .bounds import check_bounds
from .buffer_at import buffer_at as _buffer_at
from .fuse import fuse as _fuse
from .handles import Buffer, Loop
from .loop_tree import LoopTree, loop_tree
from .parallel import parallel as _parallel
from .partition import partition as _partition
from .pipeline import pipeline as _pipeline
from .reorder import reorder as _reorder
from .split import split as _split
from .step import Step
from .unroll import unroll as _unroll


class Schedule:
    """A kernel in MLIR with the primitives that rewrite it; a primitive that fails changes nothing."""

    split = _split
    reorder = _reorder
    fuse = _fuse
    unroll = _unroll
    pipeline = _pipeline
    parallel = _parallel
    partition = _partition
    buffer_at = _buffer_at

    def __init__(self, module: Module, *, verbose: bool = False) -> None:
        self._history: list[tuple[Module, tuple[Step, ...]]] = []
        self.ir = module
        self.steps: tuple[Step, ...] = ()
        self.verbose = verbose

    @property
    def module(self) -> ir.Module:
        """The MLIR module as it is now; `print(s.module)` shows it."""
        return self.ir.mlir

    @property
    def top_func_name(self) -> str:
        """The name of the kernel."""
        return self.ir.top

    @property
    def buffers(self) -> MappingProxyType[str, Buffer]:
        """Handles of all arrays: those of the kernel as `"A"`, those of function `f` as `"f:A"`."""
        found: dict[str, Buffer] = {}
        for function in self.ir.functions():
            name = function.name.value
            for buffer in buffers_of(function):
                found[f"{name}:{buffer}"] = Buffer(name, buffer)
                if name == self.ir.top:
                    found[buffer] = Buffer(name, buffer)
        return MappingProxyType(found)

    def __getattr__(self, name: str) -> Buffer:
        """The handle of an array of the kernel."""
        if name.startswith("_") or name == "ir":
            raise AttributeError(name)
        buffers = buffers_of(self.ir.function(self.ir.top))
        if name in buffers:
            return Buffer(self.ir.top, name)
        known = [*buffers, *(n for n in dir(type(self)) if not n.startswith("_"))]
        hint = nearest(name, known)
        raise AttributeError(
            f"the schedule of '{self.ir.top}' has no primitive and no buffer '{name}'"
            + (f"; {hint}" if hint else "")
        )

    def get_loops(self, func: str | None = None) -> LoopTree:
        """The loop nests of `func` (default: the kernel), printable and indexed by name."""
        names = [f.name.value for f in self.ir.functions()]
        wanted = func or self.ir.top
        if wanted not in names:
            hint = nearest(str(wanted), names) or f"the functions are {', '.join(names)}"
            raise ScheduleError(f"the module has no function '{wanted}'", hint=hint)
        return loop_tree(self.ir, wanted)

    def _install(self, module: Module, step: Step) -> None:
        """Make `module` the state after `step`; the end of a successful primitive."""
        self._history.append((self.ir, self.steps))
        self.ir = module
        self.steps = (*self.steps, step)
        if self.verbose:
            print(f"{step}\n{self.ir}")

    def undo(self, n: int = 1) -> None:
        """Take back the last `n` steps. Raises ScheduleError if there are fewer."""
        if not 0 <= n <= len(self._history):
            raise ScheduleError(f"cannot undo {n} steps: the schedule has {len(self._history)}")
        if n:
            self.ir, self.steps = self._history[-n]
            del self._history[-n:]

    def replay(self, steps: Iterable[Step]) -> None:
        """Apply `steps` here, those on the kernel they come from to this kernel. On an error nothing has changed."""
        before = len(self._history)
        try:
            for step in steps:
                self._replay(step)
        except Exception:
            self.undo(len(self._history) - before)
            raise

    def _replay(self, step: Step) -> None:
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for name, value in step.arguments:
            if name == step.variadic:
                positional.extend(self._retarget(item) for item in value)
            else:
                keywords[name] = self._retarget(value)
        method: Callable[..., Any] = getattr(self, step.name)
        method(*positional, **keywords)

    def _retarget(self, value: Any) -> Any:
        """A handle of the same name in this module; functions it does not have mean its kernel."""
        if not isinstance(value, Loop | Buffer):
            return value
        names = [f.name.value for f in self.ir.functions()]
        function = value.function if value.function in names else self.ir.top
        if isinstance(value, Loop):
            return Loop(function, value.nest, value.name)
        return Buffer(function, value.name)

    def build(
        self,
        target: str | None = None,
        mode: str | None = None,
        project: str | None = None,
        configs: dict[str, Any] | None = None,
        **options: Any,
    ) -> Any:
        """Make something that runs; `target=None` means the CPU. See `allo.build`."""
        from ..build import build

        return build(self, target=target, mode=mode, project=project, configs=configs, **options)

    def __repr__(self) -> str:
        lines = [f"Schedule of '{self.ir.top}', {len(self.steps)} steps"]
        return "\n".join([*lines, *(f"  {step}" for step in self.steps)])


def customize(
    kernel: Callable[..., Any],
    verbose: bool = False,
    instantiate: Sequence[Any] | Mapping[str, Any] | None = None,
) -> Schedule:
    """The schedule of `kernel`, with no steps yet.

    `kernel` is a Python function in the kernel language; `verbose` prints the module after each step;
    `instantiate` gives the values of the parameters of a template, in order or by name.
    Raises KernelError, with all mistakes of the kernel and of the kernels it calls.
    """
    compiled = compile_kernel(kernel, instantiate)
    check_aliases(compiled.module)
    check_bounds(compiled.module, compiled.inside)
    return Schedule(compiled.module, verbose=verbose)
