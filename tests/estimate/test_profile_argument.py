"""The argument `profile` of estimates: what is refused, and who names it."""

from __future__ import annotations

from pathlib import Path

import pytest

import allo
from allo.cli import main
from allo.target import load_target

from .test_profiles import VENDOR, estimate, fpga, total


def test_a_profile_that_does_not_exist() -> None:
    with pytest.raises(allo.AlloError) as caught:
        estimate(allo.customize(total), "vitis_hls_2023.1")
    assert str(caught.value) == (
        "target 'u280' has no profile 'vitis_hls_2023.1'; there are vitis_hls_2023.2, rtl\n"
        "  hint: did you mean 'vitis_hls_2023.2'?"
    )


def test_a_profile_like_none() -> None:
    with pytest.raises(allo.AlloError) as caught:
        estimate(allo.customize(total), "quartus")
    assert str(caught.value) == (
        "target 'u280' has no profile 'quartus'; there are vitis_hls_2023.2, rtl\n"
        "  hint: name its file in `profiles` in the file of the target"
    )


def test_a_profile_is_a_name() -> None:
    with pytest.raises(allo.AlloError) as caught:
        estimate(allo.customize(total), 5)  # type: ignore[arg-type]
    assert str(caught.value) == "a profile is given by its name, got int 5"


def test_a_report_names_the_profile() -> None:
    found = estimate(allo.customize(total))
    assert str(found).startswith("total on u280 at 300 MHz, profile vitis_hls_2023.2; all figures are *estimated*\n")
    assert '"profile": "vitis_hls_2023.2"' in found.to_json()
    assert "<h1>total on u280 at 300 MHz, profile vitis_hls_2023.2</h1>" in found.to_html()
    assert "profile" not in str(estimate(allo.customize(total), None))


def test_the_command_takes_a_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "design.mlir"
    file.write_text(str(allo.customize(total).module))
    assert main(["estimate", str(file), "--profile", VENDOR, "--unsafe-math"]) == 0
    assert ", profile vitis_hls_2023.2; all" in capsys.readouterr().out
    assert main(["estimate", str(file), "--profile", "rtx"]) == 1
    assert "has no profile 'rtx'; there are vitis_hls_2023.2, rtl" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["u280", "u55c", "zynq7020"])
def test_every_target_has_both_profiles(name: str) -> None:
    target = fpga(load_target(name))
    assert list(target.profiles) == [VENDOR, "rtl"]
    assert all(profile.sources for profile in target.profiles.values())
