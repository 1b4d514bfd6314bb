"""The schedule: a module, and the steps that made it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from logging import DEBUG
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mlir import ir as mlir_ir

from ..errors import Location, ScheduleError, counted, nearest
from ..frontend.program import Compiled, compile_kernel
from ..frontend.read.given import given_names, kernel_of_text
from ..frontend.read.templates import values_of
from ..frontend.typing.tables import rule_set
from ..ir.linalg import lower_linalg as make_loops
from ..ir.module import Module
from ..ir.pseudocode import module_text
from ..ir.recursion import reads_programs
from ..ir.states import FinishedModule
from ..messages import LOG, working
from ..picture import preformatted
from .module.adopt import adopt
from .module.sound import check_sound
from .module.tasks import check_tasks
from .primitives import Primitives
from .published import Published
from .step.diff import StepDiff, step_diff
from .step.handles import HANDLES, Buffer, FifoName, Function, Loop, Nest
from .step.loop_tree import LoopTree, loop_tree
from .step.operations import StepReader, at_operation, take_schedules, write_steps
from .step.own_functions import function_of_positions
from .step.primitive import integer, replayed
from .step.record import Step, StepResult, Steps
from .step.text import given_steps, of_step, result_of
from .uses import Uses


class Schedule(Primitives, Uses, Published):
    """A kernel in MLIR with the primitives that rewrite it; a primitive that fails changes nothing."""

    def __init__(self, module: Module, *, verbose: bool = False) -> None:
        self._history: list[tuple[FinishedModule, Steps]] = []
        self._state = (
            module if isinstance(module, FinishedModule) else FinishedModule(module.mlir).published()
        )
        self.steps = Steps()
        self.verbose = verbose
        self.divides_arguments = False  # whether builds for hardware give tasks banks of their own
        self.template: Mapping[str, Any] = {}  # what the type parameters of the kernel stand for

    @property
    def ir(self) -> Module:
        """The module as it is now, which later steps leave as it is."""
        return self._state.published()

    @property
    def module(self) -> mlir_ir.Module:
        """The MLIR module as it is now; `print(s.module)` shows it."""
        return self.ir.mlir

    @property
    def top_func_name(self) -> str:
        """The name of the kernel."""
        return self._state.top

    @property
    def top_func(self) -> mlir_ir.OpView:
        """The function of the kernel in the module as it is now."""
        ir = self.ir
        return ir.function(ir.top)

    @property
    def buffers(self) -> MappingProxyType[str, Buffer]:
        """Handles of all arrays: those of the kernel as `"A"`, those of function `f` as `"f:A"`."""
        found: dict[str, Buffer] = {}
        for name in self._state.names():
            for buffer in self._state.buffer_names(name):
                found[f"{name}:{buffer}"] = Buffer(name, buffer)
                if name == self._state.top:
                    found[buffer] = Buffer(name, buffer)
        return MappingProxyType(found)

    def __getattr__(self, name: str) -> Buffer:
        """The handle of an array of the kernel."""
        if name.startswith("_") or name == "ir":
            raise AttributeError(name)
        buffers = self._state.buffer_names(self._state.top)
        if name in buffers:
            return Buffer(self._state.top, name)
        known = [*buffers, *(n for n in dir(type(self)) if not n.startswith("_"))]
        hint = nearest(name, known)
        raise AttributeError(
            f"the schedule of '{self._state.top}' has no primitive and no buffer '{name}'"
            + (f"; {hint}" if hint else ""),
            name=name,
            obj=None,  # else Python would look for names that are near, too
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._state.buffer_names(self._state.top)]

    def get_loops(self, func: str | Function | Callable[..., Any] | None = None) -> LoopTree:
        """The loop nests of `func`, a name, handle or kernel (default: the kernel), printable and indexed by name.

        `"gemm[0, 1]"` are those of one position of a task; steps on them give it a function of its own. Raises
        ScheduleError if there is no such function.
        """
        names = self._state.names()
        wanted = self._state.top if func is None else str(getattr(func, "__name__", func))
        if wanted not in names and (held := function_of_positions(wanted, self._state)) is not None:
            return loop_tree(self._state, *held)
        if wanted not in names:
            hint = nearest(wanted, names) or f"the functions are {', '.join(names)}"
            raise ScheduleError(f"the module has no function '{wanted}'", hint=hint)
        return loop_tree(self._state, wanted)

    def _install(self, made: FinishedModule, step: Step) -> None:
        """Make `made` the state after `step`; the end of a successful primitive."""
        self._history.append((self._state, self.steps))
        self._state = made
        self.steps = Steps((*self.steps, step))
        LOG.debug("%s: step %d: %s", made.top, len(self.steps) - 1, step)
        if self.verbose:
            print(f"{step}\n{self._state}")

    def copy(self) -> Schedule:
        """A schedule in the same state with the same steps, on its own from now on."""
        made = type(self)(self._state, verbose=self.verbose)
        made._history, made.steps = list(self._history), self.steps
        made.divides_arguments, made.template = self.divides_arguments, self.template
        return made

    def __copy__(self) -> Schedule:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Schedule:
        return self.copy()  # states are never changed, so that copies may share them

    def undo(self, n: int = 1) -> None:
        """Take back the last `n` steps. Raises ScheduleError if there are fewer."""
        count = integer("n", n)
        if not 0 <= count <= len(self._history):
            raise ScheduleError(f"cannot undo {count}: the schedule has {counted(len(self._history), 'step')}")
        if count:
            self._state, self.steps = self._history[-count]
            del self._history[-count:]

    def replay(self, steps: Iterable[Step] | str, on: Schedule | None = None) -> None:
        """Apply `steps`, or the text that printed steps are, here or to the schedule `on`.

        What they name in the kernel they come from is looked up in this kernel. On an error nothing has changed.
        """
        target = self if on is None else on
        if not isinstance(target, Schedule):
            raise ScheduleError(f"on must be a schedule, got {type(on).__name__} {on!r}")
        before, given = len(target._history), given_steps(steps, self.primitives())
        try:
            with working(f"replaying steps on '{target.top_func_name}'", DEBUG):
                results: list[Any] = []
                for step in given:
                    results.append(target._replay(step, results))
        except Exception as error:
            number = len(target._history) - before
            target.undo(number)
            if isinstance(error, ScheduleError):
                raise of_step(error, number, given) from None
            raise

    def _replay(self, step: Step, results: Sequence[Any] = ()) -> Any:
        """Apply a step; `results` are what the steps of a text before it have returned."""
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for name, value in step.arguments:
            if name == step.variadic:
                positional.extend(self._retarget(item, results, step.at) for item in value)
            else:
                keywords[name] = self._retarget(value, results, step.at)
        method: Callable[..., Any] = getattr(self, step.name)
        with replayed(step.at):
            return method(*positional, **keywords)

    @reads_programs
    def pseudocode(self, k: int | None = None) -> str:
        """The functions as Python-like text, now or after the first `k` steps; for reading, it is not a kernel."""
        return module_text(self._state if k is None else self.state(k))

    @reads_programs
    def diff(self, k: int) -> StepDiff:
        """What step `k` (the first is 0) changed, as a unified diff of the functions in Python-like text.

        Raises ScheduleError if there is no such step.
        """
        return step_diff(self.steps, k, self.pseudocode)

    def state(self, k: int) -> Module:
        """The module after the first `k` steps. Raises ScheduleError if there are fewer."""
        number, last = integer("k", k), len(self._history)
        if not 0 <= number <= last:
            raise ScheduleError(f"there is no state after {number} steps: the schedule has {counted(last, 'step')}")
        return self._after(number).published()

    def _after(self, k: int) -> FinishedModule:
        """The state after the first `k` steps, of which there are as many, for who keeps none of its MLIR."""
        return self._history[k][0] if k < len(self._history) else self._state

    def to_mlir(self) -> str:
        """The kernel before the first step, with the steps as operations of the `allo` dialect behind it."""
        return str(write_steps(self.state(0), self.steps, self.primitives()))

    @classmethod
    @reads_programs
    def from_mlir(
        cls, source: str | Path, *, link: str | Path | Sequence[str | Path] = (), verbose: bool = False
    ) -> Schedule:
        """A schedule of the module in a text or a file; its `allo.schedule` operations are applied and recorded.

        `link` are files of C++ and shared objects with the functions that the module only declares. Raises KernelError
        if that is not a valid module, or declares others, ScheduleError if a step cannot be applied.
        """
        if not link:
            whole = adopt(source)
        else:
            from ..backend.external.given import giver

            whole = adopt(source, giver(link))
        rest, operations = take_schedules(whole)
        result, reader = cls(rest, verbose=verbose), StepReader(cls.primitives())
        for op in operations:
            try:
                if (step := reader.read(op)) is not None:
                    reader.made(op, result._replay(step))
            except ScheduleError as error:
                raise at_operation(error, op) from None
        return result

    def _retarget(self, value: Any, results: Sequence[Any], at: Location | None) -> Any:
        """A handle of the same name in this module; functions it does not have mean its kernel."""
        if isinstance(value, tuple):
            return tuple(self._retarget(item, results, at) for item in value)
        if isinstance(value, StepResult):
            return result_of(value, results, at)
        if not isinstance(value, HANDLES):
            return value
        if isinstance(value, Function):
            return Function(value.name if value.name in self._state else self._state.top)
        function = value.function if value.function in self._state else self._state.top
        if isinstance(value, Loop):
            return Loop(function, value.nest, value.name)
        if isinstance(value, Nest | FifoName):
            return type(value)(function, value.name)
        return Buffer(function, value.name)

    def compose(
        self,
        schs: Any,
        id: str | None = None,
        instantiate: Sequence[Any] | Mapping[str, Any] | None = None,
    ) -> None:
        """Replay the steps of `schs`, one or a list, on their kernels as this kernel calls them.

        A kernel in the place of a schedule stands for its default schedule, `schedule_<kernel>(s)` of its module, of
        the instance that `instantiate` says; a schedule must be of that instance if it is said. All calls are
        customised, or with `id` only those of the instance `f[..., "id"]`, which may be of other types or of another
        kernel if the steps can be taken there; functions that it shares with others are copied first. Raises
        ScheduleError, with both lines,
        for a step on something that an earlier step has changed, and `LayoutConflict` for contradicting partitions;
        then nothing has changed. Source: Allo paper, section 6.3 and Algorithm 1.
        """
        from ..compose import replay, schedules_of

        with working(f"composing schedules in '{self.top_func_name}'", DEBUG):
            replay(self, schedules_of(schs, instantiate), id)

    def get_equivalent_variables(self, name: str | Buffer, array: str | None = None) -> tuple[str, ...]:
        """All names of the array `name` (`"gemm:C"`, `s.C`) through calls, results and constants, itself first.

        With `array`, `name` is the function that it is in. Raises ScheduleError if there is no such array.
        """
        if array is not None:
            name = f"{name}:{array}"
        wanted = f"{self._state.top}:{name}" if isinstance(name, str) and ":" not in name else name
        found: tuple[str, ...] = self.graph.equivalent(wanted)
        return found

    def _repr_html_(self) -> str:
        return preformatted(repr(self))

    def __repr__(self) -> str:
        lines = [f"Schedule of '{self._state.top}', {counted(len(self.steps), 'step')}"]
        return "\n".join([*lines, *(f"  {step}" for step in self.steps)])


@reads_programs
def customize(
    kernel: Callable[..., Any] | str,
    verbose: bool = False,
    instantiate: Sequence[Any] | Mapping[str, Any] | None = None,
    typing_rule_set: str = "default",
    lower_linalg: bool = False,
    enable_tensor: bool = False,
    global_vars: Mapping[str, Any] | None = None,
) -> Schedule:
    """The schedule of `kernel`, with no steps yet.

    `kernel` is a Python function in the kernel language, or the text of one (the last that the text defines);
    `global_vars` say what free names mean, before what Python finds; `verbose` prints the module after each step;
    `instantiate` gives the values of the parameters of a template, in order or by name; `typing_rule_set` is
    `"default"`, where arithmetic on integers loses no value, or `"cpp"`, the promotions and conversions of C++
    (docs/types.md); `lower_linalg` makes loops of the operators on whole arrays, which primitives then rewrite
    (docs/operators.md). `enable_tensor` says for published Allo whether arrays are tensors or memory; here they are
    memory in both cases. Raises KernelError, with all mistakes of the kernel and of the kernels it calls, and
    DataflowError for tasks of a region that share an end of a stream, write one element, or wait for ever.
    """
    if not isinstance(global_vars, Mapping | None):
        raise TypeError(f"global_vars is a dictionary of values by name, got {global_vars!r}")
    with given_names(global_vars):
        kernel = kernel_of_text(kernel) if isinstance(kernel, str) else kernel
        with working(f"reading the kernel '{getattr(kernel, '__name__', kernel)}'", DEBUG):
            compiled = compile_kernel(kernel, instantiate, rule_set(typing_rule_set))
            state = _first_state(compiled, lower_linalg)
    schedule = Schedule(state, verbose=verbose)
    schedule.template = values_of(compiled.checked.top.source)
    return schedule


def _first_state(compiled: Compiled, lower_linalg: bool) -> FinishedModule:
    """The module of a program, with loops in the places of operators if that is wanted."""
    if compiled.part is not None and not lower_linalg:
        return FinishedModule.of(compiled.checked.top.name, compiled.part)  # which is known to be sound
    module = compiled.emitted()
    if lower_linalg:
        make_loops(module)
    state = FinishedModule(module.mlir)
    check_sound(state, compiled.inside)
    check_tasks(state)
    for name, known in compiled.known.items():
        known.live_in(state.parts[name], as_emitted=not lower_linalg)
    return state
