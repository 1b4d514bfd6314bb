"""Flows for the tools of other vendors than AMD: their files, modes and steps."""

from __future__ import annotations

from ..vendors.catapult import CATAPULT
from ..vendors.intel import INTEL
from ..vendors.tapa import TAPA
from .flows import Mode, ToolFlow
from .reports import link, unread
from .run import ToolStep

_FILES = {"README.md": "project/README.md", "arguments.h": "project/arguments.h", "data.h": "project/data.h"}
_TESTBENCH = {**_FILES, "testbench.cpp": "project/testbench.cpp"}
_SETTINGS = ("device", "part", "frequency", "timeout")


_XRT = "XILINX_XRT"
_KERNEL = ToolStep("kernel", "compilation of the kernel", "TAPA", ("tapa",))
_PROGRAM = ToolStep("host-program", "compilation of the host program", "TAPA", ("tapa",))


def _on_card(mode: str) -> Mode:
    binary = link("kernel.{mode}.xclbin.info", is_placed=mode == "hw")
    linking = ToolStep("link", "linking", "Vitis", ("v++",), report=binary)
    return Mode((_KERNEL, linking, _PROGRAM), (ToolStep("run", "execution", "XRT", ("g++",), environment=_XRT),))


TAPA_FLOW = ToolFlow(
    target="tapa",
    tool="TAPA",
    vendor=TAPA,
    default_device="u280",
    families=("alveo",),
    files={
        **_FILES,
        "Makefile": "tapa/Makefile",
        "host.cpp": "tapa/host.cpp",
        "link.cfg": "vitis/link.cfg",
    },
    steps="tapa/steps.md",
    modes={
        "csim": Mode(()),
        "fast_hw_emu": Mode((_KERNEL, _PROGRAM), (ToolStep("run", "simulation of the RTL", "TAPA", ("tapa",)),)),
        **{mode: _on_card(mode) for mode in ("hw_emu", "hw")},
    },
    linked=("hw_emu", "hw"),
    targets=("fast_hw_emu", "hw_emu", "hw"),
    has_interface=False,
    settings=(*_SETTINGS, "platform", "hbm_mapping"),
)


def _intel(goal: str) -> ToolStep:
    """Synthesis without a simulation, and with one."""
    report = f"{goal.removesuffix('-program')}.prj/reports/report.html"
    return ToolStep(goal, "synthesis", "Intel HLS", ("i++",), report=unread(report))


INTEL_FLOW = ToolFlow(
    target="ihls",
    tool="Intel HLS",
    vendor=INTEL,
    default_device="arria10",
    families=("intel",),
    files={**_TESTBENCH, "Makefile": "intel/Makefile"},
    steps="intel/steps.md",
    modes={
        "csim": Mode(()),
        "csyn": Mode((_intel("csyn"),)),
        "cosim": Mode((_intel("cosim-program"),), (ToolStep("cosim", "co-simulation", "Intel HLS", ("i++",)),)),
    },
    flags="-std=c++14 -fwrapv",
    has_interface=False,
    settings=_SETTINGS,
)
_CATAPULT = ToolStep("csyn", "synthesis", "Catapult", ("catapult",), report=unread("Catapult/{top}.v1/rtl.rpt"))
CATAPULT_FLOW = ToolFlow(
    target="catapult",
    tool="Catapult",
    vendor=CATAPULT,
    default_device="nangate45",
    families=("asic",),
    files={
        **_TESTBENCH,
        "Makefile": "catapult/Makefile",
        "project.tcl": "catapult/project.tcl",
        "directives.tcl": "catapult/directives.tcl",
        "csyn.tcl": "catapult/csyn.tcl",
        "cosim.tcl": "catapult/cosim.tcl",
    },
    steps="catapult/steps.md",
    modes={
        "csim": Mode(()),
        "csyn": Mode((_CATAPULT,)),
        "cosim": Mode((_CATAPULT,), (ToolStep("cosim", "co-simulation", "Catapult", ("catapult",)),)),
    },
    has_interface=False,
    main="CCS_MAIN",
    settings=_SETTINGS,
)
OTHER_FLOWS = (INTEL_FLOW, CATAPULT_FLOW, TAPA_FLOW)
