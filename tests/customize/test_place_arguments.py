"""place_arguments: arguments in channels of memory beside the chip, as many bytes through each as may be."""

# ruff: noqa: E501 - golden text is not wrapped

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from allo import TargetError, customize
from allo.customize.array.channels import ChannelUser, channel_plan
from allo.errors import ScheduleError
from allo.ir.types import float32, int8
from tests.seeds import sweep

from .checks import assert_faithful, assert_refused


def layer(A: int8[1024], W: float32[512, 64], B: float32[64], C: float32[64], n: float32):
    for i in range(64):
        C[i] += W[i, i] * B[i]
    for i in range(64):
        B[i] = A[i] * n


def test_golden() -> None:
    """What is read and written moves twice; a number has no channel."""
    s = customize(layer)
    plan = s.place_arguments()
    assert str(plan) == PLAN
    head = next(line for line in str(s.module).splitlines() if "func.func" in line)
    assert head.strip() == (
        'func.func @layer(%arg0: memref<1024xi8> {allo.name = "A", allo.x_channel = "HBM[1]"}, %arg1: memref<512x64xf32> '
        '{allo.name = "W", allo.x_channel = "HBM[0]"}, %arg2: memref<64xf32> {allo.name = "B", allo.x_channel = "HBM[2]"}, '
        '%arg3: memref<64xf32> {allo.name = "C", allo.x_channel = "HBM[3]"}, %arg4: f32 {allo.name = "n"}) {'
    )
    assert_faithful(layer, s)


PLAN = """\
arguments on u280: at most 131,072 bytes a call through one of 32 channels of HBM, 131,072 at best
argument  bytes    moved    channel
--------  -------  -------  -------
W         131,072  131,072  HBM[0]
A         1,024    1,024    HBM[1]
B         256      512      HBM[2]
C         256      512      HBM[3]"""


def test_repeated() -> None:
    """The step says where each is, so that nothing is planned again, and a later one replaces it."""
    s = customize(layer)
    s.place_arguments(memory="DDR")
    again = customize(layer)
    (step,) = s.steps
    again.place_arguments(**dict(step.arguments))
    assert str(again.module) == str(s.module)
    again.place_arguments(arguments=["A"], channels=["HBM[4:5]"])
    assert 'allo.name = "A", allo.x_channel = "HBM[4:5]"' in str(again.module)


def test_project(tmp_path: Path) -> None:
    """The linker is told, but for what `configs` say; a device without the channel is refused."""
    s = customize(layer)
    s.place_arguments(arguments=["A", "W"], channels=["DDR[1]", "HBM[7]"])
    options = {"target": "vitis_hls", "mode": "hw_emu", "project": str(tmp_path)}
    s.build(**options, configs={"hbm_mapping": {"W": "HBM[9]"}})
    lines = (tmp_path / "link.cfg").read_text().splitlines()
    assert [line for line in lines if line.startswith("sp=")] == ["sp=layer_top_1.A:DDR[1]", "sp=layer_top_1.W:HBM[9]"]
    with pytest.raises(TargetError) as caught:
        s.build(**options, configs={"device": "u50"})
    assert str(caught.value) == (
        "argument 'A' was placed in DDR[1], which device 'u50' has not\n"
        "  hint: place_arguments() for this device, or give configs['hbm_mapping']"
    )


def local(A: int8[4]):
    T: int8[4] = 0
    for i in range(4):
        A[i] = T[i]


def scalar(n: int8) -> int8:
    return n


def test_refusals() -> None:
    assert_refused("""
place_arguments: arguments= and channels= are given together, a channel for each argument
  hint: s.place_arguments(arguments=["A"], channels=["HBM[0]"])
    """, customize(layer), "place_arguments", arguments=["A"])
    assert_refused("""
place_arguments: the channel of 'A' is called HBM[0], HBM[2:3] or DDR[1], got '3'
    """, customize(layer), "place_arguments", arguments=["A"], channels=["3"])
    assert_refused("""
place_arguments: target 'u55c' describes no channels of 'DDR'
  hint: it has HBM
    """, customize(layer), "place_arguments", "u55c", "DDR")
    assert_refused("""
place_arguments: 'local:T' is no argument of 'local', and only those are in memory beside the chip
  note: 'T' is declared here
    File, line N, column 5
      T: int8[4] = 0
      ^
  hint: place_arrays() is for arrays on the chip
    """, customize(local), "place_arguments", arguments=["T"], channels=["HBM[0]"])
    assert_refused("place_arguments: 'scalar' takes no arrays", customize(scalar), "place_arguments")


def test_room() -> None:
    """What is larger than a channel takes several side by side; what does not fit is refused."""
    users = [ChannelUser("A", 250, 250), ChannelUser("B", 100, 100), ChannelUser("C", 60, 60)]
    plan = channel_plan(users[:2], "card", "HBM", 4, 100)
    assert [place.bank for place in plan.places] == ["HBM[0:2]", "HBM[3]"]
    assert plan.loads == (84, 84, 84, 100) and plan.bound == 100
    with pytest.raises(ScheduleError) as caught:
        channel_plan(users, "card", "HBM", 4, 100)
    assert str(caught.value) == (
        "'C' of 60 bytes has no room in HBM of card: 4 channels of 100 bytes, of which 48 bytes are left\n"
        "  hint: choose another kind of memory, or arrays of smaller elements"
    )


@sweep(20, 3)
def test_balance(seed: int) -> None:
    """The fullest channel moves at most a third more than in the best of all ways to place a few arguments."""
    random = np.random.default_rng(seed)
    sizes = [int(size) for size in random.integers(1, 50, random.integers(1, 7))]
    plan = channel_plan([ChannelUser(f"A{n}", size, size) for n, size in enumerate(sizes)], "card", "HBM", 3, 1000)
    best = min(
        max(sum(s for s, at in zip(sizes, ways, strict=True) if at == channel) for channel in range(3))
        for ways in product(range(3), repeat=len(sizes))
    )
    assert plan.bound <= best <= max(plan.loads) <= best * 4 / 3
    assert sum(plan.loads) == sum(sizes)
