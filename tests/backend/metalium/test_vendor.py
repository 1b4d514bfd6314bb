"""Emitted projects against the vendor's own headers and library, of the wheel that `scripts/fetch_ttnn.sh` unpacks."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from allo.backend.metalium.buffers import BUFFERS, KERNELS_AND_SEMAPHORES
from allo.backend.metalium.project import MetaliumProject
from allo.target import CoreMesh, load_target
from tests.backend.metalium import kernels
from tests.backend.metalium.test_project import CASES, plan_of

WHEEL = Path(os.environ.get("ALLO_TTNN", "/no/wheel")) / "ttnn"
VENDOR = Path(__file__).parent / "vendor"
METAL, LIBRARY = WHEEL / "tt_metal", WHEEL / "build" / "lib" / "libtt_metal.so"
FOLDERS = (".", "api", "api/tt-metalium", "hw/inc", "hw/inc/internal/tt-1xx", "hw/inc/internal/tt-1xx/wormhole",
           "hw/inc/internal/tt-1xx/wormhole/wormhole_b0_defines", "hw/inc/internal/tt-1xx/wormhole/noc",
           "hostdevcommon/api", "hw/ckernels/wormhole_b0/metal/common", "hw/ckernels/wormhole_b0/metal/llk_io",
           "hw/ckernels/wormhole_b0/metal/llk_api", "hw/ckernels/wormhole_b0/metal/llk_api/llk_sfpu",
           "tt-llk/tt_llk_wormhole_b0", "tt-llk/tt_llk_wormhole_b0/common/inc", "tt-llk/tt_llk_wormhole_b0/llk_lib",
           "tt-llk/common", "tt-llk/tools/include", "hw/firmware/src/tt-1xx")  # fmt: skip
DEFINED = ("ARCH_WORMHOLE", "TENSIX_FIRMWARE", "KERNEL_BUILD", "LOCAL_MEM_EN=0", "DISPATCH_MESSAGE_ADDR=0",
           "PROGRAMMABLE_CORE_TYPE=0", "PROCESSOR_INDEX=1", "NUM_DRAM_BANKS=12", "IS_NOT_POW2_NUM_DRAM_BANKS",
           "NUM_L1_BANKS=64", "LOG_BASE_2_OF_NUM_L1_BANKS=6", "PCIE_NOC_X=0", "PCIE_NOC_Y=3", "NOC_INDEX=0",
           "NOC_MODE=1", "DST_ACCUM_MODE=1", "DST_SYNC_MODE=DstSync::SyncHalf", "MATH_FIDELITY=4",
           "APPROX=0")  # fmt: skip
# Those of TT-Metalium for kernels (in its library), where warnings are errors too. Pointers have 32 bits there and 64
# here, which the headers do not compile with; what emitted files do is still said.
FLAGS = ("-std=c++17", "-fno-exceptions", "-fno-rtti", "-O2", "-S", "-o", os.devnull, "-fpermissive", "-Wall",
         "-Wstack-usage=1912", "-Wno-unused-variable", "-Wno-unused-function", "-Wno-attributes",
         "-Wno-int-to-pointer-cast")  # fmt: skip
pytestmark = [
    pytest.mark.skipif(not LIBRARY.exists(), reason="ALLO_TTNN names no folder of scripts/fetch_ttnn.sh"),
    pytest.mark.skipif(shutil.which("g++") is None or shutil.which("nm") is None, reason="needs g++ and nm"),
]


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> list[MetaliumProject]:
    cases = [*CASES, (kernels.compared, None, "")]
    folder = tmp_path_factory.mktemp("projects")
    return [plan_of(*case).build(project=folder / str(number)) for number, case in enumerate(cases)]


def unchanged(text: str) -> str:
    return text


def together(
    folder: Path, projects: list[MetaliumProject], files: tuple[str, ...], change: Callable[[str], str] = unchanged
) -> Path:
    """One source of many files, each in a namespace; headers, which all of them ask for, come first."""
    texts = [change(project.files[file]) for project in projects for file in files]
    asked = sorted({line for text in texts for line in text.splitlines() if line.startswith("#include")})
    lines = [*asked, *(f"namespace file_{number} {{\n{text}\n}}" for number, text in enumerate(texts))]
    (folder / "emitted.cpp").write_text("\n".join(lines))
    return folder / "emitted.cpp"


def complaints(source: Path, frame: str, *kinds: str) -> list[str]:
    """What the compiler says of emitted text with the vendor's headers around it."""
    mesh = load_target("wormhole_n300d")
    assert isinstance(mesh, CoreMesh)
    limits = {"KERNELS": f'"{source}"', "BUFFERS": BUFFERS, "RESERVED": KERNELS_AND_SEMAPHORES}
    limits |= {"L1_BYTES": 1499136, "READ": 32}
    defined = [f"-D{name}" for name in (*DEFINED, *kinds, *(f"{key}={value}" for key, value in limits.items()))]
    folders = [part for folder in (VENDOR, *(METAL / f for f in FOLDERS)) for part in ("-isystem", str(folder))]
    command = ["g++", *FLAGS, *defined, *folders, str(VENDOR / frame)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    said = [line for line in ended.stderr.splitlines() if re.search(r"(error|warning): ", line)]
    assert not ended.returncode or said
    return said


def test_kernels_that_move_data_compile(projects: list[MetaliumProject], tmp_path: Path) -> None:
    source = together(tmp_path, projects, ("kernels/reader.cpp", "kernels/writer.cpp"))
    assert complaints(source, "movement.cpp", "COMPILE_FOR_NCRISC") == []


@pytest.mark.parametrize("kinds", [("COMPILE_FOR_TRISC=1",), ("COMPILE_FOR_TRISC=0", "TRISC_UNPACK")])
def test_kernels_that_compute_compile(
    projects: list[MetaliumProject], tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    source = together(tmp_path, projects, ("kernels/compute.cpp",))
    assert complaints(source, "compute.cpp", *kinds) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("reader", "noc_async_read_page(", "noc_async_read_tile(", "is deprecated"),
        ("reader", "noc_semaphore_wait(ready,", "noc_semaphore_wait(tree.ready,", "invalid conversion"),
        ("reader", "void kernel_main() {", "void kernel_main() { volatile uint32_t a[999] = {};", "stack usage"),
        ("compute", "copy_init(", "copy_tile_init(", "is deprecated"),
        ("compute", "matmul_tiles(cb_A, cb_B, ", "matmul_tiles(cb_A, ", "too few arguments"),
        ("compute", "tile_regs_commit();", "tile_regs_committed();", "was not declared"),
    ],
)
def test_wrong_calls_are_found(
    projects: list[MetaliumProject], tmp_path: Path, file: str, old: str, new: str, said: str
) -> None:
    one = [projects[1]]
    assert old in one[0].files[f"kernels/{file}.cpp"]
    source = together(tmp_path, one, (f"kernels/{file}.cpp",), lambda text: text.replace(old, new))
    frame, kind = ("movement", "COMPILE_FOR_NCRISC") if file == "reader" else ("compute", "COMPILE_FOR_TRISC=1")
    assert any(said in line for line in complaints(source, f"{frame}.cpp", kind))


