"""Text of the host program: buffers, kernels, arguments of cores; arrays come from files and go to files as tiles."""

from __future__ import annotations

from .buffers import CoreBuffers, PagedArray
from .compute import ComputeText
from .movement import Core, MovementText, array_name
from .nest import NestText, indented
from .statements import FORMATS

_HEAD = """\
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/tt_metal.hpp>

using namespace tt;
using namespace tt::tt_metal;

// An array as tiles of 32 x 32, each as four faces of 16 x 16: leading x rows x columns tiles, zeros behind its ends.
// With `by_rows`, rows and columns are those of elements, and each row is a page.
struct Form {
    std::vector<uint32_t> shape, leading;  // elements; how many matrices of tiles there are
    uint32_t rows, columns, bytes;         // tiles, and the bytes of an element
    bool by_rows;
    uint32_t page() const { return (by_rows ? columns : 1024) * bytes; }
    size_t size() const {
        size_t count = size_t(rows) * (by_rows ? 1 : columns) * page();
        for (uint32_t extent : leading) {
            count *= extent;
        }
        return count;
    }
    size_t place(size_t matrix, uint32_t row, uint32_t column) const {
        if (by_rows) {
            return ((matrix * rows + row) * columns + column) * bytes;
        }
        const size_t tile = (matrix * rows + row / 32) * columns + column / 32;
        const size_t face = row % 32 / 16 * 2 + column % 32 / 16;
        return (tile * 1024 + face * 256 + row % 16 * 16 + column % 16) * bytes;
    }
};

// Copies between rows of elements and tiles; `to_tiles` says in which direction.
static void move_tiles(const Form& form, std::vector<uint8_t>& plain, std::vector<uint8_t>& tiles, bool to_tiles) {
    const size_t rank = form.shape.size();
    const uint32_t height = form.shape[rank - 2], width = form.shape[rank - 1];
    uint32_t matrices = 1;
    for (size_t k = 0; k + 2 < rank; ++k) {
        matrices *= form.shape[k];
    }
    for (uint32_t matrix = 0; matrix < matrices; ++matrix) {
        uint32_t place = 0, rest = matrix, scale = 1;  // leading dimensions may be longer in tiles
        for (size_t k = rank - 2; k-- > 0;) {
            place += rest % form.shape[k] * scale;
            rest /= form.shape[k];
            scale *= form.leading[k];
        }
        for (uint32_t row = 0; row < height; ++row) {
            for (uint32_t column = 0; column < width; ++column) {
                const size_t in_tiles = form.place(place, row, column);
                const size_t in_rows = ((size_t(matrix) * height + row) * width + column) * form.bytes;
                uint8_t* target = to_tiles ? &tiles[in_tiles] : &plain[in_rows];
                std::memcpy(target, to_tiles ? &plain[in_rows] : &tiles[in_tiles], form.bytes);
            }
        }
    }
}

static std::vector<uint8_t> read_file(const std::string& path, size_t bytes) {
    std::vector<uint8_t> data(bytes);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(data.data()), bytes)) {
        throw std::runtime_error(path + " does not have " + std::to_string(bytes) + " bytes");
    }
    return data;
}

static size_t plain_bytes(const Form& form) {
    size_t bytes = form.bytes;
    for (uint32_t extent : form.shape) {
        bytes *= extent;
    }
    return bytes;
}

struct Array {
    std::string name;
    Form form;
    std::shared_ptr<distributed::MeshBuffer> buffer;
};
"""


