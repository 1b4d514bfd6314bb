"""A kernel as SystemVerilog: its text, and the simulation that is called with NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InternalError, RunTimeout, TargetError
from ...ir.module import Module
from ...ir.types import Int, TensorType, UInt
from ...ir.walk import entry_block, location_of
from ...target import Fpga
from ..arguments.conversion import converted_arguments
from ..arguments.parameters import Array, Parameter, parameters_of, results_of
from ..arguments.results import result_memory, result_value, returned
from .library import MODULES, library_files
from .lowering.design import HostArray, design
from .netlist.printer import printed
from .simulate import Simulation
from .stuck import stuck_error
from .synthesise import Utilization, synthesised


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """How a design is run: at most `limit` cycles, from a random state, with a waveform in a file."""

    limit: int | None = None
    random_state: int | None = None
    waveform: str | None = None


class RTLModule:
    """The result of `s.build(target="rtl")`: SystemVerilog, called with NumPy arrays in a simulation by Verilator.

    A call passes arrays by reference and returns results, as that of a CPU build does; `cycles` are then those of the
    run, and `predicted_cycles` those of the schedule (None where data decide). `code` is the SystemVerilog without
    the library, `files` all of it. The simulation is compiled at the first call. Raises TypeError or ValueError, naming
    the argument, for arguments that do not fit, and RunTimeout for a run that takes more than `limit` cycles.
    """

    def __init__(self, module: Module, target: Fpga, options: SimulationOptions) -> None:
        self._rebuild = partial(RTLModule, module, target, options)
        self.top_func_name = module.top
        self.module = module.mlir
        self.target = target
        self._options = options
        self._read_signature(module)
        self.design = design(module, target)
        self.predicted_cycles = self.design.cycles
        self.code = printed(self.design.modules)
        self.cycles: int | None = None
        self._model: Simulation | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies are built anew."""
        return self._rebuild, ()

    @property
    def files(self) -> dict[str, str]:
        """The SystemVerilog by file name, with the modules of the library, for synthesis tools."""
        return {**library_files(self._library_names()), f"{self.top_func_name}.sv": self.code}

    def synthesise(self) -> Utilization:
        """What the kernel takes of an UltraScale+ device, synthesised by Yosys; arrays that are arguments lie outside.

        Raises ToolError if Yosys is not installed.
        """
        (kernel,) = (one.module for one in self.design.modules[-1].instances if one.module not in MODULES)
        return synthesised(self.files, kernel)

    def __str__(self) -> str:
        return self.code

    def __repr__(self) -> str:
        given = ", ".join(f"{p.name}: {p.type!r}" for p in self.parameters)
        results = ", ".join(map(repr, self.results))
        return f"<RTLModule {self.top_func_name}({given}){' -> ' if results else ''}{results}>"

    def _read_signature(self, module: Module) -> None:
        top = module.function(module.top)
        at = location_of(top.operation)
        if entry_block(top) is None:
            raise TargetError(f"'{module.top}' is an external kernel, of which there is no SystemVerilog", at=at)

        def stream(number: int, name: str) -> Parameter:
            raise TargetError(f"argument '{name}' is a stream, which a call cannot pass", at=at)

        self.parameters = parameters_of(module, stream)
        self.results = results_of(module)
        for what, kind in [
            *((f"argument '{one.name}'", one.type) for one in self.parameters),
            *(("a result", kind) for kind in self.results),
        ]:
            element = kind.element if isinstance(kind, TensorType) else kind
            if isinstance(element, Int | UInt) and element.width > 64:
                raise TargetError(
                    f"{what} of '{module.top}' has {element.width} bits, and a call of target 'rtl' passes 64 at most "
                    "yet",
                    at=at,
                    hint="pass parts of it; within the kernel integers may have any width",
                )

    def _library_names(self) -> list[str]:
        used = [one.module for module in self.design.modules for one in module.instances if one.module in MODULES]
        return list(dict.fromkeys(used))

    def _simulation(self) -> Simulation:
        if self._model is None:
            files = {**library_files(self._library_names(), fast=True), f"{self.top_func_name}.sv": self.code}
            names = {one.module for one in self.design.modules[-1].instances if one.module in MODULES}
            visible = [(name, MODULES[name].memory or "mem") for name in sorted(names)]
            visible += [(self.design.top, name) for name in self.design.results if isinstance(name, str)]
            visible += [*self.design.shown, *(("allo_fifo", name) for name in ("all_puts", "all_gets"))]
            self._model = Simulation(
                files, self.design.top, visible=visible, random_state=self._options.random_state,
                waveform=self._options.waveform,
            )  # fmt: skip
        return self._model

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        _, holders, bring_back = converted_arguments(self.top_func_name, self.parameters, arguments, named)
        outputs = [result_memory(result) for result in self.results]
        model = self._simulation()
        for place, holder in zip(self.design.arguments, holders, strict=True):
            if place is not None:
                _exchange(place, holder, model.load)
        outcome = model.run(self._options.limit)
        self.cycles = outcome.cycles
        if outcome.failure is not None:
            raise InternalError(f"the simulation of '{self.top_func_name}' failed: {outcome.failure}")
        if outcome.deadlocked:
            error = stuck_error(model, self.design.waits, outcome.cycles)
            model.reset()
            raise error
        if outcome.limited:
            model.reset()
            raise RunTimeout(
                f"the simulation of '{self.top_func_name}' was stopped after {outcome.cycles:,} cycles",
                hint="give it a greater limit=",
            )
        for place, holder, parameter in zip(self.design.arguments, holders, self.parameters, strict=True):
            if place is not None and parameter.written:
                _fetch(place, holder, model)
        for found, output in zip(self.design.results, outputs, strict=True):
            _fetch(found, output, model)
        for action in bring_back:
            action()
        return returned([result_value(result, memory) for result, memory in zip(self.results, outputs, strict=True)])


