"""Faults of the kind that slips into interfaces, planted one at a time: the models of a simulation name the rule."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
import pytest

import allo
from allo.backend.rtl import RTLModule
from allo.backend.rtl.library import library_files
from allo.errors import AlloError
from allo.ir.types import int16, int32

SEEDS = range(4, 40)  # of random waits, and of places of arrays that are no multiples of 4 KiB


def moved(x: int32[600], y: int16[41], z: int32[5]):
    for i in range(41):
        y[i] += x[14 * i + 7]
    z[1] = z[3] + x[599]


# the module (or the shell), its text, what stands in place of it, and what a run tells; None: results are wrong
FAULTS: dict[str, tuple[str, str, str, str | None]] = {
    "bursts across 4 KiB": (
        "allo_axi_bursts", "page > 256 ? 9'd256 : 9'(page)", "9'd256",
        "m_axi_gmem0 violates AR_4KB: a burst across 4 KiB, 0x100 words from ",
    ),
    "an address changes while it waits": (
        "allo_axi_bursts", "active && (!valid || ready)", "active",
        "m_axi_gmem0 violates AR_STABLE: an address was withdrawn or changed before it was taken",
    ),
    "a word changes while it waits": (
        "allo_axi_write", ".get(goes), .get_data({wstrb", ".get(wvalid), .get_data({wstrb",
        "violates W_STABLE: a word was withdrawn or changed before it was taken",
    ),
    "the last word is not marked": (
        "allo_axi_write", "wlast = beat == len", "wlast = beat > len",
        "violates W_LAST: a burst has no last word",
    ),
    "words wait for their address": (
        "allo_axi_write", "!no_word && !no_burst", "!no_word && !no_burst && !awvalid",
        "violates W_WAITS: no word is offered before its address is taken",
    ),
    "too many words": (
        "allo_axi_bursts", "left == 32'(count)", "left < 32'(count)", "violates AR_4KB: a burst across 4 KiB, ",
    ),
    "all bytes are written": (
        "allo_store", "strobes = placed_bytes", "strobes = '1",
        "m_axi_gmem1 violates W_PLACE: bytes behind the array are written",
    ),
    "what is not on chip is written": ("the shell", "5'b01010", "5'b11111", None),
    "bases exchanged": (
        "the shell", ".from(values[0 +: 64])", ".from(values[64 +: 64])", "violates AR_PLACE: no array is at ",
    ),
    "no look at the room for words": (
        "allo_axi_read", "rready = !full", "rready = 1'b1", "put into a full FIFO",
    ),
    "an answer before the write": (
        "allo_axi_lite", "writes = has_address && has_word", "writes = has_address",
        "violates AR_PLACE: no array is at ",
    ),
    "an answer too many": (
        "allo_axi_lite", "if (bready) bvalid <= 0;", "",
        "s_axi_control violates B_ORDER: an answer without a write",
    ),
    "an answer that does not wait": (
        "allo_axi_lite", "if (bready) bvalid <= 0;", "bvalid <= 0;",
        "s_axi_control violates B_STABLE: an answer was withdrawn or changed before it was taken",
    ),
    "an end before memory has confirmed": (
        "the shell", "gmem1_write_request == '0 && gmem1_idle", "gmem1_write_request == '0",
        "m_axi_gmem1 violates OPEN: bursts have not ended when the kernel says that it has",
    ),
    "a place skipped": ("allo_digit", "+ AW'(SLOW_ADDR)", "+ AW'(2 * SLOW_ADDR)", None),
}  # fmt: skip
QUICK = ("bursts across 4 KiB",)


def faulty_files(module: str, text: str, instead: str, names: Iterable[str], *, fast: bool = False) -> dict[str, str]:
    files = library_files(names, fast=fast)
    if f"{module}.sv" in files:
        assert files[f"{module}.sv"].count(text) == 1
        files[f"{module}.sv"] = files[f"{module}.sv"].replace(text, instead)
    return files


def built_with(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> RTLModule:
    module, text, instead, _ = FAULTS[name]
    s = allo.customize(moved)
    s.partition("z", dim=0)
    built = s.build(target="rtl", interface={"back_pressure": seed}, limit=60_000)
    assert isinstance(built, RTLModule)
    if module == "the shell":
        assert built.code.count(text) == 1
        built.code = built.code.replace(text, instead)
    else:
        monkeypatch.setattr("allo.backend.rtl.module.library_files", partial(faulty_files, module, text, instead))
    return built


def told_of(built: RTLModule) -> str | None:
    """What a run says; None if its results are right."""
    x, y, z = np.arange(600, dtype=np.int32) * 3, np.arange(41, dtype=np.int16), np.arange(1, 6, dtype=np.int32)
    wanted = y + x[7::14][:41]
    try:
        built(x, y, z)
    except AlloError as error:
        return str(error)
    return None if np.array_equal(y, wanted) and list(z) == [1, 1801, 3, 4, 5] else "wrong"


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in FAULTS])
def test_a_fault_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random waits bring it to light, some sooner than others."""
    wanted = FAULTS[name][3] or "wrong"
    runs = (told_of(built_with(name, seed, monkeypatch)) for seed in SEEDS)
    told = next((text for text in runs if text is not None), "nothing")
    assert wanted in told
