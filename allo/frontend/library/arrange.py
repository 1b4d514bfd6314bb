"""transpose, view, concat, copy, zeros, ones: where the elements of an array stand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ...ir.types import AlloType, TensorType, float32, int32, shape_text
from ...ir.types import bool as bool_type
from ...ir.types import index as index_type
from ..typing.convert import constant, convert
from ..typing.nodes import Block, Const, Expr, Stmt, Store, Symbol
from ..typing.operations import binary
from ..typing.view import View, transposed
from .call import OperatorCall, lazy, placeholder
from .elementwise import moved
from .structured import OperatorNest, loops

_PYTHON_TYPES: dict[type, AlloType] = {int: int32, float: float32, bool: bool_type}
type Indices = tuple[Expr, ...]


def transpose(call: OperatorCall) -> View | None:
    """Dimension d of the result is dimension `axes[d]`."""
    base = call.array("A")
    if base is None:
        return None
    rank = len(base.type.shape)
    axes = call.constants["axes"].value
    axes = tuple(reversed(range(rank))) if axes is None else axes
    numbers = isinstance(axes, tuple | list) and all(isinstance(axis, int) for axis in axes)
    order = [axis + rank if axis < 0 else axis for axis in axes] if numbers else []
    if sorted(order) != list(range(rank)):
        call.error(
            f"transpose() needs each of the dimensions 0 to {rank - 1} once as 'axes', got {axes!r}", None, "axes"
        )
        return None
    return moved(call, transposed(base, order, call.at), "transpose")


def copy(call: OperatorCall) -> View | None:
    """The same elements."""
    base = call.array("A")
    return None if base is None else replace(moved(call, base, "copy"), place=None)


def view(call: OperatorCall) -> View | None:
    """The same elements in row-major order, in another shape."""
    base = call.array("A")
    wanted = None if base is None else _shape(call, inferred=True)
    if base is None or wanted is None:
        return None
    size = math.prod(base.type.shape)
    known = math.prod(extent for extent in wanted if extent != -1)
    shape = tuple(size // known if extent == -1 else extent for extent in wanted)
    if math.prod(shape) != size:
        call.error(
            f"view() cannot give {shape_text(base.type.shape)}, which has {size} elements, "
            f"the shape ({', '.join(map(str, wanted))})",
            None,
            "shape",
        )
        return None
    place = base.place

    def indices_of(indices: Indices) -> Indices:
        return _reshaped(indices, shape, base.type.shape, call)

    return moved(
        call,
        View(
            TensorType(base.type.element, shape),
            call.at,
            lambda indices: base.read(indices_of(indices)),
            None if place is None else lambda indices: place(indices_of(indices)),
            tuple((symbol, False) for symbol, _ in base.sources),
        ),
    )


def _shape(call: OperatorCall, inferred: bool = False) -> tuple[int, ...] | None:
    """The argument 'shape': positive integers, or a -1 for the extent that the others leave."""
    given: Any = call.constants["shape"].value
    extents = (given,) if isinstance(given, int) else given
    if isinstance(extents, tuple | list) and all(type(extent) is int for extent in extents):
        wrong = [extent for extent in extents if extent <= 0 and not (inferred and extent == -1)]
        if extents and not wrong and list(extents).count(-1) <= 1:
            return tuple(extents)
    call.error(f"{call.name}() needs positive integers as 'shape', got {given!r}", None, "shape")
    return None


def _reshaped(indices: Indices, shape: tuple[int, ...], base: tuple[int, ...], call: OperatorCall) -> Indices:
    """The indices in an array of shape `base` of the element at `indices` of `shape`, group by group of dimensions."""
    result: list[Expr] = []
    new = old = 0
    while old < len(base):
        first_new, first_old = new, old
        new, old = min(new + 1, len(shape)), old + 1
        sizes = [math.prod(shape[first_new:new]), math.prod(base[first_old:old])]
        while sizes[0] != sizes[1]:
            if sizes[0] < sizes[1]:
                new += 1
            else:
                old += 1
            sizes = [math.prod(shape[first_new:new]), math.prod(base[first_old:old])]
        position = _position(indices[first_new:new], shape[first_new:new], call)
        result += _split(position, base[first_old:old], call)
    return tuple(result)


def _position(indices: Indices, extents: tuple[int, ...], call: OperatorCall) -> Expr:
    """The number of an element in row-major order."""
    result: Expr = Const(index_type, call.at, 0)
    for number, (index, extent) in enumerate(zip(indices, extents, strict=True)):
        result = index if number == 0 else _index("+", _index("*", result, extent, call), index, call)
    return result


def _split(position: Expr, extents: tuple[int, ...], call: OperatorCall) -> list[Expr]:
    """The indices of an element by its number."""
    result = []
    for number, extent in enumerate(extents):
        stride = math.prod(extents[number + 1 :])
        index = position if stride == 1 else _index("//", position, stride, call)
        result.append(index if number == 0 else _index("%", index, extent, call))
    return result


def _index(op: str, lhs: Expr, rhs: Expr | int, call: OperatorCall) -> Expr:
    """Arithmetic on indices."""
    result = binary(op, lhs, constant(rhs, call.at) if isinstance(rhs, int) else rhs, call.at)
    assert result is not None
    return result


def concat(call: OperatorCall) -> View | None:
    """One array behind the other in a dimension."""
    first, second = call.array("A"), call.array("B")
    if first is None or second is None:
        return None
    rank, axis = len(first.type.shape), call.constants["axis"].value
    if not isinstance(axis, int) or not -rank <= axis < rank:
        call.error(f"concat() needs one of the dimensions 0 to {rank - 1} as 'axis', got {axis!r}", None, "axis")
        return None
    axis %= rank
    shapes = [list(first.type.shape), list(second.type.shape)]
    if len(shapes[1]) != rank or any(a != b for d, (a, b) in enumerate(zip(*shapes, strict=True)) if d != axis):
        listed = f"{shape_text(first.type.shape)} and {shape_text(second.type.shape)}"
        call.error(f"concat() in dimension {axis} of arrays of shapes {listed}: the other extents differ")
        return None
    shape = [*shapes[0][:axis], shapes[0][axis] + shapes[1][axis], *shapes[0][axis + 1 :]]
    both = call.builder.unify(
        call.at, placeholder(first.type.element, call.at), placeholder(second.type.element, call.at)
    )
    if both is None:
        return None

    def compute(target: Symbol) -> Stmt:
        name = call.number("concat")
        parts = [
            _part(call, f"{name}_{number}", part, target, axis, offset)
            for number, (part, offset) in enumerate([(first, 0), (second, shapes[0][axis])])
        ]
        return Block(call.at, tuple(parts))

    return call.computed(TensorType(both[0].type, tuple(shape)), [first, second], compute)


def _part(call: OperatorCall, name: str, part: View, target: Symbol, axis: int, offset: int) -> Stmt:
    """Loops that write one of the arrays to its place in the result."""
    assert isinstance(target.type, TensorType)
    nest = OperatorNest(call.at, name, [(f"i{d}", extent) for d, extent in enumerate(part.type.shape)])
    indices = list(nest.variables)
    if offset:
        indices[axis] = _index("+", indices[axis], offset, call)
    value = convert(part.read(nest.variables), target.type.element)
    return loops(nest, Store(call.at, target, tuple(indices), value))


def filled(call: OperatorCall) -> View | None:
    """zeros and ones."""
    shape = _shape(call)
    dtype = call.constants["dtype"].value
    dtype = _PYTHON_TYPES.get(dtype, dtype) if isinstance(dtype, type) else dtype
    if shape is None:
        return None
    if dtype is not None and not isinstance(dtype, AlloType):
        message = f"{call.name}() needs a type of allo.ir.types as 'dtype', got {dtype!r}"
        call.error(message, "for example int32 or float32", "dtype")
        return None
    element = float32 if dtype is None else dtype
    one = convert(constant(int(call.name == "ones"), call.at), element)

    def compute(target: Symbol) -> Stmt:
        assert isinstance(target.type, TensorType)
        nest = OperatorNest(call.at, call.number(call.name), [(f"i{d}", extent) for d, extent in enumerate(shape)])
        return nest.statement(target, convert(one, target.type.element), "fill")

    return lazy(View(TensorType(element, shape), call.at, lambda _: one, None, ()), compute)


