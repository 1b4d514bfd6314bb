"""What is between a kernel and memory: words, bursts, registers, banks; and what cannot be there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo.backend.hls.interface.ports import Port, ports_of
from allo.backend.hls.interface.settings import settings_of
from allo.errors import TargetError
from allo.ir.types import (
    Fixed,
    Int,
    Struct,
    UInt,
    bool,
    float16,
    float32,
    float64,
    index,
    int8,
    int16,
    int32,
    uint8,
)
from allo.memory import Memory

from .designs import DESIGNS, gemm
from .test_csim import assert_same, same

Complete, Cyclic, Block = allo.Partition.Complete, allo.Partition.Cyclic, allo.Partition.Block


def built(schedule: allo.Schedule, **configs: Any) -> Any:
    return schedule.build(target="vitis_hls", configs=configs)


def ports(schedule: allo.Schedule, **configs: Any) -> dict[str, Port]:
    return {port.label: port for port in built(schedule, **configs).ports}


def lines(code: str, start: str) -> list[str]:
    """The lines that begin with `start`."""
    return [line.strip() for line in code.splitlines() if line.strip().startswith(start)]


# -- words -----------------------------------------------------------------------------------------


def halves(A: int16[6, 24], B: int16[6, 24]):
    for i, j in allo.grid(6, 24):
        B[i, j] = A[i, j] - 1


@pytest.mark.parametrize(
    ("kind", "dim", "factor", "lanes"),
    [
        (Cyclic, 2, 4, 4),
        (Cyclic, 2, 6, 2),
        (Cyclic, 2, 3, 1),
        (Complete, 2, 0, 8),
        (Block, 2, 4, 1),
        (Cyclic, 1, 2, 1),
    ],
)
def test_a_word_holds_neighbours_in_different_banks(kind: Any, dim: int, factor: int, lanes: int) -> None:
    s = allo.customize(halves)
    s.partition("A", partition_type=kind, dim=dim, factor=factor)
    port = ports(s)["A"]
    assert (port.lanes, port.word_bits, port.words) == (lanes, 16 * lanes, 144 // lanes)


def test_words_are_no_wider_than_asked() -> None:
    s = allo.customize(halves)
    s.partition("A", dim=2)
    assert ports(s, word_bits=64)["A"].lanes == 4
    assert ports(s, device="pynq-z2")["A"].lanes == 4  # what its memory port has
    assert ports(s, word_bits=32)["A"].lanes == 2


def test_bursts_go_word_by_word() -> None:
    s = allo.customize(halves)
    s.partition("A", partition_type=Cyclic, dim=2, factor=4)
    code = built(s).hls_code
    start = code.index("// burst from memory into the array on chip, 4 elements a word")
    assert code[start:].startswith(
        """// burst from memory into the array on chip, 4 elements a word
