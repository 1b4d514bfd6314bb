"""Streams that are followed from port to port, by the facts of the hardware: no code of the router."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from allo.mapping import Routing, StreamFlow
from allo.target import ProcessorArray, SwitchPorts, Tile, TileKind, TileSide, load_target

# Output ports by side: mlir-aie, AIETargetModel, getNumDestSwitchboxConnections.
SHIM = {"north": 6, "east": 4, "west": 4, "south": 0}
MEMORY = {"north": 6, "east": 0, "west": 0, "south": 4}
CORE = {"north": 6, "east": 4, "west": 4, "south": 4}
STEPS = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}


def array(name: str = "xdna1_npu1", columns: int = 4, rows: int = 4, ports: int | None = None) -> ProcessorArray:
    """An array of so many columns and rows of cores, with at most so many ports on each side of its tiles."""
    found = load_target(name)
    assert isinstance(found, ProcessorArray)
    found = replace(found, columns=columns, core_rows=rows)
    return found if ports is None else narrow(found, ports)


def narrow(found: ProcessorArray, ports: int) -> ProcessorArray:
    """The same with at most so many ports on each side of its tiles."""

    def cut(own: SwitchPorts) -> SwitchPorts:
        return replace(own, **{side.value: min(own.at(side), ports) for side in TileSide})

    tiles = {
        kind: replace(
            tile, switch=replace(tile.switch, inputs=cut(tile.switch.inputs), outputs=cut(tile.switch.outputs))
        )
        for kind, tile in found.tiles.items()
    }
    return replace(found, tiles=tiles)


def ends_of(routing: Routing, columns: int, rows: int, ports: int | None = None) -> dict[str, set[tuple[int, int]]]:
    """The tiles at which each stream can be received, followed port by port; all that is wrong is an AssertionError."""
    owner: dict[tuple[int, int, str, int], str] = {}
    for own in routing.flows:
        for port in own.ports:
            kind = (SHIM, MEMORY)[port.tile.row] if port.tile.row < 2 else CORE
            limit = kind[port.side] if ports is None else min(kind[port.side], ports)
            assert 0 <= port.channel < limit, (own.flow.name, port)
            key = (port.tile.column, port.tile.row, str(port.side), port.channel)
            assert key not in owner, (owner[key], own.flow.name, port)
            owner[key] = own.flow.name
    found = {}
    for own in routing.flows:
        ways = {key for key, name in owner.items() if name == own.flow.name}
        place = (own.flow.source.column, own.flow.source.row)
        seen, ahead, used = {place}, [(place, None, None)], set()
        while ahead:
            (column, row), came, number = ahead.pop()
            for key in sorted(ways):
                if key[:2] != (column, row):
                    continue
                if row == 1 and came is not None:  # through a memory tile: straight on, on its channel
                    assert key[2:] == (came, number), (own.flow.name, key, came, number)
                step = STEPS[key[2]]
                end = (column + step[0], row + step[1])
                assert 0 <= end[0] < columns and 0 <= end[1] < rows + 2
                assert end not in seen, (own.flow.name, end)  # two ports that come in would be mixed
                seen.add(end)
                used.add(key)
                ahead.append((end, key[2], key[3]))
        assert used == ways, own.flow.name
        found[own.flow.name] = seen
    return found


def assert_legal(
    routing: Routing, flows: Sequence[StreamFlow], columns: int, rows: int, ports: int | None = None
) -> None:
    """Each stream comes to its ends, and none to a port of another."""
    found = ends_of(routing, columns, rows, ports)
    assert [own.flow for own in routing.flows] == list(flows)
    for flow in flows:
        assert {(sink.column, sink.row) for sink in flow.sinks} <= found[flow.name]


def random_flows(random: Random, found: ProcessorArray, share: float = 1.0) -> list[StreamFlow]:
    """Streams between DMA channels, each of which ends at most one; to several tiles of one kind, some of them."""
    rows = range(found.first_core_row + found.core_rows)
    tiles = [Tile(column, row) for column in range(found.columns) for row in rows]
    dma = {tile: found.tiles[found.kind(tile)].dma for tile in tiles}
    out = [tile for tile in tiles for _ in range(dma[tile].outputs)]
    into = [tile for tile in tiles for _ in range(dma[tile].inputs)]
    random.shuffle(out)
    random.shuffle(into)
    flows = []
    for source in out[: int(len(out) * share)]:
        wanted = 1 if random.random() < 0.7 else random.randint(2, 6)
        kinds = [found.kind(tile) for tile in into if tile != source and found.kind(tile) is not TileKind.SHIM]
        kind = random.choice(kinds) if kinds and wanted > 1 else None
        sinks: list[Tile] = []
        for tile in list(into):
            pair = {found.kind(tile), found.kind(source)}
            if len(sinks) == wanted or tile == source or tile in sinks or pair == {TileKind.SHIM}:
                continue
            if kind is None or found.kind(tile) is kind:
                sinks.append(tile)
                into.remove(tile)
        if sinks:
            flows.append(StreamFlow(f"s{len(flows)}", source, tuple(sinks)))
    return flows