def _exchange(place: HostArray | str, holder: Array, load: Callable[[str, Any], None]) -> None:
    """Bring an argument into its memories."""
    words = _words(holder)
    if isinstance(place, str):
        load(f"{place}.mem", words.reshape(1))
        return
    bank_of, address_of = place.array.positions()
    flat = words.reshape(-1)
    for bank, name in place.banks.items():
        chosen = bank_of.reshape(-1) == bank
        made = np.zeros(place.array.depth, flat.dtype)
        made[address_of.reshape(-1)[chosen]] = flat[chosen]
        load(f"{name}.mem", made)


def _fetch(place: HostArray | str, holder: Array, model: Simulation) -> None:
    """Bring what memories hold into an argument, or a result."""
    words = _words(holder)
    if isinstance(place, str):
        words.reshape(1, -1)[...] = _extended(model.read(place), 1, words, holder.dtype, None)
        return
    bank_of, address_of = place.array.positions()
    flat = words.reshape(bank_of.size, -1)
    for bank, name in place.banks.items():
        chosen = bank_of.reshape(-1) == bank
        read = model.read(f"{name}.mem")
        found = _extended(read, len(read), words, holder.dtype, place.array.memory.width)
        flat[chosen] = found[address_of.reshape(-1)[chosen]]


def _words(holder: Array) -> Array:
    """The bits of elements as unsigned numbers."""
    return holder.view(f"u{holder.dtype.itemsize}")


def _extended(read: Array, count: int, words: Array, dtype: Any, width: int | None) -> Array:
    """What was read in words of the holder, with the signs of narrow integers."""
    found = read.reshape(count, -1)
    size = words.dtype.itemsize * 8
    if dtype.kind == "i" and width is not None and width < size:
        wide = found.astype(words.dtype) << words.dtype.type(size - width)
        found = (wide.view(f"i{size // 8}") >> (size - width)).view(words.dtype)
    return found.astype(words.dtype)


def written_project(module: RTLModule, folder: str) -> None:
    """Write the SystemVerilog of a design to a folder."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, text in module.files.items():
        (place / name).write_text(text)