static void load_A(const uint64_t *memory, int16_t array[6][24]) {
#pragma HLS inline off
#pragma HLS array_partition variable=array cyclic dim=2 factor=4
  l_load_A_i0: for (int i0 = 0; i0 < 6; i0++) {
    l_load_A_w: for (int w = 0; w < 6; w++) {
#pragma HLS pipeline II=1
      const ap_uint<64> word = memory[i0 * 6 + w];
      for (int lane = 0; lane < 4; lane++) {
#pragma HLS unroll
        array[i0][w * 4 + lane] = int16_t(ap_uint<16>(word.range(lane * 16 + 15, lane * 16)));
      }
    }
  }
}
"""
    )
    assert code.endswith(
        """extern "C" void halves_top(const uint64_t *A, int16_t *B) {
#pragma HLS interface m_axi port=A offset=slave bundle=gmem0 depth=36 max_read_burst_length=64
#pragma HLS interface m_axi port=B offset=slave bundle=gmem1 depth=144 max_write_burst_length=256
#pragma HLS interface s_axilite port=A bundle=control
#pragma HLS interface s_axilite port=B bundle=control
#pragma HLS interface s_axilite port=return bundle=control
  int16_t local_A[6][24];
#pragma HLS array_partition variable=local_A cyclic dim=2 factor=4
  load_A(A, local_A);
  int16_t local_B[6][24];
  halves(local_A, local_B);
  store_B(local_B, B);
}
"""
    )


def test_code_without_interface_is_the_function() -> None:
    s = allo.customize(gemm)
    assert "m_axi" not in s.build(target="vhls").hls_code
    assert built(s).hls_code.startswith(s.build(target="vhls").hls_code.rstrip())


@pytest.mark.parametrize(("kind", "bound"), [("RAM_2P", 2), ("ROM_1P", 1)])
def test_memory_on_chip_is_bound(kind: str, bound: int) -> None:
    s = allo.customize(gemm)
    s.bind("A", Memory(resource="BRAM", storage_type=kind))
    found = lines(built(s).hls_code, "#pragma HLS bind_storage")
    assert found[0] == f"#pragma HLS bind_storage variable=A type={kind.lower()} impl=bram"
    assert found[1:] == ["#pragma HLS bind_storage variable=local_A type=ram_2p impl=bram"][: bound - 1]


Sample = Struct({"id": int32, "mean": float32, "last": float64, "small": float16})


def means(ps: Sample[3], by: float32[3]):
    for i in range(3):
        ps[i].mean = ps[i].mean * by[i]


def test_structs_of_floats_go_through_memory() -> None:
    """The interface alone needs their bits: the functions for that stand behind the kernel."""
    ps = np.zeros(3, [("id", np.int32), ("mean", np.float32), ("last", np.float64), ("small", np.float16)])
    ps["mean"], ps["last"], ps["small"] = [1.5, -2, np.inf], [0.1, -0.0, 1e300], [2.5, -1, 65504]
    assert_same(allo.customize(means), [(ps, np.array([3, 0.1, -1], np.float32))])


def test_depth_is_that_of_the_memory_behind_the_port() -> None:
    s = allo.customize(gemm)
    s.bind("A", Memory(resource="URAM", depth=64))
    assert "m_axi port=A offset=slave bundle=gmem0 depth=64 " in built(s).hls_code
    s.bind("A", Memory(resource="URAM", depth=32))
    with pytest.raises(TargetError) as caught:
        built(s)
    assert str(caught.value).endswith(
        "'A' is bound with depth=32, and has 64 elements\n"
        "    def gemm(A: float32[M, K], B: float32[K, N]) -> float32[M, N]:\n             ^\n"
        "  hint: leave out the depth: it follows from the extents"
    )


def named(memory: int32[4], local_A: int32[4], A: int32[4], value: int32) -> int32:
    local_A[0] = A[0] + memory[1]
    return local_A[0] + value


def test_names_of_arguments_are_no_trouble() -> None:
    a = np.arange(4, dtype=np.int32)
    assert_same(allo.customize(named), [(a, a + 1, a + 2, 5)])


Pixel = Struct({"r": uint8, "gain": Fixed(12, 4)})
Wide = Struct({"a": UInt(1024), "b": int8})


def every(
    f: float32[4, 8], h: float16[8], d: float64[2, 4], w: UInt(100)[4], s: Int(5)[8], x: Fixed(12, 4)[4],
    p: Pixel[4], b: bool[8], n: index[4], big: Int(100), q: float16, y: Fixed(9, 3), on: bool,
) -> (Int(100), Fixed(12, 4), float16[8], bool, Int(5)[8]):  # fmt: skip
    H: float16[8] = 0.0
    S: Int(5)[8] = 0
    for i in range(8):
        H[i] = h[i] + q
        S[i] = s[i] - 1
        b[i] = not b[i]
    for i in range(4):
        w[i] = w[i] + big
        x[i] = x[i] + y
        n[i] = n[i] + 1
        p[i].gain = p[i].gain * 2
        f[i, i] = f[i, i] * 2 + d[1, i]
    return big + 1, x[0] - y, H, b[1] and on, S


@pytest.mark.slow
def test_every_type_comes_through_the_interface() -> None:
    rng = np.random.default_rng(5)
    record = np.zeros(4, np.dtype([("r", np.uint8), ("gain", np.float64)]))
    record["r"], record["gain"] = [1, 2, 255, 0], [1.5, -2.25, 0.0625, -100]
    arguments = (
        rng.standard_normal((4, 8)).astype(np.float32), rng.standard_normal(8).astype(np.float16),
        rng.standard_normal((2, 4)), np.array([0, 1, 2**99, 2**100 - 1], object),
        np.array([-16, 15, 0, 1, 2, 3, 4, -1], np.int8),
        np.array([0.5, -1.25, 3, -4]), record, rng.integers(0, 2, 8).astype(np.bool_), np.array([0, 5, -7, 2**40]),
        -(2**98), 0.25, -0.5, True,
    )  # fmt: skip
    plain, banked = allo.customize(every), allo.customize(every)
    for name in "fhwsxpbnd":
        banked.partition(name, dim=2 if name in "fd" else 1, partition_type=Cyclic, factor=4)
    assert_same(plain, [arguments])
    assert_same(banked, [arguments])


def large(A: float32[2048, 1024], B: float32[2048, 1024]):
    for i, j in allo.grid(2048, 1024):
        B[i, j] = A[i, j] + 1


def test_large_arrays_have_the_stack_they_need() -> None:
    A = np.ones((2048, 1024), np.float32)
    B = np.zeros_like(A)
    allo.customize(large).build(target="vitis_hls", mode="csim")(A, B)
    assert (B == 2).all()


@pytest.mark.parametrize(("low", "reads"), [(0, False), (1, True)])
def test_arrays_that_are_overwritten_are_not_read(low: int, reads: Any) -> None:
    def clear(A: int32[4, 8]):
        for j in range(8):
            for i in range(low, 4):
                A[i, j] = 0

    assert ports(allo.customize(clear))["A"].reads is reads


def test_arrays_that_are_overwritten_under_a_condition_are_read() -> None:
    def clear(A: int32[8], n: int32):
        for i in range(8):
            if n > i:
                A[i] = 0

    assert ports(allo.customize(clear))["A"].reads


@pytest.mark.slow
def test_arrays_can_stay_in_memory() -> None:
    s = allo.customize(gemm)
    code = built(s, in_place=["B", "C"]).hls_code
    assert 'extern "C" void gemm_top(const float *A, float B[8][8], float C[8][8]) {' in code
    assert code.endswith("  load_A(A, local_A);\n  gemm(local_A, B, C);\n}\n")
    A, B = np.random.default_rng(1).standard_normal((2, 8, 8)).astype(np.float32)
    module = s.build(target="vitis_hls", mode="csim", configs={"in_place": ["B", "C"]})
    assert same(module(A, B), s.build()(A, B))


def odd(A: Int(5)[8], B: bool[8], C: int32[8], n: int32):
    for i in range(8):
        C[i] = A[i] + n if B[i] else n


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("A", "elements int5 lie in memory otherwise than in the kernel"),
        ("B", "elements bool lie in memory otherwise than in the kernel"),
        ("C", "it is partitioned, and memory has no banks"),
    ],
)
def test_arrays_that_cannot_stay_in_memory(name: str, why: str) -> None:
    s = allo.customize(odd)
    s.partition("C")
    with pytest.raises(TargetError) as caught:
        built(s, in_place=[name])
    assert str(caught.value) == (
        f"configs['in_place'] names '{name}', which has to be copied to the chip: {why}\n  hint: take the entry out"
    )


@pytest.mark.slow
@pytest.mark.parametrize("target", ["vivado_hls", "pynq"])
def test_other_flows_are_simulated(target: str) -> None:
    a = np.arange(4, dtype=np.int32)
    assert allo.customize(named).build(target=target, mode="csim")(a, a + 1, a + 2, 5) == 8


# -- ports and banks -------------------------------------------------------------------------------


def test_arguments_can_share_a_port() -> None:
    found = ports(allo.customize(gemm), bundles={"A": "gmem0", "C": "gmem0"})
    assert [port.bundle for port in found.values()] == ["gmem0", "gmem1", "gmem0"]


def test_ports_of_a_bundle_have_the_bursts_of_the_widest() -> None:
    s = allo.customize(halves)
    s.partition("A", dim=2)
    code = built(s, bundles={"A": "gmem", "B": "gmem"}).hls_code
    bursts = [line.partition(" max")[2] for line in lines(code, "#pragma HLS interface m_axi")]
    assert bursts == ["_read_burst_length=32 max_write_burst_length=256"] * 2


def test_numbers_are_registers_and_results_are_in_memory() -> None:
    code = built(DESIGNS["bits"]()).hls_code
    assert (
        'extern "C" void bits_top(uint8_t a, int8_t w, int32_t n, uint8_t *result0, int32_t *result1) {'
        in code
    )
    assert len(lines(code, "#pragma HLS interface s_axilite")) == 6


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        (
            {"hbm_mapping": {"D": "HBM[0]"}},
            "configs['hbm_mapping'] names 'D', which is no argument or result of the kernel\n"
            "  hint: those in memory: A, B, C",
        ),
        (
            {"hbm_mapping": {"A": "HBM[32]"}},
            "configs['hbm_mapping']['A'] is HBM[32], but device 'u280' has 32 banks of HBM\n"
            "  hint: its banks: HBM[0] to HBM[31], DDR[0] to DDR[1], PLRAM[0] to PLRAM[5]",
        ),
        (
            {"hbm_mapping": {"A": 0}, "device": "u250"},
            "configs['hbm_mapping']['A'] is HBM[0], but device 'u250' has no HBM\n"
            "  hint: its banks: DDR[0] to DDR[3], PLRAM[0] to PLRAM[3]",
        ),
        (
            {"hbm_mapping": {"A": 0}, "device": "pynq-z2"},
            "configs['hbm_mapping']['A'] is HBM[0], but device 'pynq-z2' has no HBM\n"
            "  hint: it has no banks to choose from: leave hbm_mapping out",
        ),
        (
            {"hbm_mapping": {"A": "hbm 0"}},
            "configs['hbm_mapping']['A'] must be a bank of memory, got 'hbm 0'\n"
            '  hint: write "HBM[0]", "DDR[1]", or "HBM[0:3]" for several banks',
        ),
        (
            {"hbm_mapping": {"A": "HBM[3:1]"}},
            "configs['hbm_mapping']['A'] is HBM[3:1], whose first bank is behind its last",
        ),
        (
            {"hbm_mapping": ["A"]},
            "configs['hbm_mapping'] must be a dict from names of arguments to banks, got ['A']",
        ),
        (
            {"bundles": {"A": "GMEM 0"}},
            "configs['bundles']['A'] must be a name of small letters and digits, got 'GMEM 0'\n"
            '  hint: write "gmem0"',
        ),
    ],
)
def test_wrong_banks_and_ports(configs: dict[str, Any], message: str) -> None:
    with pytest.raises(TargetError) as caught:
        built(allo.customize(gemm), **configs)
    assert str(caught.value) == message


def test_numbers_have_no_bank() -> None:
    with pytest.raises(TargetError) as caught:
        built(DESIGNS["bits"](), hbm_mapping={"w": 0})
    assert str(caught.value) == (
        "configs['hbm_mapping'] names 'w', which is a number and goes through a register\n"
        "  hint: only arrays and results are in memory; take the entry out"
    )


# -- what cannot be there --------------------------------------------------------------------------


def refusal(function: Any) -> str:
    with pytest.raises(TargetError) as caught:
        built(allo.customize(function))
    return str(caught.value).replace(__file__, "FILE")


def test_streams_at_the_top_are_refused() -> None:
    text = str(DESIGNS["chain"]().module)
    s = allo.Schedule.from_mlir(text.replace('allo.top = "chain"', 'allo.top = "add_one"'))
    with pytest.raises(TargetError) as caught:
        ports_of(s.ir, (), settings_of({}, "u280", ("alveo",)))
    text = str(caught.value)
    assert "argument 'B' of 'add_one' is a stream, and a project connects its kernel to memory\n" in text
    assert text.endswith("hint: build a kernel that makes the stream itself and calls this one with it")


def too_wide(A: Wide[4]):
    for i in range(4):
        A[i].b = 0


def test_elements_wider_than_a_port_are_refused() -> None:
    text = refusal(too_wide)
    assert (
        "argument 'A' of 'too_wide' has elements of 1032 bits, which take 2048 in memory; a port of AXI has at "
        "most 1024\n" in text
    )
    assert text.endswith("hint: use two arrays, or fewer fields")


def total(A: int32[...]) -> int32:
    return A[0]


def test_run_time_extents_are_refused(tmp_path: Path) -> None:
    """Projects copy arguments to the chip, which needs all extents; a simulation takes them as the code does."""
    with pytest.raises(TargetError) as error:
        allo.customize(total).build(target="vitis_hls", mode="csyn", project=str(tmp_path))
    assert "'A'" in str(error.value) and "known at run time only" in str(error.value)


# -- shared instances ------------------------------------------------------------------------------


def double(A: int32[8], B: int32[8]):
    for i in range(8):
        B[i] = A[i] * 2


def twice(A: int32[8], B: int32[8]):
    C: int32[8]
    double(A, C)  # noqa: F821
    double(C, B)  # noqa: F821


def test_calls_share_an_instance() -> None:
    code = allo.customize(twice).build(target="vhls").hls_code
    assert lines(code, "#pragma HLS allocation") == [
        "#pragma HLS allocation function instances=double_ limit=1"
    ]


def test_calls_that_overlap_are_left_to_the_tool() -> None:
    s = allo.customize(twice)
    s.dataflow("twice")
    assert "allocation" not in s.build(target="vhls").hls_code


def repeated(A: int32[4, 8], B: int32[4, 8]):
    for i in range(4):
        double(A[i], B[i])
        double(B[i], A[i])


def test_calls_in_a_pipeline_are_left_to_the_tool() -> None:
    s = allo.customize(repeated)
    assert "allocation" in s.build(target="vhls").hls_code
    s.unroll("i")
    assert "allocation" not in s.build(target="vhls").hls_code
