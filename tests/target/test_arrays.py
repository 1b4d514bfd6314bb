"""Descriptions of arrays of processors."""

from __future__ import annotations

from pathlib import Path

import pytest

from allo.errors import TargetError
from allo.target import ProcessorArray, Tile, TileKind, TileSide, load_target

FILE = Path(__file__).resolve().parents[2] / "targets" / "xdna1_npu1.toml"


@pytest.mark.parametrize(("name", "cores", "rate"), [("xdna1_npu1", 16, 256), ("xdna2_npu2", 32, 512)])
def test_arrays_load_and_cite_sources(name: str, cores: int, rate: int) -> None:
    array = load_target(name)
    assert isinstance(array, ProcessorArray)
    assert (array.cores, array.products["i8"].rate, len(array.sources)) == (cores, rate, 9)
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
        ("[tile.shim]", "[tile.shims]", "'tile.shim.inputs' is missing; it must be an integer of at least 0"),
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
        ("hop = 2", "hops = 2", "'timing.hop' is missing; it must be an integer of at least 0"),
        ("banks = 4", "banks = 5", "'tile.core.banks' must divide the 65536 bytes of 'memory', got 5"),
        ("banks = 8", "", "'tile.memory.banks' must divide the 524288 bytes of 'memory', got 0"),
        ("far = 4", "far = 7", "'tile.memory.far' must be at most the DMA channels in one sense, got 7"),
        ("own = 0x70000", "", "'tile.core.memories.own' is missing; it must be an integer of at least 0"),
        (
            "own = 0x70000",
            "own = 0x68000",
            "'tile.core.memories.own' is 0x68000, and the 65536 bytes of 'north' begin at 0x60000",
        ),
        (
            "west = 0x50000",
            "left = 0x50000",
            "'tile.core.memories.left' must be one of north, east, south, west, got 'left'",
        ),
        ("[tile.core.switch]", "[tile.core.switches]", "'tile.core.switch' is missing; it must be a table"),
        (
            "outputs = { north = 6, east = 4, south = 4",
            "outputs = { up = 6, east = 4, south = 4",
            "'tile.core.switch.outputs.up' is not known",
        ),
        (
            "inputs = { north = 4, east = 4, south = 6",
            "inputs = { north = 4, east = 4, south = -6",
            "'tile.core.switch.inputs.south' must be an integer of at least 0, got -6",
        ),
        (
            "keeps_channel = true",
            "keeps_channel = 1",
            "'tile.memory.switch.keeps_channel' must be true or false, got 1",
        ),
        (
            "outputs = { north = 6, east = 4, south = 4, west = 4, core",
            "outputs = { north = 6, east = 3, south = 4, west = 4, core",
            "'tile.core.switch.outputs.east' is 3, and 'tile.core.switch.inputs.west', where these ports end, is 4",
        ),
        (
            "inputs = { north = 4, south = 6, trace",
            "inputs = { north = 4, south = 5, trace",
            "'tile.shim.switch.outputs.north' is 6, and 'tile.memory.switch.inputs.south', where these ports end, is 5",
        ),
        (
            "inputs = { north = 4, south = 6, trace",
            "inputs = { north = 3, south = 6, trace",
            "'tile.core.switch.outputs.south' is 4, and 'tile.memory.switch.inputs.north', where these ports end, is 3",
        ),
        (
            'inputs = ["north", "west"]',
            'inputs = ["north", "up"]',
            "'cascade.inputs' must be one of north, east, south, west, got 'up'",
        ),
        (
            'inputs = ["north", "west"]',
            'inputs = ["north"]',
            "'cascade.inputs' must be the sides opposite to those of 'outputs'",
        ),
        ("bits = 512", "width = 512", "'cascade.bits' is missing; it must be an integer of at least 0"),
        ("queue = 4", "queues = 4", "'runtime.queue' is missing; it must be an integer of at least 0"),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = changed(tmp_path, old, new)
    with pytest.raises(TargetError) as caught:
        load_target(file)
    assert str(caught.value) == f"{file.resolve()}: {message}"


@pytest.mark.parametrize("name", ["xdna1_npu1", "xdna2_npu2"])
def test_what_tiles_have_beside_them(name: str) -> None:
    """Ports as AIETargetModel.cpp has them, none over an edge; a core sees memories of cores, but not in the east."""
    array = load_target(name)
    assert isinstance(array, ProcessorArray)
    sides = list(TileSide)  # north, east, south, west
    inner, memory, shim = Tile(1, 3), Tile(1, 1), Tile(1, 0)
    assert [[array.ports(tile, side) for side in sides] for tile in (inner, memory, shim)] == [
        [6, 4, 4, 4], [6, 0, 4, 0], [6, 4, 0, 4],
    ]  # fmt: skip
    assert [array.ports(Tile(0, 5), side) for side in sides] == [0, 4, 4, 0]
    assert [array.sees(inner, inner.toward(side)) for side in sides] == [True, False, True, True]
    assert array.sees(inner, inner) and not array.sees(Tile(1, 2), memory) and not array.sees(inner, Tile(2, 4))
    assert [array.cascades(inner, inner.toward(side)) for side in sides] == [False, True, True, False]
    assert not array.cascades(Tile(1, 2), memory) and array.cascade is not None and array.cascade.bits == 512
    core, middle = array.tiles[TileKind.CORE], array.tiles[TileKind.MEMORY]
    assert (core.banks, core.own, core.beside[TileSide.WEST], middle.banks, middle.far) == (4, 0x70000, 0x50000, 8, 4)


def test_the_memory_that_two_cores_share() -> None:
    """That of the producer if the consumer sees it; to the west only that of the consumer."""
    array = load_target("xdna1_npu1")
    assert isinstance(array, ProcessorArray)
    own = Tile(1, 3)
    shared = [array.shared_memory(own, own.toward(side)) for side in TileSide]
    assert shared == [own, own, own, Tile(0, 3)]
    assert array.shared_memory(own, Tile(2, 4)) is None and array.shared_memory(own, Tile(1, 5)) is None


def test_a_file_without_cascades(tmp_path: Path) -> None:
    """Nor with memories of neighbours: what is not there is not used."""
    text = FILE.read_text()
    text = text[: text.index("[cascade]")] + text[text.index("# Cycles.") :]
    for side in ("south = 0x40000\n", "west = 0x50000\n", "north = 0x60000\n"):
        assert side in text
        text = text.replace(side, "")
    (tmp_path / "mine.toml").write_text(text)
    array = load_target(tmp_path / "mine.toml")
    assert isinstance(array, ProcessorArray) and array.cascade is None
    assert not array.cascades(Tile(0, 2), Tile(1, 2)) and array.shared_memory(Tile(0, 2), Tile(0, 3)) is None
