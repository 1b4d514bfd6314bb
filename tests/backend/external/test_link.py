"""Functions that a module from text only declares: refused, or found in the files that the user names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import allo
from allo.backend.external.source import found_files
from allo.cli import main
from allo.errors import KernelError, TargetError, ToolError
from allo.ir.module import Module
from allo.ir.types import int32

CODE = """
extern "C" void add_one(const int A[4], int B[4]) { for (int i = 0; i < 4; ++i) B[i] = A[i] + 1; }
extern "C" float twice(float x, const float v[2]) { return 2 * x + v[1]; }
extern "C" int system(const char *) { return 7; }
"""
TEXT = """\
module attributes {allo.top = "f"} {
  func.func private @add_one(memref<4xi32>, memref<4xi32>)
  func.func private @twice(f32, memref<2xf32>) -> f32
  func.func @f(%a: memref<4xi32> {allo.name = "A"}, %b: memref<4xi32> {allo.name = "B"},
      %v: memref<2xf32> {allo.name = "v"}) -> f32 {
    func.call @add_one(%a, %b) : (memref<4xi32>, memref<4xi32>) -> ()
    %x = arith.constant 3.0 : f32
    %y = func.call @twice(%x, %v) : (f32, memref<2xf32>) -> f32
    return %y : f32
  }
}
"""
SYSTEM = """
func.func private @system(i32) -> i32
func.func @f(%n: i32) -> i32 {
  %r = func.call @system(%n) : (i32) -> i32
  return %r : i32
}
"""
HINT = "\n  hint: say which file of C++ or shared object has it: --link FILE, or from_mlir(..., link=[FILE])"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("link")
    (folder / "code.cpp").write_text(CODE)
    command = ["g++", "-shared", "-fPIC", "-o", str(folder / "code.so"), str(folder / "code.cpp")]
    subprocess.run(command, check=True)
    return folder


def refusal(text: str, link: object = ()) -> str:
    with pytest.raises(KernelError) as caught:
        allo.Schedule.from_mlir(text, link=link)  # type: ignore[arg-type]
    return str(caught.value).partition(": ")[2]


def assert_runs(s: allo.Schedule, **options: str) -> None:
    A, B = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    assert s.build(**options)(A, B, np.array([1, 5], np.float32)) == 11
    assert B.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("file", ["code.cpp", "code.so"])
def test_functions_of_files_run(files: Path, file: str) -> None:
    s = allo.Schedule.from_mlir(TEXT, link=files / file)
    assert_runs(s)
    assert allo.verify(s, s)
    assert_runs(allo.Schedule.from_mlir(str(s.module)))  # this process knows the files now


def test_functions_of_source_run_in_simulations_of_hardware(files: Path) -> None:
    s = allo.Schedule.from_mlir(TEXT, link=[str(files / "code.cpp")])
    assert_runs(s, target="vitis_hls", mode="csim")


def test_a_shared_object_is_no_source_of_hardware(files: Path) -> None:
    s = allo.Schedule.from_mlir(TEXT, link=files / "code.so")
    with pytest.raises(TargetError) as caught:
        s.build(target="vhls")
    assert "'add_one' is declared only; its body is not in the module" in str(caught.value)


def test_functions_of_the_process_are_none_of_the_program(files: Path) -> None:
    assert refusal(SYSTEM) == f"'system' is declared, and the module has no body of it{HINT}"
    s = allo.Schedule.from_mlir(SYSTEM, link=files / "code.so")  # which has a function of this name
    assert s.build()(1) == 7


def test_a_backend_asks_again() -> None:
    s = allo.Schedule(Module.parse(f'module attributes {{allo.top = "f"}} {{ {SYSTEM} }}'))
    for target in ("llvm", "vhls"):
        with pytest.raises(TargetError) as caught:
            s.build(target=target)
        assert str(caught.value).partition(": ")[2] == (
            "'system' is declared only; its body is not in the module\n"
            "  hint: write the function as a kernel, or as an allo.IPModule"
        )


def test_data_of_the_process_is_none_of_the_program() -> None:
    text = 'memref.global "private" @environ : memref<1xi64>\nfunc.func @f() { return }'
    assert refusal(text) == (
        "'environ' is data that the module does not hold\n  hint: give it values, or `uninitialized`"
    )
    assert allo.Schedule.from_mlir(text.replace("<1xi64>", "<1xi64> = uninitialized"))


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ('llvm.inline_asm has_side_effects "nop", "" : () -> ()', "llvm.inline_asm"),
        ("%p = llvm.mlir.zero : !llvm.ptr", "llvm.mlir.zero"),
        ("builtin.module { func.func private @g() }", "builtin.module"),
        ("%c = arith.constant 3 : i64\n %p = builtin.unrealized_conversion_cast %c : i64 to index",
         "builtin.unrealized_conversion_cast"),
    ],
)  # fmt: skip
def test_operations_that_kernels_do_not_have(operation: str, name: str) -> None:
    assert refusal(f"func.func @f() {{\n {operation}\n return }}") == (
        f"'{name}' is no operation of kernels\n"
        "  hint: kernels are of the dialects affine, allo, arith, cf, func, linalg, math, memref, scf, ub"
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("func.func @f(%a: tensor<4xi32>) { return }", "tensor<4xi32>"),
        ("func.func @f() {\n %c = arith.constant dense<1> : vector<4xi32>\n return }", "vector<4xi32>"),
        ("func.func @f(%a: memref<4xcomplex<f32>>) { return }", "memref<4xcomplex<f32>>"),
    ],
)
def test_types_that_kernels_do_not_have(text: str, kind: str) -> None:
    assert refusal(text) == (
        f"kernels have no values of type {kind}\n"
        "  hint: they have integers, floats, types of the dialect allo, and memrefs of these"
    )


@pytest.mark.parametrize("others", ["func.func @f() { func.call @g() : () -> ()\n return }", ""])
def test_no_function_calls_itself(others: str) -> None:
    callee = "f" if others else "g"
    text = f"{others}\nfunc.func @g() {{ func.call @{callee}() : () -> ()\n return }}"
    found = refusal(text)
    assert found.endswith(" calls itself, and hardware has no call stack\n  hint: write a loop instead")


DESIGN = """
import sys, allo
from allo.ir.types import int32
add_one = allo.IPModule(top="add_one", impl=sys.argv[1])
def f(A: int32[4], B: int32[4]):
    add_one(A, B)
