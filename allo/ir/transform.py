"""Parts of MLIR modules by name; schedules give handles of them."""

from __future__ import annotations

from mlir import ir

from ..absent import Absent
from ..customize.step.handles import Buffer
from ..errors import ScheduleError, nearest
from .module import Module
from .walk import loops_of

__all__ = ["create_buffer", "find_buffer", "find_func_in_module", "find_loop_in_bands", "update_streaming_interface"]

create_buffer = Absent("allo.ir.transform.create_buffer", "s.buffer_at(array, axis=loop) makes arrays on chip")
update_streaming_interface = Absent(
    "allo.ir.transform.update_streaming_interface", "s.relay(array, destination) connects parts of a program"
)


def find_func_in_module(module: Module | ir.Module, func_name: str) -> ir.OpView | None:
    """The function `func_name`; None if there is none."""
    found = module if isinstance(module, Module) else Module(module)
    return found.function(func_name) if func_name in found else None


def find_loop_in_bands(func: ir.OpView, axis: object) -> tuple[str, str]:
    """The nest and the name of the loop `axis`, a name or a handle, of a function.

    Raises ScheduleError if it has no such loop.
    """
    name = str(getattr(axis, "name", axis))
    nest = getattr(axis, "nest", None)
    views = loops_of(func)
    for view in views:
        if view.name == name and nest in (None, view.nest):
            return view.nest, view.name
    hint = nearest(name, [view.name for view in views])
    raise ScheduleError(f"function '{func.name.value}' has no loop '{name}'", hint=hint)


def find_buffer(module: Module | ir.Module, func: str, name: str) -> tuple[str, ir.Value]:
    """The function that has the array `name`, and its value. Raises ScheduleError if it has none."""
    found = module if isinstance(module, Module) else Module(module)
    buffers = found.buffers(func) if func in found else {}
    if name not in buffers:
        raise ScheduleError(f"there is no array '{Buffer(func, name)}'", hint=nearest(name, list(buffers)))
    return func, buffers[name]
