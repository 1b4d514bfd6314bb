"""Descriptions of arrays of processors."""

from __future__ import annotations

from pathlib import Path

import pytest

from allo.errors import TargetError
from allo.target import ProcessorArray, TileKind, load_target

FILE = Path(__file__).resolve().parents[2] / "targets" / "xdna1_npu1.toml"


@pytest.mark.parametrize(("name", "cores", "rate"), [("xdna1_npu1", 16, 256), ("xdna2_npu2", 32, 512)])
def test_arrays_load_and_cite_sources(name: str, cores: int, rate: int) -> None:
    array = load_target(name)
    assert isinstance(array, ProcessorArray)
    assert (array.cores, array.products["i8"].rate, len(array.sources)) == (cores, rate, 8)
    shim, memory = array.tiles[TileKind.SHIM].dma, array.tiles[TileKind.MEMORY]
    assert (shim.descriptors, shim.iterations, array.queue, memory.memory) == (16, 64, 4, 512 * 1024)


def changed(folder: Path, old: str, new: str) -> Path:
    text = FILE.read_text()
    assert old in text
    (folder / "mine.toml").write_text(text.replace(old, new, 1))
    return folder / "mine.toml"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("columns = 4", "columns = 0", "'grid.columns' and 'core_rows' must be at least 1"),
        ("[tile.core]", "[tile.cores]", "'tile.core' is missing; it must be a table"),
        (
            "[tile.core]",
            "[tile.other]\n[tile.core]",
            "'tile.other.inputs' is missing; it must be an integer of at least 0",
        ),
        (
            "shapes = [[4, 4, 4]",
            "shapes = [[4, 4]",
            "'product.i16.shapes' must be a list of [m, k, n], got [4, 4] in it",
        ),
        ("stream = 4", "stream = 0", "'timing.stream' must be at least 1 byte a cycle"),
        ("branch = 6", "branches = 6", "'timing.branch' is missing; it must be an integer of at least 0"),
        ("queue = 4", "queues = 4", "'runtime.queue' is missing; it must be an integer of at least 0"),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = changed(tmp_path, old, new)
    with pytest.raises(TargetError) as caught:
        load_target(file)
    assert str(caught.value) == f"{file.resolve()}: {message}"
