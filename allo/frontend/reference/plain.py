"""A kernel as plain Python that tells of each of its assignments, and of each iteration of its loops."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from ...errors import KernelError
from ..read.source import KernelSource, belongs_to_a_library, read_kernel

type Place = tuple[str, int, int]  # file, line and column of a statement
type Tell = Callable[[Place, str, Any, Any], None]

_TELL = "__allo_tell"


@dataclass(frozen=True, slots=True)
class PlainKernel:
    """Functions that call `tell(place, name, subscripts, value)` behind each assignment to a name or to an element of
    an array, and at the begin of each iteration of a `for`.

    `told` are the places, with the names, also those in kernels that are called by name.
    """

    tell: Tell
    told: set[tuple[Place, str]] = field(default_factory=set)
    _made: dict[int, Callable[..., Any]] = field(default_factory=dict)

    def function(self, source: KernelSource) -> Callable[..., Any]:
        """A kernel, or an instance of a template, as Python runs it."""
        telling = _Telling(source, self.told)
        tree = telling.visit(copy.deepcopy(source.tree))
        tree.decorator_list, tree.returns, tree.type_params = [], None, []
        for argument in (*tree.args.posonlyargs, *tree.args.args):
            argument.annotation = None
        module = ast.increment_lineno(ast.fix_missing_locations(ast.Module([tree], [])), source.line_shift)
        names = dict(source.names)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and _is_kernel(value := names.get(node.id)) and value is not source.function:
                names[node.id] = self._callee(value)
        names[_TELL] = self.tell
        exec(compile(module, source.file, "exec"), names)
        result: Callable[..., Any] = names[source.name]
        return result

    def _callee(self, kernel: Any) -> Callable[..., Any]:
        if id(kernel) not in self._made:
            self._made[id(kernel)] = kernel
            try:
                self._made[id(kernel)] = self.function(read_kernel(kernel))
            except KernelError:  # it has no source, and runs as it is
                return self._made[id(kernel)]
        return self._made[id(kernel)]


def _is_kernel(value: Any) -> bool:
    """Whether a value may be a kernel that runs as it is: no template, and no function of a library."""
    if not isinstance(value, FunctionType) or not value.__annotations__ or value.__type_params__:
        return False
    return not belongs_to_a_library(value)


class _Telling(ast.NodeTransformer):
    """Puts the calls behind assignments, and at the begin of bodies of loops."""

    def __init__(self, source: KernelSource, told: set[tuple[Place, str]]) -> None:
        self.source = source
        self.told = told

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        return node if node.value is None else [node, *self._calls(node, [node.target])]

    def visit_Assign(self, node: ast.Assign) -> Any:
        return [node, *self._calls(node, node.targets)]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        return [node, *self._calls(node, [node.target])]

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        names = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        node.body = [*self._calls(node, names[-1:]), *node.body]
        if (
            isinstance(node.iter, ast.Call)
            and isinstance(node.iter.func, ast.Name)
            and node.iter.func.id == "range"
        ):
            node.iter.keywords = []  # the name of the loop, which Python does not take
        return node

    def _calls(self, node: ast.stmt, targets: Sequence[ast.expr]) -> Iterator[ast.stmt]:
        line, column, _ = self.source.position(node)
        found: dict[str, ast.expr | None] = {}
        for name, subscripts in _targets(targets):
            found[name] = None if name in found else subscripts
        for name, subscripts in found.items():
            place = (self.source.file, line, column)
            self.told.add((place, name))
            constants: list[ast.expr] = [
                ast.Tuple([ast.Constant(part) for part in place], ast.Load()),
                ast.Constant(name),
            ]
            again = ast.Constant(None) if subscripts is None else copy.deepcopy(subscripts)
            call = ast.Call(ast.Name(_TELL, ast.Load()), [*constants, again, ast.Name(name, ast.Load())], [])
            yield ast.copy_location(ast.Expr(call), node)


def _targets(nodes: Sequence[ast.expr]) -> Iterator[tuple[str, ast.expr | None]]:
    """The names that are assigned, with the subscripts where these name elements or rows."""
    for node in nodes:
        match node:
            case ast.Name(id=name):
                yield name, None
            case ast.Tuple(elts=parts):
                yield from _targets(parts)
            case ast.Subscript(value=ast.Name(id=name), slice=place):
                again = any(isinstance(part, ast.Slice | ast.Call | ast.Starred) for part in ast.walk(place))
                yield name, None if again else place
            case ast.Subscript(value=inner) | ast.Attribute(value=inner):
                yield from ((name, None) for name, _ in _targets([inner]))
