"""Texts of the reader and the writer kernel: tiles of DRAM banks, handed on from core to core, and results."""

from __future__ import annotations

from dataclasses import dataclass

from ...mapping.tiles.choices import Delivery, PlacedLoad
from ...mapping.tiles.program import TileSegment
from ...target.mesh_routes import MeshRoutes
from .buffers import CircularBuffer, CoreBuffers, PagedArray
from .compute import FLOAT_BITS, ORDER
from .nest import Lines, NestText, guarded, indented
from .statements import COL, FORMATS, ROW, TILE, CoreTiles

type Core = tuple[int, ...]

_DELIVER = """\
// How a tile comes to this core and goes on: `root` reads it of DRAM, others get it of their parent.
struct Tree {
    uint32_t root, parent_x, parent_y, children, groups;
    uint32_t group[2][5];  // first and last core as the NoC counts them, and how many cores there are
    uint32_t noc[2];
    uint32_t ready, valid;  // semaphores: children that have room; pages that have come
};

static Tree tree_of(uint32_t argument, uint32_t semaphore, uint32_t noc_first, uint32_t noc_second) {
    Tree tree;
    tree.root = get_arg_val<uint32_t>(argument);
    tree.parent_x = get_arg_val<uint32_t>(argument + 1);
    tree.parent_y = get_arg_val<uint32_t>(argument + 2);
    tree.children = get_arg_val<uint32_t>(argument + 3);
    tree.groups = get_arg_val<uint32_t>(argument + 4);
    for (uint32_t g = 0; g < 2; ++g) {
        for (uint32_t k = 0; k < 5; ++k) {
            tree.group[g][k] = get_arg_val<uint32_t>(argument + 5 + 5 * g + k);
        }
    }
    tree.noc[0] = noc_first;
    tree.noc[1] = noc_second;
    tree.ready = get_semaphore(semaphore);
    tree.valid = get_semaphore(semaphore + 1);
    return tree;
}

// `bytes` at `address` come to this core, `chunk` after `chunk`, and go on to its children, to the same address.
static void deliver(const Tree& tree, uint32_t address, uint32_t bytes, uint32_t chunk, bool singly) {
    volatile tt_l1_ptr uint32_t* ready = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(tree.ready);
    volatile tt_l1_ptr uint32_t* valid = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(tree.valid);
    noc_semaphore_set(valid, tree.root ? 1 : 0);
    if (!tree.root) {
        noc_semaphore_inc(get_noc_addr(tree.parent_x, tree.parent_y, tree.ready, tree.noc[0]), 1, tree.noc[0]);
    }
    for (uint32_t offset = 0, page = 1; offset < bytes; offset += chunk, ++page) {
        if (!tree.root) {
            noc_semaphore_wait_min(valid, page);
        }
        if (tree.children > 0 && offset == 0) {
            noc_semaphore_wait(ready, tree.children);
            noc_semaphore_set(ready, 0);
        }
        for (uint32_t g = 0; g < 2; ++g) {
            const uint32_t* to = tree.group[g];
            const uint8_t noc = tree.noc[g];
            if (to[4] == 0) {
                continue;
            }
            if (singly) {
                noc_async_write(address + offset, get_noc_addr(to[0], to[1], address + offset, noc), chunk, noc);
                noc_async_write_barrier(noc);
                noc_semaphore_inc(get_noc_addr(to[0], to[1], tree.valid, noc), 1, noc);
            } else {
                const uint64_t place = get_noc_multicast_addr(to[0], to[1], to[2], to[3], address, noc);
                const uint64_t sign = get_noc_multicast_addr(to[0], to[1], to[2], to[3], tree.valid, noc);
                noc_async_write_multicast(address, place, bytes, to[4], false, noc);
                noc_async_write_barrier(noc);
                noc_semaphore_set_multicast(tree.valid, sign, to[4], false, noc);
                noc_async_write_barrier(noc);
            }
        }
    }
}
"""
_FILLS = """\
// Fills a tile in L1: rows and columns of its four faces of 16 x 16.
static void fill_numbers(uint32_t address, bool down) {
    volatile tt_l1_ptr uint32_t* tile = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(address);
    for (uint32_t row = 0; row < 32; ++row) {
        for (uint32_t column = 0; column < 32; ++column) {
            const uint32_t face = row / 16 * 2 + column / 16;
            tile[face * 256 + row % 16 * 16 + column % 16] = float_bits(down ? row : column);
        }
    }
}
"""
_ROWS = """\
// Reads a tile of an array whose pages are rows: the halves of 32 rows go to its four faces.
static void read_rows(
    const InterleavedAddrGen<true>& array, uint32_t row, uint32_t offset, uint32_t element, uint32_t to) {
    for (uint32_t line = 0; line < 32; ++line) {
        for (uint32_t half = 0; half < 2; ++half) {
            const uint32_t face = line / 16 * 2 + half;
            const uint64_t from = array.get_noc_addr(row + line, offset + half * 16 * element);
            noc_async_read(from, to + (face * 256 + line % 16 * 16) * element, 16 * element);
        }
    }
}
"""
_ONES = """\
// The tile by which reductions multiply: ones in the first row of each face, in bfloat16, two a word.
static void fill_ones(uint32_t address) {
    volatile tt_l1_ptr uint32_t* tile = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(address);
    for (uint32_t word = 0; word < 512; ++word) {
        tile[word] = word % 128 < 8 ? 0x3f803f80u : 0;
    }
}
"""


