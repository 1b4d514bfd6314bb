"""The folders of projects: their files, what they refuse, and what is said where the tools are absent."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo.backend.headers import include_directory
from allo.backend.hls import is_available
from allo.errors import TargetError, ToolError
from allo.ir.types import float32

from .designs import DESIGNS, gemm
from .tools import needs_make
from .write_golden_projects import FOLDER, PROJECTS, texts

needs_no_tool = pytest.mark.skipif(
    is_available("vitis_hls") or shutil.which("v++") is not None, reason="the vendor's tools are installed"
)


@pytest.mark.parametrize("name", PROJECTS)
def test_golden(name: str) -> None:
    """Written by `python -m tests.backend.hls.write_golden_projects`."""
    stored = {
        p.relative_to(FOLDER / name).as_posix(): p.read_text()
        for p in (FOLDER / name).rglob("*")
        if p.is_file()
    }
    assert texts(name) == stored


def write(folder: Path, target: str = "vitis_hls", mode: str = "csyn", **configs: Any) -> str:
    """Write a project where its tool is absent; what a call says."""
    module = allo.customize(gemm).build(target=target, mode=mode, project=folder, configs=configs)
    runs = mode in ("cosim", "sw_emu", "hw_emu", "fast_hw_emu") or (mode == "hw" and target != "pynq")
    with pytest.raises(ToolError) as caught:
        module(*(np.zeros((2, 8, 8), np.float32) if runs else ()))
    return str(caught.value)


# -- absent tools ----------------------------------------------------------------------------------


@needs_no_tool
@pytest.mark.parametrize(
    ("target", "mode", "tool", "command", "goal"),
    [
        ("vitis_hls", "csyn", "Vitis HLS", "vitis_hls", "csyn"),
        ("vitis_hls", "cosim", "Vitis HLS", "vitis_hls", "cosim"),
        ("vitis_hls", "impl", "Vitis HLS", "vitis_hls", "impl"),
        ("vitis_hls", "sw_emu", "Vitis", "v++", "run TARGET=sw_emu"),
        ("vitis_hls", "hw_emu", "Vitis", "v++", "run TARGET=hw_emu"),
        ("vitis_hls", "hw", "Vitis", "v++", "run TARGET=hw"),
        ("vivado_hls", "csyn", "Vivado HLS", "vivado_hls", "csyn"),
        ("vivado_hls", "cosim", "Vivado HLS", "vivado_hls", "cosim"),
        ("vivado_hls", "impl", "Vivado HLS", "vivado_hls", "impl"),
        ("pynq", "csyn", "Vitis HLS", "vitis_hls", "csyn"),
        ("pynq", "hw", "Vitis HLS", "vitis_hls", "bitstream"),
        ("tapa", "fast_hw_emu", "TAPA", "tapa", "run TARGET=fast_hw_emu"),
        ("tapa", "hw_emu", "TAPA", "tapa", "run TARGET=hw_emu"),
        ("tapa", "hw", "TAPA", "tapa", "run TARGET=hw"),
        ("ihls", "csyn", "Intel HLS", "i++", "csyn"),
        ("ihls", "cosim", "Intel HLS", "i++", "cosim"),
        ("catapult", "csyn", "Catapult", "catapult", "csyn"),
        ("catapult", "cosim", "Catapult", "catapult", "cosim"),
    ],
)
def test_an_absent_tool_is_named(
    tmp_path: Path, target: str, mode: str, tool: str, command: str, goal: str
) -> None:
    folder = tmp_path / "p"
    assert write(folder, target, mode) == (
        f"the project is written to {folder}, but {tool} is not installed here (no command '{command}')\n"
        f"  hint: run `make -C {folder} {goal}` on a machine that has it"
    )
    assert (folder / "kernel.cpp").exists() and (folder / "Makefile").exists()
    assert (folder / "data" / "A.bin").stat().st_size == 256


@needs_no_tool
def test_settings_reach_the_files(tmp_path: Path) -> None:
    write(tmp_path, part="xc7z020clg400-1", frequency=150)
    script = (tmp_path / "project.tcl").read_text()
    assert (
        "set_top gemm_top\n" in script
        and "set_part {xc7z020clg400-1}" in script
        and "-period 6.66667 " in script
    )
    assert "-flow_target vivado " in script  # a device without a platform


@needs_no_tool
@pytest.mark.parametrize(("host", "call"), [("xrt", "xrt::kernel kernel("), ("opencl", "clCreateKernel(")])
def test_hosts(tmp_path: Path, host: str, call: str) -> None:
    write(tmp_path, host=host)
    assert call in (tmp_path / "host.cpp").read_text()


@needs_no_tool
@pytest.mark.parametrize(
    ("device", "cell"), [("pynq-z2", "processing_system7"), ("kv260", "zynq_ultra_ps_e")]
)
def test_processing_systems(tmp_path: Path, device: str, cell: str) -> None:
    write(tmp_path, "pynq", "hw", device=device)
    assert f"xilinx.com:ip:{cell}" in (tmp_path / "processing_system.tcl").read_text()


# -- files that are there --------------------------------------------------------------------------


def test_folders_of_others_are_never_written(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(TargetError) as caught:
        allo.customize(gemm).build(target="vitis_hls", mode="csim", project=tmp_path)
    assert str(caught.value) == (
        f"the folder {tmp_path} exists and is no project of allo; nothing is written to it\n"
        "  hint: name a folder that does not exist yet, or an empty one"
    )
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("")
    with pytest.raises(TargetError) as caught:
        allo.customize(gemm).build(target="vitis_hls", mode="csim", project=tmp_path / "p")
    assert str(caught.value) == (
        f"the project folder {tmp_path / 'p'} is a file\n  hint: name a folder that does not exist yet"
    )


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("")
    with pytest.raises(TargetError) as caught:
        allo.customize(gemm).build(target="vitis_hls", mode="csim", project=tmp_path / "p" / "q")
    assert str(caught.value) == f"the project cannot be written to {tmp_path / 'p' / 'q'}: Not a directory"


def test_a_build_replaces_its_files_and_leaves_others(tmp_path: Path) -> None:
    def build(design: str, target: str) -> None:
        DESIGNS[design]().build(target=target, mode="csim", project=tmp_path)

    build("gemm", "pynq")
    (tmp_path / "notes.txt").write_text("mine")
    assert (tmp_path / "driver.py").exists()
    build("bits", "vitis_hls")
    assert not (tmp_path / "driver.py").exists()
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert "bits_top" in (tmp_path / "kernel.h").read_text()


def test_a_build_whose_folder_another_one_took(tmp_path: Path) -> None:
    first = DESIGNS["gemm"]().build(target="vitis_hls", mode="csim", project=tmp_path)
    DESIGNS["scheduled_gemm"]().build(target="vitis_hls", mode="csim", project=tmp_path)
    with pytest.raises(ToolError) as caught:
        first(*np.zeros((2, 8, 8), np.float32))
    assert str(caught.value) == (
        f"the project in {tmp_path} is no longer that of this build: kernel.cpp is another\n"
        "  hint: build again, or give each build a folder of its own"
    )


def test_files_that_stay_the_same_are_not_touched(tmp_path: Path) -> None:
    def build() -> int:
        allo.customize(gemm).build(target="vitis_hls", mode="csim", project=tmp_path)
        return (tmp_path / "kernel.cpp").stat().st_mtime_ns

    assert build() == build()


# -- settings --------------------------------------------------------------------------------------

NAMES = "device, part, platform, frequency, hbm_mapping, bundles, in_place, word_bits, host, timeout, operators"
SETTINGS = f"the settings: {NAMES}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "csyn"}, 'mode "csyn" writes a project and needs its folder\n  hint: pass project="folder"'),
        ({"mode": "hw_emu"}, 'mode "hw_emu" writes a project and needs its folder\n  hint: pass project="folder"'),
        ({"configs": 3}, "configs must be a dict, got 3"),
        (
            {"configs": {"prat": "x"}},
            f"there is no setting 'prat' in configs\n  hint: did you mean 'part'? {SETTINGS}",
        ),
        ({"configs": {"clock": 3}}, f"there is no setting 'clock' in configs\n  hint: {SETTINGS}"),
        ({"configs": {"frequency": -1}}, "configs['frequency'] must be a positive number of MHz, got -1"),
        ({"configs": {"frequency": 738.5}},
         "configs['frequency'] is 738.5 MHz, and device 'u280' reaches 738 MHz at most\n  hint: ask for a lower clock"),
        ({"configs": {"frequency": 400, "part": "xc7z020clg400-1"}},
         "configs['frequency'] is 400 MHz, and device 'zynq7020' reaches 388 MHz at most\n"
         "  hint: ask for a lower clock"),
        ({"configs": {"frequency": True}}, "configs['frequency'] must be a positive number of MHz, got True"),
        ({"configs": {"in_place": "A"}}, "configs['in_place'] must be a list of names of arguments, got 'A'"),
        (
            {"configs": {"operators": {"add": "dsp"}}},
            "configs['operators'] must be a dict from operators on floats to implementations, got {'add': 'dsp'}\n"
            '  hint: the choices are "add": "fabric"',
        ),
        ({"configs": {"timeout": 0}}, "configs['timeout'] must be a positive number of seconds, got 0"),
        ({"configs": {"part": 7}}, "configs['part'] must be the name of a part, got 7"),
        ({"configs": {"part": "x; rm"}}, "configs['part'] has characters that no such name has: 'x; rm'"),
        ({"configs": {"host": "cuda"}}, "configs['host'] must be one of 'xrt', 'opencl', got 'cuda'"),
        (
            {"configs": {"word_bits": 2048}},
            "configs['word_bits'] must be one of 32, 64, 128, 256, 512, 1024, got 2048\n"
            "  hint: a port of AXI has at most 1024 bits",
        ),
        (
            {"configs": {"device": "u281"}},
            "there is no device 'u281'\n  hint: did you mean 'u280'? the devices: u280, u55c, u50, u250, u200, "
            "zynq7020, pynq-z2, zcu104, kv260, ultra96v2; for another one give configs['part']",
        ),
        (
            {"configs": {"device": "u50", "part": "xcu280-fsvh2892-2L-e"}},
            "configs has part 'xcu280-fsvh2892-2L-e', but device 'u50' is part 'xcu50-fsvh2104-2-e'\n"
            "  hint: give one of them",
        ),
        (
            {"mode": "hw", "project": "p", "configs": {"device": "pynq-z2"}},
            "mode 'hw' needs a platform, and device 'pynq-z2' has none\n"
            "  hint: give configs['platform'], or choose a device that is a card",
        ),
        (
            {"target": "pynq", "mode": "hw", "project": "p", "configs": {"device": "u280"}},
            "target 'pynq' is for zynq and zynqmp devices, and 'u280' is of family 'alveo'\n"
            '  hint: its devices: zynq7020, pynq-z2, zcu104, kv260, ultra96v2',
        ),
        (
            {"target": "vivado_hls", "mode": "hw"},
            "target 'vivado_hls' has no mode 'hw'\n  hint: its modes: csim, csyn, cosim, impl",
        ),
        ({"mode": "csyn", "project": 3}, "project must be the path of a folder, got 3"),
        ({"mode": "csyn", "project": ""}, "project must be the path of a folder, got ''"),
        (
            {"configs": {1: 2}},
            "there is no setting '1' in configs\n  hint: the settings: device, part, platform, frequency, hbm_mapping, "
            "bundles, in_place, word_bits, host, timeout, operators",
        ),
        (
            {"mode": "hw", "project": "p", "configs": {"device": "arria10"}},
            "target 'vitis_hls' is for alveo and zynq and zynqmp devices, and 'arria10' is of family 'intel'\n"
            "  hint: its devices: u280, u55c, u50, u250, u200, zynq7020, pynq-z2, zcu104, kv260, ultra96v2",
        ),
    ],
)  # fmt: skip
def test_wrong_options(
    options: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TargetError) as caught:
        allo.customize(gemm).build(**{"target": "vitis_hls", **options})
    assert str(caught.value) == message
    assert not list(tmp_path.iterdir())


def test_too_many_ports_for_a_processing_system(tmp_path: Path) -> None:
    names = [f"A{n}" for n in range(17)]
    source = f"def many({', '.join(f'{name}: int32[4]' for name in names)}):\n" + "".join(
        f"    {name}[0] = 1\n" for name in names
    )
    (tmp_path / "many.py").write_text(f"from allo.ir.types import int32\n\n\n{source}")
    space: dict[str, Any] = {}
    exec(compile((tmp_path / "many.py").read_text(), str(tmp_path / "many.py"), "exec"), space)
    with pytest.raises(TargetError) as caught:
        allo.customize(space["many"]).build(target="pynq", mode="csim", project=tmp_path / "p")
    assert str(caught.value) == (
        "the kernel has 17 ports of memory, and the processing system takes 16\n"
        "  hint: let arguments share a port: configs['bundles'] = {'A': 'gmem0', 'B': 'gmem0'}"
    )


def test_a_kernel_that_writes_nothing(tmp_path: Path) -> None:
    def silent(A: float32[4]):
        x: float32 = A[0]  # noqa: F841

    with pytest.raises(TargetError) as caught:
        allo.customize(silent).build(target="vitis_hls", mode="csyn", project=tmp_path / "p")
    assert str(caught.value) == (
        "'silent_top' writes no argument and returns nothing: a host would see nothing of it\n"
        "  hint: return a result, or write to an array"
    )


def test_code_cannot_be_called() -> None:
    with pytest.raises(TargetError) as caught:
        allo.customize(gemm).build(target="vitis_hls")(*np.zeros((2, 8, 8), np.float32))
    assert str(caught.value) == (
        "this build of 'gemm' cannot be called with arguments: it is code only\n"
        '  hint: build with mode="csim" to simulate it'
    )


# -- data ------------------------------------------------------------------------------------------


@needs_make
@pytest.mark.slow
def test_a_simulation_leaves_its_data_and_the_testbench_agrees(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    A, B = rng.standard_normal((2, 8, 8)).astype(np.float32)
    C = np.empty((8, 8), np.float32)
    DESIGNS["scheduled_gemm"]().build(target="vitis_hls", mode="csim", project=tmp_path)(A, B, C)
    assert (tmp_path / "data" / "B.bin").read_bytes() == B.tobytes()
    assert (tmp_path / "data" / "C.expected.bin").read_bytes() == C.tobytes()
    program = tmp_path / "testbench"
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-Wno-unused-label"]
    files = ["kernel.cpp", "testbench.cpp"]
    command = ["g++", *flags, f"-I{include_directory()}", *files, "-o", str(program)]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run([program], cwd=tmp_path, check=True)
    assert (tmp_path / "data" / "C.out.bin").read_bytes() == C.tobytes()
    (tmp_path / "data" / "A.bin").write_bytes((A + 1).tobytes())
    done = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "values of C are not the expected ones" in done.stderr
    (tmp_path / "data" / "A.bin").write_bytes(b"short")
    done = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == "gemm_top: data/A.bin has 5 bytes, the kernel needs 256\n"


# -- scripts ---------------------------------------------------------------------------------------


def run_script(folder: Path, name: str) -> list[str]:
    """The commands of the tool that a script of Tcl gives, run with stand-ins for them."""
    interpreter = pytest.importorskip("tkinter", reason="Python has no Tcl here").Tcl()
    commands: list[str] = []
    interpreter.createcommand("record", lambda *words: commands.append(" ".join(words)) or "cell")
    interpreter.eval("proc unknown {args} { return [record {*}$args] }")
    interpreter.eval("rename glob {}; rename file real_file")
    interpreter.eval("proc file {name args} { return [record file $name {*}$args] }")
    interpreter.eval('proc get_property {args} { return "100%" }')
    interpreter.eval(f"cd {{{folder}}}; real_file exists .; source {{{name}}}")
    return commands


@pytest.mark.parametrize(
    ("script", "command"),
    [
        ("csim.tcl", "csim_design -argv cell"),
        ("csyn.tcl", "csynth_design"),
        ("cosim.tcl", "cosim_design -rtl verilog -argv cell"),
        ("impl.tcl", "export_design -flow impl -rtl verilog -format ip_catalog"),
    ],
)
def test_scripts_of_the_tool(script: str, command: str) -> None:
    commands = run_script(FOLDER / "gemm_u280", script)
    assert commands[0] in ("open_project -reset hls.prj", "open_project hls.prj")
    assert commands[-2:] == [command, "exit"]


def test_the_project_of_the_tool() -> None:
    assert run_script(FOLDER / "points_pynq", "project.tcl") == [
        "open_project -reset hls.prj",
        "set_top points_top",
        "add_files kernel.cpp -cflags -std=c++17 -fwrapv",
        "add_files -tb testbench.cpp -cflags -std=c++17 -fwrapv",
        "open_solution -reset -flow_target vivado solution",
        "set_part xc7z020clg400-1",
        "create_clock -period 10 -name default",
    ]


def test_the_block_design() -> None:
    commands = run_script(FOLDER / "points_pynq", "bitstream.tcl")
    assert "create_bd_cell -type ip -vlnv xilinx.com:hls:points_top allo_kernel" in commands
    joined = [command for command in commands if command.startswith("get_bd_intf_pins")]
    assert joined[4:] == [
        "get_bd_intf_pins allo_kernel/m_axi_gmem0", "get_bd_intf_pins memory/S00_AXI",
        "get_bd_intf_pins memory/M00_AXI", "get_bd_intf_pins ps/S_AXI_HP0",
    ]  # fmt: skip
    clocked = [c.split()[1] for c in commands if c.startswith("get_bd_pins") and c.endswith(("clk", "ACLK"))]
    assert clocked == [
        "ps/M_AXI_GP0_ACLK", "ps/S_AXI_HP0_ACLK", "reset/slowest_sync_clk", "allo_kernel/ap_clk", "control/aclk",
        "memory/aclk",
    ]  # fmt: skip
    copied = [command.split()[-1] for command in commands if command.startswith("file copy -force")]
    assert copied == ["points_top.bit", "points_top.hwh"]


def test_registers_follow_each_other() -> None:
    found = json.loads((FOLDER / "points_pynq" / "registers.json").read_text())["arguments"]
    assert [(a["name"], a["offset"], a["registers"]) for a in found] == [
        ("ps", 0x10, 2), ("by", 0x1C, 1), ("result", 0x24, 2),
    ]  # fmt: skip


@needs_no_tool
def test_adders_without_dsps(tmp_path: Path) -> None:
    write(tmp_path / "p", operators={"add": "fabric"})
    lines = (tmp_path / "p" / "operators.tcl").read_text().splitlines()
    assert lines[1:] == ["config_op fadd -impl fabric", "config_op fsub -impl fabric"]
    assert "source operators.tcl" in (tmp_path / "p" / "project.tcl").read_text()


def test_vivado_hls_chooses_no_operators(tmp_path: Path) -> None:
    with pytest.raises(TargetError) as refused:
        configs = {"operators": {"add": "fabric"}}
        allo.customize(gemm).build(target="vivado_hls", mode="csyn", project=tmp_path, configs=configs)
    assert str(refused.value) == (
        "Vivado HLS does not choose implementations of operators\n  hint: leave out configs['operators']"
    )
