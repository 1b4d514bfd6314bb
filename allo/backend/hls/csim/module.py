"""A kernel as HLS C++: its text, and the simulation that is called with NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

from mlir import ir

from ....errors import RunTimeout, TargetError
from ....ir.hang import Hang
from ....ir.module import Module
from ....ir.run_report import RunFacts
from ....ir.streams import is_stream_type, uses_streams
from ....ir.types import TensorType
from ....ir.walk import entry_block
from ....messages import working
from ....poly import ROOM, hang_of
from ....poly.apart import mark_apart
from ...arguments.arrays import pointer_to, run_time_extents
from ...arguments.calling import is_stopped_by_interrupts
from ...arguments.conversion import converted_arguments
from ...arguments.parameters import Array, Parameter, parameters_of, results_of
from ...arguments.results import result_memory, result_value, returned
from ...checked import CheckFailed, Checks, checks_of, with_checks
from ...instantiate import instantiate
from ...open_arrays import asked_extents
from ..interface.results import check_result_arrays
from ..text.files import header_text, kernel_text
from ..text.module import Emitted, described, emit
from ..text.vendor import VITIS, Vendor
from .elementary import with_own_functions
from .library import load, simulation_library
from .stack import run_with_stack, stack_bytes
from .wrapper import direct_call_text, simulation_text


class HLSModule:
    """The result of a build for HLS: `hls_code` is the C++; with `mode="csim"` it is called with NumPy arrays.

    A call passes arrays by reference and returns results, as that of a CPU build does. As in host programs, arrays for
    the results may follow the arguments: they are written too. The C++ is compiled at the first call. Raises TypeError
    or ValueError, naming the argument, for arguments that do not fit.
    """

    def __init__(
        self,
        module: Module | ir.Module,
        top_func_name: str | None = None,
        *,
        mode: str | None = None,
        vendor: Vendor = VITIS,
        check: bool = False,
        unbounded: bool = False,
        timeout: float | None = None,
    ) -> None:
        module = Module.entered(module, top_func_name)
        self.top_func_name = module.top
        self.module = module.mlir
        self.mode = mode
        hang = None if unbounded else hang_of(module)
        if isinstance(hang, Hang):
            raise hang.error()
        self._checks = Checks()
        if check:
            module = with_checks(instantiate(module))
            self._checks = checks_of(module)
        self.emitted: Emitted = emit(module, vendor)
        room = 0 if unbounded else ROOM if hang is None else 1
        self._simulated, self._facts = None, RunFacts(module.top)
        if mode == "csim":
            self._simulated, self._facts = _simulated(module, vendor, room)
        self._timeout = timeout
        self._rebuild: Callable[[], HLSModule] | None = None
        self._library: bytes | None = None
        self._function: Any = None
        self._stack = stack_bytes(module) if mode == "csim" else 0
        if mode == "csim":
            self._read_signature(module)

    def made_by(self, rebuild: Callable[[], HLSModule]) -> Self:
        """This module; copies and pickles of it are made by `rebuild`."""
        self._rebuild = rebuild
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies are built anew, in the same project; Stateful variables have their first values there."""
        if self._rebuild is None:
            raise TypeError(f"this {type(self).__name__} was not made by allo.build and cannot be copied")
        return self._rebuild, ()

    @property
    def hls_code(self) -> str:
        """The C++."""
        return self.emitted.code

    def __str__(self) -> str:
        return self.emitted.code

    def __repr__(self) -> str:
        return f"<HLSModule {described(self.emitted)}>"

    def _read_signature(self, module: Module) -> None:
        top = module.function(module.top)
        signature = ir.FunctionType(ir.TypeAttr(top.operation.attributes["function_type"]).value)
        for kind in signature.results:
            if is_stream_type(kind):
                raise _stream_refused(module, kind)
        self._asked = asked_extents(module).get(module.top, [])
        entry = entry_block(top)
        assert entry is not None
        self.parameters = parameters_of(
            module, lambda number, name: self._stream_parameter(module, name, entry.arguments[number])
        )
        self.results = results_of(module)

    def _stream_parameter(self, module: Module, name: str, value: ir.Value) -> Parameter:
        """How a call passes a stream; here it does not."""
        raise _stream_refused(module, value.type)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self._check_callable()
        own = len(self.parameters)
        into = arguments[own:] if len(arguments) == own + len(self.results) else ()
        check_result_arrays(self.results if into else (), into)
        given = arguments[:own] if into else arguments
        arguments, holders, bring_back = converted_arguments(self.top_func_name, self.parameters, given, named)
        outputs = [result_memory(result) for result in self.results]
        self._invoke([*holders, *self._extents(arguments), *outputs])
        for action in bring_back:
            action()
        values = [result_value(result, memory) for result, memory in zip(self.results, outputs, strict=True)]
        for array, value in zip(into, values, strict=bool(into)):
            array[...] = value
        return returned(values)

    def _extents(self, given: Sequence[Any]) -> list[Array]:
        """The extents that the types of the arguments leave to run time, each in memory."""
        return [
            extent
            for parameter, value in zip(self.parameters, given, strict=True)
            if isinstance(parameter.type, TensorType) and not parameter.type.is_static
            for extent in run_time_extents(parameter.type, value)
        ]

    def _check_callable(self) -> None:
        if self.mode != "csim":
            raise TargetError(
                f"this build of '{self.top_func_name}' is code only and cannot be called",
                hint='build with target="vitis_hls", mode="csim" to simulate it',
            )

    def _invoke(self, slots: Sequence[Array]) -> None:
        packed = (ctypes.c_void_p * max(len(slots), 1))(*(pointer_to(slot).value for slot in slots))
        if self._function is None:
            if self._library is None:
                with working(f"compiling the simulation of '{self.top_func_name}'"):
                    self._library = simulation_library(self.sources(), self.emitted.external)
            self._function = load(self._library, self._facts, self._timeout)
        try:
            run_with_stack(self._stack, partial(self._function, packed, is_stopped_by_interrupts()))
        except CheckFailed as failed:
            raise self._checks.error(failed) from None
        except (KeyboardInterrupt, RunTimeout):
            self.reset()  # Stateful variables may have been left half way
            raise

    def sources(self) -> dict[str, str]:
        """The files that a simulation is compiled from."""
        return {
            "kernel.cpp": with_own_functions(kernel_text(self._simulated or self.emitted)),
            "kernel.h": header_text(self.emitted),
            "call.h": self._call_text(),
            "csim.cpp": simulation_text(self._stack),
        }

    def _call_text(self) -> str:
        return direct_call_text(self.emitted, self.parameters, self.results, self._asked)

    def reset(self) -> None:
        """Give Stateful variables their first values again."""
        self._function = None


def _simulated(module: Module, vendor: Vendor, room: int) -> tuple[Emitted | None, RunFacts]:
    """The text whose processes take turns, if `module` has streams, and what its numbers mean."""
    if not any(uses_streams(function) for function in module.functions()):
        return None, RunFacts(module.top)
    numbered = module.clone()
    facts = RunFacts.number(numbered)
    mark_apart(numbered)
    return emit(numbered, replace(vendor, simulated=True, room=room)), facts


def _stream_refused(module: Module, kind: ir.Type) -> TargetError:
    return TargetError(
        f"'{module.top}' has a stream in its signature ({kind}) and cannot be called from Python",
        hint="build a kernel that makes the stream itself and calls this one",
    )
