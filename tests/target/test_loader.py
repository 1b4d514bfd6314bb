"""Descriptions of hardware: which there are, what they say, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from allo.errors import TargetError
from allo.target import Limits, known_targets, load_target

ROOT = Path(__file__).resolve().parents[2]
U280 = ROOT / "targets" / "u280.toml"


def changed(folder: Path, old: str, new: str) -> Path:
    """A copy of u280.toml with one text replaced."""
    text = U280.read_text()
    assert old in text
    file = folder / "mine.toml"
    file.write_text(text.replace(old, new, 1))
    return file


@pytest.mark.parametrize("name", ["u280", "u55c", "zynq7020"])
def test_every_target_loads_and_cites_sources(name: str) -> None:
    target = load_target(name)
    assert name in known_targets()
    assert target.name == name and target.sources
    assert target.floating("add", "f32").dsp == 2


def test_device_of_the_u280() -> None:
    device = load_target("u280").device
    assert (device.dsp, device.bram18, device.uram) == (9024, 4032, 960)


def test_dies() -> None:
    """Three dies are the device, and beside the platform of the U280 (DS963) they have the DSPs that it has there."""
    u280, u55c = load_target("u280"), load_target("u55c")
    assert [die.name for die in u280.dies] == ["SLR0", "SLR1", "SLR2"]
    assert sum(die.free.dsp for die in u280.dies) == u280.device.dsp - u280.limits.platform_dsp == 8490
    assert [die.whole for die in u55c.dies] == [die.whole for die in u280.dies] == [die.free for die in u55c.dies]
    assert u280.crossing_wires == u55c.crossing_wires == 8 * 2 * 1440
    assert load_target("zynq7020").dies == ()


def test_a_file_of_the_user(tmp_path: Path) -> None:
    target = load_target(changed(tmp_path, 'name = "u280"', 'name = "mine"'))
    assert target.name == "mine"
    assert load_target(target) is target


def test_a_lower_clock_needs_fewer_registers() -> None:
    target = load_target("u280")
    assert target.floating("add", "f32").latency == 6
    assert target.at(240).floating("add", "f32").latency == 4


@pytest.mark.parametrize(("width", "dsp"), [(4, 0), (18, 1), (27, 2), (32, 3)])
def test_multipliers_of_integers(width: int, dsp: int) -> None:
    target = load_target("u280")
    assert target.product(width, width, width).dsp == target.integer("mul", width).dsp == dsp


@pytest.mark.parametrize(("width", "depth", "blocks"), [(32, 512, 1), (32, 1024, 2), (1, 16384, 1), (18, 2048, 2)])
def test_blocks_of_18_kilobits(width: int, depth: int, blocks: int) -> None:
    assert load_target("u280").memories["BRAM"].blocks(width, depth) == blocks


def test_memories_beside_the_chip() -> None:
    """64 cycles until the first word (UG1399); 32 ports of HBM have 460 GB/s, two of DDR4 38.4 GB/s (DS963, DS978)."""
    found = {name: external for name in known_targets() if (external := load_target(name).external)}
    assert {name: list(memories) for name, memories in found.items()} == {
        "u280": ["HBM", "DDR"], "u55c": ["HBM"], "zynq7020": ["DDR"],
    }  # fmt: skip
    assert {memory.latency for memories in found.values() for memory in memories.values()} == {64}
    assert 32 * found["u280"]["HBM"].gigabytes == 32 * found["u55c"]["HBM"].gigabytes == 460
    assert 2 * found["u280"]["DDR"].gigabytes == 38.4
    assert [memory.channels * memory.megabytes for memory in found["u280"].values()] == [8 * 1024, 32 * 1024]
    assert found["u55c"]["HBM"].channels * found["u55c"]["HBM"].megabytes == 16 * 1024


def test_a_target_need_not_have_memory_beside_the_chip(tmp_path: Path) -> None:
    text = U280.read_text()
    file = tmp_path / "bare.toml"
    file.write_text(text[: text.index("# Memory beside the chip")] + text[text.index("[dsp]") :])
    assert load_target(file).external == {}


def test_unknown_target() -> None:
    with pytest.raises(TargetError) as caught:
        load_target("u28")
    assert str(caught.value) == (
        "no target 'u28'; there are ecp5, mesh8x8, mesh8x8_open, u280, u280_mesh, u55c, wormhole_n300d, xdna1_mesh, "
        "xdna1_npu1, xdna2_mesh, xdna2_npu2, zynq7020\n  hint: did you mean 'u280'?"
    )


def test_unknown_target_like_none() -> None:
    with pytest.raises(TargetError) as caught:
        load_target("stratix")
    assert str(caught.value) == (
        "no target 'stratix'; there are ecp5, mesh8x8, mesh8x8_open, u280, u280_mesh, u55c, wormhole_n300d, "
        "xdna1_mesh, xdna1_npu1, xdna2_mesh, xdna2_npu2, zynq7020\n"
        "  hint: give one of them, or the path of a TOML file like those in `targets/`"
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("dsp = 9024", "", "'resources.dsp' is missing; it must be an integer of at least 0"),
        ("dsp = 9024", 'dsp = "many"', "'resources.dsp' must be an integer of at least 0, got 'many'"),
        ("dsp = 9024", "dsp = -1", "'resources.dsp' must be an integer of at least 0, got -1"),
        ("dsp = 9024", "dsp = 9024\ndps = 1", "'resources.dps' is not known\n  hint: did you mean 'dsp'?"),
        ("frequency = 300", "frequency = 0", "'frequency' must be more than 0"),
        ("frequency = 300", "frequency = 900", "'frequency' must be at most 738, the limit of the device"),
        ("frequency = 738", "frequency = -1", "'highest_frequency' must be a number of at least 0, got -1"),
        ('kind = "fpga"\n', "", "'kind' is missing; it must be a text"),
        ('"fpga"', '"fpgas"', "'kind' must be one of fpga, array, mesh, got 'fpgas'\n  hint: did you mean 'fpga'?"),
        ("banks = 1024", "bank = 1024", "'limits.bank' is not known\n  hint: did you mean 'banks'?"),
        ("tile = [27, 18]", "tile = [27]", "'dsp.tile' must be [width, width], got [27]"),
        ("small_factor = 4", "", "'dsp.small_factor' is missing; it must be an integer of at least 0"),
        ("small_factor = 4", "small_factor = -1", "'dsp.small_factor' must be an integer of at least 0, got -1"),
        ("[integer.place]", "[integer.places]", "'integer.place' is missing; it must be a table"),
        ("[[1, 16384]", "[[1]", "'memory.BRAM.shapes' must be a list of [width, depth], got [1] in it"),
        ("latency = 4\ndsp = 2", "dsp = 2", "'operator[0].latency' is missing; it must be an integer of at least 0"),
        ("gigabytes = 19.2", "gigabytes = 0", "'external.DDR.gigabytes' must be more than 0"),
        ("channels = 2\n", "", "'external.DDR.megabytes' is given with channels, and both are more than 0"),
        ("gigabytes = 19.2", "", "'external.DDR.gigabytes' is missing; it must be a number of at least 0"),
        ("gigabytes = 19.2", "gigabytes = 19.2\nbits = 64", "'external.DDR.bits' is not known"),
        ("dsp = 2880\n", "", "'die[0].dsp' is missing; it must be an integer of at least 0"),
        ("dsp = 2880\n", "dsp = 2881\n", "'die' have 9025 dsp together, and resources.dsp is 9024"),
        ('name = "SLR1"', 'name = "SLR0"', "'die' are called SLR0, SLR0, SLR2: each needs a name of its own"),
        ("free = { dsp = 2733,", "free = { dsp = 2933,", "'die[0].free.dsp' is more than the die has, 2880"),
        ("free = { dsp = 2733,", "free = {", "'die[0].free.dsp' is missing; it must be an integer of at least 0"),
        ("wires = 23040", "wire = 23040", "'crossing.wires' is missing; it must be an integer of at least 0"),
        (
            "uncertainty = 0.27",
            "uncertainty = 1.5",
            "'control.uncertainty' must be less than 1, the part of the period that is kept free",
        ),
    ],
)
def test_mistakes_name_file_and_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = changed(tmp_path, old, new)
    with pytest.raises(TargetError) as caught:
        load_target(file)
    assert str(caught.value) == f"{file}: {message}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "none.toml"
    with pytest.raises(TargetError) as caught:
        load_target(file)
    assert str(caught.value) == f"cannot read the target '{file}': No such file or directory"


def test_a_file_that_is_not_toml(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text("name = ")
    with pytest.raises(TargetError, match=r"is not valid TOML: Invalid value \(at end of document\)"):
        load_target(file)


@pytest.mark.parametrize(("name", "most"), [("u280", 738), ("u55c", 738), ("zynq7020", 388)])
def test_a_clock_that_the_device_cannot_reach(name: str, most: int) -> None:
    target = load_target(name)
    assert target.at(most).frequency == most
    with pytest.raises(TargetError) as caught:
        target.at(most + 0.5)
    assert str(caught.value) == (
        f"target '{name}' reaches {most} MHz at most, got {most + 0.5} MHz\n  hint: ask for a lower clock"
    )


def test_limits_that_a_file_does_not_give(tmp_path: Path) -> None:
    text = U280.read_text()
    file = tmp_path / "bare.toml"
    text = text[: text.index("# What no design")] + text[text.index("# Cycles that control") :]
    file.write_text("".join(line for line in text.splitlines(True) if "highest_frequency" not in line))
    target = load_target(file)
    assert target.at(2000).frequency == 2000 and target.limits == Limits()


def test_a_clock_that_no_operator_reaches() -> None:
    with pytest.raises(TargetError) as caught:
        load_target("u280").at(700).floating("add", "f32")
    assert str(caught.value) == (
        "target 'u280' has no 'add' on f32 for 700 MHz, the fastest is for 500 MHz\n"
        "  hint: ask for a lower clock with `load_target(...).at(frequency)`"
    )


def test_adders_without_dsps() -> None:
    target = load_target("u280").using(add="fabric")
    assert (target.floating("add", "f32").dsp, target.floating("add", "f64").dsp) == (0, 3)  # f64 has no other
    assert target.floating("mul", "f32").dsp == 3


def test_an_implementation_that_is_not_there() -> None:
    with pytest.raises(TargetError) as refused:
        load_target("u280").using(add="primitive")
    assert str(refused.value) == (
        "target 'u280' has no implementation 'primitive' of 'add' on floats\n  hint: the choices are add: fabric"
    )
