"""The `allo` command: what it prints, its exit codes, and what it says of wrong input."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import allo
from allo.cli import main
from allo.cli.designs import completions
from allo.errors import InternalError
from allo.ir.types import float32

DESIGN = """\
import allo
from allo.ir.types import float32, int32


def gemm(A: float32[4, 6], B: float32[6, 8], C: float32[4, 8]):
    for i, j in allo.grid(4, 8, name="PE"):
        for k in range(6):
            C[i, j] += A[i, k] * B[k, j]


def broken(A: float32[4]):
    A[0] = x


def shorter(A: float32[4, 6], B: float32[6, 8], C: float32[4, 8]):
    for i, j in allo.grid(4, 8, name="PE"):
        for k in range(5):
            C[i, j] += A[i, k] * B[k, j]


def tiled():
    s = allo.customize(gemm)
    s.split("i", 2)
    s.pipeline("k")
    return s


def tiled_by(factor: int = 2) -> "allo.Schedule":
    s = allo.customize(gemm)
    s.split("i", factor)
    return s


def answer() -> int32:
    return 42


schedule = tiled()
number = 3
"""


@pytest.fixture
def design(tmp_path: Path) -> str:
    path = tmp_path / "design_of_cli.py"
    path.write_text(DESIGN)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_print_shows_the_module(capsys, design):
    code, out, _ = run(capsys, "print", f"{design}:schedule")
    assert code == 0 and out.startswith("module attributes") and "i.outer" in out


def test_print_other_forms(capsys, design):
    assert run(capsys, "print", "--loops", f"{design}:tiled")[1] == (
        "gemm\n  PE:\n    i.outer\n      i.inner\n        j\n          k  (pipeline=1)\n"
    )
    assert "    for i in range(4" in run(capsys, "print", "--python", f"{design}:gemm")[1]
    assert run(capsys, "print", "--diff", "1", f"{design}:tiled")[1].startswith('# step 1: s.pipeline("gemm:PE.k")')
    assert "bytes read" in run(capsys, "print", "--report", f"{design}:gemm")[1]


def test_check(capsys, design):
    assert run(capsys, "check", f"{design}:schedule") == (
        0,
        "gemm: the kernel is valid; 2 steps accepted\n"
        "equivalent to the unscheduled kernel, by array dataflow graphs of any size\n",
        "",
    )
    code, out, err = run(capsys, "check", f"{design}:broken")
    assert code == 3 and not out and "x" in err and "line 12" in err
    assert run(capsys, "check", f"{design}:absent")[0] == 3


def test_an_exit_code_of_check_is_no_other_answer(capsys, design, tmp_path):
    """1 and 2 are answers about programs, and what Python and argparse end with."""
    for wrong in (["check"], ["check", design, "--timeout", "long"], ["check", f"{design}:gemm", "--absent"]):
        assert run(capsys, *wrong)[0] == 3
    assert run(capsys, "print")[0] == 2
    failing = {"1 / 0": "ZeroDivisionError", "def f(:": "SyntaxError", "exit(1)": "allo: the file ended the process"}
    for number, (text, told) in enumerate(failing.items()):
        path = tmp_path / f"fails_{number}.py"
        path.write_text(f"{text}\n")
        code, out, err = run(capsys, "check", f"{path}:kernel")
        assert code == 3 and told in err and not out
        assert f'File "{path}", line 1' in err or "exit" in text
        assert "cli" not in err  # no frames of the command
        assert run(capsys, "print", f"{path}:kernel")[0] == 1


@pytest.mark.parametrize("fault", [InternalError("no reason"), RuntimeError("no reason")])
def test_a_fault_of_ours_is_no_answer_either(capsys, monkeypatch, design, fault):
    def fails(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr("allo.cli.actions.verify", fails)
    code, out, err = run(capsys, "check", f"{design}:gemm")
    assert code == 3 and not out and "Traceback" in err and "no reason" in err


def test_wrong_options_have_suggestions(capsys, design):
    assert run(capsys, "prnt", design)[2] == "allo: no such command 'prnt'. Did you mean 'print'? (see allo --help)\n"
    told = "allo: there is no option '--lops'; did you mean '--loops'? (see allo print --help)\n"
    assert run(capsys, "print", "--lops", design) == (2, "", told)
    assert run(capsys, "print", f"{design}:gemm", "--loops", "--python") == (
        2, "", "allo: --loops and --python are two forms; say one\n",
    )  # fmt: skip
    code, out, _ = run(capsys, "--version")
    assert code == 0 and out.startswith(f"allo {allo.__version__} (MLIR ")


def parts_of_targets(capsys):
    """What `allo doctor` finds for each part: what there is, what is lacking and what to do."""
    code, out, err = run(capsys, "doctor", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)["findings"]
    return {(one["of"], part): (one["found"], one["lacks"], one["hint"]) for one in found for part in one["parts"]}


def test_doctor(capsys, monkeypatch, tmp_path):
    """What is here, and what each part of a target lacks where no command is on the path."""
    code, out, err = run(capsys, "doctor")
    assert (code, err) == (0, "") and out.startswith(f"allo {allo.__version__} (MLIR ")
    shown = dict(re.split(" {2,}", line) for line in out.splitlines()[2:])
    assert shown["llvm, simulator: kernels"] == "one was compiled, and gives what it must"
    assert shown["vhls: code"] == "needs no tool"
    linker = tmp_path / "v++"
    linker.write_text("")
    linker.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.delenv("XILINX_XRT", raising=False)
    found = parts_of_targets(capsys)
    needs = "external kernels need a C++ compiler, and there is none: looked for g++, clang++ or c++"
    for place in (("llvm, simulator", "kernels in C++"), ("vitis_hls", "csim"), ("rtl", "calls")):
        assert found[place] == (None, needs, "install g++, or set CXX to the command of a compiler")
    assert found["vitis_hls", "csyn"] == (None, "Vitis HLS is not installed here (no command 'vitis_hls')", None)
    assert found["vitis_hls", "hw"] == (None, "XRT is not installed here (no command 'g++')", None)
    (tmp_path / "g++").symlink_to(linker)
    lacks = "XRT is not set up here (no variable XILINX_XRT)"
    assert parts_of_targets(capsys)["vitis_hls", "hw"] == (None, lacks, "source the set-up script of the tool")
    monkeypatch.setenv("XILINX_XRT", str(tmp_path))
    tools = f"Vitis ({linker}), XRT ({tmp_path / 'g++'})"
    assert parts_of_targets(capsys)["vitis_hls", "hw"] == (tools, None, None)


def test_designs_and_steps_from_stdin(capsys, monkeypatch, design, tmp_path):
    monkeypatch.setattr("sys.stdin", io.StringIO(DESIGN))
    assert "i.outer" in run(capsys, "print", "--loops", "-:tiled")[1]
    monkeypatch.setattr("sys.stdin", io.StringIO(DESIGN))
    code, _, err = run(capsys, "print", "-:broken")
    assert code == 1 and 'File "<stdin>", line 12' in err and "A[0] = x" in err
    module = run(capsys, "print", f"{design}:gemm")[1]
    monkeypatch.setattr("sys.stdin", io.StringIO(module))
    assert run(capsys, "check", "-")[0] == 0
    monkeypatch.setattr("sys.stdin", io.StringIO('s.unroll("j", 2)\n'))
    assert "allo.unroll = 2" in run(capsys, "apply", f"{design}:gemm", "--steps", "-")[1]
    assert run(capsys, "apply", "-", "--steps", "-")[2] == (
        "allo: only one of the design and its steps can be read from stdin\n"
    )
    assert run(capsys, "check", "-:a", "--against", "-")[0] == 3


def test_draw(capsys, design, tmp_path):
    assert run(capsys, "draw", f"{design}:gemm")[1].startswith("digraph dataflow {\n")
    assert run(capsys, "draw", f"{design}:gemm", "-o", f"{tmp_path}/graph.svg") == (0, "", "")
    assert (tmp_path / "graph.svg").read_text().startswith("<svg ")
    told = f"allo: cannot draw to '{tmp_path}/graph.png': the name must end in .dot, .gv, .svg\n"
    assert run(capsys, "draw", f"{design}:gemm", "-o", f"{tmp_path}/graph.png") == (2, "", told)
    told = f"allo: cannot write '{tmp_path}/no/graph.dot': No such file or directory\n"
    assert run(capsys, "draw", f"{design}:gemm", "-o", f"{tmp_path}/no/graph.dot") == (2, "", told)


def test_a_project_says_where_it_is_and_what_to_run(capsys, design, tmp_path):
    folder = tmp_path / "project"
    target = ["build", f"{design}:gemm", "--target", "vitis_hls", "--mode", "csyn", "--project", str(folder)]
    assert run(capsys, *target) == (0, "", f"the project is in {folder}\nrun next: make -C {folder} csyn\n")
    other = tmp_path / "other"
    told = f"the project is in {other}\nwhat to do with it: {other}/README.md\n"
    assert run(capsys, *target[:4], "--project", str(other)) == (0, "", told)
    assert (other / "README.md").is_file()


def test_certificates_are_printed_when_asked_for(capsys, design):
    told = json.loads(run(capsys, "check", "--json", f"{design}:schedule")[1])
    assert told["answer"] == "equivalent" and "certificate" not in told
    assert json.loads(run(capsys, "check", "--certificate", f"{design}:schedule")[1])["certificate"]


def test_completion_of_designs(design, tmp_path):
    assert completions(str(tmp_path / "des")) == [design]
    assert completions(f"{design}:til") == [f"{design}:tiled", f"{design}:tiled_by"]
    (tmp_path / "wrong.py").write_text("def f(:")
    assert completions(f"{tmp_path}/wrong.py:") == [] and completions("absent/x") == []


def test_what_a_file_defines_is_what_it_does_not_import(capsys, tmp_path):
    path = tmp_path / "kernels_of_cli.py"
    path.write_text(
        "from dataclasses import dataclass\nfrom allo import customize\nfrom allo.ir.types import *\n"
        "def own(A: int32[4]):\n    A[0] = 1\n"
    )
    assert run(capsys, "print", str(path))[2].endswith("; it defines own\n")


def test_check_against_another_design(capsys, design):
    code, out, _ = run(capsys, "check", "--against", f"{design}:gemm", f"{design}:shorter")
    assert code == 1 and "C[0, 0] differs" in out
    code, out, _ = run(capsys, "check", "--json", "--against", f"{design}:gemm", f"{design}:shorter")
    assert code == 1 and json.loads(out)["answer"] == "different"
    assert run(capsys, "check", "--timeout", "0", f"{design}:schedule")[0] == 2


def test_steps_and_apply_on_a_module(capsys, design, tmp_path):
    _, text, _ = run(capsys, "steps", "--mlir", f"{design}:schedule")
    path = tmp_path / "design.mlir"
    path.write_text(text)
    _, steps, _ = run(capsys, "steps", str(path))
    assert steps == 's.split("gemm:PE.i", factor=2)\ns.pipeline("gemm:PE.k")\n'
    _, applied, _ = run(capsys, "apply", str(path))
    assert applied == run(capsys, "print", f"{design}:schedule")[1]


def test_apply_further_steps_to_a_file(capsys, design, tmp_path):
    (tmp_path / "more.txt").write_text('s.unroll("j", 2)\n')
    output = tmp_path / "out.mlir"
    assert run(capsys, "apply", f"{design}:gemm", "--steps", str(tmp_path / "more.txt"), "-o", str(output))[0] == 0
    assert "allo.unroll = 2" in output.read_text()


def test_build_prints_what_the_backend_emits(capsys, design):
    code, out, _ = run(capsys, "build", f"{design}:gemm")
    assert code == 0 and "llvm.func" in out
    code, _, err = run(capsys, "build", f"{design}:gemm", "--target", "vhdl")
    assert code == 1 and "there is no target 'vhdl'" in err


def test_build_takes_settings(capsys, design):
    target = ["build", f"{design}:gemm", "--target", "vitis_hls"]
    code, out, _ = run(capsys, *target, "--config", 'hbm_mapping={"A": 0}', "--config", "device=u50")
    assert code == 0 and "gemm_top" in out
    code, _, err = run(capsys, *target, "--config", "frequency=-1")
    assert (code, err) == (1, "configs['frequency'] must be a positive number of MHz, got -1\n")
    code, _, err = run(capsys, *target, "--config", "frequency")
    assert (code, err) == (2, "allo: --config frequency: write it as NAME=VALUE\n")


def test_wrong_commands(capsys, design, tmp_path):
    assert run(capsys, "print", "absent.py:f") == (2, "", "allo: there is no file 'absent.py'\n")
    assert run(capsys, "print", f"{design}:gem") == (
        2,
        "",
        f"allo: '{design}' has no 'gem'; did you mean 'gemm'?\n",
    )
    assert run(capsys, "print", design) == (
        2,
        "",
        f"allo: say what of '{design}': {design}:name; "
        "it defines gemm, broken, shorter, tiled, tiled_by, answer, schedule\n",
    )
    told = "allo: 'number' is a value of type int, neither a schedule nor a kernel\n"
    assert run(capsys, "print", f"{design}:number")[2] == told


def test_a_function_that_makes_a_schedule_may_have_defaults(capsys, design):
    assert "i.outer" in run(capsys, "print", "--loops", f"{design}:tiled_by")[1]


def test_a_kernel_may_have_no_arguments(capsys, design):
    assert run(capsys, "print", "--python", f"{design}:answer")[1] == "def answer() -> int32:\n    return 42\n"


def test_a_design_in_a_package(capsys, tmp_path):
    package = tmp_path / "package_of_cli"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "kernels.py").write_text(DESIGN)
    (package / "designs.py").write_text("from .kernels import tiled\n")
    assert "i.outer" in run(capsys, "print", "--loops", f"{package / 'designs.py'}:tiled")[1]


def test_wrong_steps_are_shown_in_their_file(capsys, design, tmp_path):
    path = tmp_path / "wrong.txt"
    path.write_text('s.split("i", 2)\ns.pipeline("x")\n')
    assert run(capsys, "apply", f"{design}:gemm", "--steps", str(path)) == (
        1,
        "",
        f"""\
