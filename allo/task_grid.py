"""Plans of tile programs as grids of tasks: the text of a dataflow region with readers, cores and writers."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from .errors import Location, TargetError
from .frontend import tiles
from .frontend.read.source import KernelSource, read_kernel
from .mapping.tiles.choices import LoadChoice, PlacedLoad, TileMapping, loads_of, nest_of, stores_of
from .mapping.tiles.program import TileBox, TileProgram
from .target.mesh_routes import MeshRoutes

_BLOCKS = "assign whole blocks: `a: T = A[m * BM : (m + 1) * BM]` or tile.load(), `C[...] = a` or tile.store()"


@dataclass
class _Move:
    """A load or store of the kernel: what happens to one element, and the loops of the kernel around it."""

    name: str  # of its streams
    array: str
    box: TileBox
    loops: tuple[ast.For, ...]
    place: list[ast.expr]  # of an element, with the variables `e0`, `e1`, ...
    shape: tuple[int, ...]
    mask: ast.expr | None = None
    other: ast.expr = field(default_factory=lambda: ast.Constant(0))

    @property
    def variables(self) -> list[str]:
        """The loops over elements."""
        return [f"e{k}" for k in range(len(self.shape))]


class PlanTasks:
    """The region of a plan. Raises TargetError for what does not fit streams, with the place or the step that does."""

    def __init__(
        self, kernel: Callable[..., Any], values: dict[str, Any], program: TileProgram, mapping: TileMapping,
        routes: MeshRoutes,
    ) -> None:  # fmt: skip
        self.source: KernelSource = read_kernel(kernel)
        self.values, self.program, self.mapping, self.routes = values, program, mapping, routes
        self.space_time = mapping.space_time
        self.axes = routes.mesh.cores.dims
        self.active = tuple(self.space_time.active(axis) for axis in range(len(self.axes)))
        self.arrays = {array.name: array for array in program.arrays}
        self.loads: list[_Move] = []
        self.stores: list[_Move] = []
        self.shared: list[tuple[int, ...]] = []  # of each load
        self.partial = [
            dim for dim, extent in enumerate(program.grid)
            if extent < self.space_time.wave_count(dim) * prod(self.active[k] for k in self.space_time.tilings[dim])
        ]  # fmt: skip
        self.body = self._programs()
        self.core = list(self._statements(self.body, ()))
        if len(self.loads) != len(loads_of(program)):
            raise TargetError(f"a tile that '{program.name}' loads twice is one load of its plan", hint="load it once")

    # -- what is read of the kernel ------------------------------------------------------------------

    def _refuse(self, node: ast.AST, message: str, hint: str) -> TargetError:
        line, column, _ = self.source.position(node)
        return TargetError(message, at=Location(self.source.file, line, column + 1), hint=hint)

    def _programs(self) -> list[ast.stmt]:
        body = [node for node in self.source.tree.body if not _is_text(node)]
        loop = body[0] if len(body) == 1 else None
        target = [] if not isinstance(loop, ast.For) else list(ast.walk(loop.target))
        names = [node.id for node in target if isinstance(node, ast.Name)]
        if not isinstance(loop, ast.For) or len(names) != len(self.program.grid):
            raise self._refuse(self.source.tree, "a grid of tasks needs one loop over all programs", "write one `for`")
        self.ids = names
        return loop.body

    def _statements(self, nodes: Sequence[ast.stmt], loops: tuple[ast.For, ...]) -> Iterator[str]:
        """The statements of a core, with streams in the places of loads and stores."""
        for node in nodes:
            if isinstance(node, ast.For) and any(self._uses(inner) for inner in ast.walk(node)):
                yield f"for {ast.unparse(node.target)} in {self._at(node.iter)}:"
                yield from _indented(self._statements(node.body, (*loops, node)))
            elif (load := self._load(node, loops)) is not None:
                yield from self._received(node, load)
            elif (stored := self._store(node, loops)) is not None:
                yield from self._sent(*stored)
            elif any(self._uses(inner) for inner in ast.walk(node)):
                raise self._refuse(node, f"`{ast.unparse(node).splitlines()[0]}` uses elements of an argument", _BLOCKS)
            else:
                yield from self._at(node).splitlines()

    def _uses(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in self.arrays

    def _at(self, node: ast.AST) -> str:
        """Text with the ids of a program as forms of the core and the wave."""
        return ast.unparse(_Renamed(self._ids()).visit(copy.deepcopy(node)))

    def _ids(self) -> dict[str, ast.expr]:
        found: dict[str, ast.expr] = {}
        for dim, name in enumerate(self.ids):
            terms, scale = [], 1
            for axis in self.space_time.tilings[dim]:
                terms.append(f"{scale} * {self._position(axis)}" if scale > 1 else self._position(axis))
                scale *= self.space_time.shape[axis]
            if self.space_time.wave_count(dim) > 1:
                terms.append(f"{scale} * {name}_wave" if scale > 1 else f"{name}_wave")
            found[name] = ast.parse(" + ".join(terms) or "0", mode="eval").body
        return found

    def _position(self, axis: int) -> str:
        return f"core_{self.axes[axis]}"

    def _callee(self, node: ast.expr | None) -> Any:
        if not isinstance(node, ast.Call):
            return None
        try:
            return eval(compile(ast.Expression(node.func), "<kernel>", "eval"), dict(self.source.names))
        except (NameError, AttributeError):
            return None

    def _load(self, node: ast.stmt, loops: tuple[ast.For, ...]) -> _Move | None:
        value = node.value if isinstance(node, ast.AnnAssign | ast.Assign) else None
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if not isinstance(target, ast.Name) or value is None:
            return None
        boxes = [load.box for load in loads_of(self.program)]
        if isinstance(value, ast.Subscript) and self._uses(value.value):
            move = self._sliced(f"{target.id}_in", value, boxes[len(self.loads) :], loops)
        elif self._callee(value) is tiles.load and isinstance(value, ast.Call):
            move = self._moved(f"{target.id}_in", value, boxes[len(self.loads) :], loops)
        else:
            return None
        self.loads.append(move)
        return move

    def _store(self, node: ast.stmt, loops: tuple[ast.For, ...]) -> tuple[_Move, ast.Name] | None:
        boxes = [box for box, _, _ in stores_of(self.program)][len(self.stores) :]
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        call = node.value if isinstance(node, ast.Expr) else None
        value: ast.expr
        if isinstance(node, ast.Assign) and isinstance(target, ast.Subscript) and self._uses(target.value):
            move, value = self._sliced(f"{ast.unparse(target.value)}_out", target, boxes, loops), node.value
        elif isinstance(call, ast.Call) and self._callee(call) is tiles.store and len(call.args) > 2:
            move, value = self._moved("out", call, boxes, loops), call.args[2]
        else:
            return None
        if not isinstance(value, ast.Name) or self._uses(value):
            raise self._refuse(node, f"`{ast.unparse(value)}` is stored, which is no array of the kernel", _BLOCKS)
        self.stores.append(move)
        return move, value

    def _sliced(self, name: str, part: ast.Subscript, boxes: Sequence[TileBox], loops: tuple[ast.For, ...]) -> _Move:
        """A block that is written as a slice."""
        array = ast.unparse(part.value)
        box = self._box(part, array, boxes)
        given = list(part.slice.elts) if isinstance(part.slice, ast.Tuple) else [part.slice]
        given += [ast.Slice()] * (len(box.shape) - len(given))
        place: list[ast.expr] = []
        shape: list[int] = []
        for one, size in zip(given, box.shape, strict=True):
            if not isinstance(one, ast.Slice):
                place.append(one)
                continue
            if one.step is not None:
                raise self._refuse(one, f"`{ast.unparse(part)}` has a step", _BLOCKS)
            start = one.lower or ast.Constant(0)
            place.append(ast.BinOp(start, ast.Add(), ast.Name(f"e{len(shape)}", ast.Load())))
            shape.append(size)
        return _Move(name, array, box, loops, place, tuple(shape))

    def _moved(self, name: str, call: ast.Call, boxes: Sequence[TileBox], loops: tuple[ast.For, ...]) -> _Move:
        """A block of `tile.load` or `tile.store`."""
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        array, mask = ast.unparse(call.args[0]), named.get("mask")
        box = self._box(call, array, boxes)
        starts = call.args[1].elts if isinstance(call.args[1], ast.Tuple | ast.List) else []
        if set(named) - {"mask", "other"} or len(call.args) != 3 or len(starts) != len(box.shape):
            raise self._refuse(call, "array, place and block stand first, mask and other are named", _BLOCKS)
        place: list[ast.expr] = [
            ast.BinOp(start, ast.Add(), ast.Name(f"e{k}", ast.Load())) for k, start in enumerate(starts)
        ]
        if isinstance(mask, ast.Lambda):
            names = {argument.arg: form for argument, form in zip(mask.args.args, place, strict=True)}
            mask = _Renamed(names).visit(copy.deepcopy(mask.body))
        stream = name if name != "out" else f"{array}_out"
        return _Move(stream, array, box, loops, place, box.shape, mask, named.get("other", ast.Constant(0)))

    def _box(self, node: ast.AST, array: str, boxes: Sequence[TileBox]) -> TileBox:
        if not boxes or boxes[0].array.name != array:
            raise self._refuse(node, f"this block of '{array}' is no transfer of its own in the plan", _BLOCKS)
        return boxes[0]

    # -- which streams there are -----------------------------------------------------------------------

    def _shared(self, move: _Move, load: PlacedLoad, choice: LoadChoice) -> tuple[int, ...]:
        """The axes along which cores pass a tile on."""
        nest = nest_of(self.space_time, load.loops)
        if choice.level < len(nest):
            inner = self.program.names[nest[-1].level]
            raise TargetError(
                f"tiles of '{move.array}' are kept over iterations of '{inner}': a stream gives each tile once",
                hint=f'decide `load("{move.array}", ..., inside="{inner}")`',
            )
        axes = tuple(
            network.axis for name in choice.realisation.networks
            if (network := self.routes.network[name]).axis is not None and self.active[network.axis] > 1
        )  # fmt: skip
        spread = {self.space_time.dim_of(axis) for axis in axes}
        if spread & set(self.partial):
            raise TargetError(
                f"cores that share tiles of '{move.array}' have no programs in the last wave",
                hint=f'decide `load("{move.array}", "per core", ...)`, or choose blocks that divide evenly',
            )
        if any((loop.lower.levels | loop.upper.levels) & spread for loop in load.loops):
            raise TargetError(
                f"cores that share tiles of '{move.array}' run its loops in different numbers",
                hint=f'decide `load("{move.array}", "per core", ...)`',
            )
        return axes

    # -- text ------------------------------------------------------------------------------------------

    def _stream(self, move: _Move, position: Sequence[str]) -> str:
        return f"{move.name}[{', '.join(position)}]"

    def _elements(self, move: _Move, body: Sequence[str]) -> Iterator[str]:
        extents = ", ".join(map(str, move.shape))
        head = f"for {', '.join(move.variables)} in allo.grid({extents}):" if move.shape else ""
        yield from [head, *_indented(body)] if head else body

    def _received(self, node: ast.stmt, move: _Move) -> Iterator[str]:
        """A core gets a tile, and passes it on."""
        number = len(self.loads) - 1
        self.shared.append(self._shared(move, loads_of(self.program)[number], self.mapping.loads[number]))
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]  # type: ignore[attr-defined]
        if isinstance(node, ast.AnnAssign):
            yield f"{ast.unparse(target)}: {self._at(node.annotation)}"
        here = [self._position(axis) for axis in range(len(self.axes))]
        element = f"{ast.unparse(target)}[{', '.join(move.variables)}]" if move.shape else ast.unparse(target)
        body = [f"{element} = {self._stream(move, here)}.get()"]
        for position, axis in enumerate(axes := self.shared[-1]):
            later = [f"{here[other]} == 0" for other in axes[position + 1 :]]
            onward = [*here[:axis], f"{here[axis]} + 1", *here[axis + 1 :]]
            condition = " and ".join([*later, f"{here[axis]} < {self.active[axis] - 1}"])
            body += [f"with allo.meta_if({condition}):", f"    {self._stream(move, onward)}.put({element})"]
        yield from self._elements(move, body)

    def _sent(self, move: _Move, value: ast.Name) -> Iterator[str]:
        here = [self._position(axis) for axis in range(len(self.axes))]
        element = f"{value.id}[{', '.join(move.variables)}]" if move.shape else value.id
        yield from self._elements(move, [f"{self._stream(move, here)}.put({element})"])

    def _guarded(self, body: Sequence[str]) -> list[str]:
        """Statements that a core runs if it has a program in the wave."""
        ids = self._ids()
        there = [f"{ast.unparse(ids[self.ids[dim]])} < {self.program.grid[dim]}" for dim in self.partial]
        return [f"if {' and '.join(there)}:", *_indented(body)] if there else list(body)

    def _waves(self, body: Sequence[str]) -> list[str]:
        lines = list(body)
        for dim in reversed(self.space_time.waves):
            lines = [f"for {self.ids[dim]}_wave in range({self.space_time.wave_count(dim)}):", *_indented(lines)]
        return lines

    def _outside(self, move: _Move, shared: tuple[int, ...], *, reads: bool) -> Iterator[str]:
        """The task that moves the tiles of one load or store between the memory and the cores."""
        kind, array = "read" if reads else "write", self.arrays[move.array]
        place = ", ".join(self._at(form) for form in move.place)
        element, position = f"{move.array}[{place}]", [self._position(axis) for axis in range(len(self.axes))]
        stream = self._stream(move, [name if axis not in shared else "0" for axis, name in enumerate(position)])
        if reads:
            body = [f"{stream}.put({element})"]
            if move.mask is not None:
                other = [f"    {stream}.put({self._at(move.other)})"]
                body = [f"if {self._at(move.mask)}:", f"    {body[0]}", "else:", *other]
        else:
            body = [f"moved: {array.element!r} = {stream}.get()", f"{element} = moved"]
            if move.mask is not None:
                body = [body[0], f"if {self._at(move.mask)}:", f"    {body[1]}"]
        lines = self._guarded(list(self._elements(move, body)))
        cores = [f"with allo.meta_for({n}) as {position[k]}:" for k, n in enumerate(self.active) if k not in shared]
        loops = [f"for {ast.unparse(loop.target)} in {self._at(loop.iter)}:" for loop in move.loops]
        differ = any(name in loop for loop in loops for name in position)  # how often they run
        for head in reversed([*cores, *loops] if differ else [*loops, *cores]):
            lines = [head, *_indented(lines)]
        yield f"@df.kernel(mapping=[1], args=[{move.array}])"
        extents = ", ".join(map(str, array.shape))
        yield f"def {kind}_{move.name}({move.array}: {array.element!r}[{extents}]):"
        zero: dict[str, ast.expr] = {self._position(axis): ast.Constant(0) for axis in shared}
        text = "\n".join(self._waves(lines))
        yield from _indented(ast.unparse(_Renamed(zero).visit(ast.parse(text))).splitlines())

    def text(self) -> str:
        """The region as a program of Python, which `allo.customize` takes."""
        names = {node.id for node in ast.walk(self.source.tree) if isinstance(node, ast.Name)}
        known = {**self.source.names, **self.values}
        numbers = {n: known[n] for n in sorted(names) if isinstance(known.get(n), int | float) and n not in self.ids}
        lines = ["import allo", "import allo.dataflow as df", "from allo.ir.types import *", ""]
        lines += [f"{name} = {value}" for name, value in numbers.items()]
        arguments = ", ".join(f"{a.name}: {a.element!r}[{', '.join(map(str, a.shape))}]" for a in self.program.arrays)
        lines += ["", "", "@df.region()", f"def {self.program.name}_grid({arguments}):"]
        inner: list[str] = []
        cores = ", ".join(map(str, self.active))
        buffers = [choice.buffers for choice in self.mapping.loads], self.mapping.stores
        for moves, count in zip((self.loads, self.stores), buffers, strict=True):
            for move, number in zip(moves, count, strict=True):
                depth = prod(move.shape) * number
                inner.append(f"{move.name}: Stream[{self.arrays[move.array].element!r}, {depth}][{cores}]")
        for move, shared in zip(self.loads, self.shared, strict=True):
            inner += ["", *self._outside(move, shared, reads=True)]
        position = ", ".join(self._position(axis) for axis in range(len(self.axes)))
        inner += ["", f"@df.kernel(mapping=[{cores}], args=[])", "def core():"]
        inner += _indented([f"{position} = df.get_pid()", *self._waves(self._guarded(self.core))])
        for move in self.stores:
            inner += ["", *self._outside(move, (), reads=False)]
        return "\n".join([*lines, *_indented(inner)]) + "\n"


class _Renamed(ast.NodeTransformer):
    """Expressions in the places of names."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.values.get(node.id, node))


def _indented(lines: Sequence[str] | Iterator[str]) -> list[str]:
    return [f"    {line}" if line else "" for line in lines]


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
