"""Flows of vendors' tools: their files, their modes, and the steps of each mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..text.vendor import VITIS, VIVADO, Vendor
from .reports import cosim, implementation, link, synthesis
from .run import ToolStep

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
_COSIM = cosim("hls.prj/solution/sim/report/{top}_cosim.rpt")
_VERILOG = "hls.prj/solution/impl/report/verilog"
_IMPLEMENTATION = implementation(f"{_VERILOG}/export_impl.xml", f"{_VERILOG}/{{top}}_export.xml")


@dataclass(frozen=True, slots=True)
class Mode:
    """The steps up to something that runs, and those of a run; a mode without the latter takes no arguments."""

    build: tuple[ToolStep, ...]
    call: tuple[ToolStep, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolFlow:
    """A flow of a vendor's tools: the templates of its files, and its modes.

    `linked` are the modes that v++ links for a platform, `targets` those that make is told; `family_template` is set
    if a block design is made for the processing system of a device, `has_interface` if an entry of ours connects the
    kernel to memory, `takes_streams` if arguments may be streams. `main` is how the vendor's testbenches start,
    `settings` those that count (None: all).
    """

    target: str
    tool: str
    vendor: Vendor
    default_device: str
    families: tuple[str, ...]
    files: Mapping[str, str]
    steps: str
    modes: Mapping[str, Mode]
    flags: str = "-std=c++17 -fwrapv"
    linked: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    family_template: bool = False
    has_interface: bool = True
    takes_streams: bool = False
    main: str = "int main"
    settings: tuple[str, ...] | None = None


def _hls_modes(tool: str, commands: tuple[str, ...], *reports: str) -> dict[str, Mode]:
    """The modes that the HLS tool itself has; `reports` are the names that synthesis may give its report."""
    report = synthesis(*(f"{_SYNTHESIS}/{name}" for name in reports))
    synthesised = ToolStep("csyn", "synthesis", tool, commands, report=report)
    return {
        "csim": Mode(()),
        "csyn": Mode((synthesised,)),
        "cosim": Mode((synthesised,), (ToolStep("cosim", "co-simulation", tool, commands, report=_COSIM),)),
        "impl": Mode((synthesised, ToolStep("impl", "implementation", tool, commands, report=_IMPLEMENTATION))),
    }


_KERNEL_REPORT = "_x/kernel.{mode}/{top}/{top}/solution/syn/report"


def _linked(mode: str) -> Mode:
    """v++ compiles and links; the host program runs the kernel. There is no hardware to report on in `sw_emu`."""
    kernel = synthesis(f"{_KERNEL_REPORT}/csynth.xml", f"{_KERNEL_REPORT}/{{top}}_csynth.xml", may_lack=True)
    binary = link("kernel.{mode}.xclbin.info", is_placed=mode == "hw")
    is_hardware = mode != "sw_emu"
    v, xrt = ("v++",), "XILINX_XRT"
    return Mode(
        (
            ToolStep("kernel", "compilation of the kernel", "Vitis", v, report=kernel if is_hardware else None),
            ToolStep("link", "linking", "Vitis", v, report=binary if is_hardware else None),
            ToolStep("host-program", "compilation of the host program", "XRT", ("g++",), environment=xrt),
        ),
        (ToolStep("run", "execution", "XRT", ("g++",), environment=xrt),),
    )


_VITIS_HLS = ("vitis_hls", "vitis-run")
_VITIS_MODES = _hls_modes("Vitis HLS", _VITIS_HLS, "csynth.xml", "{top}_csynth.xml")
_CARD = ("sw_emu", "hw_emu", "hw")

VITIS_FLOW = ToolFlow(
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
    modes={**_VITIS_MODES, **{mode: _linked(mode) for mode in _CARD}},
    linked=_CARD,
    targets=_CARD,
    takes_streams=True,
)
VIVADO_FLOW = ToolFlow(
    target="vivado_hls",
    tool="Vivado HLS",
    vendor=VIVADO,
    default_device="u280",
    families=("alveo", "zynq", "zynqmp"),
    files={**_COMMON, "Makefile": "vivado/Makefile", "project.tcl": "vivado/project.tcl"},
    steps="vivado/steps.md",
    modes=_hls_modes("Vivado HLS", ("vivado_hls",), "{top}_csynth.xml", "csynth.xml"),
    flags="-std=c++14 -fwrapv",
    takes_streams=True,
)
PYNQ_FLOW = ToolFlow(
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
        **_VITIS_MODES,
        "hw": Mode(
            (
                *_VITIS_MODES["csyn"].build,
                ToolStep("ip", "export of the IP", "Vitis HLS", _VITIS_HLS),
                ToolStep("bitstream", "the bitstream", "Vivado", ("vivado",)),
            )
        ),
    },
    family_template=True,
)
FLOWS = (VITIS_FLOW, VIVADO_FLOW, PYNQ_FLOW)
