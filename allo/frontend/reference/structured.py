"""Operations on whole arrays, element by element in the order of their loops."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from ..typing.nodes import Element, Structured
from .expressions import SHARED, Elements, Evaluate, Expressions, Frame
from .values import NoValue

type Run = Callable[[Frame], None]
type Subscripts = Callable[[Frame], tuple[int, ...]]


def structured_run(expressions: Expressions, statement: Structured) -> Run:
    """What carries out `statement`."""
    scalars = [(expressions.place(symbol), expressions.value(value)) for symbol, value in statement.scalars]
    loops = [expressions.place(loop) for loop in statement.loops]
    read = [_element(expressions, element, statement) for element in (*statement.inputs, statement.output)]
    array, subscripts = expressions.place(statement.output.tensor), read[-1][1]
    value, ranges = expressions.value(statement.value), [range(extent) for extent in statement.extents]

    def run(frame: Frame) -> None:
        frame[SHARED] = {}
        for place, scalar in scalars:
            frame[place] = scalar(frame)
        for point in itertools.product(*ranges):
            for loop, position in zip(loops, point, strict=True):
                frame[loop] = position
            for take, _ in read:
                take(frame)
            frame[SHARED] = {}
            _put(frame[array], subscripts(frame), value, frame)

    return run


def _put(array: Elements, place: tuple[int, ...], compute: Evaluate, frame: Frame) -> None:
    """An element gets a value; in an array that the caller does not see it may have none."""
    try:
        array.data[place] = compute(frame)
    except NoValue:
        if array.visible:
            raise
        array.data[place] = None


def _element(expressions: Expressions, element: Element, statement: Structured) -> tuple[Run, Subscripts]:
    """What gives the symbol of an element its value in an iteration, and the subscripts of the element."""
    array, place = expressions.place(element.tensor), expressions.place(element.symbol)
    forms = [
        (constant, [(expressions.place(statement.loops[loop]), factor) for loop, factor in terms])
        for constant, terms in element.subscripts
    ]

    def subscripts(frame: Frame) -> tuple[int, ...]:
        return tuple([c + sum([frame[loop] * factor for loop, factor in terms]) for c, terms in forms])

    def take(frame: Frame) -> None:
        frame[place] = frame[array].data[subscripts(frame)]

    return take, subscripts