class HostText:
    """The host program of a plan, with what builds and explains it."""

    def __init__(self, nest: NestText, buffers: CoreBuffers, movement: MovementText, compute: ComputeText) -> None:
        self.nest, self.buffers, self.movement, self.compute = nest, buffers, movement, compute
        self.name = nest.program.name

    def text(self) -> str:
        """The file."""
        body = [*self._device(), *self._arrays(), *self._program(), *self._arguments(), *self._run()]
        wrong = '    throw std::runtime_error("give the folder of the arrays, NAME.bin each");'
        inner = ["if (argc != 2) {", wrong, "}"]
        lines = ["try {", *indented([*inner, *body]), "    return 0;", "} catch (const std::exception& error) {"]
        lines += ['    std::cerr << error.what() << "\\n";', "    return 1;", "}"]
        return "\n".join([_HEAD, "int main(int argc, char** argv) {", *indented(lines), "}", ""])

    def _device(self) -> list[str]:
        return [
            'const std::string folder = std::string(argv[1]) + "/";',
            "auto device = distributed::MeshDevice::create_unit_mesh(0);",
            "distributed::MeshCommandQueue& queue = device->mesh_command_queue();",
            "Program program = CreateProgram();",
        ]

    def _arrays(self) -> list[str]:
        lines = ["std::vector<Array> arrays = {"]
        for paged in self.buffers.paged.values():
            lines.append(f'    {{"{paged.array.name}", {_form(paged)}, nullptr}},')
        lines += [
            "};",
            "for (Array& array : arrays) {",
            "    const uint32_t page = array.form.page();",
            "    distributed::DeviceLocalBufferConfig local{.page_size = page, .buffer_type = BufferType::DRAM};",
            "    distributed::ReplicatedBufferConfig whole{.size = array.form.size()};",
            "    array.buffer = distributed::MeshBuffer::create(whole, local, device.get());",
            '    std::vector<uint8_t> plain = read_file(folder + array.name + ".bin", plain_bytes(array.form));',
            "    std::vector<uint8_t> tiles(array.form.size(), 0);",
            "    move_tiles(array.form, plain, tiles, true);",
            "    std::vector<uint32_t> words(tiles.size() / 4);",
            "    std::memcpy(words.data(), tiles.data(), tiles.size());",
            "    distributed::EnqueueWriteMeshBuffer(queue, array.buffer, words, true);",
            "}",
        ]
        for number, paged in enumerate(self.buffers.paged.values()):
            lines.append(f"const uint32_t {array_name(paged)} = arrays[{number}].buffer->address();")
        return lines

    def _program(self) -> list[str]:
        rectangles = _rectangles(self.movement.cores)
        ranges = ", ".join(f"CoreRange({_coordinates(a)}, {_coordinates(b)})" for a, b in rectangles)
        lines = [f"const CoreRangeSet cores(std::vector<CoreRange>{{{ranges}}});"]
        for b in self.buffers.made:
            lines.append(f"// {b.name}: {b.pages} tiles")
            made = f"CircularBufferConfig({b.bytes}, {{{{{b.number}, DataFormat::{FORMATS[b.element]}}}}})"
            page = f".set_page_size({b.number}, {b.tile_bytes})"
            lines.append(f"CreateCircularBuffer(program, cores, {made}{page});")
        if self.movement.delivered:
            lines += [
                f"for (uint32_t semaphore = 0; semaphore < {2 * len(self.movement.delivered)}; ++semaphore) {{",
                "    if (CreateSemaphore(program, cores, 0) != semaphore) {",
                '        throw std::runtime_error("semaphores are not numbered from 0");',
                "    }",
                "}",
            ]
        mode = ", .noc_mode = NOC_MODE::DM_DYNAMIC_NOC" if self.movement.both_networks else ""
        full = ", .dst_full_sync_en = true" if self.compute.full_registers else ""
        lines += [
            'const auto reader = CreateKernel(program, "kernels/reader.cpp", cores, DataMovementConfig{'
            f".processor = DataMovementProcessor::RISCV_1, .noc = NOC::NOC_0{mode}}});",
            'const auto writer = CreateKernel(program, "kernels/writer.cpp", cores, DataMovementConfig{'
            f".processor = DataMovementProcessor::RISCV_0, .noc = NOC::NOC_1{mode}}});",
            'const auto compute = CreateKernel(program, "kernels/compute.cpp", cores, ComputeConfig{'
            f".math_fidelity = MathFidelity::HiFi4, .fp32_dest_acc_en = true{full}}});",
        ]
        return lines

    def _arguments(self) -> list[str]:
        """Arguments of cores: places as the plan counts them are made those of the NoC here."""
        movement, count = self.movement, len(self.movement.delivered)
        lines = [
            "// A load that cores pass on: root, parent, children, and two groups: first core, last core, count, NoC.",
            "struct Group { uint32_t x0, y0, x1, y1, count, noc; };",
            "struct Tree { uint32_t root, x, y, children; Group groups[2]; };",
            f"struct Core {{ uint32_t x, y; std::array<Tree, {max(count, 1)}> trees; }};",
            "const std::vector<Core> placed = {",
        ]
        for core in movement.cores:
            trees = ", ".join(self._tree(core, number) for number in range(count))
            lines.append(f"    {{{core[0]}, {core[1]}, {{{{{trees}}}}}}},")
        read = ", ".join(["core.x", "core.y", *(array_name(paged) for paged in movement.read)])
        written = ", ".join(["core.x", "core.y", *(array_name(paged) for paged in movement.written)])
        lines += ["};", "for (const Core& core : placed) {", f"    std::vector<uint32_t> arguments = {{{read}}};"]
        if count:
            lines += [f"    {line}" for line in _TREE_ARGUMENTS]
        return [
            *lines,
            "    const CoreCoord place(core.x, core.y);",
            "    SetRuntimeArgs(program, reader, place, arguments);",
            f"    SetRuntimeArgs(program, writer, place, std::vector<uint32_t>{{{written}}});",
            "    SetRuntimeArgs(program, compute, place, std::vector<uint32_t>{core.x, core.y});",
            "}",
        ]

    def _tree(self, core: Core, number: int) -> str:
        load = self.movement.delivered[number]
        tree, networks = self.movement.tree(load, core), self.movement.networks(load)
        groups = []
        for group, noc in zip(tree.groups, networks, strict=True):
            (x0, y0), (x1, y1), count = group or ((0, 0), (0, 0), 0)
            groups.append(f"{{{x0}, {y0}, {x1}, {y1}, {count}, {noc}}}")
        x, y = tree.parent or core
        return f"{{{int(tree.parent is None)}, {x}, {y}, {tree.children}, {{{', '.join(groups)}}}}}"

    def _run(self) -> list[str]:
        lines = [
            "distributed::MeshWorkload workload;",
            "workload.add_program(distributed::MeshCoordinateRange(device->shape()), std::move(program));",
            "distributed::EnqueueMeshWorkload(queue, workload, false);",
            "distributed::Finish(queue);",
        ]
        for number, paged in enumerate(self.buffers.paged.values()):
            if paged.written:
                lines += ["{", *indented([f"Array& array = arrays[{number}];", *_BACK]), "}"]
        return [*lines, "device->close();"]