File "{path}", line 2, column 1: pipeline: function 'gemm' has no loop 'x'
    s.pipeline("x")
    ^
  note: this is step 1 of the replay (the first is 0): s.pipeline(loop='x')
  hint: its loops are i.outer, i.inner, j, k
""",
    )


def test_files_that_are_no_text(capsys, design, tmp_path):
    path = tmp_path / "wrong.mlir"
    path.write_bytes(b"\xff\xfe\x00")
    told = f"allo: cannot read '{path}': it is not text in UTF-8\n"
    assert run(capsys, "print", str(path)) == (2, "", told)
    assert run(capsys, "apply", f"{design}:gemm", "--steps", str(path)) == (2, "", told)


def test_output_that_cannot_be_written(capsys, design, tmp_path):
    path = tmp_path / "absent" / "out.mlir"
    assert run(capsys, "apply", f"{design}:gemm", "-o", str(path)) == (
        2,
        "",
        f"allo: cannot write '{path}': No such file or directory\n",
    )


def test_a_reader_that_stops_early_is_no_error(design):
    command = [sys.executable, "-m", "allo", "print", f"{design}:gemm"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b"" and process.wait() == 0


def test_wrong_module(capsys, tmp_path):
    path = tmp_path / "bad.mlir"
    path.write_text("func.func @f(")
    code, _, err = run(capsys, "apply", str(path))
    assert (code, err) == (
        1,
        f"""\
File "{path}", line 1, column 13: the file is not a valid module: expected non-function type
    func.func @f(
                ^
""",
    )


def test_a_schedule_of_python_and_the_command_agree(capsys, design):
    def gemm(A: float32[4, 6], B: float32[6, 8], C: float32[4, 8]):
        for i, j in allo.grid(4, 8, name="PE"):
            for k in range(6):
                C[i, j] += A[i, k] * B[k, j]

    s = allo.customize(gemm)
    s.split("i", 2)
    s.pipeline("k")
    assert run(capsys, "print", f"{design}:schedule")[1] == f"{s.module}\n"
