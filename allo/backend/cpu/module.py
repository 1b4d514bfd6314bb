"""A kernel as machine code, called with NumPy arrays."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from mlir import ir

from ...errors import InternalError, RunTimeout, TargetError
from ...frontend.emit.given_code import EXTERNAL, LINKED
from ...ir.hang import Hang
from ...ir.module import Module
from ...ir.types import TensorType
from ...messages import working
from ...poly import hang_of
from ..arguments.arrays import run_time_extents
from ..arguments.calling import call, is_stopped_by_interrupts
from ..arguments.conversion import converted_arguments
from ..arguments.parameters import Array, parameters_of, results_of
from ..arguments.results import result_memory, result_value, returned
from ..checked import CheckFailed, track_writers, with_checks
from ..declared import refuse_undefined
from .checks import lower_checks
from .components import threads_of
from .entry import ENTRY, add_entry
from .extents import pass_extents
from .layouts import drop_partitions
from .on_arrays import DirectCall
from .pipeline import lower
from .streams import call_on_threads, call_with_streams, prepare_streams
from .tasks import spawn_processes

if TYPE_CHECKING:
    from ...dataflow.timed.run import TimedRun
    from ..external.library import Library
    from .timed.design import TimedDesign, TimedOption

_POINTER_SIZE = ctypes.sizeof(ctypes.c_void_p)


def _link_external(module: Module) -> tuple[Library, ...]:
    """What external kernels of `module` call; few modules have any, so the compiler of C++ is loaded for those."""
    if not any(EXTERNAL in function.operation.attributes for function in module.functions()):
        return ()
    from ..external.linking import link_external

    return link_external(module)


def _linked_functions(module: Module) -> dict[str, int]:
    """The addresses of functions of shared objects that `module` calls, by name."""
    if not any(LINKED in function.operation.attributes for function in module.functions()):
        return {}
    from ..external.given import linked_functions

    return linked_functions(module)


def _timed_design(module: Module, timed: TimedOption, *, unbounded: bool, flush: bool) -> TimedDesign | None:
    """The design with clocks; few have any, so the estimator is loaded for those."""
    if timed is False:
        return None
    from .timed.design import TimedDesign

    return TimedDesign(module, timed, unbounded=unbounded, flush=flush)


class LLVMModule:
    """The result of `s.build()`: call it with the arguments of the kernel.

    Arrays are passed by reference and changed in place; results are returned (a tuple if there are several). Machine
    code is made at the first call. Raises TypeError or ValueError, naming the argument, for arguments that do not fit.
    """

    def __init__(
        self,
        module: Module | ir.Module,
        top_func_name: str | None = None,
        *,
        fastmath: bool = False,
        contract: bool = False,
        unbounded: bool = False,
        check: bool = False,
        timed: TimedOption = False,
        timeout: float | None = None,
        threads: int = 1,
        flush: bool = False,
        rolled: bool = False,
    ) -> None:
        module = Module.entered(module, top_func_name)
        self._rebuild = partial(
            LLVMModule, module, fastmath=fastmath, contract=contract, unbounded=unbounded, check=check, timed=timed,
            timeout=timeout, threads=threads, flush=flush, rolled=rolled,
        )  # fmt: skip
        self._source = module
        self._timeout = timeout
        refuse_undefined(module, (EXTERNAL, LINKED))
        if timed and check:
            raise TargetError("a build with checks has no cycles", hint="leave out check=True or timed=True")
        if timed and threads != 1:
            hint = "leave out threads= or timed=True"
            raise TargetError("a timed run notes what all tasks do, on one thread", hint=hint)
        self._lowered = with_checks(module) if check else module.clone()
        if check:
            track_writers(self._lowered)
        self._timed = _timed_design(self._lowered, timed, unbounded=unbounded, flush=flush)
        if self._timed is not None:
            self._lowered = self._timed.module
        self._timing: TimedRun | None = None
        self._checks = lower_checks(self._lowered)
        self._unbounded = unbounded
        self._streams = prepare_streams(self._lowered, module, unbounded=unbounded)
        self._threads = threads_of(self._lowered, threads) if self._streams or threads != 1 else None
        if self._timed is not None:
            self._timed.write(self._streams)
        self._libraries = _link_external(self._lowered)
        self._linked = _linked_functions(self._lowered)
        if self._timed is not None:
            self._linked |= self._timed.linked()
        self.top_func_name = module.top
        self.module = module.mlir
        self.parameters = parameters_of(module)
        self.results = results_of(module)
        pass_extents(self._lowered)
        drop_partitions(self._lowered)
        add_entry(self._lowered)
        if self._streams or self._timed is not None:
            spawn_processes(self._lowered, everywhere=self._timed is not None)
        lower(self._lowered, fastmath=fastmath, contract=contract, check=check, flush=flush, rolled=rolled)
        self._compiling = threading.Lock()
        self._engine: Any = None
        self._function: Any = None
        self._direct: DirectCall | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies are built anew, for the CPU where they are made; Stateful variables have their first values there."""
        return self._rebuild, ()

    @property
    def llvm(self) -> str:
        """The module in the LLVM dialect, as text."""
        return str(self._lowered)

    def __str__(self) -> str:
        return self.llvm

    def __repr__(self) -> str:
        given = ", ".join(f"{p.name}: {p.type!r}" for p in self.parameters)
        results = ", ".join(map(repr, self.results))
        return f"<LLVMModule {self.top_func_name}({given}){' -> ' if results else ''}{results}>"

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        arguments, holders, afterwards = converted_arguments(self.top_func_name, self.parameters, arguments, named)
        outputs = [result_memory(result) for result in self.results]
        self._invoke(arguments, holders, outputs)
        for bring_back in afterwards:
            bring_back()
        return returned([result_value(result, memory) for result, memory in zip(self.results, outputs, strict=True)])

    def on_arrays(self, *arrays: Array) -> None:
        """Call it with arrays that are what its parameters say, contiguous, and apart where it writes: nothing of that
        is looked at, which for small arrays takes as long as the machine code."""
        direct = self._direct
        if direct is None:
            if self._streams or self._timed is not None or self._checks or self._libraries:
                self._invoke(arrays, list(arrays), [])
                return
            with self._compiling:
                if self._function is None:
                    self._compile()
                direct = self._direct = DirectCall(self._function, self._engine, len(arrays))
        try:
            direct(arrays, self._timeout)
        except (KeyboardInterrupt, RunTimeout):
            self.reset()  # Stateful variables may have been left half way
            raise

    def _invoke(self, given: Sequence[Any], holders: list[Array], outputs: list[Array]) -> None:
        """Call the machine code with the address of each number, and for arrays that of a pointer to them."""
        with self._compiling:  # other threads may call it, or reset it, meanwhile
            if self._function is None:
                self._compile()
            function, engine = self._function, self._engine
        passed: list[tuple[bool, Array]] = []  # is it an array that a pointer leads to?
        last: list[tuple[bool, Array]] = []  # where `pass_extents` has put arrays of run-time extents
        for parameter, holder, value in zip(self.parameters, holders, given, strict=True):
            if not isinstance(parameter.type, TensorType):
                passed.append((False, holder))
            elif parameter.form or parameter.type.is_static:
                passed.append((True, holder))
            else:
                extents = run_time_extents(parameter.type, value)
                last += [(True, holder), *((False, extent) for extent in extents)]
        passed += last
        passed += [(True, output) for output in outputs]
        count = len(passed)
        addresses = [memory.ctypes.data for _, memory in passed]
        pointers = (ctypes.c_void_p * count)(*addresses)  # it has to stay until the end of the call
        first = ctypes.addressof(pointers)
        places = range(first, first + count * _POINTER_SIZE, _POINTER_SIZE)
        ways = zip(passed, addresses, places, strict=True)
        packed = (ctypes.c_void_p * count)(*(place if is_array else address for (is_array, _), address, place in ways))
        try:
            if self._timed is not None:
                self._timing = self._timed.call(
                    function, packed, is_stopped_by_interrupts(), self._hang, self._timeout
                )
            elif self._streams:
                if not self._called_on_threads(function, packed, holders):
                    call_with_streams(
                        function, packed, is_stopped_by_interrupts(), self._streams, self._hang, self._timeout
                    )
            else:
                call(function, packed, None, function, is_stopped_by_interrupts(), self._timeout)
        except CheckFailed as failed:
            raise self._checks.error(failed) from None
        except (KeyboardInterrupt, RunTimeout):
            self.reset()  # Stateful variables may have been left half way
            raise
        finally:  # what went wrong in an external kernel comes before what that did to streams
            del engine  # the machine code had to stay until here
            for library in self._libraries:
                library.raise_failure()

    @property
    def threads(self) -> int:
        """How many threads a call uses for tasks that have nothing to do with one another."""
        return 1 if self._threads is None else self._threads.count

    def _called_on_threads(self, function: int, packed: Any, holders: Sequence[Array]) -> bool:
        """Whether a call on several threads went well; else, arguments are as they were."""
        if self._threads is None or self._streams is None:
            return False
        given = [holder for parameter, holder in zip(self.parameters, holders, strict=True) if parameter.written]
        before = [holder.copy() for holder in given]
        stops = is_stopped_by_interrupts()
        if call_on_threads(self._threads, function, packed, stops, self._streams, self._timeout):
            return True
        for holder, values in zip(given, before, strict=True):
            holder[...] = values
        return False

    @property
    def timing(self) -> TimedRun:
        """The cycles of the last call of a design that was built with `timed=True`.

        Raises TargetError if it was not, or has not been called.
        """
        if self._timed is None:
            hint = 'build it with timed=True, or timed="zynq7020" for another target than u280'
            raise TargetError(f"'{self.top_func_name}' was built without cycles", hint=hint)
        if self._timing is None:
            raise TargetError(f"'{self.top_func_name}' has not been run yet", hint="call it first")
        return self._timing

    def _hang(self) -> Hang | None:
        """Why the program waits for ever, if that is seen without its data; FIFOs have their depths there."""
        found = None if self._unbounded else hang_of(self._source)
        return found if isinstance(found, Hang) else None

    def reset(self) -> None:
        """Give Stateful variables their first values again."""
        self._engine = self._function = self._direct = None

    def _compile(self) -> None:
        from .engine import (
            compile_module,  # loads the compiler of LLVM, which `import allo` need not wait for
        )

        with working(f"compiling '{self.top_func_name}' for the CPU"):
            self._engine = compile_module(self._lowered, [library.path for library in self._libraries])
        for name, found in self._linked.items():
            self._engine.raw_register_runtime(name, ctypes.c_void_p(found))
        address = self._engine.raw_lookup(ENTRY)
        if not address:
            raise InternalError(f"the machine code of '{self.top_func_name}' calls a function that is nowhere defined")
        self._function = address
