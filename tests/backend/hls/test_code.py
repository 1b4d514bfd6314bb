"""The C++ of the stored designs, read by eye, and what the emitter refuses."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import allo
import polybench
from allo.backend.hls import is_available
from allo.errors import TargetError
from allo.ir.types import Struct, bfloat16, float32, int8, int32
from allo.memory import Memory
from tests.seeds import sampled
from tests.work import calls_of

from .designs import DESIGNS, gemm

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", DESIGNS)
def test_golden(name: str) -> None:
    """Written by `python -m tests.backend.hls.write_golden`."""
    assert DESIGNS[name]().build(target="vhls").hls_code == (GOLDEN / f"{name}.cpp").read_text()


def test_code_is_the_text_of_the_module() -> None:
    built = allo.customize(gemm).build(target="vhls")
    assert isinstance(built, allo.HLSModule)
    assert str(built) == built.hls_code
    assert repr(built) == "<HLSModule gemm: 19 lines of C++>"


def test_annotations_become_pragmas() -> None:
    s = allo.customize(gemm)
    s.split("j", 4)
    s.unroll("j.inner", 2)
    s.pipeline("k", initiation_interval=3, rewind=True)
    code = s.build(target="vhls").hls_code
    assert "#pragma HLS unroll factor=2" in code
    assert "#pragma HLS pipeline II=3 rewind" in code
    assert "l_S_i_j_0_j_outer: for (int j_outer = 0;" in code


def test_memory_is_bound() -> None:
    def copied(A: float32[8]) -> float32[8]:
        B: float32[8] = 0.0
        C: float32[8]
        for i in range(8):
            B[i] = A[i]
        for i in range(8):
            C[i] = B[i]  # noqa: F821
        return C  # noqa: F821

    s = allo.customize(copied)
    s.bind("B", Memory(resource="URAM", storage_type="RAM_2P", latency=2))
    assert (
        "#pragma HLS bind_storage variable=B type=ram_2p impl=uram latency=2"
        in s.build(target="vhls").hls_code
    )
    s.bind("B", Memory(resource="SRL", storage_type="FIFO", depth=4))
    fifo = (
        "  float B[8];\n#pragma HLS bind_storage variable=B type=fifo impl=srl\n#pragma HLS stream variable=B depth=4\n"
    )
    assert fifo in s.build(target="vhls").hls_code
    s.bind("B", Memory(resource="URAM", depth=4))
    with pytest.raises(TargetError) as caught:
        s.build(target="vhls")
    place, _, rest = str(caught.value).partition(": ")
    assert place.startswith(f'File "{__file__}", line ')
    assert rest == (
        "'B' is bound with depth=4, and has its own extents: a depth is that of a FIFO, or of what an "
        "argument points to\n"
        "    B: float32[8] = 0.0\n    ^\n"
        '  hint: leave out the depth, or bind it with storage_type="FIFO"'
    )


WEIGHTS = np.arange(8, dtype=np.int32)


FORWARD = """
func.func @forward(%a: !allo.stream<i32, 2> {allo.name = "a"}, %b: !allo.stream<i32, 2> {allo.name = "b"}) {
  affine.for %i = 0 to 8 {
    %x = allo.stream_get %a : !allo.stream<i32, 2>
    allo.stream_put %b, %x : !allo.stream<i32, 2>
  } {allo.name = "i", allo.nest = "i"}
  return
}
"""


def test_streams_of_the_entry_are_ports() -> None:
    s = allo.Schedule.from_mlir(f'module attributes {{allo.top = "forward"}} {{{FORWARD}}}')
    code = s.build(target="vhls").hls_code.partition("\n\n")[2]
    assert re.sub("  //.*", "", code) == """\
void forward(hls::stream<int32_t> &a, hls::stream<int32_t> &b) {
#pragma HLS interface axis port=a
#pragma HLS interface axis port=b
  l_i: for (int i = 0; i < 8; i++) {
    int32_t t = a.read();
    b.write(t);
  }
}
"""


def test_arrays_that_are_only_read_are_constant() -> None:
    """An instance that two calls share takes a constant array and one that is not."""

    def scaled(A: int32[8], W: int32[8], B: int32[8]):
        for i in range(8):
            B[i] = A[i] * W[i]

    def twice(A: int32[8], B: int32[8]):
        T: int32[8]
        V: int32[8] = WEIGHTS
        scaled(A, V, T)  # noqa: F821
        scaled(T, A, B)  # noqa: F821

    code = allo.customize(twice).build(target="vhls").hls_code
    assert "void scaled(const int32_t A[8], const int32_t W[8], int32_t B[8]) {" in code
    assert "void twice(int32_t A[8], int32_t B[8]) {" in code
    assert "static const int32_t twice_V[8] = {0, 1, 2, 3, 4, 5, 6, 7};" in code


def test_names_of_cpp_are_avoided() -> None:
    def double(int: int32, new: int32) -> int32:
        this: int32 = int + new
        return this

    code = allo.customize(double).build(target="vhls").hls_code
    assert "int32_t double_(int32_t int_, int32_t new_) {" in code
    assert "return this_;" in code


def test_run_time_extents_behind_the_first_are_refused() -> None:
    def total(A: int32[4, ...]) -> int32:
        s: int32 = 0
        for i in range(4):
            s += A[i, 0]
        return s

    with pytest.raises(TargetError) as caught:
        allo.customize(total).build(target="vhls")
    text = str(caught.value)
    assert (
        "argument 'A' of 'total' has an extent that is known at run time only; the interface of hardware "
        "needs extents behind the first"
        in text
    )
    assert text.endswith("hint: give the extents, or make them parameters of a template")


def test_code_cannot_be_called() -> None:
    with pytest.raises(TargetError) as caught:
        allo.customize(gemm).build(target="vhls")(np.zeros((8, 8), np.float32), np.zeros((8, 8), np.float32))
    assert str(caught.value) == (
        "this build of 'gemm' is code only and cannot be called\n"
        '  hint: build with target="vitis_hls", mode="csim" to simulate it'
    )


@pytest.mark.parametrize("name", sampled(polybench.NAMES))
def test_extents_do_not_change_the_work(name: str) -> None:
    """`python -m benchmarks.estimate --speed` has milliseconds."""
    small, large = (allo.customize(polybench.load(name).kernel(size)) for size in ("MINI", "EXTRALARGE"))
    small.build(target="vhls")
    assert calls_of(lambda: small.build(target="vhls")) == calls_of(lambda: large.build(target="vhls"))


def test_unknown_tools() -> None:
    with pytest.raises(TargetError, match="there is no HLS tool 'vitis'"):
        is_available("vitis")

Sample = Struct({"x": bfloat16, "n": int8})


def sample(A: Sample[4]):
    for i in range(4):
        A[i].n = A[i].n + 1


def test_the_type_of_a_field_is_declared_before_the_struct() -> None:
    code = str(allo.customize(sample).build(target="vitis_hls"))
    assert code.index("struct bfloat16 {") < code.index("struct struct_0")