print(allo.customize(f).module)
"""


def test_text_names_no_files(files: Path, tmp_path: Path) -> None:
    """The declaration of an external kernel of another process is one more thing that text says."""
    (tmp_path / "design.py").write_text(DESIGN)
    command = [sys.executable, str(tmp_path / "design.py"), str(files / "code.cpp")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    text = done.stdout.replace("code.cpp", "other.cpp")
    assert refusal(text) == (
        "'add_one' is a function of files that only the text of the module names, and such text may be anybody's\n"
        "  hint: make its IPModule before, or say which file has it: --link FILE, or from_mlir(..., link=[FILE])"
    )
    A, B = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    allo.Schedule.from_mlir(text, link=files / "code.cpp").build()(A, B)
    assert B.tolist() == [1, 2, 3, 4]
    linked = SYSTEM.replace("-> i32\nfunc", '-> i32 attributes {allo.x_linked = "libc.so.6"}\nfunc', 1)
    assert refusal(linked).startswith("'system' is a function of files that only the text of the module names")
    hostile = text.replace('top = "add_one"', 'top = "add_one<(abort(), 1)>"')
    assert refusal(hostile, files / "code.cpp") == "'add_one<(abort(), 1)>' is no name of a function of C++"


def test_an_external_kernel_of_this_process_is_known(files: Path) -> None:
    add_one = allo.IPModule(top="add_one", impl=files / "code.cpp")

    def f(A: int32[4], B: int32[4]):
        add_one(A, B)

    A, B = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    allo.Schedule.from_mlir(str(allo.customize(f).module)).build()(A, B)
    assert B.tolist() == [1, 2, 3, 4]


def test_what_source_says_of_parameters_stands(files: Path) -> None:
    text = TEXT.replace("@add_one(memref<4xi32>, memref<4xi32>)", "@add_one(memref<4xi32>, memref<5xi32>)")
    text = text.replace("%b: memref<4xi32>", "%b: memref<5xi32>")
    text = text.replace("memref<4xi32>) -> ()", "memref<5xi32>) -> ()")
    with pytest.raises(TargetError, match="which is not what the module declares"):
        allo.Schedule.from_mlir(text, link=files / "code.cpp")
    marked = TEXT.replace("private @add_one(memref<4xi32>, memref<4xi32>)",
                          "private @add_one(memref<4xi32>, memref<4xi32> {llvm.readonly})")  # fmt: skip
    assert_runs(allo.Schedule.from_mlir(marked, link=files / "code.cpp"))


@pytest.mark.parametrize(
    "signature", ["(memref<?xi32>) -> ()", "(i8) -> ()", "(i32) -> memref<4xi32>", "(i32) -> (i32, i32)", "(f16) -> ()"]
)
def test_what_no_function_of_c_takes(files: Path, signature: str) -> None:
    text = f"func.func private @add_one{signature}\nfunc.func @f() {{ return }}"
    assert refusal(text, files / "code.so") == (
        f"'add_one' of {files / 'code.so'} is declared with {signature}, which no function of C takes\n"
        "  hint: pass numbers (i32, i64, f32, f64) and arrays of fixed extents, and return one number at most"
    )


def test_files_that_cannot_be_linked(files: Path, tmp_path: Path) -> None:
    (tmp_path / "code.o").write_bytes(b"")
    (tmp_path / "no.so").write_bytes(b"no code")
    with pytest.raises(KernelError) as caught:
        allo.Schedule.from_mlir(TEXT, link=tmp_path / "code.o")
    assert str(caught.value) == (
        f"'{tmp_path / 'code.o'}' is neither C++ (.cpp, .cc, .cxx, .c++, .C) nor a shared object (.so)\n"
        "  hint: make a shared object of it: g++ -shared -o name.so name.o"
    )
    with pytest.raises(KernelError, match=r"no\.so' is no shared object that can be loaded: "):
        allo.Schedule.from_mlir(TEXT, link=tmp_path / "no.so")
    with pytest.raises(ToolError, match=r"there is no file to link 'absent\.so'"):
        allo.Schedule.from_mlir(TEXT, link="absent.so")


def test_files_that_no_include_can_name(tmp_path: Path) -> None:
    (tmp_path / 'a".cpp').write_text("")
    with pytest.raises(ToolError) as caught:
        found_files(['a".cpp'], "implementation", (tmp_path,))
    path = tmp_path / 'a".cpp'
    assert str(caught.value) == (
        f"the implementation {str(path)!r} has a quote, a backslash or a control character in its path, "
        "and no #include can name it\n  hint: rename the file, or its folder"
    )


def test_command(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = files / "f.mlir"
    module.write_text(TEXT)
    for command, code in (("check", 3), ("build", 1)):
        assert main([command, str(module)]) == code
        assert "'add_one' is declared, and the module has no body of it" in capsys.readouterr().err
    assert main(["check", str(module), "--link", str(files / "code.so")]) == 0
    assert main(["build", str(module), "--link", str(files / "code.so")]) == 0
    assert main(["print", "design.py:f", "--link", "code.so"]) == 2
