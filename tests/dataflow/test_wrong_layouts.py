"""What is said about each design whose arrays lie wrongly, or whose collectives not all positions come to."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import allo.dataflow as df
from allo.errors import KernelError

DESIGNS = sorted((Path(__file__).parent / "wrong_layouts").glob("*.py"))


def said(path: Path) -> str:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(KernelError) as caught:
        df.customize(module.kernel)
    return str(caught.value).replace(f"{path.parent}/", "") + "\n"


@pytest.mark.parametrize("path", DESIGNS, ids=lambda path: path.stem)
def test_message(path: Path) -> None:
    assert said(path) == path.with_suffix(".txt").read_text()
