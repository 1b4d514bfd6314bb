"""Pictures of plans of tile programs: cores with what they run, broadcasts between them, and cores over the cycles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from .backend.mesh.simulate import MeshRun
from .errors import TargetError
from .mapping.tiles.choices import Delivery, TileMapping, loads_of, reuse_axes
from .mapping.tiles.program import TileProgram
from .picture.bars import Bar, BarRow, bars
from .picture.drawing import DrawnText
from .picture.mesh import Way, mesh
from .target import CoreMesh
from .target.mesh_routes import MeshRoutes

_WIDTH, _MOST = 640, 16  # pixels of a timeline; cores that are shown if none are named

type Core = tuple[int, ...]


def drawn_plan(program: TileProgram, mapping: TileMapping, routes: MeshRoutes, loads: Sequence[str]) -> DrawnText:
    """The cores with the programs of the first wave, and the broadcasts of `loads`, the names of all."""
    space_time, shape, dims = mapping.space_time, routes.mesh.shape, routes.mesh.cores.dims
    waves = [0] * len(program.grid)
    rows = []
    for row in product(*(range(extent) for extent in shape[1:])):
        found = (space_time.program((column, *row), waves) for column in range(shape[0]))
        rows.append(["-" if one is None else ",".join(str(index) for index in one) for one in found])
    width = max(len(cell) for cells in rows for cell in cells)
    lines = ["  ".join(cell.rjust(width) for cell in cells) for cells in rows]
    names = ", ".join(program.names[: len(program.grid)])
    across = f"{dims[0]} to the right" + (f", {dims[1]} down" if shape[1:] else "")
    head = f"programs ({names}) of the first wave; {across}"
    text = space_time.text(program.names, dims)
    ways = [f"{name}: {choice.realisation}" for name, choice in zip(loads, mapping.loads, strict=True)]
    cells = [(str(number), ["" if cell == "-" else cell for cell in row]) for number, row in enumerate(rows)]
    shared = [number for number, choice in enumerate(mapping.loads) if choice.realisation.networks]
    arrows = [
        Way(k, *line) for k, number in enumerate(shared) for line in _lines(program, mapping, routes, number)
    ]
    columns = [str(column) for column in range(shape[0])]
    alone = [way for number, way in enumerate(ways) if number not in shared]
    picture = mesh(head, columns, cells, arrows, [ways[number] for number in shared], [*alone, text])
    return DrawnText("\n".join([head, *lines, text, *ways]), picture)


def _lines(
    program: TileProgram, mapping: TileMapping, routes: MeshRoutes, number: int
) -> Iterator[tuple[tuple[tuple[int, int], ...], bool]]:
    """How a load comes to the cores of the first wave, along the lines of each network in turn; whether in pages."""
    space_time, way = mapping.space_time, mapping.loads[number].realisation
    shared = reuse_axes(space_time, loads_of(program)[number].box)
    waves = [0] * len(program.grid)
    networks = [routes.network[name] for name in way.networks if routes.network[name].axis in shared]
    axes = [0 if network.axis is None else network.axis for network in networks]
    for position, (network, axis) in enumerate(zip(networks, axes, strict=True)):
        later = axes[position + 1 :]
        sides = [range(1) if k == axis or k in later else range(n) for k, n in enumerate(space_time.shape)]
        for at in product(*sides):
            line = [(*at[:axis], k, *at[axis + 1 :]) for k in range(space_time.shape[axis])]
            line = [core for core in line if space_time.program(core, waves) is not None]
            found = routes.broadcast(network, line) if len(line) > 1 else None
            if found is not None:
                yield tuple(_place(core, space_time.shape) for core in found[0]), way.delivery is Delivery.WAVEFRONT


def _place(core: Core, shape: Sequence[int]) -> tuple[int, int]:
    """The column and the row of a core: dimensions behind the first go down, the last one fastest."""
    row = 0
    for k, extent in zip(core[1:], shape[1:], strict=True):
        row = row * extent + k
    return core[0], row


def drawn_run(run: MeshRun, target: CoreMesh, cores: Sequence[Sequence[int]] | None) -> DrawnText:
    """What cores did in a traced run. Raises TargetError for a core that did nothing."""
    ran: dict[Core, list[Bar]] = {}
    for span in run.spans:
        kind = {"wait": "empty", "store": "full"}.get(span.what, "busy")
        title = f"{span.what}: {span.end - span.start:.0f}"
        ran.setdefault(span.core, []).append(Bar(span.start, span.end, kind, title))
    every = sorted(ran)
    shown = [tuple(core) for core in cores] if cores is not None else every[:: -(-len(every) // _MOST)]
    for core in shown:
        if core not in ran:
            places = " x ".join(map(str, target.shape))
            raise TargetError(f"core {list(core)} runs no program", hint=f"name cores of the {places} that do")
    rows, lines = [], [f"{run.cycles:.0f} cycles, simulated; of each core: computes, waits for tiles, waits for stores"]
    for core in shown:
        shares = [
            sum(bar.end - bar.begin for bar in ran[core] if bar.kind == kind) / run.cycles
            for kind in ("busy", "empty", "full")
        ]
        name = ", ".join(f"{dim} = {k}" for dim, k in zip(target.cores.dims, core, strict=True))
        lines.append(f"{name}: {', '.join(f'{share:.0%}' for share in shares)}")
        rows.append(BarRow(name, tuple(ran[core]), f"{shares[0]:.0%}"))
    return DrawnText("\n".join(lines), bars(rows, round(run.cycles), _WIDTH))
