"""Rewrites and analyses of MLIR modules under the names of published Allo; schedules do the same step by step."""

from __future__ import annotations

from math import prod
from typing import Any

from mlir import ir

from .absent import Absent
from .customize import Schedule
from .customize.module.adopt_layout import parsed
from .errors import KernelError, TargetError
from .ir.builder import Builder
from .ir.effects import Effects
from .ir.linalg import lower_linalg
from .ir.mlir_types import from_mlir
from .ir.module import Module
from .ir.types import TensorType
from .ir.walk import argument_names, entry_block, statements

__all__ = [
    "analyze_arg_load_store",
    "analyze_use_def",
    "call_ext_libs_in_ptr",
    "decompose_library_function",
    "generate_input_output_buffers",
    "invoke_mlir_parser",
    "lower_composite_type",
    "lower_linalg_and_attach_names",
    "monitor_memory_usage",
    "wrap_io",
]

_OPERATORS = "operators on whole arrays become loops by allo.customize(kernel, lower_linalg=True)"
decompose_library_function = Absent("allo.passes.decompose_library_function", _OPERATORS)
call_ext_libs_in_ptr = Absent("allo.passes.call_ext_libs_in_ptr", "kernels call an allo.IPModule as a function")
lower_composite_type = Absent("allo.passes.lower_composite_type", "structs are lowered where they are built")

type Rewritten = Schedule | Module | ir.Module


def _module(subject: Rewritten) -> Module:
    if isinstance(subject, Schedule):
        return subject.ir
    if not isinstance(subject, Module | ir.Module):
        raise TypeError(f"a module is the one of a schedule, or of a text, got {type(subject).__name__} {subject!r}")
    return subject if isinstance(subject, Module) else Module(subject)


def invoke_mlir_parser(text: Any) -> ir.Module:
    """The MLIR module that a text prints. Raises KernelError, with the place, for a text that is none."""
    try:
        return parsed(str(text)).mlir
    except ir.MLIRError as error:
        raise KernelError(f"the text is no module of MLIR: {error}") from None


def generate_input_output_buffers(
    module: Module | ir.Module, top_func_name: str | None = None, flatten: bool = False, mappings: Any = None
) -> None:
    """Let the function work on copies of the arrays that it is given, which are brought back in the end; in place.

    A schedule shows its module, and does not take it back: build a module that was changed here by
    `allo.Schedule.from_mlir(str(module))`. Raises TargetError for `flatten` and `mappings`: projects give arrays to
    ports themselves.
    """
    if flatten or mappings:
        raise TargetError("arrays are not flattened here", hint='build with target="vitis_hls" and a project')
    found = _module(module)
    name = found.top if top_func_name is None else top_func_name
    if name not in found:
        raise TargetError(f"the module has no function '{name}'", hint=f"its functions: {', '.join(found.names())}")
    function, effects = found.function(name), Effects(found)
    entry = entry_block(function)
    if entry is None:
        raise TargetError(f"function '{name}' has no body")
    written = effects.written_arguments(name)
    returned = statements(entry)[-1]
    first = Builder(ir.InsertionPoint.at_block_begin(entry), function.operation.location)
    for position, label in enumerate(argument_names(function)):
        argument = entry.arguments[position]
        kind = argument.type
        if not isinstance(kind, ir.MemRefType) or not kind.has_static_shape or "allo.stream" in str(kind):
            continue
        local = first.alloc(ir.MemRefType(kind), f"buf_{label}")
        argument.replace_all_uses_with(local)
        first.copy(argument, local)
        if position in written:
            Builder.before(returned).copy(local, argument)
    found.verify()


def wrap_io(module: Module | ir.Module, top_func_name: str | None = None) -> None:
    """`generate_input_output_buffers`, by the name of the option of `build`."""
    generate_input_output_buffers(module, top_func_name)


def lower_linalg_and_attach_names(module: Module | ir.Module) -> None:
    """Make named loops of the operators on whole arrays; in place. See `allo.customize(kernel, lower_linalg=True)`."""
    lower_linalg(_module(module))


def analyze_arg_load_store(subject: Rewritten) -> dict[str, list[str]]:
    """For the arguments of each function whether they are read ("in"), written ("out"), both or neither ("none")."""
    module = _module(subject)
    effects = Effects(module)
    found: dict[str, list[str]] = {}
    for function in module.functions():
        name = function.name.value
        entry = entry_block(function)
        if entry is None:
            continue
        uses = {effect.operand: effect for effect in effects.summary(name)}
        kinds = []
        for position, argument in enumerate(entry.arguments):
            effect = uses.get(position)
            if effect is not None:
                kinds.append("both" if effect.reads and effect.writes else "out" if effect.writes else "in")
            else:
                kinds.append("none" if isinstance(argument.type, ir.MemRefType) else "in")
        found[name] = kinds
    return found


def analyze_use_def(schedule: Schedule) -> Any:
    """The producers and consumers of arrays, also through calls: `schedule.graph`."""
    return schedule.graph


def monitor_memory_usage(subject: Rewritten) -> str:
    """A table of the arrays of all functions: shape, type and bits."""
    module = _module(subject)
    rows = [("array", "shape", "type", "bits")]
    for name in module.names():
        for label, value in module.buffers(name).items():
            kind = from_mlir(value.type) if "allo.stream" not in str(value.type) else None
            if isinstance(kind, TensorType) and kind.is_static:
                bits = prod(kind.shape) * kind.element.bits
                rows.append((f"{name}:{label}", str(kind.shape), repr(kind.element), f"{bits:,}"))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in rows)
