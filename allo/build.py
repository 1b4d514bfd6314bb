"""`allo.build`: the backend that a target names, found by the manifests."""

from __future__ import annotations

from typing import Any

from .backend.cpu import MANIFEST as CPU
from .backend.registry import backend_called, backends
from .customize import Schedule
from .dataflow.banks import with_own_banks
from .errors import TargetError, nearest
from .ir.recursion import reads_programs
from .messages import working


@reads_programs
def build(
    schedule: Schedule,
    target: str | None = None,
    mode: str | None = None,
    project: str | None = None,
    configs: dict[str, Any] | None = None,
    wrap_io: bool = True,
    **options: Any,
) -> Any:
    """Make `schedule` run on `target`.

    `target` is `None` or `"llvm"` for the CPU: the result is called with NumPy arrays, changes them in place, and
    returns the results. Every operation rounds, as in NumPy, in hardware and in the simulation of HLS code. Options of
    the CPU: `contract=True` lets `a * b + c` be rounded once, `fastmath=True` lets floating-point arithmetic be
    reordered, `rolled=True` has LLVM unroll no loops but those that the schedule marks (large kernels compile in half
    the time), `subnormals="flush"` puts zeros in the place of subnormal numbers (docs/rtl.md). Also of simulations:
    `check=True` raises CheckError where the kernel does what has no meaning, and with `unbounded=True` FIFOs hold any
    number of elements, instead of their depth (docs/running.md); a call that takes longer than `timeout=seconds` raises
    RunTimeout. `timed=True` is of the CPU: `.timing` of the result then has the cycles of its last call on u280, with
    `timed="zynq7020"` of another target (docs/dataflow.md).

    `"vhls"` gives HLS C++ (`.hls_code`), `"xls"` that for the front end of Google's XLS; `"vitis_hls"` with
    `mode="csim"` compiles and runs it on NumPy arrays, with other modes (`"csyn"`, `"cosim"`, `"hw_emu"`, ...) writes
    a project to the folder `project` and runs the tools in it, as `"vivado_hls"`, `"pynq"`, `"ihls"`, `"catapult"` and
    `"tapa"` do with their modes (docs/fpga.md). There, with `wrap_io=False`, arguments that can stay in memory are not
    copied to the chip. For HLS, `rewrites=["cse", ...]` does to the module first what docs/estimator-details.md says of
    rewrites.

    Tools for FPGAs let no two tasks of a region use one array: arguments that its schedule leaves whole are divided.

    `"rtl"` gives SystemVerilog of our own (`.code`), called with NumPy arrays in a simulation; then `.cycles` are those
    of the run. Options `device`, `limit`, `random_state`, `waveform`, `project`, `extents` (docs/rtl.md).

    `"aie"` maps the tasks of a region on an array of processors: MLIR-AIE text (`.mlir`), and calls on a model of the
    array. Options `project`, `mapping_primitives`, `device_type`, `dialect` (docs/npu.md).

    Raises TargetError for an unknown target, mode or option.
    """
    wanted = CPU.names[0] if target is None else target
    backend = backend_called(wanted)
    if backend is None:
        names = [name for backend in backends() for name in backend.names]
        hint = nearest(str(wanted), names) or f"the targets are {', '.join(names)}"
        raise TargetError(f"there is no target '{wanted}'", hint=hint)
    if mode is not None and mode not in backend.modes:
        listed = ", ".join(backend.modes) or "none"
        raise TargetError(f"target '{wanted}' has no mode '{mode}'", hint=f"its modes: {listed}")
    if not isinstance(wrap_io, bool):
        raise TargetError(f"wrap_io must be True or False, got {wrap_io!r}")
    unwrapped = {"wrap_io": False} if not wrap_io and "wrap_io" in backend.options else {}
    given = {"project": project, "configs": configs, **options}
    chosen = unwrapped | {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if name not in backend.options:
            listed = ", ".join(backend.options) or "none"
            raise TargetError(f"target '{wanted}' takes no option '{name}'", hint=f"its options: {listed}")
    if backend.own_banks and schedule.divides_arguments:
        schedule = with_own_banks(schedule)
    with working(f"building '{schedule.top_func_name}' for {' '.join(filter(None, (wanted, mode)))}"):
        return backend.build(schedule.ir, mode, chosen)
