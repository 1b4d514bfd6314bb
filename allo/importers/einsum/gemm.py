"""Kernels of TECs as loops over products of matrices, whose blocks of sums stay in vector registers.

Source: loops over GEMM as in Springer and Bientinesi, "Design of a high-performance GEMM-like tensor-tensor
multiplication" (2018): packed blocks, and a block of the output in registers (Goto and van de Geijn, 2008).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod

from ...mapping.teir import DataType, DimType, Tec, TecCost, TecDimension
from .loops import SUMS, LoopText, address, head, loop_names
from .plain import write_first, write_last

_PART = 4  # elements of a line of memory that are copied at a time
_WAYS = 8  # lines of the first cache that addresses a page apart may have

type _Loop = tuple[str, int, int]  # its variable, its extent, how far an iteration is in memory


def gemm_kernel(cost: TecCost, extents: Sequence[int]) -> LoopText:
    """The kernel of a TEC whose primitive is a GEMM or BRGEMM."""
    text = LoopText()
    with text.block(head(cost.tec, extents)):
        _GemmWriter(text, cost).write()
    return text


@dataclass(slots=True)
class _GemmWriter:
    text: LoopText
    cost: TecCost

    @property
    def tec(self) -> Tec:
        return self.cost.tec

    @property
    def sums(self) -> str:
        return SUMS[self.tec.data_type]

    def dimension(self, type: DimType) -> TecDimension:
        """The last dimension of a type in the primitive."""
        return [d for d in self.tec.primitive if d.type is type][-1]

    @property
    def batch(self) -> TecDimension | None:
        """The first K of a BRGEMM."""
        return self.tec.primitive[0] if len(self.tec.primitive) == 4 else None

    def write(self) -> None:
        names, tec = loop_names(self.tec), self.tec
        load = self.cost.sums_again
        if load:
            write_first(self.text, tec, names)
        outer = tec.outer
        with ExitStack() as stack:
            for level in range(len(outer) + 1):
                if level:
                    d = outer[level - 1]
                    stack.enter_context(self.text.loop(names[d.name], d.size, "main" if level == 1 else None))
                for tensor in (0, 1):
                    if self.cost.packed[tensor]:
                        self.pack_at(level, tensor, names)
            self.blocks(names, load)
        write_last(self.text, tec, names)
        if self.cost.shared is not None:
            self.text.parallel.append(f"main.{names[outer[0].name]}")

    def pack_at(self, level: int, tensor: int, names: dict[str, str]) -> None:
        """What is to be done at a level of the loops so that an input is packed; each thread has arrays of its own."""
        at = self.cost.level(tensor)
        threads = 1 if self.cost.shared is not None else 0
        if level == min(at, threads):
            self.declare(tensor)
        if level == at:
            own = {d.name: self.text.variable(names[d.name]) for d in self.cost.inside(tensor, at)}
            self.pack(tensor, names | own)

    def panel(self, tensor: int) -> tuple[TecDimension, int]:
        """What the panels of an input run along, and how much of it is in one."""
        registers = self.cost.registers
        type, width = (DimType.M, registers.rows) if tensor == 0 else (DimType.N, registers.columns)
        return self.dimension(type), width

    def steps(self) -> int:
        """The steps of K of one call."""
        return self.cost.block[2]

    def declare(self, tensor: int) -> None:
        blocks = prod(d.size for d in self.cost.inside(tensor, self.cost.level(tensor)))
        width = self.panel(tensor)[1]
        self.text.line(f"pack{tensor}: {self.sums}[{blocks * self.panels(tensor)}, {self.steps()}, {width}]")

    def panels(self, tensor: int) -> int:
        """The panels of one block of an input."""
        across, width = self.panel(tensor)
        return -(-across.size // width)

    def panel_at(self, tensor: int, names: dict[str, str], panel: str) -> str:
        """Where a panel is among those that are packed at a time."""
        terms, step = [panel], self.panels(tensor)
        for d in reversed(self.cost.inside(tensor, self.cost.level(tensor))):
            terms.append(f"{step} * {names[d.name]}")
            step *= d.size
        return " + ".join(terms)

    def pack(self, tensor: int, names: dict[str, str]) -> None:
        """Copy blocks of an input to panels: all of K for some rows or columns, one panel behind the other."""
        across, width = self.panel(tensor)
        full, rest = divmod(across.size, width)
        if full:
            p = self.text.variable("p")
            whole = [(p, full, width * across.strides[tensor])]
            self.pack_panels(tensor, names, f"{width} * {p} + ", p, width, whole)
        if rest:
            self.pack_panels(tensor, names, f"{full * width} + ", str(full), rest, [])
            missing = self.padded(rest) - rest if tensor == 1 else 0
            if missing:
                self.pad(tensor, names, str(full), rest, missing)

    def pad(self, tensor: int, names: dict[str, str], panel: str, rest: int, missing: int) -> None:
        """Zeros in the columns of the last panel that the input does not have."""
        k, c = self.text.variable("k"), self.text.variable("c")
        with ExitStack() as stack:
            for d in self.cost.inside(tensor, self.cost.level(tensor)):
                stack.enter_context(self.text.loop(names[d.name], d.size))
            stack.enter_context(self.text.loop(k, self.steps()))
            stack.enter_context(self.text.loop(c, missing))
            self.text.line(f"pack{tensor}[{self.panel_at(tensor, names, panel)}, {k}, {rest} + {c}] = 0.0")

    def pack_panels(
        self, tensor: int, names: dict[str, str], offset: str, panel: str, width: int, whole: list[_Loop]
    ) -> None:
        """Copy panels of one width in the order of memory."""
        across, inner, lanes = self.panel(tensor)[0], self.dimension(DimType.K), self.cost.registers.lanes
        k = self.text.variable("k")
        b = self.text.variable("b") if self.batch else None
        loops = [*whole, (k, inner.size, inner.strides[tensor])]
        if b and self.batch:
            loops.append((b, self.batch.size, self.batch.strides[tensor]))
        inside = self.cost.inside(tensor, self.cost.level(tensor))
        loops += [(names[d.name], d.size, d.strides[tensor]) for d in inside]
        loops.sort(key=lambda loop: -loop[2])

        def line(last: str, c: str) -> None:
            """The copy of one element of row `c`, where the loop along a line of memory is at `last`."""
            now = {variable: variable for variable, _, _ in loops} | {loops[-1][0]: last}
            at = {name: now.get(variable, variable) for name, variable in names.items()}
            step = f"{inner.size} * {now[b]} + {now[k]}" if b else now[k]
            base = address(self.tec.outer, tensor, at)
            read = self.read(tensor, base, f"({offset}{c})", now[k], now[b] if b else None)
            place = self.panel_at(tensor, at, now.get(panel, panel))
            self.text.line(f"pack{tensor}[{place}, {step}, {c}] = {read}")

        nest = self.shared_nest(tensor, loops) if whole else None
        with ExitStack() as stack:
            for number, (variable, extent, _) in enumerate(loops[:-1]):
                stack.enter_context(self.text.loop(variable, extent, nest if number == 0 else None))
            last, extent, stride = loops[-1]
            if stride == 1:
                self.transposed(width, extent, line)
            else:
                whole_vectors = across.strides[tensor] == 1 and width % lanes == 0
                with self.text.loop(last, extent), self.columns(width, lanes if whole_vectors else 0) as c:
                    line(last, c)

    @contextmanager
    def columns(self, width: int, lanes: int) -> Iterator[str]:
        """A loop over the columns of a panel; with `lanes`, it is vectors of so many of them."""
        c = self.text.variable("c")
        if not lanes:
            with self.text.loop(c, width):
                yield c
            return
        v = self.text.variable("v")
        self.text.unrolled += [v, c]
        with self.text.loop(v, width // lanes), self.text.loop(c, lanes):
            yield f"({lanes} * {v} + {c})"

    def shared_nest(self, tensor: int, loops: list[_Loop]) -> str | None:
        """The name of the nest that packs an input, if threads share its outermost loop."""
        if len(loops) == 1 or not self.cost.packed_by_threads(tensor):
            return None
        nest = f"panels{tensor}"
        self.text.parallel.append(f"{nest}.{loops[0][0]}")
        return nest

    def transposed(self, width: int, extent: int, line: Callable[[str, str], None]) -> None:
        """Some elements of a line of memory for each of some rows of a panel, whose part is then written whole; then
        the next.

        Rows that are pages apart take each other's lines of the first cache, and so do parts of panels: the rows are
        as many as a set of that cache has lines.
        """
        rows = max(n for n in range(1, _WAYS + 1) if width % n == 0)
        if rows == width or rows < _PART:
            self.rows_transposed(width, extent, line)
            return
        group = self.text.variable("group")
        with self.text.loop(group, width // rows):
            self.rows_transposed(rows, extent, lambda last, c: line(last, f"({rows} * {group} + {c})"))

    def rows_transposed(self, rows: int, extent: int, line: Callable[[str, str], None]) -> None:
        """So many rows of a panel."""
        full, rest = divmod(extent, _PART)
        if full:
            part, c, at = (self.text.variable(stem) for stem in ("part", "c", "at"))
            self.text.unrolled += [c, at]
            with self.text.loop(part, full), self.text.loop(c, rows), self.text.loop(at, _PART):
                line(f"({_PART} * {part} + {at})", c)
        if rest:
            c, at = self.text.variable("c"), self.text.variable("at")
            with self.text.loop(c, rows), self.text.loop(at, rest):
                line(f"({_PART * full} + {at})", c)

    def read(self, tensor: int, base: str, across: str, k: str, b: str | None) -> str:
        """An element of an input."""
        inner, along = self.dimension(DimType.K), self.panel(tensor)[0]
        terms = [base, f"{along.strides[tensor]} * {across}", f"{inner.strides[tensor]} * {k}"]
        if b and self.batch:
            terms.append(f"{self.batch.strides[tensor]} * {b}")
        element = f"in{tensor}[{' + '.join(terms)}]"
        return f"{self.sums}({element})" if self.tec.data_type is DataType.BF16 else element

    def padded(self, columns: int) -> int:
        """Columns of sums: whole vectors."""
        lanes = self.cost.registers.lanes
        return -(-columns // lanes) * lanes

    def ranges(self, size: int, part: int) -> Iterator[tuple[int, int, int]]:
        """First one, how many, how large each: the whole parts of a size, and its edge."""
        full, rest = divmod(size, part)
        if full:
            yield 0, full, part
        if rest:
            yield full, 1, rest

    def blocks(self, names: dict[str, str], load: bool) -> None:
        """All blocks of the output that one call of the primitive computes."""
        registers = self.cost.registers
        m, n = self.dimension(DimType.M), self.dimension(DimType.N)
        for first_n, count_n, columns in self.ranges(n.size, registers.columns):
            with ExitStack() as stack:
                col = self.counted(stack, "cols", first_n, count_n)
                for first_m, count_m, rows in self.ranges(m.size, registers.rows):
                    with ExitStack() as inside:
                        row = self.counted(inside, "rows", first_m, count_m)
                        self.product(names, (row, col), rows, columns, load)

    def counted(self, stack: ExitStack, stem: str, first: int, count: int) -> str:
        if count == 1:
            return str(first)
        variable = self.text.variable(stem)
        stack.enter_context(self.text.loop(variable, count))
        return variable

    def product(self, names: dict[str, str], at: tuple[str, str], rows: int, columns: int, load: bool) -> None:
        """One block of the output, from its first to its last value in this call."""
        lanes, padded = self.cost.registers.lanes, self.padded(columns)
        self.text.line(f"acc: {self.sums}[{rows}, {padded}]")
        with self.element(rows, padded) as (i, j):
            self.text.line(f"acc[{i}, {j}] = 0.0")
        if load:
            self.exchange(names, at, rows, columns, "acc[{i}, {j}] = out[{place}]")
        one_loop = all(self.cost.packed)  # panels have all steps of K behind each other
        b = self.text.variable("b") if self.batch and not one_loop else None
        k, inner = self.text.variable("k"), self.dimension(DimType.K)
        with ExitStack() as stack:
            if b and self.batch:
                stack.enter_context(self.text.loop(b, self.batch.size))
            stack.enter_context(self.text.loop(k, self.steps() if one_loop else inner.size))
            step = f"{inner.size} * {b} + {k}" if b else k
            i, v, j = (self.text.variable(stem) for stem in "ivj")
            self.text.unrolled += [i, v, j]
            for variable, extent in ((i, rows), (v, padded // lanes), (j, lanes)):
                stack.enter_context(self.text.loop(variable, extent))
            one = self.factor(0, names, at[0], i, step, k, b)
            two = self.factor(1, names, at[1], f"({lanes} * {v} + {j})", step, k, b)
            self.text.line(f"acc[{i}, {lanes} * {v} + {j}] += {one} * {two}")
        self.exchange(names, at, rows, columns, "out[{place}] = acc[{i}, {j}]")

    def factor(
        self, tensor: int, names: dict[str, str], panel: str, inside: str, step: str, k: str, b: str | None
    ) -> str:
        """An element of an input, where it was packed or where it is."""
        if self.cost.packed[tensor]:
            return f"pack{tensor}[{self.panel_at(tensor, names, panel)}, {step}, {inside}]"
        width = self.panel(tensor)[1]
        base = address(self.tec.outer, tensor, names)
        return self.read(tensor, base, f"({width} * {panel} + {inside})", k, b)

    def exchange(self, names: dict[str, str], at: tuple[str, str], rows: int, columns: int, line: str) -> None:
        """A block of sums from or to the output."""
        m, n, registers = self.dimension(DimType.M), self.dimension(DimType.N), self.cost.registers
        base, rest = address(self.tec.outer, 2, names), columns % registers.lanes
        for first, width in ((0, columns - rest), (columns - rest, rest)):  # whole vectors, then what is left
            if not width:
                continue
            with self.element(rows, width) as (i, j):
                column = f"({first} + {j})" if first else j
                place = (
                    f"{base} + {m.strides[2]} * ({registers.rows} * {at[0]} + {i})"
                    f" + {n.strides[2]} * ({registers.columns} * {at[1]} + {column})"
                )
                self.text.line(line.format(i=i, j=column, place=place))

    @contextmanager
    def element(self, rows: int, columns: int) -> Iterator[tuple[str, str]]:
        """Loops over the elements of a block, unrolled, in vectors where its width allows."""
        lanes = self.cost.registers.lanes
        i, j = self.text.variable("i"), self.text.variable("j")
        loops, index = [(i, rows)], j
        if columns % lanes == 0:
            v = self.text.variable("v")
            loops += [(v, columns // lanes), (j, lanes)]
            index = f"{lanes} * {v} + {j}"
        else:
            loops.append((j, columns))
        with ExitStack() as stack:
            for variable, extent in loops:
                self.text.unrolled.append(variable)
                stack.enter_context(self.text.loop(variable, extent))
            yield i, index
