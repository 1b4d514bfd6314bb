"""What the arguments of IPModule may be: names, one path or several, types, directions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import allo
from allo.errors import ToolError
from allo.ir.types import Fixed, float32, int32

VADD = "sources/vadd.cpp"


def failure(*arguments: object, **options: object) -> str:
    with pytest.raises(allo.KernelError) as caught:
        allo.IPModule(*arguments, **options)  # type: ignore[arg-type]
    return str(caught.value)


@pytest.mark.parametrize(("top", "shown"), [(None, "NoneType None"), (5, "int 5"), (b"vadd", "bytes b'vadd'")])
def test_a_name_that_is_no_string(top: object, shown: str) -> None:
    assert failure(top, VADD) == f"top is the name of a function, a string, got {shown}"


@pytest.mark.parametrize("option", ["impl", "impls", "headers", "include_paths"])
@pytest.mark.parametrize(("given", "shown"), [(5, "int 5"), ([None], "NoneType None"), ([["a.cpp"]], "list ['a.cpp']")])
def test_what_is_no_path(option: str, given: object, shown: str) -> None:
    others = {} if option == "impl" else {"impl": VADD}
    expected = f'{option} takes paths, got {shown}\n  hint: {option}="vadd.cpp", or a list of paths'
    assert failure("vadd", **others, **{option: given}) == expected


@pytest.mark.parametrize("listed", [False, True])
def test_one_path_stands_for_a_list(tmp_path: Path, listed: bool) -> None:
    folder = tmp_path / "include"
    folder.mkdir()
    (folder / "n.h").write_text("#define N 4\n")
    file = tmp_path / "f.cpp"
    file.write_text("#include <n.h>\nvoid f(int A[N]) { A[0] = N; }\n")
    A = np.zeros(4, np.int32)
    one: tuple[object, object] = ([str(file)], [folder]) if listed else (str(file), folder)
    kernel = allo.IPModule("f", impls=one[0], include_paths=one[1])  # type: ignore[arg-type]
    kernel(A)
    assert A[0] == 4
    assert str(allo.IPModule("f", file, headers=folder / "n.h")) == str(kernel) == "IPModule f(A: int32[4])"


def test_types_are_a_signature_as_their_texts_are(tmp_path: Path) -> None:
    file = tmp_path / "f.cpp"
    file.write_text("#include <ap_fixed.h>\nvoid f(float *A, int n, ap_fixed<8, 3> *X) { A[0] = n; }\n")
    texts = allo.IPModule("f", file, signature=["float32[2, 3]", "int32", "Fixed(8, 5)[2]"])
    kinds = allo.IPModule("f", file, signature=[float32[2, 3], int32, Fixed(8, 5)[2]])
    assert kinds.kernel == texts.kernel and kinds.source.facts() == texts.source.facts()


@pytest.mark.parametrize(
    ("given", "shown"),
    [("int32", "str 'int32'"), (5, "int 5"), ([None], "list [None]"), ([int], "list [<class 'int'>]")],
)
def test_what_is_no_signature(given: object, shown: str) -> None:
    expected = f"signature is a list with a type for each parameter, got {shown}"
    assert failure("vadd", VADD, signature=given) == f'{expected}\n  hint: write signature=["float32[32, 32]", "int32"]'


@pytest.mark.parametrize(("given", "shown"), [(5, "int 5"), (["a"], "list ['a']"), ("in", "str 'in'")])
def test_what_says_no_direction(given: object, shown: str) -> None:
    expected = f'streams says "in" or "out" for each name, got {shown}\n  hint: streams={{"a": "in"}}'
    assert failure("vadd", VADD, streams=given) == expected


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "f.cpp"
    file.write_text("void f(int A[4]) { A[0] = 1; }\n")
    (tmp_path / "allo").write_text("a file where a folder is wanted")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ToolError) as caught:
        allo.IPModule("f", file)(np.zeros(4, np.int32))
    folder = tmp_path / "allo" / "external"
    assert str(caught.value) == (
        f"what is compiled once is kept in {folder}, where nothing can be written: Not a directory\n"
        "  hint: set XDG_CACHE_HOME to a folder of yours"
    )
