"""Dataflow designs: regions of tasks with streams between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..customize import Schedule
from ..customize import customize as _customize
from ..errors import TargetError
from ..frontend import dsl
from ..frontend.dsl import *  # noqa: F403 - tasks of the Dato paper have all names of the language from one module
from ..frontend.regions import (
    all_gather,
    allreduce,
    array,
    gather,
    get_pid,
    get_tid,
    kernel,
    pipe,
    reduce_scatter,
    region,
    scatter,
    task,
)
from ..ir.types import Stream
from .banks import give_own_banks
from .placement import demand_placeable

_SHARING = (None, "llvm", "simulator")  # targets on which tasks may read one array
_ARRAYS = ("aie", "npu-model", "aie-mlir")  # targets whose cores run tasks

__all__ = [
    *dsl.__all__,
    "Stream",
    "all_gather",
    "allreduce",
    "array",
    "build",
    "customize",
    "gather",
    "get_pid",
    "get_tid",
    "kernel",
    "pipe",
    "reduce_scatter",
    "region",
    "scatter",
    "task",
]


def customize(
    function: Callable[..., Any],
    *,
    instantiate: Sequence[Any] | Mapping[str, Any] | None = None,
    opt_default: bool = True,
    **options: Any,
) -> Schedule:
    """The schedule of a region: all primitives apply to the loops and arrays of its tasks, such as `"task:i"`.

    Options are those of `allo.customize`. `opt_default` says for published Allo whether inner loops are pipelined
    without being told; here they are not in both cases. Builds for tools that let no two tasks use one array partition
    what no step has partitioned, as `allo.dataflow.build` does, and warn with the steps (`ScheduleNote`).

    Raises KernelError with all mistakes of the region and its tasks, and DataflowError for tasks that share an end of a
    stream, write one element, wait for ever whatever the depths of streams are, or put another number of elements than
    is taken (Dato, section 3.3).
    """
    schedule = _customize(function, instantiate=instantiate, **options)
    schedule.divides_arguments = True
    return schedule


def build(
    function: Callable[..., Any] | Schedule,
    target: str | None = None,
    mode: str | None = None,
    project: str | None = None,
    configs: dict[str, Any] | None = None,
    *,
    instantiate: Sequence[Any] | Mapping[str, Any] | None = None,
    mapping_primitives: Sequence[tuple[str, Sequence[str]]] = (),
    opt_default: bool = True,
    enable_tensor: bool = False,
    **options: Any,
) -> Any:
    """A region, or its schedule, made to run on `target`, as by `allo.build`; `"simulator"` is the CPU too.

    Tasks take turns on one thread, with FIFOs of their depths; what waits for ever ends with DataflowError. Tools for
    FPGAs let no two tasks read one array: for them, arguments of a region, but not of a schedule, are partitioned so
    that positions use banks of their own, as by the steps `s.partition("top:A", dim=1)`.
    `timed=True`, on a CPU, gives the cycles of each call: `.timing` of what is built is a `TimedRun`.
    `mapping_primitives` say which tasks share a core of an array of processors (Dato, section 4.2): `("bundle", [...])`
    positions of one task, `("chain", [...])` tasks that follow each other (docs/npu.md). What is computed does not
    depend on it, and on a CPU all tasks take turns on one core anyhow: there, only the names are looked at. Raises what
    `customize` and `allo.build` raise.
    """
    from ..build import build as build_schedule

    is_given = isinstance(function, Schedule)
    schedule = function if isinstance(function, Schedule) else customize(
        function, instantiate=instantiate, enable_tensor=enable_tensor
    )
    if target in _ARRAYS:
        if mapping_primitives:
            options["mapping_primitives"] = mapping_primitives
        return build_schedule(schedule, target, mode, project, configs, **options)
    if mapping_primitives:
        demand_placeable(schedule.ir, mapping_primitives)
        if target not in _SHARING or options.get("timed", False):
            made = f"target '{target}' makes" if target not in _SHARING else "timed=True counts the cycles of"
            raise TargetError(
                f"mapping_primitives let one core run several tasks, one after the other, and {made} hardware of its "
                "own for each task",
                hint="leave them out, or build for a CPU, where tasks take turns anyhow",
            )
    if not is_given and target not in _SHARING:
        give_own_banks(schedule)
    return build_schedule(schedule, target, mode, project, configs, **options)
