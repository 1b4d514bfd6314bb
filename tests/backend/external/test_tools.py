"""Compilers and files that are missing or fail, and the cache of libraries."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import allo
from allo.backend.external.compiler import cache_folder
from allo.backend.external.linking import external_sources
from allo.errors import ToolError
from allo.ir.types import int32


def failure(*arguments: object, **options: object) -> str:
    with pytest.raises(ToolError) as caught:
        allo.IPModule(*arguments, **options)  # type: ignore[arg-type]
    return str(caught.value)


def test_no_compiler(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    text = "external kernels need a C++ compiler, and there is none: looked for g++, clang++ or c++"
    hint = "\n  hint: install g++, or set CXX to the command of a compiler"
    assert failure("vadd", sources / "vadd.cpp") == text + hint
    monkeypatch.setenv("CXX", "no-such-compiler -m64")
    looked = text.replace("g++, clang++ or c++", "'no-such-compiler', which CXX names")
    assert failure("vadd", sources / "vadd.cpp") == looked + hint


def test_compiler_that_is_none(sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken"
    broken.write_text("no program")
    broken.chmod(0o755)
    monkeypatch.setenv("CXX", f"{broken} -m64")
    text = failure("vadd", sources / "vadd.cpp")
    assert text == f"the C++ compiler does not start: {broken} -m64 --version: Exec format error"


def test_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = Path(__file__).parent.resolve()
    assert failure("f", "none.cpp") == (
        f"there is no implementation 'none.cpp'\n  hint: a relative path starts from {here} or {tmp_path}"
    )
    assert failure("f", "/none.cpp") == "there is no implementation '/none.cpp'"
    assert failure("f", "sources/vadd.cpp", headers=["/none.h"]) == "there is no header '/none.h'"


def test_file_that_does_not_preprocess(tmp_path: Path) -> None:
    file = tmp_path / "f.cpp"
    file.write_text('#include "none.h"\nvoid f() {}\n')
    text = failure("f", file).split("\n")
    assert text[:2] == [
        "the external kernel 'f' does not compile:",
        f"{file}:1:10: fatal error: none.h: No such file or directory",
    ]
    assert text[-1].startswith("  command: ") and text[-1].endswith(f" {file}")


def test_file_that_does_not_compile(tmp_path: Path) -> None:
    file = tmp_path / "f.cpp"
    file.write_text("void f(int x) {\n  return y;\n}\n")
    module = allo.IPModule("f", file)
    with pytest.raises(ToolError) as caught:
        module(1)
    text = str(caught.value)
    assert text.startswith("the external kernel 'f' does not compile:\n")
    assert f"{file}:2:10: error: " in text and "\n  command: " in text

    def kernel(x: int32):
        module(x)

    with pytest.raises(ToolError, match="the external kernel 'f' does not compile"):
        allo.customize(kernel).build()


def test_function_whose_file_is_missing(sources: Path) -> None:
    module = allo.IPModule("vadd", sources / "shifted.cpp")
    A = np.zeros(32, np.int32)
    with pytest.raises(ToolError) as caught:
        module(A, A, A)
    assert str(caught.value).endswith(
        "  hint: an undefined symbol is a function whose file is missing: pass impls=[...] with all files"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 2), "f() takes 3 arguments (A: float32[4], p: int16 array, n: uint8), got 2"),
        ((np.full(4, 0.1), np.zeros(1, np.int16), 1),
         "argument 'A' must have dtype float32, got float64, which does not convert without loss"),
        ((np.zeros(3, np.float32), np.zeros(1, np.int16), 1), "argument 'A' must have shape (4,), got (3,)"),
        ((np.zeros(4, np.float32), [1], 1),
         "argument 'p' must be a NumPy array of shape (...,) and dtype int16, got list [1]"),
        ((np.zeros(4, np.float32), np.zeros((4, 4), np.int16).T[::2], 1),
         "argument 'p' must be C-contiguous, got strides (4, 8); pass np.ascontiguousarray(...)"),
        ((np.zeros(4, np.float32), np.zeros(1, np.int16), 256),
         "argument 'n' must be an integer for uint8 (0 to 255), got 256"),
        ((np.zeros(4, np.float32), np.zeros(1, np.int16), 1.0),
         "argument 'n' must be an integer for uint8, got float 1.0"),
    ],
)  # fmt: skip
def test_wrong_arguments(arguments: tuple[object, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "f.cpp").write_text("void f(const float A[4], short *p, unsigned char n) {}")
    with pytest.raises((TypeError, ValueError)) as caught:
        allo.IPModule("f", tmp_path / "f.cpp")(*arguments)
    assert str(caught.value) == message


def test_names_of_arguments(sources: Path) -> None:
    trace = allo.IPModule("math::trace", sources / "vadd.cpp")
    A = np.ones((4, 3), np.float32)
    assert trace(scale=2, A=A) == 6.0
    with pytest.raises(TypeError, match=r"^math::trace\(\) has no argument 'by'; its arguments are A, scale$"):
        trace(A, by=2)


def libraries() -> set[str]:
    return {path.name for path in cache_folder().glob("*.so")}


def test_cache_goes_by_content(tmp_path: Path) -> None:
    text = '#include "by.h"\nint f(int x) { return x * BY; }\n'
    before = libraries()
    for folder, by in (("a", 3), ("b", 3), ("c", 5)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "f.cpp").write_text(text)
        (tmp_path / folder / "by.h").write_text(f"#define BY {by}\n")
        assert allo.IPModule("f", tmp_path / folder / "f.cpp")(2) == 2 * by
    assert len(libraries() - before) == 2


def test_processes_that_compile_one_kernel_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "f.cpp").write_text("int f(int x) { return x + 11; }\n")
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent("""
        import allo
        assert allo.IPModule("f", "f.cpp")(31) == 42
    """))
    running = [subprocess.Popen([sys.executable, str(program)]) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    assert len(libraries()) == 1
    assert sorted(path.suffix for path in cache_folder().iterdir()) == [".lock", ".so"]


def test_module_keeps_what_a_backend_links(sources: Path) -> None:
    module = allo.IPModule("vadd", impls=[sources / "offset.cpp", sources / "shifted.cpp"], link_hls=True)

    def kernel(A: int32[32], B: int32[32]):
        module(A, A, B)

    (source,) = external_sources(allo.customize(kernel).ir).values()
    assert source == module.source and source.link_hls
    assert [Path(file).name for file in source.implementations] == ["offset.cpp", "shifted.cpp"]