_TREE_ARGUMENTS = """\
for (const Tree& tree : core.trees) {
    const CoreCoord parent = device->worker_core_from_logical_core(CoreCoord(tree.x, tree.y));
    const uint32_t head[] = {tree.root, uint32_t(parent.x), uint32_t(parent.y), tree.children, 2};
    arguments.insert(arguments.end(), std::begin(head), std::end(head));
    for (const Group& group : tree.groups) {
        CoreCoord first = device->worker_core_from_logical_core(CoreCoord(group.x0, group.y0));
        CoreCoord last = device->worker_core_from_logical_core(CoreCoord(group.x1, group.y1));
        if (group.noc == 1) {
            std::swap(first, last);  // NoC 1 goes left and up
        }
        const uint32_t ends[] = {
            uint32_t(first.x), uint32_t(first.y), uint32_t(last.x), uint32_t(last.y), group.count};
        arguments.insert(arguments.end(), std::begin(ends), std::end(ends));
    }
}""".splitlines()
_BACK = """\
std::vector<uint32_t> words;
distributed::EnqueueReadMeshBuffer(queue, words, array.buffer, true);
std::vector<uint8_t> tiles(words.size() * 4), plain(plain_bytes(array.form));
std::memcpy(tiles.data(), words.data(), tiles.size());
move_tiles(array.form, plain, tiles, false);
std::ofstream(folder + array.name + ".bin", std::ios::binary)
    .write(reinterpret_cast<const char*>(plain.data()), plain.size());""".splitlines()


def _coordinates(core: Core) -> str:
    return f"CoreCoord({core[0]}, {core[1]})"


def _form(paged: PagedArray) -> str:
    shape = list(paged.array.shape)
    if len(shape) == 1:
        shape = [shape[0], 1] if paged.down else [1, shape[0]]
    sizes, leading = (", ".join(map(str, values)) for values in (shape, paged.leading))
    form = f"{paged.rows}, {paged.columns}, {paged.element_bytes}, {str(paged.by_rows).lower()}"
    return f"{{{{{sizes}}}, {{{leading}}}, {form}}}"


def _rectangles(cores: list[Core]) -> list[tuple[Core, Core]]:
    """Cores as rectangles: rows that are alike one below the other become one."""
    rows: dict[int, int] = {}
    for x, y in cores:
        rows[y] = max(rows.get(y, 0), x)
    made: list[tuple[Core, Core]] = []
    for y, last in sorted(rows.items()):
        if made and made[-1][1] == (last, y - 1):
            made[-1] = (made[-1][0], (last, y))
        else:
            made.append(((0, y), (last, y)))
    return made
