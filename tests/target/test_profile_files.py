"""Files of profiles: what they say, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from allo.errors import TargetError
from allo.target import Fpga, load_target

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ROOT / "targets"
VENDOR = "vitis_hls_2023.2"
MISSING = "is missing; it must be an integer of at least 0"


def fpga(target: object) -> Fpga:
    assert isinstance(target, Fpga)
    return target


def written(folder: Path, profile: str, old: str, new: str) -> tuple[Path, Path]:
    """A target beside a copy of a profile of the same name with one text replaced."""
    text = (TARGETS / "profiles" / f"{profile}.toml").read_text()
    assert old in text
    file = folder / "profiles" / f"{profile}.toml"
    file.parent.mkdir()
    file.write_text(text.replace(old, new, 1))
    target = folder / "mine.toml"
    target.write_text((TARGETS / "u280.toml").read_text())
    return target, file


def test_control_and_operators_are_those_of_the_profile() -> None:
    device = fpga(load_target("u280"))
    own = device.under("rtl")
    assert (device.floating("add", "f32").latency, own.floating("add", "f32").latency) == (6, 7)
    assert (device.memories["LUTRAM"].read, own.memories["LUTRAM"].read) == (1, 0)
    assert own.memories["BRAM"] == device.memories["BRAM"]
    assert (device.control.function, own.control.function) == (0, 1)
    assert own.device == device.device


def test_a_profile_beside_the_target_comes_first(tmp_path: Path) -> None:
    target, _ = written(tmp_path, VENDOR, "pipelined_loop = 5", "pipelined_loop = 6")
    assert fpga(load_target(target)).under(VENDOR).control.pipelined_loop == 6
    assert fpga(load_target("u280")).under(VENDOR).control.pipelined_loop == 5


def test_every_rule_has_a_source() -> None:
    device = fpga(load_target("u280"))
    both = [device.under(VENDOR).rules, device.under("rtl").rules]
    for name in type(both[0]).__dataclass_fields__:
        known = [rule for rules in both if (rule := getattr(rules, name)) is not None]
        assert known and all(rule.source for rule in known), name


@pytest.mark.parametrize(
    ("profile", "old", "new", "message"),
    [
        (VENDOR, "threshold = 64", "", f"'rule.automatic_pipelines.threshold' {MISSING}"),
        (
            VENDOR,
            "threshold = 64",
            "threshold = -1",
            "'rule.automatic_pipelines.threshold' must be an integer of at least 0, got -1",
        ),
        (
            VENDOR,
            "[rule.unsafe_math]",
            "[rule.unsafe_maths]",
            "'rule.unsafe_maths' is not known\n  hint: did you mean 'unsafe_math'?",
        ),
        (VENDOR, "below = 7", "bellow = 7", f"'rule.short_recurrences.below' {MISSING}"),
        (VENDOR, "below = 7", "below = 7\nabove = 2", "'rule.short_recurrences.above' is not known"),
        (VENDOR, "latency = 3", "", f"'rule.short_recurrences.operator[0].latency' {MISSING}"),
        (
            VENDOR,
            "[rule.overlapped_nests]\nsource =",
            "[rule.overlapped_nests]\nwhere =",
            "'rule.overlapped_nests.source' is missing; it must be a text",
        ),
        (VENDOR, "call = 1", "", f"'control.call' {MISSING}"),
        (
            VENDOR,
            "uncertainty = 0.27",
            "uncertainty = 1",
            "'control.uncertainty' must be less than 1, the part of the period that is kept free",
        ),
        (
            VENDOR,
            f'name = "{VENDOR}"',
            'name = "vitis"',
            f"'name' must be the name of the file, '{VENDOR}', got 'vitis'",
        ),
        (
            "rtl",
            "function = 1",
            "functions = 1",
            "'control.functions' is not known\n  hint: did you mean 'function'?",
        ),
        ("rtl", "[memory.LUTRAM]", "[memories.LUTRAM]", "'memories' is not known"),
        (
            "rtl",
            "sources = [",
            "sources = []\nelsewhere = [",
            "'sources' must be a list of texts that say where the numbers are from",
        ),
        (
            "rtl",
            "read = 0",
            "read = false",
            "'memory.LUTRAM.read' must be an integer of at least 0, got False",
        ),
        (
            "rtl",
            "up_to = 738",
            'up_to = "all"',
            "'operator[0].up_to' must be a number of at least 0, got 'all'",
        ),
    ],
)
def test_mistakes_name_file_and_key(tmp_path: Path, profile: str, old: str, new: str, message: str) -> None:
    target, file = written(tmp_path, profile, old, new)
    with pytest.raises(TargetError) as caught:
        load_target(target)
    assert str(caught.value) == f"{file}: {message}"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ('"rtl"', "'profiles' must be a list of names, got 'rtl'"),
        ("[1]", "'profiles' must be a list of names, got [1]"),
        ('["rtx"]', "'profiles' names 'rtx', of which there is no file; there are rtl, vitis_hls_2023.2"),
    ],
)
def test_profiles_of_a_target(tmp_path: Path, names: str, message: str) -> None:
    target = tmp_path / "mine.toml"
    text = (TARGETS / "u280.toml").read_text()
    target.write_text(text.replace('["vitis_hls_2023.2", "rtl"]', names, 1))
    with pytest.raises(TargetError) as caught:
        load_target(target)
    assert str(caught.value) == f"{target}: {message}"


def test_a_target_need_not_have_profiles(tmp_path: Path) -> None:
    target = tmp_path / "bare.toml"
    target.write_text(
        (TARGETS / "u280.toml").read_text().replace('profiles = ["vitis_hls_2023.2", "rtl"]', "", 1)
    )
    with pytest.raises(TargetError) as caught:
        fpga(load_target(target)).under("rtl")
    assert str(caught.value) == (
        "target 'u280' has no profile 'rtl'; there are none\n"
        "  hint: name its file in `profiles` in the file of the target"
    )


def test_a_file_that_is_not_toml(tmp_path: Path) -> None:
    target, file = written(tmp_path, "rtl", 'name = "rtl"', "name = ")
    with pytest.raises(TargetError) as caught:
        load_target(target)
    assert str(caught.value) == f"the profile '{file}' is not valid TOML: Invalid value (at line 1, column 8)"
