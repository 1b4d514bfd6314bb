"""What the declaration of a function in C++ means to a kernel."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

import allo
from allo.backend.external import signature as reader
from allo.backend.external.source import ExternalSource
from allo.errors import KernelError


def signature(text: str, tmp_path: Path, top: str = "f") -> str:
    """The parameters of `top`, those that are written with a `!`."""
    file = tmp_path / "f.cpp"
    file.write_text(text)
    module = allo.IPModule(top, file, include_paths=[Path(__file__).parent / "include"])
    listed = [
        f"{p.name}{'!' if p.written else ''}: {p.type or f'{p.element!r}[any]'}" for p in module.kernel.parameters
    ]
    return ", ".join(listed) + (f" -> {module.kernel.result!r}" if module.kernel.result else "")


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("void f(float A[32][64]) {}", "A!: float32[32, 64]"),
        ("void f(const float A[3], float const *B, float *const C) {}",
         "A: float32[3], B: float32[any], C!: float32[any]"),
        ("void f(void) {}", ""),
        ("int f() { return 0; }", " -> int32"),
        ("int f(int, unsigned char b = 3) { return b; }", "arg0: int32, b: uint8 -> int32"),
        ("void f(int A[], int B[][4], int (*C)[4], int (&D)[2][2]) {}",
         "A!: int32[any], B!: int32[..., 4], C!: int32[..., 4], D!: int32[2, 2]"),
        ("void f(int &x, const int &y) {}", "x!: int32[1], y: int32"),
        ("void f(float *__restrict__ A, volatile int *B) {}", "A!: float32[any], B!: int32[any]"),
        ("#define N 8\n#define M (N * 2)\nvoid f(int A[M / 3 + 1]) {}", "A!: int32[6]"),
        ("const int N = 4;\nconstexpr unsigned M = N << 2;\nvoid f(int A[M - 0x3][N % 3 + 010]) {}",
         "A!: int32[13, 9]"),
        ("enum Size : int { N = 3, M, L = 9 };\nvoid f(int A[N][M][L]) {}", "A!: int32[3, 4, 9]"),
        ("namespace n { const int N = 5; }\nvoid f(int A[n::N]) {}", "A!: int32[5]"),
        ("typedef unsigned long word; typedef word row[4];\nvoid f(row A[2], const row B) {}",
         "A!: uint64[2, 4], B: uint64[4]"),
        ("using T = double; using row = T[4];\nvoid f(row A[2], T x) {}", "A!: float64[2, 4], x: float64"),
        ("struct P { int x; void f(int); };\nint g(int f) { return f; }\nstatic inline void f(int A[2]) {}",
         "A!: int32[2]"),
        ("void f(int A[2]);\nvoid g() { int x = 3; }\nvoid f(int B[2]) {}", "B!: int32[2]"),
        ("template <typename T> T one() { return 1; }\n[[nodiscard]] int f(long long x) { return one<int>(); }",
         "x: int64 -> int32"),
        ('const char *text = "void f(int x) {"; // void f(int y) {\n/* void f( */ void f(short z) {}', "z: int16"),
        ('const char *raw = R"(void f(int x) {)";\nchar c = \'{\';\nvoid f(bool z) {}', "z: bool"),
        ("#include <cstdint>\nvoid f(std::int8_t a, uint64_t b, size_t c) {}", "a: int8, b: uint64, c: uint64"),
        ('#include "ap_int.h"\nconst int W = 6;\nvoid f(ap_int<W * 2> A[4], ap_uint<(W >> 1)> b) {}',
         "A!: int12[4], b: uint3"),
        ("template <int W, int I, int Q = 0, int O = 0> struct ap_fixed {};\nvoid f(ap_fixed<16, 4> *A) {}",
         "A!: Fixed(16, 12)[any]"),
        ("template <int... P> struct ap_ufixed {};\nenum { AP_RND, AP_SAT };\n"
         "void f(ap_ufixed<8, 8, AP_RND, AP_SAT> *A) {}",
         "A!: UFixed(8, 0, rounding='rnd', overflow='sat')[any]"),
    ],
)
def test_parameters(text: str, meaning: str, tmp_path: Path) -> None:
    assert signature(text, tmp_path) == meaning


def test_instances(tmp_path: Path) -> None:
    text = "namespace m {\ntemplate <class T, int N> T f(const T A[N], int n) { return A[n]; }\n}\n"
    assert signature(text, tmp_path, "m::f<unsigned short, 4 * 4>") == "A: uint16[16], n: int32 -> uint16"
    explicit = "template float m::f<float, 2>(const float A[2], int n);"
    assert signature(text + explicit, tmp_path, "m::f") == "A: float32[2], n: int32 -> float32"


def test_given_shapes(tmp_path: Path) -> None:
    file = tmp_path / "f.cpp"
    file.write_text("void f(const float *A, int n) {}")
    module = allo.IPModule("f", file, signature=["float32[4, 8]", "int32"])
    assert repr(module) == "IPModule f(A: float32[4, 8], n: int32)"


def refusal(text: str, tmp_path: Path, top: str = "f", **options: object) -> str:
    """The whole message, with the name of the file for its path."""
    file = tmp_path / "f.cpp"
    file.write_text(text)
    with pytest.raises(KernelError) as caught:
        allo.IPModule(top, file, **options)  # type: ignore[arg-type]
    return str(caught.value).replace(f"{tmp_path}/", "")


def at(line: str, message: str, number: int = 1, hint: str = "") -> str:
    return f'File "f.cpp", line {number}: {message}\n    {line}' + (f"\n  hint: {hint}" if hint else "")


@pytest.mark.parametrize(
    ("parameter", "reason"),
    [
        ("long double x", "kernels have no type `long double`"),
        ("std::string x", "kernels have no type `string`"),
        ("struct S *x", "kernels have no type `S`"),
        ("float **A", "`float **A` is a pointer to a pointer"),
        ("float *A[4]", "`float *A[4]` is an array of pointers"),
        ("int &&x", "`int &&x` is a reference to a temporary value"),
        ("int A[n]", "the extent `n` is not an integer constant"),
        ("int A[0]", "the extent `0` is 0, and arrays have at least one element"),
        ("int A[4 / 0]", "the extent `4 / 0` is not an integer constant"),
        ("int A[3 4]", "the extent `3 4` is not an integer constant"),
        ("int A[sizeof(int)]", "the extent `sizeof (int)` is not an integer constant"),
        ("int (*g)(int)", "`int (*g) (int)` is not a number or an array"),
        ("void *x", "the type of its elements is not known"),
        ("ap_int<2000> x", "kernels have no type `ap_int<2000>`"),
        ("ap_int<n> x", "`n` is not an integer constant"),
        ("vector<int> x", "kernels have no type `vector<int>`"),
    ],
)
def test_parameters_that_cannot_be_passed(parameter: str, reason: str, tmp_path: Path) -> None:
    line = f"void f(int a, {parameter}) {{}}"
    text = refusal(line, tmp_path)
    assert text.startswith('File "f.cpp", line 1: parameter 2 of \'f\', `')
    assert text.endswith(f"`, cannot be passed: {reason}\n    {line}")


def test_no_such_function(tmp_path: Path) -> None:
    text = "void vadd(int x) {}\nvoid f(int x);\n"
    message = "no function 'vad' is defined in f.cpp\n  hint: did you mean 'vadd'?"
    assert refusal(text, tmp_path, "vad") == message
    assert refusal(text, tmp_path) == "no function 'f' is defined in f.cpp\n  hint: they define vadd"
    assert refusal("", tmp_path) == "no function 'f' is defined in f.cpp"


def test_overloads(tmp_path: Path) -> None:
    line = "void f(int x) {}"
    assert refusal(f"{line}\nvoid f(float x) {{}}", tmp_path) == at(
        line,
        "there are 2 functions 'f', on lines 1, 2",
        hint="write a function of another name that calls the one you mean",
    )


def test_templates(tmp_path: Path) -> None:
    line = "template <typename T, int N> void f(T A[N]) {}"
    hint = 'name an instance: top="f<T, N>" with values for T, N'
    assert refusal(line, tmp_path) == at(line, "'f' is a template: its parameters T, N have no values", hint=hint)
    assert refusal(line, tmp_path, "f<int>") == at(line, "template 'f' has 2 parameters, got 1")
    message = "the argument `x` of template 'f' is not an integer constant"
    assert refusal(line, tmp_path, "f<int, x>") == at(line, message)
    line = "void f(int x) {}"
    assert refusal(line, tmp_path, "f<int>") == at(line, "'f' is not one template, but 'f<int>' gives it arguments")


def test_results(tmp_path: Path) -> None:
    line = "int *f(int *x) { return x; }"
    hint = "take an array to write the results to"
    message = "'f' returns `int *`, and external kernels return numbers only"
    assert refusal(line, tmp_path) == at(line, message, hint=hint)
    line = "auto f(int x) { return x; }"
    assert refusal(line, tmp_path) == at(line, "the result of 'f' cannot be passed: kernels have no type `auto`")


def test_given_signature(tmp_path: Path) -> None:
    line = "void f(const float *A, int B[4], int n) {}"

    def said(*given: str) -> str:
        return refusal(line, tmp_path, signature=given)

    assert said("int32") == at(line, "signature has 1 type, but 'f' takes 3 arguments")
    assert said("float64[4]", "int32[4]", "int32") == at(
        line, "signature gives float64[4] for 'A' of 'f', which is float32 array of any shape in C++"
    )
    assert said("float32[4]", "int32[5]", "int32") == at(
        line, "signature gives int32[5] for 'B' of 'f', which is int32[4] in C++"
    )
    assert said("float32[4]", "int32[4]", "int32[1]") == at(
        line, "signature gives int32[1] for 'n' of 'f', which is int32 in C++"
    )
    assert said("float[4]", "int32[4]", "int32") == (
        '`float[4]` in the signature is not a type\n  hint: write "float32[32, 32]" or "int32"'
    )


def test_no_implementation() -> None:
    with pytest.raises(KernelError) as caught:
        allo.IPModule("f")
    assert str(caught.value) == "the external kernel 'f' has no implementation\n  hint: pass impl=\"vadd.cpp\""


CORPUS = """
typedef unsigned long word; typedef word row[4]; using T = double; using R = T[4];
namespace n { enum Size : int { N = 3, M, L = 9 }; extern "C" { const int W = 6; } constexpr unsigned Q = W << 2; }
template <typename A, int K = 4> void g(A (&x)[K], const A y[K][3]) {}
template void g<float, 4>(float (&x)[4], const float y[4][3]);
[[nodiscard]] static int f(int A[], R B[][n::M], int (*C)[4], ap_fixed<n::W, 3, AP_RND> e,
                           ap_uint<(n::Q >> 1)> b = 3) {}
"""
SIGNS = [*"()[]{}<>=;,*&", "typedef", "using", "enum", "template", "const", "namespace", "extern", "0x", "08", "::"]


@pytest.mark.parametrize("top", ["f", "g", "g<float, 4>", "g<>", "f<"])
def test_broken_text_gives_an_error_and_no_crash(top: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The preprocessor lets pass what the compiler refuses later."""
    generator = random.Random(top)
    words = re.findall(r"\w+|\s+|.", CORPUS, re.DOTALL)
    read = 0
    for _ in range(200):
        broken = list(words)
        for _ in range(generator.randint(1, 4)):
            broken[generator.randrange(len(broken))] = generator.choice([*SIGNS, "", generator.choice(words)])
        text = "".join(broken)
        monkeypatch.setattr(reader, "preprocessed", lambda *_, text=text: text)
        try:
            reader.signature_of(None, ExternalSource(top, ("f.cpp",)))  # type: ignore[arg-type]
            read += 1
        except KernelError:
            pass
    assert read < 200
