"""Default schedule of a kernel: the function `schedule_<kernel>` beside it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from ..customize import Schedule, customize
from ..customize.step.primitive import schedule_line
from ..errors import KernelError, ScheduleError
from ..frontend.read.templates import is_value


def schedules_of(parts: Any, instantiate: Sequence[Any] | Mapping[str, Any] | None) -> list[Schedule]:
    """The schedules that `parts` means: schedules, or kernels that stand for their default schedules, or a list."""
    given = list(parts) if isinstance(parts, list | tuple) else [parts]
    found = []
    for part in given:
        if isinstance(part, Schedule):
            if instantiate is not None:
                _check_instance(part, instantiate)
            found.append(part)
        elif isinstance(part, FunctionType):
            found.append(default_schedule(part, instantiate))
        else:
            raise _refused(f"a schedule or a kernel is composed, got {type(part).__name__} {part!r}")
    return found


def default_schedule(
    kernel: Callable[..., Any], instantiate: Sequence[Any] | Mapping[str, Any] | None = None
) -> Schedule:
    """The schedule of `kernel` by the function `schedule_<kernel>(s)` of the module that defines the kernel.

    The function gets a schedule without steps, and applies its steps to it or returns another one. Raises
    ScheduleError if there is no such function, KernelError if the kernel cannot be compiled.
    """
    name = f"schedule_{kernel.__name__}"
    function = getattr(sys.modules.get(kernel.__module__), name, None)
    if function is None:
        function = kernel.__globals__.get(name)
    if not callable(function):
        raise _refused(
            f"kernel '{kernel.__name__}' has no default schedule: there is no function '{name}' in "
            f"'{kernel.__module__}'",
            hint=f"compose a schedule: allo.customize({kernel.__name__})",
        )
    try:
        schedule = customize(kernel, instantiate=instantiate)
    except KernelError as error:
        if instantiate is None and "template" in str(error):
            raise _refused(
                f"'{kernel.__name__}' is a template, and the instance to compose is not known",
                hint="s.compose(kernel, instantiate=[...]) with the values of the call",
            ) from error
        raise
    made = function(schedule)
    return made if isinstance(made, Schedule) else schedule


def _check_instance(schedule: Schedule, values: Sequence[Any] | Mapping[str, Any]) -> None:
    """Refuse a schedule of another instance than the one that is asked for."""
    own, name = schedule.template, schedule.top_func_name
    if isinstance(values, str) or not isinstance(values, Sequence | Mapping):
        raise _refused(f"instantiate is a list of values, or a dictionary of them by name, got {values!r}")
    given = values if isinstance(values, Mapping) else dict(zip(own, values, strict=False))
    is_known = len(values) == len(given) and given.keys() <= own.keys()
    if is_known and all(is_value(value) and own[key] == value for key, value in given.items()):
        return
    is_of = f"of the instance {name}[{', '.join(map(str, own.values()))}]" if own else "of no template"
    raise _refused(
        f"the schedule of '{name}' is {is_of}, and instantiate= asks for {values}",
        hint="give these values to allo.customize, or leave them out here",
    )


def _refused(message: str, hint: str | None = None) -> ScheduleError:
    """The error at the line that composes."""
    return ScheduleError(f"compose: {message}", at=schedule_line(), hint=hint)
