"""Decides what the build of a project runs, and what a call of the result does in each mode."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...errors import TargetError, ToolError
from ...ir.module import Module
from ..cpu.arguments import Array
from .emit import template
from .host import call_text, read_outputs, registers_text, write_expected, write_inputs
from .interface import ports_of
from .interface_code import file_names, with_interface
from .module import HLSModule
from .project import Project
from .project_flows import Flow, Mode
from .project_settings import Settings
from .project_sources import header_text, kernel_text
from .reports import (
    CosimReport,
    ImplementationReport,
    SynthesisReport,
    read_cosim,
    read_implementation,
    read_registers,
    read_synthesis,
)
from .run import Stage, require_tools, run_stage
from .wrapper import ENTRY

Report = SynthesisReport | CosimReport | ImplementationReport


class ProjectModule(HLSModule):
    """A kernel with its interface, in a project of a vendor's tool or simulated here.

    `hls_code` is the code with the interface. A call runs the tools, which may take hours; the build only writes the
    project. `reports` has what the tools reported, by step: `"csyn"`, `"cosim"`, `"impl"`. In the modes that run the
    kernel a call passes NumPy arrays as that of a CPU build does; `milliseconds` is then what the host measured on a
    card or in emulation. In the others it takes no arguments and returns the last report.

    Raises TargetError for a kernel that cannot have the interface. Calls raise ToolError
    for tools that are absent or fail.
    """

    def __init__(
        self, module: Module, flow: Flow, mode: str | None, settings: Settings, project: Project | None
    ) -> None:
        super().__init__(module, mode=mode, vendor=flow.vendor)
        names = file_names(self.emitted.code)
        ports = ports_of(module, names, settings)
        if mode != "csim":
            self._read_signature(module)
        self.emitted = with_interface(self.emitted, ports, flow.vendor)
        self.ports = ports
        self.flow = flow
        self.settings = settings
        self.project = project
        self.reports: dict[str, Report] = {}
        self.milliseconds: float | None = None
        self._prepared = False  # whether the steps up to something that runs were taken
        if project is not None:
            project.write(self.emitted, ports)

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

    def _sources(self) -> dict[str, str]:
        entry = template("code/csim.cpp").replace("@FUNCTIONS@", '#include "call.h"\n')
        return {
            "kernel.cpp": kernel_text(self.emitted),
            "kernel.h": header_text(self.emitted),
            "call.h": call_text(self.ports, self.emitted.top),
            "csim.cpp": entry.replace("@BODY@", "    call_kernel(memory);").replace("@ENTRY@", ENTRY),
        }

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
            self._read(stage.goal, log)
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
        return (f"TARGET={self.mode}",) if self.mode in self.flow.linked else ()

    def _command(self, stage: Stage) -> str:
        assert self.project is not None
        return shlex.join(stage.command(self.project.folder, self._variables))

    def _read(self, goal: str, log: Path) -> None:
        readers: dict[str, tuple[tuple[str, ...], Callable[[Path], Report]]] = {
            "csyn": (self.flow.synthesis, read_synthesis),
            "cosim": ((self.flow.cosim,), read_cosim),
            "impl": (self.flow.implementation, read_implementation),
        }
        if goal == "run":
            match = re.search(r"^\w+: ([\d.]+) ms$", log.read_text(errors="replace"), re.MULTILINE)
            self.milliseconds = float(match[1]) if match else None
        if goal == "ip":
            self._read_registers()
        if goal not in readers:
            return
        places, reader = readers[goal]
        assert self.project is not None
        paths = [self.project.folder / place.format(top=self.emitted.top) for place in places]
        found = next((path for path in paths if path.exists()), None)
        if found is None:
            where = f"looked for: {paths[0]}\n  log: {log}"
            raise ToolError(f"step '{goal}' ended well but left no report\n  {where}")
        self.reports.pop(goal, None)
        report = self.reports[goal] = reader(found)
        if isinstance(report, CosimReport) and not report.passed:
            raise ToolError(
                f"the RTL of '{self.emitted.top}' does not compute what the C++ does\n  log: {log}"
            )