def unknown_symbols(source: Path, folder: Path) -> list[str]:
    """Functions that a host calls and the library of the vendor does not have, mangled: with their arguments."""
    made = folder / "host.o"
    subprocess.run(["g++", "-std=c++20", "-w", "-c", f"-I{VENDOR}", str(source), "-o", str(made)], check=True)
    asked, exported = (
        {line.split()[-1] for line in subprocess.check_output(["nm", *flags], text=True).splitlines()}
        for flags in (["-u", str(made)], ["-D", "--defined-only", str(LIBRARY)])
    )
    asked = {name for name in asked if re.match("_ZNK?2tt", name)}
    assert len(asked) > 20
    return sorted(asked - exported)


def test_functions_that_hosts_call_are_those_of_the_library(
    projects: list[MetaliumProject], tmp_path: Path
) -> None:
    assert unknown_symbols(together(tmp_path, projects, ("host.cpp",)), tmp_path) == []


def test_names_of_hosts_are_those_of_the_sources(projects: list[MetaliumProject]) -> None:
    """Fields and constants have no symbols: the vendor's own sources use them."""
    text = "".join(project.files["host.cpp"] for project in projects)
    asked = set(re.findall(r"\b(?:DataMovementProcessor|NOC|NOC_MODE|MathFidelity|BufferType|DataFormat)::\w+", text))
    for kind in ("DataMovementConfig", "ComputeConfig"):
        asked |= {field for part in re.findall(kind + r"\{(.*?)\}", text) for field in re.findall(r"\.\w+ =", part)}
    left = {name.removeprefix("NOC_MODE::") for name in asked}
    for path in sorted(WHEEL.rglob("*.[ch]pp")) + sorted((METAL / "hw/inc").rglob("*.h")):
        known = path.read_text(errors="ignore")
        left = {name for name in left if name not in known}
        if not left:
            break
    assert left == set() and len(asked) > 8
