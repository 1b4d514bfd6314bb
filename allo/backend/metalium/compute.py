"""Text of the compute kernel: statements on tiles as unpacking, operations in DST registers, and packing."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ...mapping.tiles.choices import PlacedLoad
from ...mapping.tiles.program import TileSegment
from .buffers import CircularBuffer, CoreBuffers
from .nest import NestText, guarded, indented
from .statements import (
    COL,
    ROW,
    Apply,
    Chosen,
    CoreTiles,
    ElementLoop,
    Everywhere,
    Expression,
    Masked,
    MaskRow,
    Read,
    TileAssign,
    TileProduct,
    TileReduce,
    TileStatement,
    held_in,
    refusal,
)

_UNARY = {"exp": "exp", "sqrt": "sqrt", "rsqrt": "rsqrt", "log": "log", "tanh": "tanh", "abs": "abs",
          "negative": "negative", "recip": "recip"}  # fmt: skip
_BINARY = {"add": "add_binary", "sub": "sub_binary", "mul": "mul_binary", "div": "div_binary",
           "max": "binary_max", "min": "binary_min"}  # fmt: skip
_WHOLE = {"add": "add_int", "sub": "sub_int", "mul": "mul_int", "max": "binary_max_int32", "min": "binary_min_int32",
          **{name: f"{name}_int" for name in ("eq", "ne", "lt", "le", "gt", "ge")}}  # fmt: skip
_TURNED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}  # of a comparison's sides
_REGISTERS, _ALL_REGISTERS = 4, 8  # of float32: with two halves that take turns, and together
HEADERS = ("compute_kernel_api", "compute_kernel_hw_startup", "cb_api", "reg_api", "matmul", "tile_move_copy", "pack",
            "reduce", "bcast", "transpose", "reconfig_data_format", "eltwise_binary_sfpu", "binary_max_min",
            "binary_comp", "add_int_sfpu", "sub_int_sfpu", "mul_int_sfpu",
            "eltwise_unary/where", "eltwise_unary/fill", "eltwise_unary/comp", "eltwise_unary/exp",
            "eltwise_unary/recip", "eltwise_unary/sqrt", "eltwise_unary/rsqrt", "eltwise_unary/negative",
            "eltwise_unary/binop_with_scalar")  # fmt: skip
FLOAT_BITS = """\
// The bits of a whole number as float32: cores have no units for floats outside of tiles.
static inline uint32_t float_bits(int32_t value) {
    if (value == 0) {
        return 0;
    }
    uint32_t magnitude = value < 0 ? -static_cast<uint32_t>(value) : value, exponent = 150;
    while (magnitude < (1u << 23)) {
        magnitude <<= 1, --exponent;
    }
    return (value < 0 ? 1u << 31 : 0) | (exponent << 23) | (magnitude & 0x7fffff);
}"""


class ComputeText:
    """The compute kernel of a plan."""

    def __init__(self, nest: NestText, buffers: CoreBuffers) -> None:
        self.nest, self.buffers = nest, buffers
        self.registers = 1
        self._line: list[str] = []
        self._is_whole = False
        self._axes: dict[ElementLoop, str] = {}
        self._target: CoreTiles | None = None
        self.body = nest.text(self._enter, self._leave, self._segment)
        for statement in (s for segment in buffers.lowered.segments for s in segment):
            if self.registers > _ALL_REGISTERS:
                needs = f"an expression needs {self.registers} DST registers of float32"
                hint = "compute a part of it in an array of its own"
                raise refusal(f"{needs}, and there are {_ALL_REGISTERS}", statement.op, hint)

    @property
    def full_registers(self) -> bool:
        """Whether expressions need both halves of the DST registers."""
        return self.registers > _REGISTERS

    def text(self) -> str:
        """The file."""
        lines = ["#include <cstdint>", "", *(f'#include "api/compute/{name}.h"' for name in HEADERS), ""]
        lines += [f"constexpr uint32_t {b.name} = {b.number};" for b in self.buffers.made]
        lines += ["", FLOAT_BITS, "", *ORDER, "", "void kernel_main() {"]
        start = ["const int32_t x = get_arg_val<uint32_t>(0), y = get_arg_val<uint32_t>(1);", "(void)x, (void)y;"]
        made = self.buffers.made
        start.append(f"compute_kernel_hw_startup({made[0].name}, {made[0].name}, {made[-1].name});")
        for held in self.buffers.lowered.own:  # always full: what is written takes the place of what was there
            name, pages = self.buffers.of[held].name, self.buffers.of[held].pages
            start += [f"cb_reserve_back({name}, {pages});", f"cb_push_back({name}, {pages});"]
        start += [f"cb_wait_front({b.name}, 1);" for b in self._fixed()]
        return "\n".join([*lines, *indented([*start, *self.body]), "}", ""])

    def _fixed(self) -> list[CircularBuffer]:
        """Buffers whose tile stays the same."""
        both = (self.buffers.scaler, self.buffers.row_numbers, self.buffers.column_numbers)
        return [buffer for buffer in both if buffer is not None]

    def _enter(self, load: PlacedLoad, condition: str) -> list[str]:
        held = self.buffers.of_load(load)
        pages = held.count * self.nest.slots(load)
        return guarded(condition, [f"cb_wait_front({self.buffers.of[held].name}, {pages});"])

    def _leave(self, load: PlacedLoad, condition: str) -> list[str]:
        held = self.buffers.of_load(load)
        pages = held.count * self.nest.slots(load)
        return guarded(condition, [f"cb_pop_front({self.buffers.of[held].name}, {pages});"])

    def _segment(self, segment: TileSegment) -> list[str]:
        return [line for s in self.buffers.lowered.segments[segment.number] for line in self._statement(s)]

    def _statement(self, s: TileStatement) -> list[str]:
        own = [h for h in dict.fromkeys(held_in(s)) if h.box is None and h is not s.target]
        lines = [f"// {type(s).__name__.removeprefix('Tile').lower()} '{s.target.name}'"]
        lines += [f"cb_wait_front({self.buffers.of[h].name}, {self.buffers.of[h].pages});" for h in own]
        self._line, self._target, self._axes = [], s.target, {}
        self._demand_kind(s)
        match s:
            case TileAssign():
                self._axes = s.axes
                self._put(s.value, 0)
            case TileProduct():
                self._product(s)
            case TileReduce():
                self._reduce(s)
        buffer = self.buffers.of[s.target]
        body = ["tile_regs_acquire();"]
        if s.target.box is None:
            body.insert(0, f"cb_wait_front({buffer.name}, 1);")
        body += [*self._line, "tile_regs_commit();"]
        if s.target.box is None:
            body.append(f"cb_pop_front({buffer.name}, 1);")
        body += [f"cb_reserve_back({buffer.name}, 1);", "tile_regs_wait();"]
        body += [f"pack_reconfig_data_format({buffer.name});", f"pack_tile(0, {buffer.name});"]
        body += ["tile_regs_release();", f"cb_push_back({buffer.name}, 1);"]
        rows, columns = s.target.tiles(ROW), s.target.tiles(COL)
        body = [f"for (uint32_t c = 0; c < {columns}; ++c) {{", *indented(body), "}"]
        return [*lines, f"for (uint32_t r = 0; r < {rows}; ++r) {{", *indented(body), "}"]

    def _index(self, held: CoreTiles, row: str = "r", column: str = "c") -> str:
        """The tile of an array at a place, from its front on."""
        if held is self._target:
            return "0"
        index = row if held.has(ROW) else "0"
        if held.has(COL):
            index = f"{index} * {held.tiles(COL)} + {column}" if held.has(ROW) else column
        load, slot = self.buffers.slots.get(held, (None, "0"))
        return index if load is None or slot == "0" else f"({slot}) * {held.count} + {index}"

    def _say(self, *lines: str) -> None:
        self._line += lines

    def _use(self, register: int) -> None:
        self.registers = max(self.registers, register + 1)

    def _call(self, name: str, *arguments: object) -> None:
        self._say(f"{name}_tile_init();", f"{name}_tile({', '.join(map(str, arguments))});")

    def _put(self, value: Expression, at: int) -> None:
        """Compute a value in the register `at` with those behind it."""
        self._use(at)
        match value:
            case Everywhere():
                self._number(value.value, at)
            case Read():
                self._read(value, at)
            case Masked():
                self._mask(value.alternatives, at)
                self._put(value.value, at + 1)
                self._put(value.other, at + 2)
                self._where(at)
            case Chosen():
                for number, part in enumerate((value.condition, value.value, value.other)):
                    self._put(part, at + number)
                self._where(at)
            case Apply() if len(value.operands) == 1:
                self._put(value.operands[0], at)
                self._call(_UNARY[value.name], at)
            case Apply() if self._is_whole:
                self._put(value.operands[0], at)
                self._put(value.operands[1], at + 1)
                name = _WHOLE[value.name]
                form = "" if value.name in ("max", "min") else "<DataFormat::Int32>"
                self._say(f"{name}_tile_init{'' if value.name in ('add', 'sub') else form}();")
                self._say(f"{name}_tile{form}({at}, {at + 1}, {at});")
            case Apply() if value.name in _TURNED:
                self._compare(value.name, value.operands, at)
            case Apply():
                self._binary(value, at)

    def _where(self, at: int) -> None:
        form = "Int32" if self._is_whole else "Float32"
        self._say("where_tile_init();", f"where_tile<DataFormat::{form}>({at}, {at + 1}, {at + 2}, {at});")

    def _number(self, value: float, at: int) -> None:
        if self._is_whole:
            self._say("fill_tile_init();", f"fill_tile_int<DataFormat::Int32>({at}, {hex(int(value) & 0xFFFFFFFF)}u);")
        else:
            self._call_fill(at, f"{_bits(value)}u")

    def _compare(self, name: str, sides: Sequence[Expression], at: int) -> None:
        """1 or 0 as IEEE 754 says, also of infinities and NaN, of which a difference would not tell."""
        left, right = sides
        if _need(right) > _need(left):
            name, left, right = _TURNED[name], right, left
        self._put(left, at)
        self._put(right, at + 1)
        self._call(f"{name}_binary", at, at + 1, at)

    def _demand_kind(self, s: TileStatement) -> None:
        """Integers and floats in registers do not meet, and units other than the vector unit have no integers."""
        kinds = {held.is_whole for held in (s.target, *held_in(s))}
        self._is_whole = True in kinds
        name = next((held.name for held in (s.target, *held_in(s)) if held.is_whole), "")
        if len(kinds) > 1:
            hint = "convert one of them before the kernel"
            raise refusal(f"'{s.target.name}' is made of floats and of integers ('{name}')", s.op, hint)
        if self._is_whole and not isinstance(s, TileAssign):
            verb = "multiplied as matrices" if isinstance(s, TileProduct) else "reduced along a dimension"
            message = f"'{name}' is int32 and {verb}: the matrix unit has source registers of 19 bits"
            raise refusal(message, s.op, "use float32 or bfloat16, or elements one by one")

    def _call_fill(self, at: int, bits: str) -> None:
        self._say("fill_tile_init();", f"fill_tile_bitcast({at}, {bits});")

    def _binary(self, value: Apply, at: int) -> None:
        left, right = value.operands
        if isinstance(right, Everywhere) and value.name in ("add", "sub", "mul", "div"):
            self._put(left, at)
            number = right.value if value.name in ("add", "mul") else -right.value
            number = 1 / right.value if value.name == "div" and right.value else number
            name = {"add": "add", "sub": "add", "mul": "mul", "div": "mul"}[value.name]
            if value.name != "div" or right.value:
                self._say("binop_with_scalar_tile_init();", f"{name}_unary_tile({at}, {_bits(number)}u);")
                return
        elif isinstance(left, Everywhere) and value.name in ("add", "mul"):
            self._put(Apply(value.name, (right, left)), at)
            return
        elif isinstance(left, Everywhere) and left.value == 1 and value.name == "div":
            self._put(Apply("recip", (right,)), at)
            return
        first, second = (at, at + 1)
        if _need(right) > _need(left):
            first, second = second, first
            self._put(right, at)
            self._put(left, at + 1)
        else:
            self._put(left, at)
            self._put(right, at + 1)
        self._call(_BINARY[value.name], first, second, at)

    def _read(self, read: Read, at: int) -> None:
        held, name = read.held, self.buffers.of[read.held].name
        assert held.axes is not None
        self._say(f"reconfig_data_format({name}, {name});")
        given = tuple(self._axes[loop] for loop in read.loops)
        wanted = {*self._axes.values()} if self._target is None else {*(self._target.axes or ())}
        if held.is_whole and (given != held.axes or wanted - {*held.axes}):
            message = f"'{held.name}' is int32 and broadcast or transposed: source registers have 19 bits"
            raise refusal(message, held.op, "load it with the dimensions of the result, in their order")
        if given != held.axes:
            self._say(f"transpose_init({name});", f"transpose_tile({name}, {self._index(held, 'c', 'r')}, {at});")
            return
        missing = wanted - {*held.axes}
        if not missing:
            self._say(f"copy_init({name});", f"copy_tile({name}, {self._index(held)}, {at});")
            return
        kind = "SCALAR" if not held.axes else "COL" if missing == {COL} else "ROW"
        form = f"BroadcastType::{kind}"
        self._say(f"unary_bcast_init<{form}>({name});", f"unary_bcast<{form}>({name}, {self._index(held)}, {at});")
        self._say(f"unary_bcast_uninit<{form}>({name});")

    def _mask(self, alternatives: Sequence[Sequence[MaskRow]], at: int) -> None:
        """1 where all rows of an alternative hold, else 0."""
        for number, rows in enumerate(alternatives):
            to = at + bool(number)
            for place, row in enumerate(rows):
                self._row(row, to + bool(place))
                if place:
                    self._call("binary_min", to, to + 1, to)
            if number:
                self._call("binary_max", at, to, at)
        self._call("gez", at)

    def _row(self, row: MaskRow, at: int) -> None:
        """The value of a linear form for each element of a tile."""
        parts = [self.nest.form(row.levels)]
        self._use(at)
        for number, (loop, coefficient) in enumerate(row.loops):
            axis = self._axes[loop]
            buffer = self.buffers.row_numbers if axis == ROW else self.buffers.column_numbers
            assert buffer is not None
            to = at + bool(number)
            self._use(to)
            self._say(f"reconfig_data_format({buffer.name}, {buffer.name});")
            self._say(f"copy_init({buffer.name});", f"copy_tile({buffer.name}, 0, {to});")
            if coefficient != 1:
                bits = _bits(float(coefficient))
                self._say("binop_with_scalar_tile_init();", f"mul_unary_tile({to}, {bits}u);")
            if number:
                self._call("add_binary", at, to, at)
            parts.append(f"{32 * coefficient} * static_cast<int32_t>({'r' if axis == ROW else 'c'})")
        constant = f"float_bits({' + '.join(parts)})"
        if row.loops:
            self._say("binop_with_scalar_tile_init();", f"add_unary_tile({at}, {constant});")
        else:
            self._call_fill(at, constant)

    def _product(self, s: TileProduct) -> None:
        left, right = self.buffers.of[s.left].name, self.buffers.of[s.right].name
        if not s.fresh:
            self._old(s.target, 0)
        depth = s.left.tiles(COL)
        self._say(f"reconfig_data_format({right}, {left});", f"matmul_init({left}, {right}, {int(s.transposed)});")
        column = self._index(s.right, "c", "k") if s.transposed else self._index(s.right, "k", "c")
        row = self._index(s.left, "r", "k")
        self._say(f"for (uint32_t k = 0; k < {depth}; ++k) {{")
        self._say(f"    matmul_tiles({left}, {right}, {row}, {column}, 0);", "}")

    def _old(self, held: CoreTiles, at: int) -> None:
        """What the target has been so far."""
        name = self.buffers.of[held].name
        self._use(at)
        self._say(f"reconfig_data_format({name}, {name});", f"copy_init({name});", f"copy_tile({name}, 0, {at});")

    def _reduce(self, s: TileReduce) -> None:
        value, scaler = self.buffers.of[s.value].name, self.buffers.scaler
        assert scaler is not None
        target = self.buffers.of[s.target].name
        pool, along = ("SUM" if s.name == "add" else "MAX"), ("ROW" if s.axis == COL else "COL")
        swapped = pool == "SUM" and along == "ROW"  # the scaler goes to the other source
        sources = (scaler.name, value) if swapped else (value, scaler.name)
        form = f"PoolType::{pool}, ReduceDim::REDUCE_{along}"
        self._say(f"reconfig_data_format({', '.join(sources)});")
        self._say(f"reduce_init<{form}>({value}, {scaler.name}, {target});")
        index = self._index(s.value, "r", "k") if s.axis == COL else self._index(s.value, "k", "c")
        self._say(f"for (uint32_t k = 0; k < {s.value.tiles(s.axis)}; ++k) {{")
        self._say(f"    reduce_tile<{form}>({value}, {scaler.name}, {index}, 0, 0);", "}", f"reduce_uninit({value});")
        self._old(s.target, 1)
        self._call(_BINARY[s.name], 0, 1, 0)


def _need(value: Expression) -> int:
    """How many registers a value takes."""
    match value:
        case Apply():
            needs = sorted((_need(operand) for operand in value.operands), reverse=True)
            return max(need + k for k, need in enumerate(needs))
        case Masked():
            return max(3, _need(value.value) + 1, _need(value.other) + 2)
        case Chosen():
            return max(_need(value.condition), _need(value.value) + 1, _need(value.other) + 2)
    return 1


def _bits(value: float) -> str:
    return hex(struct.unpack("<I", struct.pack("<f", value))[0])


ORDER = (
    "static inline int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }",
    "static inline int32_t most(int32_t a, int32_t b) { return a > b ? a : b; }",
)
