"""Project for a vendor's tool: its files, and the folders that it may write to."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ....errors import InternalError, TargetError, ToolError
from ..interface.devices import devices_of
from ..interface.host import DATA, argument_lines, argument_table, bank_lines, example_data, registers_text
from ..interface.ports import Port
from ..interface.settings import Settings
from ..text.dies import demand_known_dies, floorplan_lines
from ..text.escape import file_word
from ..text.files import header_text, kernel_text
from ..text.module import Emitted, template
from ..vendors.catapult import directive_lines
from .flows import ToolFlow

MARKER = ".allo-project"
_MOST_PORTS = 16  # of the interconnect between ports and the memory of a processing system


@dataclass(frozen=True, slots=True)
class Project:
    """A folder for one mode of a flow; made if it does not exist, refused if it holds what is not ours."""

    folder: Path
    flow: ToolFlow
    mode: str | None
    settings: Settings

    @classmethod
    def at(cls, folder: str | Path, flow: ToolFlow, mode: str | None, settings: Settings) -> Project:
        """Raises TargetError for a folder that is not ours, and for a mode that the device does not have."""
        path = Path(folder).resolve()
        if path.exists() and not path.is_dir():
            raise TargetError(
                f"the project folder {folder} is a file", hint="name a folder that does not exist yet"
            )
        if path.exists() and any(path.iterdir()) and not (path / MARKER).exists():
            raise TargetError(
                f"the folder {folder} exists and is no project of allo; nothing is written to it",
                hint="name a folder that does not exist yet, or an empty one",
            )
        device = settings.device
        if device.family not in flow.families and (device.family or flow.family_template):
            raise TargetError(
                f"target '{flow.target}' is for {' and '.join(flow.families)} devices, and '{device.name}' is "
                + (f"of family '{device.family}'" if device.family else "of another family"),
                hint=f"its devices: {', '.join(devices_of(flow.families))}",
            )
        if mode in flow.linked and not settings.platform:
            raise TargetError(
                f"mode '{mode}' needs a platform, and device '{device.name}' has none",
                hint="give configs['platform'], or choose a device that is a card",
            )
        return cls(path, flow, mode, settings)

    def write(self, emitted: Emitted, ports: tuple[Port, ...], call: str) -> None:
        """The files, with `call` as `call.h`; those of an earlier build are replaced, and kept if they are the same.

        Raises TargetError if the folder cannot be written.
        """
        bundles = sorted({port.bundle for port in ports if port.bundle})
        if self.flow.family_template and len(bundles) > _MOST_PORTS:
            raise TargetError(
                f"the kernel has {len(bundles)} ports of memory, and the processing system takes {_MOST_PORTS}",
                hint="let arguments share a port: configs['bundles'] = {'A': 'gmem0', 'B': 'gmem0'}",
            )
        if not any(port.writes for port in ports):
            raise TargetError(
                f"'{emitted.top}' writes no argument and returns nothing: a host would see nothing of it",
                hint="return a result, or write to an array",
            )
        if emitted.external.units and self.flow.vendor.memory_ports:
            raise TargetError(
                f"'{emitted.top}' calls external kernels, and {self.flow.tool} compiles one file",
                hint='write them as kernels, or build with target="vitis_hls"',
            )
        texts = self._texts(emitted, ports, bundles, call)
        try:
            self._write(texts, ports)
        except OSError as error:
            raise TargetError(f"the project cannot be written to {self.folder}: {error.strerror}") from None

    def require_same(self, emitted: Emitted) -> None:
        """Raises ToolError if another build has written to the folder since."""
        path = self.folder / "kernel.cpp"
        if not path.exists() or path.read_text() != kernel_text(emitted):
            raise ToolError(
                f"the project in {self.folder} is no longer that of this build: {path.name} is another",
                hint="build again, or give each build a folder of its own",
            )

    def _write(self, texts: Mapping[str, str], ports: tuple[Port, ...]) -> None:
        (self.folder / DATA).mkdir(parents=True, exist_ok=True)
        for name in self._earlier() - texts.keys():
            (self.folder / name).unlink(missing_ok=True)
        listed = {"written by": "allo; a build replaces these files", "files": sorted(texts)}
        (self.folder / MARKER).write_text(json.dumps(listed, indent=2) + "\n")
        for name, text in texts.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text() != text:  # make goes by the time of files
                path.write_text(text)
        for path in (self.folder / DATA).glob("*.bin"):
            if path.name.endswith((".out.bin", ".expected.bin")):
                path.unlink()
        for port in ports:
            data = self.folder / DATA / f"{port.name}.bin"
            if port.reads and not (data.exists() and data.stat().st_size == port.size):
                data.write_bytes(example_data(port))

    def _add_places(self, emitted: Emitted, values: dict[str, str]) -> bool:
        """What is said of dies in the files of a card; whether a floorplan has to say more, since there are several.

        Raises TargetError for dies that the device has not.
        """
        values |= {"SLR": "", "FLOORPLAN": "", "HOOK": "", "PLACES": ""}
        if not emitted.dies or not self.flow.linked or not self.settings.platform:
            return False
        device = self.settings.device
        demand_known_dies(emitted.dies, device.name, device.slrs)
        dies = {one.dies[0] for one in emitted.dies}
        if len(dies) == 1:
            values["SLR"] = f"slr={emitted.top}_1:{dies.pop()}\n"
            return False
        values |= {"FLOORPLAN": " floorplan.tcl", "HOOK": _HOOK, "PLACES": "\n".join(floorplan_lines(emitted.dies))}
        return True

    def _earlier(self) -> set[str]:
        """The files of the build before, which may have been of another mode."""
        try:
            names = json.loads((self.folder / MARKER).read_text())["files"]
            return {name for name in names if not Path(name).is_absolute() and ".." not in Path(name).parts}
        except (OSError, ValueError, KeyError, TypeError):
            return set()

    def _texts(
        self, emitted: Emitted, ports: tuple[Port, ...], bundles: list[str], call: str
    ) -> dict[str, str]:
        settings = self.settings
        values = {
            "TOP": emitted.top,
            "PART": settings.part,
            "PLATFORM": settings.platform,
            "PERIOD": f"{1000 / settings.frequency:.6g}",
            "FREQUENCY": f"{settings.asked_frequency}",
            "TARGET": self.mode if self.mode in self.flow.targets and self.mode else "hw_emu",
            "TOOL": self.flow.tool,
            "FLOW": "vitis" if settings.platform else "vivado",
            "LIBRARY": {"xrt": "-lxrt_coreutil", "opencl": "-lOpenCL"}[settings.host],
            "UNITS": " ".join(["kernel.cpp", *map(file_word, emitted.external.units)]),
            "FLAGS": " ".join([self.flow.flags, *(f"-I{file_word(name)}" for name in emitted.external.folders)]),
            "ARGUMENTS": argument_lines(ports),
            "TABLE": argument_table(ports, has_interface=self.flow.has_interface),
            "DIRECTIVES": "\n".join(directive_lines(emitted.code, emitted.top)),
            "MAIN": self.flow.main,
            "BANKS": bank_lines(ports, emitted.top),
            "OPERATORS": "".join(f"\n{line}" for line in _operator_lines(settings.operators)),
            "BUNDLES": " ".join(bundles),
            "COUNT": str(len(bundles)),
        }
        is_planned = self._add_places(emitted, values)
        values["STEPS"] = _filled(self.flow.steps, values).rstrip()
        has_streams = any(port.is_stream for port in ports)
        if has_streams:
            values["STEPS"] += f"\n\n{template('project/streams.md').rstrip()}"
        names = {**self.flow.files}
        if self.flow.linked and not has_streams:
            names.setdefault("host.cpp", f"xrt/{settings.host}.cpp")
        if is_planned:
            names["floorplan.tcl"] = "vitis/floorplan.tcl"
        if self.flow.family_template:
            names["processing_system.tcl"] = f"pynq/{settings.device.family}.tcl"
        texts = {name: _filled(source, values) for name, source in names.items()}
        if self.flow.family_template:
            texts["registers.json"] = registers_text(ports)
        return {
            "kernel.cpp": kernel_text(emitted),
            "kernel.h": header_text(emitted),
            "call.h": call,
            **texts,
            **emitted.external.files,
        }


_HOOK = (
    " $(if $(filter hw,$(TARGET)),--vivado.prop run.impl_1.STEPS.PLACE_DESIGN.TCL.PRE=$(abspath floorplan.tcl))"
)
_NAMES = {"add": ("fadd", "fsub")}  # what the tool calls the operators on float


def _operator_lines(chosen: Mapping[str, str]) -> list[str]:
    return [f"config_op {name} -impl {how}" for kind, how in chosen.items() for name in _NAMES[kind]]


def _filled(name: str, values: Mapping[str, str]) -> str:
    text = template(name)
    for key in re.findall(r"@([A-Z]+)@", text):
        if key not in values:
            raise InternalError(f"the template {name} asks for {key}")
    return re.sub(r"@([A-Z]+)@", lambda found: values[found[1]], text)
