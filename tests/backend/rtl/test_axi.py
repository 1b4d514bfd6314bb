"""Kernels with AXI interfaces: the bits of the CPU, also when all around waits at random, in the predicted cycles."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

import allo
from allo.backend.rtl import RTLModule
from allo.customize import Partition
from allo.ir.types import Fixed, Int, Stateful, Struct, UInt, bool, float16, float32, int8, int32
from polybench import load
from polybench.accuracy import inputs

from .simulated import copied
from .test_loops import gemm, numbers

RANDOM = np.random.default_rng(3)
SEEDS = (1, 2, 3)


def bits(value: Any) -> Any:
    array = np.asarray(value)
    return array.tolist() if array.dtype == object else array.tobytes()


def assert_over_axi(s: allo.Schedule, *arguments: Any, device: str = "u280", **interface: Any) -> RTLModule:
    """Run a schedule behind AXI and on the CPU, without random waits (in the predicted cycles) and with some."""
    wanted = copied(arguments)
    result = s.build()(*wanted)
    plain: RTLModule | None = None
    for seed in (None, *SEEDS):
        found = copied(arguments)
        built = s.build(
            target="rtl", device=device, interface={**interface, "back_pressure": seed}, limit=1_000_000, random_state=5
        )
        assert isinstance(built, RTLModule)
        assert bits(built(*found)) == bits(result), seed
        for one, other in zip(found, wanted, strict=True):
            assert bits(one) == bits(other), seed
        assert all(loop.as_scheduled for loop in built.loops)
        assert built.traffic is not None and built.cycles == built.traffic.cycles
        if plain is None:
            plain = built
            assert built.predicted_cycles == built.cycles
        else:
            assert built.predicted_cycles is None
            assert plain.traffic is not None and built.traffic.kernel_cycles == plain.traffic.kernel_cycles
    assert plain is not None
    return plain


def test_partitioned_arrays_share_a_port() -> None:
    s = allo.customize(gemm)
    s.reorder("k", "j")
    s.pipeline("j")
    s.partition("A", dim=2, factor=4, partition_type=Partition.Cyclic)
    s.partition("B", dim=1, factor=2, partition_type=Partition.Block)
    s.partition("C", dim=0)
    built = assert_over_axi(
        s, numbers(8, 8), numbers(8, 8), numbers(8, 8), word_bits=64, bundles={"A": "gmem0", "B": "gmem0", "C": "gmem0"}
    )
    assert built.interface is not None and built.traffic is not None
    (port,) = built.interface.ports
    assert [(one.label, one.lanes, one.loads, one.stores) for one in port.transfers] == [
        ("A", 2, True, False), ("B", 1, True, False), ("C", 2, True, True),
    ]  # fmt: skip
    (traffic,) = built.traffic.ports
    assert (traffic.bytes_read, traffic.bytes_written, traffic.bursts_read) == (3 * 256, 256, 3)


def test_words_of_many_elements_at_a_fraction_of_the_clock() -> None:
    """A port of 128 bits at 100 MHz gets three words in four cycles of the memory of a Zynq, one burst at a time."""

    def shifted(x: int8[6000], y: int8[6000]):
        for i in range(6000):
            y[i] = x[5999 - i] + 1

    s = allo.customize(shifted)
    s.pipeline("i")
    for name in "xy":
        s.partition(name, factor=16, partition_type=Partition.Cyclic)
    numbers = RANDOM.integers(-100, 100, (2, 6000)).astype(np.int8)
    built = assert_over_axi(s, *numbers, device="zynq7020", word_bits=128, outstanding=1)
    assert built.traffic is not None and built.interface is not None
    words = 6000 // 16
    assert [port.memory.name for port in built.interface.ports] == ["DDR", "DDR"]
    assert [(port.bursts_read, port.bursts_written) for port in built.traffic.ports] == [(2, 0), (0, 2)]
    assert 0 <= built.traffic.load_cycles - (words * 4 / 3 + 2 * 64) < 20
    assert 0 <= built.traffic.store_cycles - (words * 4 / 3 + 2 * 64) < 20


def test_types() -> None:
    """Elements lie in memory as NumPy has them, narrower on chip; wide ones come in several words."""
    P = Struct((("at", int32), ("few", UInt(5)), ("part", Fixed(10, 3))))
    F, W, N, U = Fixed(14, 6), Int(100), Int(7), UInt(3)

    def change(f: F[6], w: W[5], n: N[9], u: U[7], p: P[4], b: bool[6], h: float16[5], c: W, k: N) -> N:
        for i in range(6):
            f[i] = f[i] + 1
            b[i] = not b[i]
        for i in range(5):
            w[i] = w[i] - c
            h[i] = h[i] * 2
        for i in range(9):
            n[i] = k - n[i]
        for i in range(7):
            u[i] = u[i] + 1
        for i in range(4):
            p[i].few = p[3 - i].few + 1
        return n[2] - 3

    wide = np.array([int(value) << 70 for value in RANDOM.integers(-1000, 1000, 5)], dtype=object)
    structs = np.zeros(4, [("at", "i4"), ("few", "u1"), ("part", "f8")])
    structs["at"], structs["few"] = RANDOM.integers(-9, 9, 4), RANDOM.integers(0, 9, 4)
    arguments = (
        RANDOM.integers(-20, 20, 6) / 4, wide, RANDOM.integers(-30, 30, 9).astype(np.int8),
        RANDOM.integers(0, 8, 7).astype(np.uint8), structs, RANDOM.integers(0, 2, 6).astype(builtins.bool),
        RANDOM.standard_normal(5).astype(np.float16), -(3 << 80), -5,
    )  # fmt: skip
    bundles = dict.fromkeys("fw", "wide") | dict.fromkeys("nupbh", "narrow")
    assert_over_axi(allo.customize(change), *arguments, bundles=bundles, word_bits=64)


def test_streams() -> None:
    """Arrays that come and go as streams; elements that the kernel does not touch pass through."""

    def smooth(x: float32[4, 8], y: float32[4, 8], z: float32[5], a: float32) -> float32[4]:
        last: Stateful[float32] = 0.5
        ends: float32[4] = 0
        for i, j in allo.grid(4, 8):
            last = a * last + x[i, j]
            y[i, 7 - j] = last
            ends[i] = last
        z[1] = z[3]
        return ends

    s = allo.customize(smooth)
    s.partition("y", dim=2, factor=4, partition_type=Partition.Cyclic)
    s.partition("z", dim=0)
    x, y = (RANDOM.standard_normal((4, 8)).astype(np.float32) for _ in range(2))
    z = RANDOM.standard_normal(5).astype(np.float32)
    built = assert_over_axi(s, x, y, z, 0.25, streams=["x", "y", "z"], memory="DDR")
    assert built.interface is not None
    assert [one.label for one in built.interface.streams] == ["x", "y", "z"]
    assert "m_axis_y_tkeep" in built.code and "s_axis_y_tdata" not in built.code  # y is overwritten
    (port,) = built.interface.ports
    assert (port.name, port.memory.name, [one.label for one in port.transfers]) == ("gmem0", "DDR", ["output_0"])


@pytest.mark.slow
def test_states_stay_from_call_to_call() -> None:
    def counted(x: int32[4]) -> int32:
        calls: Stateful[int32] = 3
        calls += 1
        for i in range(4):
            x[i] += calls
        return calls

    built = allo.customize(counted).build(target="rtl", interface="axi")
    x = np.zeros(4, np.int32)
    assert [built(x), built(x)] == [4, 5] and list(x) == [9] * 4
    built.reset()
    assert built(x) == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["seidel_2d"])
def test_polybench(name: str) -> None:
    assert_over_axi(load(name).designs["best"].customized("MINI"), *inputs(name, "MINI"), word_bits=128)
