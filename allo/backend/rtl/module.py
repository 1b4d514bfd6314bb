"""A kernel as SystemVerilog: its text, and the simulation that is called with NumPy arrays."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from ...errors import InternalError, RunTimeout, TargetError, ToolError
from ...ir.module import Module
from ...ir.walk import entry_block, location_of
from ...target import Fpga, Target, load_target
from ..arguments.conversion import converted_arguments
from ..arguments.parameters import Array, Parameter, parameters_of, results_of
from ..arguments.results import result_memory, result_value, returned
from .bus_host import BusHost
from .chip import ChipKernel, Transfer
from .collector import collector_waits
from .extents import closed
from .grids import grid_design
from .host import fetch, keep, pass_to
from .interface.cycles import load_cycles, store_cycles
from .interface.plan import InterfacePlan, host_values
from .interface.settings import InterfaceSettings
from .interface.shell import AxiTop, axi_top
from .interface.traffic import CallTraffic
from .left import FifoCounters
from .library import MODULES, grid_files, library_files
from .loops import LoopMonitors, LoopRun
from .lowering.design import HardwareDesign, design
from .lowering.function import FunctionHardware
from .netlist.printer import printed
from .simulate import Simulation
from .stuck import asked_error, stuck_error
from .synthesise import LintWarning, PlacedDesign, Utilization, linted, placed, synthesised
from .units import BOXES, counted_by_unit


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """How a design is run: at most `limit` cycles, from a random state, with a waveform in a file; the greatest extents
    of arrays that have extents of run time."""

    limit: int | None = None
    random_state: int | None = None
    waveform: str | None = None
    interface: InterfaceSettings | None = None
    extents: Mapping[str, Any] | None = None


class RTLModule:
    """The result of `s.build(target="rtl")`: SystemVerilog, called with NumPy arrays in a simulation by Verilator.

    A call passes arrays by reference and returns results, as that of a CPU build does; `cycles` are then those of the
    run, `loops` what each loop did in it, and `predicted_cycles` those of the schedule (None where data decide). `code`
    is the SystemVerilog without the library, `files` all of it. The simulation is compiled at the first call. With an
    `interface`, which says what comes and goes where, cycles are those with the `traffic` of a call. Stateful variables
    keep their values, until `reset`. Raises TypeError or ValueError, naming the argument, for arguments that do not
    fit, RunTimeout for a run that takes more than `limit` cycles, and DataflowError for one that waits for ever or
    leaves elements in a FIFO, which the next call would begin with.
    """

    def __init__(self, module: Module, target: Fpga, options: SimulationOptions) -> None:
        self._rebuild = partial(RTLModule, module, target, options)
        self.top_func_name = module.top
        self.module = module.mlir
        self.target = target
        self._options = options
        self._read_signature(module)
        self.interface: InterfacePlan | None = None
        module, self._open = closed(module, options.extents)
        with collector_waits():
            self.design = self._design(module)
        self.cycles: int | None = None
        self.loops: tuple[LoopRun, ...] = ()
        self.traffic: CallTraffic | None = None
        self._model: Simulation | None = None
        self._monitors: LoopMonitors | None = None
        self._counters: FifoCounters | None = None
        self._host: BusHost | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies are built anew."""
        return self._rebuild, ()

    @property
    def predicted_cycles(self) -> int | None:
        """The cycles of a call by the schedule, with all waits at FIFOs; None where data decide, or if it hangs.

        Tasks are followed put by put: 20 million of them in some seconds, None if there are more. With an interface
        they are those with all words of memory, None if these wait at random.
        """
        kernel, options = self.design.cycles, self._options.interface
        if kernel is None or self.interface is None or options is None:
            return kernel
        if options.back_pressure is not None:
            return None
        around = (cycles(self.interface, self.target.frequency) for cycles in (load_cycles, store_cycles))
        return kernel + sum(around)

    @cached_property
    def code(self) -> str:
        """The SystemVerilog without the library."""
        return printed(self.design.modules)

    @property
    def files(self) -> dict[str, str]:
        """The SystemVerilog by file name, with the modules of the library, for synthesis tools."""
        return {**library_files(self._library_names(observed=False)), f"{self.top_func_name}.sv": self.code}

    @property
    def chip_files(self) -> dict[str, str]:
        """The SystemVerilog for the pins of a chip, by file name, what is needed first: the kernel, its memories and a
        serial port that fills them (`on_chip`)."""
        board = self.design.board.builder.module
        modules = [*self.design.modules[:-1], board]
        instances = [one for module in modules for one in module.instances if not one.observes]
        library = library_files(dict.fromkeys(one.module for one in instances if one.module in MODULES))
        return {**library, f"{self.top_func_name}.sv": printed(modules)}

    def on_chip(self, transfer: Transfer, polls: int = 1_000_000) -> ChipKernel:
        """The kernel on a chip whose pins `transfer(word, bits)` reaches, for calls with NumPy arrays."""
        board, opened = self.design.board, self._open
        return ChipKernel(self.top_func_name, board, self.parameters, self.results, transfer, polls, opened)

    def lint(self) -> tuple[LintWarning, ...]:
        """What slang says of the SystemVerilog: nothing, if it is as it should be. ToolError if it is not installed."""
        return linted(self.files, self.design.top)

    def synthesise(
        self, target: str | Path | Target | None = None, *, seeds: int = 3, constraints: str | Path | None = None,
        by_unit: bool = False,
    ) -> Utilization | PlacedDesign:
        """What the kernel takes of a device, by default of the one that it is built for.

        For an UltraScale+ device it is counted by Yosys; arrays that are arguments lie outside, and with an interface
        they count, and it too. `by_unit` synthesises each kind of float unit, divider and FIFO, and of eight or more
        elements that are equal, once and multiplies: for designs with many, a bound from above without a clock.
        For one that nextpnr knows (`target="ecp5"`) the kernel, the memories of its arguments and the serial port of
        `on_chip` are placed and routed in `seeds` runs, down to a bitstream; `constraints` is a file (LPF) that has a
        pin for each port.
        Raises ToolError if a tool is not installed or refuses the design, and TargetError for what is no FPGA.
        """
        device = self.target if target is None else load_target(target)
        if not isinstance(device, Fpga):
            raise TargetError(f"hardware is made for FPGAs, and '{device.name}' is none", hint='take target="ecp5"')
        if device.place_and_route is not None:
            text = None if constraints is None else _text(Path(constraints))
            return placed(self.chip_files, self.design.board.name, device, seeds=seeds, constraints=text)
        if constraints is not None:
            raise TargetError(f"nothing is placed for '{device.name}', and so constraints= has no meaning")
        top, modules = self.design.top, self.design.modules
        if self.interface is None:
            (top,) = (one.module for one in modules[-1].instances if one.module not in MODULES)
            modules = modules[:-1]
        if not by_unit:
            return synthesised(self.files, top)
        around = library_files(name for name in self._library_names(observed=False) if name not in BOXES)
        return counted_by_unit(modules, around, top)

    def __str__(self) -> str:
        return self.code

    def __repr__(self) -> str:
        given = ", ".join(f"{p.name}: {p.type!r}" for p in self.parameters)
        results = ", ".join(map(repr, self.results))
        return f"<RTLModule {self.top_func_name}({given}){' -> ' if results else ''}{results}>"

    def _design(self, module: Module) -> HardwareDesign:
        settings = self._options.interface
        if settings is None:
            return design(module, self.target)
        make = axi_top(host_values(module), settings, self.target)

        def shell(kernel: FunctionHardware, taken: Collection[str]) -> AxiTop:
            made = make(kernel, taken)
            self.interface = made.plan
            return made

        return design(module, self.target, shell)

    def _read_signature(self, module: Module) -> None:
        top = module.function(module.top)
        at = location_of(top.operation)
        if entry_block(top) is None:
            raise TargetError(f"'{module.top}' is an external kernel, of which there is no SystemVerilog", at=at)

        def stream(number: int, name: str) -> Parameter:
            raise TargetError(f"argument '{name}' is a stream, which a call cannot pass", at=at)

        self.parameters = parameters_of(module, stream)
        self.results = results_of(module)

    def _library_names(self, *, observed: bool) -> list[str]:
        """The modules of the library that are used, with those that only observe a simulation or without them."""
        instances = [one for module in self.design.modules for one in module.instances if one.module in MODULES]
        return list(dict.fromkeys(one.module for one in instances if observed or not one.observes))

    def _simulation(self) -> Simulation:
        if self._model is None:
            with collector_waits():
                self._model = self._new_simulation()
                if self.interface is not None and self._options.interface is not None:
                    seed = self._options.interface.back_pressure
                    self._host = BusHost(self._model, self.interface, self.target.frequency, seed)
                self._monitors = LoopMonitors(self._model, self.design.loops)
                self._counters = FifoCounters(self._model, self.design.waits)
        return self._model

    def _new_simulation(self) -> Simulation:
        """The simulation, with arrays in the place of grids, unless a waveform is to show each instance."""
        options, visible = self._options, self._visible()
        grids = grid_design(self.design.modules, visible) if options.waveform is None else None
        if grids is None:
            files, code = library_files(self._library_names(observed=True), fast=True), self.code
        else:
            files, code = {**library_files(grids.library, fast=True), **grid_files(grids.grids)}, grids.text
            visible = [one for pair in visible for one in grids.shown(*pair)]
        return Simulation(
            {**files, f"{self.top_func_name}.sv": code}, self.design.top, visible=visible,
            random_state=options.random_state, waveform=options.waveform, bus=self.interface is not None,
            places=None if grids is None else grids.places.place,
        )  # fmt: skip

    def _visible(self) -> list[tuple[str, str]]:
        """What a simulation shows: pairs of a module and a name."""
        top = self.design.modules[-1]
        memories = {one.module: MODULES[one.module].memory for one in top.instances if one.module in MODULES}
        visible = [(module, memory) for module, memory in sorted(memories.items()) if memory is not None]
        visible += [(self.design.top, name) for name in self.design.results if isinstance(name, str)]
        visible += [*self.design.shown, *(("allo_fifo", name) for name in ("all_puts", "all_gets"))]
        visible += [("allo_monitor", "seen")] if self.design.loops else []
        if self.interface is not None:
            visible += [(top.name, port.signal.name) for port in top.ports] + [(top.name, "stuck")]
        return visible

    def reset(self) -> None:
        """Give Stateful variables their first values again."""
        if self._model is not None:
            for state in self.design.states:
                keep(state, self._model)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        _, given, bring_back = converted_arguments(self.top_func_name, self.parameters, arguments, named)
        holders = self._open.in_hardware(self.parameters, given)
        outputs = [result_memory(result) for result in self.results]
        model = self._simulation()
        if self._host is None:
            for place, holder in zip(self.design.arguments, holders, strict=True):
                if place is not None:
                    pass_to(place, holder, model)
        self._run(model, dict(enumerate([*holders, *outputs])))
        if self._host is None:
            for place, holder, parameter in zip(self.design.arguments, holders, self.parameters, strict=False):
                if place is not None and parameter.written:
                    fetch(place, holder, model)
            for found, output in zip(self.design.results, outputs, strict=True):
                fetch(found, output, model)
        self._open.bring_back(self.parameters, given, holders)
        for action in bring_back:
            action()
        assert self._counters is not None
        left = self._counters.left_over()
        if left is not None:
            model.reset()
            raise left.error()
        return returned([result_value(result, memory) for result, memory in zip(self.results, outputs, strict=True)])

    def _run(self, model: Simulation, holders: dict[int, Array]) -> None:
        """Run the kernel once; `holders` are the memory of arguments and results, for a host with a bus."""
        assert self._monitors is not None and self._counters is not None
        self._monitors.start()
        self._counters.start()
        host, limit = self._host, self._options.limit
        moved = self._counters.moved if self.design.asks else None
        outcome = model.run(limit, moved) if host is None else host.run(holders, limit, moved)
        begin = 0 if host is None else host.kernel_start
        self.traffic = None if host is None else host.traffic
        self.cycles = outcome.cycles if self.traffic is None else self.traffic.cycles
        self.loops = self._monitors.read(begin)
        if outcome.failure is not None:
            model.reset()
            raise InternalError(f"the simulation of '{self.top_func_name}' failed: {outcome.failure}")
        if outcome.deadlocked:
            error = stuck_error(model, self.design.waits, outcome.cycles - begin)
            model.reset()
            raise error
        if outcome.idle:
            error = asked_error(model, self.design.waits)
            model.reset()
            self.reset()
            raise error
        if outcome.limited:
            model.reset()
            self.reset()
            raise RunTimeout(
                f"the simulation of '{self.top_func_name}' was stopped after {outcome.cycles:,} cycles",
                hint="give it a greater limit=",
            )


def written_project(module: RTLModule, folder: str | Path) -> None:
    """Write the SystemVerilog of a design to a folder."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, text in module.files.items():
        (place / name).write_text(text)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ToolError(f"cannot read the constraints '{path}': {getattr(error, 'strerror', None) or error}") from None
