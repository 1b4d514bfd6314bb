"""Decides which flows of vendors' tools there are: their files, their modes, and the steps of each mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .run import Stage
from .vendor import VITIS, VIVADO, Vendor

_COMMON = {
    "README.md": "project/README.md",
    "arguments.h": "project/arguments.h",
    "data.h": "project/data.h",
    "testbench.cpp": "project/testbench.cpp",
    "hls.mk": "vitis/hls.mk",
    "csim.tcl": "vitis/csim.tcl",
    "csyn.tcl": "vitis/csyn.tcl",
    "cosim.tcl": "vitis/cosim.tcl",
    "impl.tcl": "vitis/impl.tcl",
}
_SYNTHESIS = "hls.prj/solution/syn/report"
_COSIM = "hls.prj/solution/sim/report/{top}_cosim.rpt"
_IMPLEMENTATION = (
    "hls.prj/solution/impl/report/verilog/export_impl.xml",
    "hls.prj/solution/impl/report/verilog/{top}_export.xml",
)


@dataclass(frozen=True, slots=True)
class Mode:
    """The steps up to something that runs, and those of a run; a mode without the latter takes no arguments."""

    build: tuple[Stage, ...]
    call: tuple[Stage, ...] = ()


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow of a vendor's tools: the templates of its files, its modes, where its reports are.

    `linked` are the modes that v++ links for a platform; `family_template` is set if a block design is made for the
    processing system of a device.
    """

    target: str
    tool: str
    vendor: Vendor
    default_device: str
    families: tuple[str, ...]
    files: Mapping[str, str]
    steps: str
    modes: Mapping[str, Mode]
    synthesis: tuple[str, ...]
    flags: str = "-std=c++17 -fwrapv"
    linked: tuple[str, ...] = ()
    family_template: bool = False
    cosim: str = _COSIM
    implementation: tuple[str, ...] = field(default=_IMPLEMENTATION)


def _hls_modes(tool: str, commands: tuple[str, ...]) -> dict[str, Mode]:
    """The modes that the HLS tool itself has."""
    synthesis = Stage("csyn", "synthesis", tool, commands)
    return {
        "csim": Mode(()),
        "csyn": Mode((synthesis,)),
        "cosim": Mode((synthesis,), (Stage("cosim", "co-simulation", tool, commands),)),
        "impl": Mode((synthesis, Stage("impl", "implementation", tool, commands))),
    }


_VITIS_HLS = ("vitis_hls", "vitis-run")
_LINKED = Mode(
    (
        Stage("kernel", "compilation of the kernel", "Vitis", ("v++",)),
        Stage("link", "linking", "Vitis", ("v++",)),
        Stage("host-program", "compilation of the host program", "XRT", ("g++",), environment="XILINX_XRT"),
    ),
    (Stage("run", "execution", "XRT", ("g++",), environment="XILINX_XRT"),),
)
_EMULATED = ("sw_emu", "hw_emu")

VITIS_FLOW = Flow(
    target="vitis_hls",
    tool="Vitis HLS",
    vendor=VITIS,
    default_device="u280",
    families=("alveo", "zynq", "zynqmp"),
    files={
        **_COMMON,
        "Makefile": "vitis/Makefile",
        "project.tcl": "vitis/project.tcl",
        "operators.tcl": "vitis/operators.tcl",
        "compile.cfg": "vitis/compile.cfg",
        "link.cfg": "vitis/link.cfg",
    },
    steps="vitis/steps.md",
    modes={**_hls_modes("Vitis HLS", _VITIS_HLS), **dict.fromkeys((*_EMULATED, "hw"), _LINKED)},
    synthesis=(f"{_SYNTHESIS}/csynth.xml", f"{_SYNTHESIS}/{{top}}_csynth.xml"),
    linked=(*_EMULATED, "hw"),
)
VIVADO_FLOW = Flow(
    target="vivado_hls",
    tool="Vivado HLS",
    vendor=VIVADO,
    default_device="u280",
    families=("alveo", "zynq", "zynqmp"),
    files={**_COMMON, "Makefile": "vivado/Makefile", "project.tcl": "vivado/project.tcl"},
    steps="vivado/steps.md",
    modes=_hls_modes("Vivado HLS", ("vivado_hls",)),
    synthesis=(f"{_SYNTHESIS}/{{top}}_csynth.xml", f"{_SYNTHESIS}/csynth.xml"),
    flags="-std=c++14 -fwrapv",
)
PYNQ_FLOW = Flow(
    target="pynq",
    tool="Vitis HLS and Vivado",
    vendor=VITIS,
    default_device="pynq-z2",
    families=("zynq", "zynqmp"),
    files={
        **_COMMON,
        "Makefile": "pynq/Makefile",
        "project.tcl": "vitis/project.tcl",
        "operators.tcl": "vitis/operators.tcl",
        "ip.tcl": "pynq/ip.tcl",
        "bitstream.tcl": "pynq/bitstream.tcl",
        "driver.py": "pynq/driver.py",
    },
    steps="pynq/steps.md",
    modes={
        **_hls_modes("Vitis HLS", _VITIS_HLS),
        "hw": Mode(
            (
                Stage("csyn", "synthesis", "Vitis HLS", _VITIS_HLS),
                Stage("ip", "export of the IP", "Vitis HLS", _VITIS_HLS),
                Stage("bitstream", "the bitstream", "Vivado", ("vivado",)),
            )
        ),
    },
    synthesis=(f"{_SYNTHESIS}/csynth.xml", f"{_SYNTHESIS}/{{top}}_csynth.xml"),
    family_template=True,
)
FLOWS = (VITIS_FLOW, VIVADO_FLOW, PYNQ_FLOW)
