"""place_arrays: each array in the memory that fits its size and its first values."""

# ruff: noqa: E501, F821 - golden text is not wrapped; kernels declare arrays without a value

import numpy as np
import pytest

from allo import TargetError, customize
from allo.ir.types import int32
from allo.memory import Memory

from .checks import assert_faithful, assert_refused

TABLE = np.arange(4096, dtype=np.int32)


def design(A: int32[4096], B: int32[4096]):
    small: int32[16]
    for i in range(16):
        small[i] = A[i]
    large: int32[65536]
    for i in range(4096):
        large[16 * i] = A[i] + small[i % 16]
    kept: int32[2048]
    for i in range(2048):
        kept[i] = A[i]
    table: int32[4096] = TABLE
    for i in range(4096):
        B[i] = large[16 * i] + table[i] + kept[i % 2048]


def test_places() -> None:
    s = customize(design)
    s.bind("kept", Memory(resource="LUTRAM"))
    plan = s.place_arrays()
    assert str(plan) == PLAN
    assert 'resource = "URAM"' in str(s.module) and 'resource = "BRAM"' in str(s.module)
    assert_faithful(design, s)


PLAN = """\
arrays on u280: 16 of 960 URAM, 8 of 4,032 BRAM, 1,056 of 1,303,680 LUTRAM
array         bits       banks  memory  count  because
------------  ---------  -----  ------  -----  -------------------------------------------
design:kept   65,536     1      LUTRAM  1,024  bound
design:large  2,097,152  1      URAM    16     16 of 960 URAM left, 128 of 4,032 BRAM left
design:table  131,072    1      BRAM    8      constant; 8 of 4,032 BRAM left
design:small  512        1      LUTRAM  32     512 bits a bank, at most 1,024"""


def test_channels_count_twice() -> None:
    """In a dataflow region, an array that one stage makes and another one takes is there twice."""
    s = customize(design)
    once = {place.array: place.count for place in s.copy().place_arrays().places}
    s.dataflow("design")
    twice = {place.array: place.count for place in s.place_arrays().places}
    assert {name for name in once if twice[name] == 2 * once[name]} == {"design:large", "design:kept", "design:small"}


def huge(A: int32[4], B: int32[4]):
    T: int32[64, 1048576]
    for i in range(4):
        T[i, 0] = A[i]
    for i in range(4):
        B[i] = T[i, 0]


def test_no_room() -> None:
    s = customize(huge)
    with pytest.raises(TargetError) as caught:
        s.place_arrays()
    assert str(caught.value) == NO_ROOM
    assert s.steps == ()


def test_refusals() -> None:
    s = customize(design)
    assert_refused("""
place_arrays: arrays= and resources= are given together, a resource for each array
  hint: s.place_arrays(arrays=["A"], resources=["URAM"])
    """, s, "place_arrays", arrays=["small"])
    assert_refused("""
place_arrays: resource must be one of AUTO, BRAM, BRAM_ECC, LUTRAM, SRL, URAM, URAM_ECC, got 'ram'
    """, s, "place_arrays", arrays=["small"], resources=["ram"])


NO_ROOM = """\
'huge:T' has no room on u280: it would take 16,384 URAM of 960 left, 131,072 BRAM of 4,032 left, 33,554,432 LUTRAM of 1,303,680 left
  hint: let arrays stream (fuse_streams), or make parts of them (buffer_at)"""
