"""Result of building a project: what runs, and what a call does in each mode."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mlir import ir

from ....errors import TargetError, ToolError
from ....ir.module import Module
from ....ir.types import TensorType
from ...arguments.parameters import Array, Parameter
from ..csim.module import HLSModule
from ..interface.code import file_names, with_interface
from ..interface.host import call_text, read_outputs, registers_text, write_expected, write_inputs
from ..interface.ports import named_as, ports_of
from ..interface.settings import Settings
from ..interface.stream_ports import passed_elements
from .files import Project
from .flows import Mode, ToolFlow
from .reports import Report
from .run import ToolStep, require_tools, run_stage
from .tool_reports import CosimReport, read_registers


class ProjectModule(HLSModule):
    """A kernel with its interface, in a project of a vendor's tool or simulated here.

    `hls_code` is the code with the interface. A call runs the tools, which may take hours; the build only writes the
    project. `reports` has what the tools reported, by step: `"csyn"`, `"cosim"`, `"impl"`, `"kernel"`, `"link"`, ...
    In the modes that run the kernel a call passes NumPy arrays as that of a CPU build does; `milliseconds` is then what
    the host measured on a card or in emulation. In the others it takes no arguments and returns the last report.

    Raises TargetError for a kernel that cannot have the interface. Calls raise ToolError
    for tools that are absent or fail.
    """

    def __init__(
        self,
        module: Module,
        flow: ToolFlow,
        mode: str | None,
        settings: Settings,
        project: Project | None,
        *,
        check: bool = False,
        unbounded: bool = False,
        timeout: float | None = None,
    ) -> None:
        self.flow = flow
        super().__init__(
            module, mode=mode, vendor=flow.vendor, check=check, unbounded=unbounded, timeout=timeout
        )
        if mode != "csim":
            self._read_signature(module)
        if flow.has_interface:
            taken = file_names(self.emitted.code)
            ports = ports_of(module, taken, settings, streams=flow.takes_streams)
            self.emitted = with_interface(self.emitted, ports, flow.vendor)
            if self._simulated is not None:
                self._simulated = with_interface(self._simulated, ports, flow.vendor)
        else:
            ports = named_as(self.emitted.parameters, ports_of(module, (), settings))
        self.ports = ports
        self.settings = settings
        self.project = project
        self.reports: dict[str, Report] = {}
        self.milliseconds: float | None = None
        self._prepared = False  # whether the steps up to something that runs were taken
        if project is not None:
            project.write(self.emitted, ports, self._call_text())

    def _stream_parameter(self, module: Module, name: str, value: ir.Value) -> Parameter:
        """The elements of a stream in their order, as an array; TargetError if nothing fills it, or empties it."""
        if self.mode in self.flow.linked:
            raise TargetError(
                f"argument '{name}' of '{module.top}' is a stream, and in mode '{self.mode}' a host runs the kernel, "
                "which reaches its memory only",
                hint="let a kernel that has arrays as arguments move the data, or build for csim, csyn or cosim",
            )
        if not self.flow.takes_streams or isinstance(value.type, ir.MemRefType):
            return super()._stream_parameter(module, name, value)
        passed = passed_elements(module, name, value)
        return Parameter(name, TensorType(passed.element, (passed.count,)), passed.is_written)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies know what the tools have reported until now."""
        known = ("reports", "milliseconds", "_prepared")
        return (*super().__reduce__(), {name: self.__dict__[name] for name in known})

    def __repr__(self) -> str:
        place = "" if self.project is None else f", in {self.project.folder}"
        return f"<ProjectModule {self.top_func_name} for {self.flow.tool}, mode {self.mode or 'none'}{place}>"

    @property
    def commands(self) -> tuple[str, ...]:
        """What to run in a shell to take the steps of the mode, where its tools are; none for the simulation here."""
        stages = (*self._mode.build, *self._mode.call)
        return () if self.project is None else tuple(map(self._command, stages))

    @property
    def report(self) -> Report | None:
        """The last report of a tool; None before the first call."""
        return next(reversed(self.reports.values()), None)

    @property
    def _mode(self) -> Mode:
        return self.flow.modes[self.mode] if self.mode is not None else Mode(())

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run the kernel, or the tools of a mode that does not run it."""
        if self._mode.build and not (self._mode.call or arguments or named):
            self._run_tools()
            return self.report
        return super().__call__(*arguments, **named)

    def _check_callable(self) -> None:
        if self.mode != "csim" and not self._mode.call:
            does = f"mode '{self.mode}' does not run it" if self.mode else "it is code only"
            raise TargetError(
                f"this build of '{self.top_func_name}' cannot be called with arguments: {does}",
                hint='build with mode="csim" to simulate it',
            )

    # -- simulation --------------------------------------------------------------------------------

    def _invoke(self, slots: Sequence[Array]) -> None:
        project = self.project
        if project is not None:
            project.require_same(self.emitted)
            write_inputs(project.folder, self.ports, slots)
        if self.mode == "csim":
            super()._invoke(slots)
            if project is not None:
                write_expected(project.folder, self.ports, slots)
            return
        assert project is not None
        self._run_tools()
        read_outputs(project.folder, self.ports, slots, self._command(self._mode.call[-1]))

    def _call_text(self) -> str:
        return call_text(self.ports, self.emitted.top) if self.flow.has_interface else super()._call_text()

    # -- tools -------------------------------------------------------------------------------------

    def _run_tools(self) -> None:
        """Take the steps of the mode and read their reports; all tools are looked for before the first one starts."""
        project = self.project
        assert project is not None
        project.require_same(self.emitted)
        stages = (*(() if self._prepared else self._mode.build), *self._mode.call)
        if not stages:
            return
        require_tools(stages, project.folder, self._variables)
        for stage in stages:
            log = run_stage(stage, project.folder, self._variables, self.settings.timeout)
            self._read(stage, log)
        self._prepared = True

    def _read_registers(self) -> None:
        """Where the tool says that registers are, which counts more than the rule by which they were written."""
        assert self.project is not None
        folder = self.project.folder
        for header in sorted((folder / "hls.prj").rglob("x*_hw.h")):
            found = read_registers(header)
            names = [port.name.lower() for port in self.ports]
            if len(set(names)) == len(names) and found.keys() >= set(names):
                (folder / "registers.json").write_text(registers_text(self.ports, found))
                return

    @property
    def _variables(self) -> tuple[str, ...]:
        return (f"TARGET={self.mode}",) if self.mode in self.flow.targets else ()

    def _command(self, stage: ToolStep) -> str:
        assert self.project is not None
        return shlex.join(stage.command(self.project.folder, self._variables))

    def _read(self, stage: ToolStep, log: Path) -> None:
        """Keep what a step reported; ToolError for a simulation that failed."""
        if stage.goal == "run":
            match = re.search(r"^\w+: ([\d.]+) ms$", log.read_text(errors="replace"), re.MULTILINE)
            self.milliseconds = float(match[1]) if match else None
        if stage.goal == "ip":
            self._read_registers()
        if stage.report is None:
            return
        assert self.project is not None and self.mode is not None
        top, asked = self.emitted.top, self.settings.asked_frequency
        report = stage.report.found(self.project.folder, stage.goal, log, top, self.mode, asked)
        self.reports.pop(stage.goal, None)
        if report is not None:
            self.reports[stage.goal] = report
        if isinstance(report, CosimReport) and not report.passed:
            raise ToolError(f"the RTL of '{top}' does not compute what the C++ does\n  log: {log}")
