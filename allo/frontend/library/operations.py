"""Library operators on typed values, by the Python functions that name them: what importers and the checker call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ..read.source import Position
from ..typing.around import Seen
from ..typing.builder import ValueBuilder
from ..typing.nodes import Expr
from ..typing.view import View
from ..typing.writes import NO_EFFECTS
from . import arrange, elementwise, normalize, operators, products, windows
from .call import STATIC, OperatorArgument, OperatorCall, OperatorConstant

_FAMILIES: dict[Callable[..., Any], Callable[[OperatorCall], Expr | View | None]] = {
    operators.matmul: products.matmul,
    operators.bmm: products.bmm,
    operators.linear: products.linear,
    operators.conv2d: windows.conv2d,
    operators.maxpool: windows.maxpool,
    operators.sumpool: windows.sumpool,
    operators.add: elementwise.arithmetic,
    operators.sub: elementwise.arithmetic,
    operators.mul: elementwise.arithmetic,
    operators.div: elementwise.arithmetic,
    operators.abs: elementwise.absolute,
    operators.relu: elementwise.relu,
    operators.gelu: elementwise.gelu,
    operators.softmax: normalize.softmax,
    operators.layernorm: normalize.layernorm,
    operators.copy: arrange.copy,
    operators.transpose: arrange.transpose,
    operators.view: arrange.view,
    operators.concat: arrange.concat,
    operators.tril: elementwise.lower_triangle,
    operators.zeros: arrange.filled,
    operators.ones: arrange.filled,
}
# operators that need all of their operands before the first element of the result is known
_IN_FRONT = frozenset({"matmul", "bmm", "linear", "conv2d", "maxpool", "sumpool", "softmax", "layernorm", "concat"})


def is_operator(callee: Any) -> bool:
    """Whether `callee` is an operator of the library."""
    return any(callee is operator for operator in _FAMILIES)


class Operations:
    """The operators of one kernel; a method returns None after an error was reported at the place of what is wrong.

    Raises NotExpressible for values that no type holds.
    """

    def __init__(self, builder: ValueBuilder) -> None:
        self.builder = builder
        self._counts: dict[str, int] = {}

    def _number(self, operator: str) -> str:
        """The name of the next nest of an operator: `matmul_0`, `matmul_1`, ..."""
        count = self._counts.get(operator, 0)
        self._counts[operator] = count + 1
        return f"{operator}_{count}"

    def _namer(self, nest: str | None) -> Callable[[str], str]:
        return self._number if nest is None else lambda _: nest

    def call(
        self,
        operator: Callable[..., Any],
        at: Position,
        arguments: Mapping[str, OperatorArgument],
        constants: Mapping[str, OperatorConstant],
        seen: Seen | None = None,
        nest: str | None = None,
    ) -> Expr | View | None:
        """`operator(...)` of arguments by parameter; constants that are not given are those of its Python function.

        `seen` is what the statement did before the arguments, `nest` the name of its loops.
        """
        name = operator.__name__
        if name in _IN_FRONT:
            if not self.builder.in_front(at, f"`{name}`", self.builder.seen if seen is None else seen, NO_EFFECTS):
                return None
            self.builder.has_read()
        parameters = inspect.signature(operator).parameters
        defaults = {n: OperatorConstant(p.default, at) for n, p in parameters.items() if n in STATIC}
        call = OperatorCall(self.builder, name, at, arguments, defaults | dict(constants), self._namer(nest))
        return _FAMILIES[operator](call)

    def elementary(
        self,
        written: str,
        function: str,
        at: Position,
        arguments: Mapping[str, OperatorArgument],
        nest: str | None = None,
    ) -> Expr | View | None:
        """An operation of MLIR such as `math.exp` on numbers or arrays of floats; errors call it as it is `written`."""
        call = OperatorCall(self.builder, written.split(".")[-1], at, arguments, {}, self._namer(nest))
        return elementwise.elementary(call, function, written)
