"""Lowering of statements on elements to statements on tiles: axes of vectors, products, reductions, buffers saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...mapping.tiles.program import TileProgram
from ..mesh.reading import ReadProgram
from .elements import ElementReader
from .statements import (
    COL,
    ROW,
    TILE,
    Apply,
    Chosen,
    CoreTiles,
    ElementLoop,
    ElementStatement,
    Everywhere,
    Expression,
    Masked,
    Read,
    TileAssign,
    TileProduct,
    TileReduce,
    TileStatement,
    held_in,
    reads_of,
    refusal,
)


class LoweredProgram:
    """The statements of each segment on tiles, and the arrays of a core: loaded, stored and its own ones."""

    def __init__(self, read: ReadProgram) -> None:
        reader = ElementReader(read)
        self.program: TileProgram = read.program
        elements = [reader.segment(segment.number) for segment, _ in read.program.segments]
        stored = [_stores(segment) for segment in elements]
        _give_axes([s for segment in stored for s in segment])
        self.segments = [[made for s in segment for made in _lowered(s)] for segment in stored]
        self.boxes = reader.boxes
        self.segments = [_fused(segment, self.segments) for segment in self.segments]
        self._use_loaded()

    @property
    def own(self) -> tuple[CoreTiles, ...]:
        """Arrays that are neither loaded nor stored, in the order of their use."""
        everything = [s for segment in self.segments for s in segment]
        used = [held for s in everything for held in (*held_in(s), s.target)]
        return tuple(dict.fromkeys(held for held in used if held.box is None))

    def _use_loaded(self) -> None:
        """Read what is only a copy of a loaded tile where the tile is."""
        loops = {segment.number: around for segment, around in self.program.segments}
        for number, segment in enumerate(self.segments):
            for copy in [s for s in segment if isinstance(s, TileAssign) and isinstance(s.value, Read)]:
                assert isinstance(copy.value, Read)
                source, target = copy.value.held, copy.target
                same = source.axes == target.axes and source.extents == target.extents
                if source.box is None or source.stored or target.box is not None or not same:
                    continue
                users = [
                    (k, s) for k, other in enumerate(self.segments) for s in other
                    if s is not copy and target in (*held_in(s), s.target)
                ]  # fmt: skip
                later = all(
                    s.target is not target
                    and (k > number or (k == number and segment.index(s) > segment.index(copy)))
                    and loops[k][: len(loops[number])] == loops[number]
                    for k, s in users
                )
                if later:
                    segment.remove(copy)
                    for _, s in users:
                        _replace(s, target, source)


def _replace(statement: TileStatement, old: CoreTiles, new: CoreTiles) -> None:
    match statement:
        case TileAssign():
            statement.value = _with(statement.value, old, new)
        case TileReduce():
            statement.value = new if statement.value is old else statement.value
        case TileProduct():
            statement.left = new if statement.left is old else statement.left
            statement.right = new if statement.right is old else statement.right


def _with(value: Expression, old: CoreTiles, new: CoreTiles) -> Expression:
    match value:
        case Read() if value.held is old:
            return Read(new, value.loops)
        case Apply():
            return Apply(value.name, tuple(_with(operand, old, new) for operand in value.operands))
        case Masked():
            return Masked(value.alternatives, _with(value.value, old, new), _with(value.other, old, new))
        case Chosen():
            parts = (value.condition, value.value, value.other)
            return Chosen(*(_with(part, old, new) for part in parts))
    return value


def _stores(segment: Sequence[ElementStatement]) -> list[ElementStatement]:
    """A segment in which each stored tile is assigned once, from an array of the core if it is made in parts."""
    made = list(segment)
    for held in dict.fromkeys(s.target for s in segment if s.target.stored):
        writers = [s for s in made if s.target is held]
        first = writers[0]
        if len(writers) == 1 and isinstance(first.value, Masked) and _is_self(first.value.other, first):
            first.value = first.value.value  # the whole tile is written; what is outside of the array is not kept
        if len(writers) == 1 and not any(read.held is held for read in reads_of(first.value)):
            continue
        own = CoreTiles(f"{held.name}_tile", held.extents, held.element, held.axes, op=held.op)
        for s in writers:
            s.target, s.value = own, _with(s.value, held, own)
        last = made.index(writers[-1])
        made.insert(last + 1, ElementStatement(held, first.where, Read(own, first.where), first.where, first.op))
    return made


def _is_self(value: Expression, statement: ElementStatement) -> bool:
    return isinstance(value, Read) and value.held is statement.target and value.loops == statement.where


def _give_axes(found: Sequence[ElementStatement]) -> None:
    """Say of all arrays whether their dimensions go down or across tiles: of vectors, as their users need it."""
    every = list(dict.fromkeys(held for s in found for held, _ in _uses(s)))
    for held in every:
        if len(held.extents) != 1 and held.axes is None:
            held.axes = (ROW, COL)[: len(held.extents)]
    while True:
        changed = True
        while changed:
            changed = False
            for s in found:
                axes = _axes(s)
                for held, where in _uses(s):
                    if held.axes is None and where[0] in axes:
                        held.axes, changed = (axes[where[0]],), True
        left = [held for held in every if held.axes is None]
        if not left:
            return
        left[0].axes = (COL,)


def _uses(s: ElementStatement) -> Iterator[tuple[CoreTiles, tuple[ElementLoop, ...]]]:
    yield s.target, s.where
    for read in reads_of(s.value):
        yield read.held, read.loops


def _axes(s: ElementStatement) -> dict[ElementLoop, str]:
    """Which loops go down and across, as the target says, else what has two dimensions, else what is known."""
    axes: dict[ElementLoop, str] = {}
    if _product(s) is not None:
        return dict(zip(s.where, (ROW, COL), strict=True))
    for held, where in sorted(_uses(s), key=lambda use: -len(use[1])):
        if held.axes is not None and not any(loop in axes for loop in where):
            axes |= dict(zip(where, held.axes, strict=True))
    return axes


def _product(s: ElementStatement) -> tuple[Read, Read, ElementLoop] | None:
    """The factors of a product of matrices that is added to the target, and the loop that adds up."""
    reduced = [loop for loop in s.loops if loop.extent > 1 and loop not in s.where]
    term = _added(s)
    if term is None or len(reduced) != 1 or term[0] != "add" or len(s.where) != 2:
        return None
    factors = term[1]
    if not isinstance(factors, Apply) or factors.name != "mul":
        return None
    left, right = factors.operands
    if not (isinstance(left, Read) and isinstance(right, Read) and len(left.loops) == len(right.loops) == 2):
        return None
    if s.where[0] not in left.loops:
        left, right = right, left
    (k,) = reduced
    if {*left.loops} == {s.where[0], k} and {*right.loops} == {s.where[1], k}:
        return left, right, k
    return None


def _added(s: ElementStatement) -> tuple[str, Expression] | None:
    """What `target = target op value` adds, and the operation."""
    if not isinstance(s.value, Apply) or len(s.value.operands) != 2:
        return None
    first, second = s.value.operands
    if _is_self(first, s):
        return s.value.name, second
    return (s.value.name, first) if _is_self(second, s) else None


def _lowered(s: ElementStatement) -> Iterator[TileStatement]:
    product = _product(s)
    if product is not None:
        yield _lowered_product(s, *product)
        return
    axes = _axes(s)
    for held, where in _uses(s):
        given = tuple(axes.get(loop) for loop in where)
        if len(where) == 1 and given != held.axes:
            raise refusal(f"'{held.name}' goes down tiles and across tiles", s.op, "load it to two arrays")
        if len(where) == 2 and (None in given or given[0] == given[1] or (s.target is held and given[0] == COL)):
            raise refusal(f"'{held.name}' is not used row by row here", s.op, "transpose it first: `B = A.T`")
    reduced = [loop for loop in s.loops if loop.extent > 1 and loop not in s.where]
    if not reduced:
        yield TileAssign(s.target, s.value, axes, s.op)
        return
    added = _added(s)
    if added is None or added[0] not in ("add", "max") or len(reduced) > 1:
        raise refusal(
            f"'{s.target.name}' is made in a way that tiles are not reduced in",
            s.op,
            "add up, or take the maximum, along one dimension at a time",
        )
    name, term = added
    if reduced[0].extent % TILE:
        raise refusal(
            f"the loop '{reduced[0].name}' reduces {reduced[0].extent} elements, which is no multiple of 32",
            s.op,
            "make the tile larger, and mask the elements behind the end",
        )
    whole = tuple(sorted({loop for read in reads_of(term) for loop in read.loops}, key=lambda k: axes[k] == COL))
    if isinstance(term, Read) and term.held.axes == tuple(axes[loop] for loop in term.loops):
        value = term.held
    else:
        extents = tuple(loop.extent for loop in whole)
        value = CoreTiles(f"{s.target.name}_terms", extents, "float32", tuple(axes[loop] for loop in whole), op=s.op)
        yield TileAssign(value, term, axes, s.op)
    yield TileReduce(s.target, name, value, axes[reduced[0]], s.op)


def _lowered_product(s: ElementStatement, left: Read, right: Read, k: ElementLoop) -> TileProduct:
    if left.loops[1] is not k:
        message = f"the left side of a product, '{left.held.name}', is transposed"
        raise refusal(message, s.op, "transpose the right side, or store it the other way")
    if any(loop.extent % TILE for loop in (*s.where, k)):
        extents = " x ".join(str(loop.extent) for loop in (s.where[0], k, s.where[1]))
        raise refusal(
            f"a product of {extents} does not consist of tiles of 32 x 32",
            s.op,
            "make blocks multiples of 32, with zeros behind the ends of arrays",
        )
    if s.target in (left.held, right.held):
        raise refusal(f"a product is written to its own factor '{s.target.name}'", s.op, "use another array")
    return TileProduct(s.target, left.held, right.held, right.loops[0] is not k, False, s.op)


def _fused(segment: list[TileStatement], every: Sequence[Sequence[TileStatement]]) -> list[TileStatement]:
    """Products that begin from nothing instead of zeros, and are added at once to what they are added to."""
    made: list[TileStatement] = []
    for s in segment:
        last = made[-1] if made else None
        if isinstance(s, TileProduct) and isinstance(last, TileAssign) and last.target is s.target:
            zeros = isinstance(last.value, Everywhere) and last.value.value == 0
            made[-1:] = [TileProduct(s.target, s.left, s.right, s.transposed, True, s.op)] if zeros else [last, s]
            continue
        if isinstance(last, TileProduct) and last.fresh and isinstance(s, TileAssign) and _adds(s, last.target):
            users = [u for other in every for u in other if last.target in (*held_in(u), u.target)]
            inside = s.target not in (last.left, last.right)
            if len(users) == 3 and inside:  # its zeros, the product itself, and this sum
                made[-1] = TileProduct(s.target, last.left, last.right, last.transposed, False, s.op)
                continue
        made.append(s)
    return made


def _adds(s: TileAssign, term: CoreTiles) -> bool:
    """Whether a statement adds an array to its target."""
    if not isinstance(s.value, Apply) or s.value.name != "add":
        return False
    both = [operand for operand in s.value.operands if isinstance(operand, Read)]
    same = len(both) == 2 and both[0].loops == both[1].loops
    return same and {both[0].held, both[1].held} == {s.target, term} and s.target is not term