@dataclass(frozen=True, slots=True)
class CoreTree:
    """Where a core gets a load from, and the groups that it hands it on to: first core, last core, how many."""

    parent: Core | None
    groups: tuple[tuple[Core, Core, int] | None, tuple[Core, Core, int] | None]

    @property
    def children(self) -> int:
        """How many cores get the load of this one."""
        return sum(group[2] for group in self.groups if group is not None)


class MovementText:
    """The kernels that move data, and what each core must know of the others."""

    def __init__(self, nest: NestText, buffers: CoreBuffers, routes: MeshRoutes) -> None:
        self.nest, self.buffers, self.routes = nest, buffers, routes
        self.cores = nest.cores()
        self.delivered = [load for load in nest.loads if nest.shared[load.number]]
        self.read = [paged for paged in buffers.paged.values() if not paged.written]
        self.written = [paged for paged in buffers.paged.values() if paged.written]

    def networks(self, load: PlacedLoad) -> tuple[int, int]:
        """The NoCs of the two groups of a load."""
        names = self.nest.mapping.loads[load.number].realisation.networks
        numbers = [int(name.startswith("noc1")) for name in names]
        return numbers[0], numbers[-1]

    @property
    def both_networks(self) -> bool:
        """Whether the reader uses both NoCs."""
        return 1 in self._networks()

    def _networks(self) -> list[int]:
        """The NoCs on which cores of the reader signal one another."""
        return sorted({number for load in self.delivered for number in self.networks(load)})

    def tree(self, load: PlacedLoad, core: Core) -> CoreTree:
        """How a load comes to a core and goes on: along one line, or along one and then the lines that cross it."""
        way = self.nest.mapping.loads[load.number].realisation
        known = [self.routes.network[name].axis for name in way.networks]
        axes = [axis for axis in known if axis is not None and axis in self.nest.shared[load.number]]
        members = [c for c in self.cores if all(c[k] == core[k] for k in range(2) if k not in axes)]
        first, last = axes[0], axes[-1]
        head = tuple(0 if axis == last else place for axis, place in enumerate(core))
        root = tuple(0 if axis in axes else place for axis, place in enumerate(core))
        lines = [[c for c in members if _same(c, root, first)], [c for c in members if _same(c, head, last)]]
        if first == last:
            lines[1] = []
        if way.delivery is Delivery.WAVEFRONT:
            parent = None if core == root else _moved(core, last if core != head else first, -1)
            if first == last:
                parent = None if core == root else _moved(core, first, -1)
            ahead = [_moved(core, first, 1), _moved(core, last, 1)]
            on_line = [core == head or first == last, first != last]
            one = tuple((c, c, 1) if on and c in members else None for c, on in zip(ahead, on_line, strict=True))
            return CoreTree(parent, (one[0], one[1]))
        starts = [core == root, core == head]
        group = tuple(
            (line[1], line[-1], len(line) - 1) if start and len(line) > 1 else None
            for start, line in zip(starts, lines, strict=True)
        )
        parent = None if core == root else root if core in lines[0] else head
        return CoreTree(parent, (group[0], group[1]))

    def reader(self) -> str:
        """The file of the kernel that brings tiles."""
        fixed = [b for b in (self.buffers.row_numbers, self.buffers.column_numbers) if b is not None]
        lines = ["#include <cstdint>", "", '#include "api/dataflow/dataflow_api.h"', ""]
        lines += [*self._constants(), *ORDER, ""]
        lines += [_DELIVER] if self.delivered else []
        lines += [FLOAT_BITS, _FILLS] if fixed else []
        lines += [_ROWS] if any(paged.by_rows for paged in self.read) else []
        lines += [_ONES] if self.buffers.scaler is not None else []
        start = self._start(self.read, 2)
        for number, load in enumerate(self.delivered):
            first, second = self.networks(load)
            argument = 2 + len(self.read) + 15 * number
            start.append(f"const Tree tree_{load.number} = tree_of({argument}, {2 * number}, {first}, {second});")
        if (scaler := self.buffers.scaler) is not None:
            start += _filled(scaler, "fill_ones({})")
        for buffer in fixed:
            start += _filled(buffer, f"fill_numbers({{}}, {str(buffer is self.buffers.row_numbers).lower()})")
        body = self.nest.text(self._issue, lambda load, condition: [], lambda segment: [])
        body += [f"noc_async_atomic_barrier({number});" for number in self._networks()]
        return "\n".join([*lines, "void kernel_main() {", *indented([*start, *body]), "}", ""])

    def writer(self) -> str:
        """The file of the kernel that takes results away."""
        lines = ["#include <cstdint>", "", '#include "api/dataflow/dataflow_api.h"', "", *self._constants(), *ORDER, ""]
        body = self.nest.text(lambda load, condition: [], lambda load, condition: [], self._stores)
        return "\n".join([*lines, "void kernel_main() {", *indented([*self._start(self.written, 2), *body]), "}", ""])

    def _constants(self) -> Lines:
        return [*(f"constexpr uint32_t {b.name} = {b.number};" for b in self.buffers.made), ""]

    def _start(self, arrays: list[PagedArray], first: int) -> Lines:
        lines = ["const int32_t x = get_arg_val<uint32_t>(0), y = get_arg_val<uint32_t>(1);", "(void)x, (void)y;"]
        for number, paged in enumerate(arrays):
            lines += [
                f"const InterleavedAddrGen{'' if paged.by_rows else 'Fast'}<true> {array_name(paged)} = {{",
                f"    .bank_base_address = get_arg_val<uint32_t>({first + number}),",
                f"    .page_size = {paged.page_bytes},",
            ]
            lines += [] if paged.by_rows else [f"    .data_format = DataFormat::{FORMATS[paged.element]},"]
            lines.append("};")
        return lines

    def _issue(self, load: PlacedLoad, condition: str) -> Lines:
        held = self.buffers.of_load(load)
        buffer, slots = self.buffers.of[held], self.nest.slots(load)
        pages = held.count * slots
        lines = [f"cb_reserve_back({buffer.name}, {pages});", f"const uint32_t to = get_write_ptr({buffer.name});"]
        read = self.nest.gathered(load, self._tiles(held, self.nest.slot(load), "read"))
        read.append("noc_async_read_barrier();")
        if load in self.delivered:
            singly = self.nest.mapping.loads[load.number].realisation.delivery is Delivery.WAVEFRONT
            total = pages * buffer.tile_bytes
            chunk = buffer.tile_bytes if singly else total
            read = guarded(f"tree_{load.number}.root", read)
            read.append(f"deliver(tree_{load.number}, to, {total}, {chunk}, {str(singly).lower()});")
        lines += [*read, f"cb_push_back({buffer.name}, {pages});"]
        text = held.box.text(self.nest.program.names) if held.box is not None else ""
        head = [f"// load {text}: {self.nest.mapping.loads[load.number].realisation}"]
        return [*head, *(guarded(condition, lines) if condition else ["{", *indented(lines), "}"])]

    def _tiles(self, held: CoreTiles, slot: str, verb: str) -> Lines:
        """Reads or writes of the tiles of an array."""
        rows, columns, size = held.tiles(ROW), held.tiles(COL), held.tile_bytes
        paged = self.buffers.paged[held.box.array.number] if held.box is not None else None
        assert paged is not None
        first = self.buffers.page(held)
        page = f"{first} + r * {self.buffers.row_step(held)} + c" if rows > 1 else f"{first} + c"
        base = "" if slot == "0" else f"({slot}) * {held.count * size} + "
        address = f"to + {base}(r * {columns} + c) * {size}"
        body = [f"noc_async_{verb}_page({page}, {array_name(paged)}, {address});"]
        if paged.by_rows:
            place = f"{first} + r * {TILE}, ({self.buffers.column(held)} + c * {TILE}) * {paged.element_bytes}"
            body = [f"read_rows({array_name(paged)}, {place}, {paged.element_bytes}, {address});"]
        body = [f"for (uint32_t c = 0; c < {columns}; ++c) {{", *indented(body), "}"]
        return [f"for (uint32_t r = 0; r < {rows}; ++r) {{", *indented(body), "}"]

    def _stores(self, segment: TileSegment) -> Lines:
        lines: Lines = []
        for box in segment.stores:
            held = self.buffers.stores[segment.number, box]
            buffer = self.buffers.of[held]
            lines += [f"// store {box.text(self.nest.program.names)}", "{"]
            inner = [f"cb_wait_front({buffer.name}, {held.count});"]
            inner.append(f"const uint32_t to = get_read_ptr({buffer.name});")
            inner += [*self._tiles(held, "0", "write"), "noc_async_write_barrier();"]
            inner.append(f"cb_pop_front({buffer.name}, {held.count});")
            lines += [*indented(inner), "}"]
        return lines


def array_name(paged: PagedArray) -> str:
    """What kernels and the host call an array."""
    return f"array_{paged.array.name}"


def _filled(buffer: CircularBuffer, call: str) -> Lines:
    address = f"get_write_ptr({buffer.name})"
    return [f"cb_reserve_back({buffer.name}, 1);", f"{call.format(address)};", f"cb_push_back({buffer.name}, 1);"]


def _same(core: Core, other: Core, axis: int) -> bool:
    """Whether two cores stand in one line along an axis."""
    return all(core[k] == other[k] for k in range(len(core)) if k != axis)


def _moved(core: Core, axis: int, by: int) -> Core:
    return tuple(place + by * (k == axis) for k, place in enumerate(core))
