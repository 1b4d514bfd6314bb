"""Checker of streams: puts, gets, and questions to FIFOs; blocks are put and got element by element."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ...errors import counted, nearest
from ...ir.types import AlloType, ChannelType, Stream, TensorType, shape_text
from ...ir.types import bool as bool_type
from ..read.source import Position
from ..regions import array, pipe
from ..typing.builder import ValueBuilder
from ..typing.convert import convert
from ..typing.nodes import (
    CallEffects,
    Declare,
    Expr,
    Stmt,
    StreamAsked,
    StreamGet,
    StreamPut,
    StreamTryPut,
    Symbol,
    SymbolKind,
    Var,
)
from ..typing.scope import Scope, static_value
from ..typing.view import View, loops_over, store, whole
from .annotations import read_annotation
from .checker import CheckedExpressions
from .packing import block_type, pack, unpack, word_of

_METHODS = ("put", "get", "empty", "full", "try_put", "try_get", "peek")
_PUTTING = ("put", "try_put")
_EFFECTS = CallEffects(frozenset(), True)
_IN_PARTS = "declare a stream of elements, or of words that hold a block: `Stream[UInt(64), d]`"


def report_method(scope: Scope, func: ast.expr, error: ValueError) -> None:
    """Say that something has no such method: it is no stream, or nothing that is called."""
    attribute, name = (func.attr, ast.unparse(func.value)) if isinstance(func, ast.Attribute) else ("", "")
    symbol = scope.local(name)
    if attribute in _METHODS and symbol is not None and symbol.type:
        message = f"'{name}' is {symbol.type!r}, no stream: it has no `{attribute}`"
        scope.error(func, message, f"declare a stream: `{name}: Stream[T, depth]`")
    else:
        scope.error(func, f"`{ast.unparse(func)}` cannot be called in a kernel: {error}")


def root_name(node: ast.expr) -> str | None:
    """The name that `s`, or `s[i, j]`, begins with."""
    inner = node.value if isinstance(node, ast.Subscript) else node
    return inner.id if isinstance(inner, ast.Name) else None


def stream_annotation(scope: Scope, node: ast.expr) -> ChannelType | None:
    """The type of streams that an annotation is; None if it is none, or after an error in its parameters."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return stream_annotation(scope, ast.copy_location(ast.parse(node.value.strip(), mode="eval").body, node))
        except SyntaxError:
            return None
    root = node
    while isinstance(root, ast.Subscript):
        root = root.value
    try:
        made_by = static_value(scope, root)
    except (NameError, ValueError):
        return None
    if made_by is not Stream and not isinstance(made_by, ChannelType):
        return None
    try:
        value = static_value(scope, node)
    except NameError as error:
        scope.report_unknown_in(node, error.args[0])
        return None
    except ValueError as error:
        scope.error(node, f"Unsupported type `{ast.unparse(node)}`: {error}")
        return None
    if isinstance(value, ChannelType):
        return value
    scope.error(node, f"Unsupported type `{ast.unparse(node)}`", "say what the stream holds: `Stream[float32, 4]`")
    return None


def read_declared(scope: Scope, node: ast.expr, run_time: bool = False) -> AlloType | TensorType | ChannelType | None:
    """The type that a declaration names, which may be one of streams; None after an error."""
    errors = len(scope.diagnostics)
    stream = stream_annotation(scope, node)
    return stream if stream is not None or len(scope.diagnostics) > errors else read_annotation(scope, node, run_time)


def declare_stream(scope: Scope, node: ast.AnnAssign | ast.Assign, declared: ChannelType) -> tuple[Stmt, ...]:
    """`pipe: Stream[T, 4]`: an empty FIFO, or an array of them."""
    at = scope.source.position(node)
    target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
    if not isinstance(target, ast.Name):
        scope.error(node, "only a plain name can be declared a stream")
        return ()
    name = target.id
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        scope.error(node.value, f"the stream '{name}' starts empty, and has no initial value", "drop the value")
    if scope.depth:
        scope.error(node, f"the stream '{name}' is declared in a loop", "declare an array of streams before it")
    return (Declare(at, scope.declare_stream(name, declared, at), None),)


def called_streams(scope: Scope, node: ast.Assign) -> tuple[Stmt, ...] | None:
    """`x = df.pipe(...)`, or `df.array(...)` of one, which declares streams; None of other statements."""
    if not isinstance(node.value, ast.Call) or not isinstance(node.targets[0], ast.Name) or len(node.targets) > 1:
        return None
    try:
        if static_value(scope, node.value.func) not in (pipe, array):
            return None
    except (NameError, TypeError, ValueError):
        return None
    try:
        return declare_stream(scope, node, static_value(scope, node.value))
    except NameError as error:
        scope.report_unknown_in(node.value, error.args[0])
    except ValueError as error:
        scope.error(node.value, f"`{ast.unparse(node.value)}` makes no streams: {error}")
    scope.declare(node.targets[0].id, SymbolKind.INVALID, None, scope.source.position(node))
    return ()


class StreamChecker:
    """Turns what is done to streams into typed values and statements; None after an error was reported."""

    def __init__(self, scope: Scope, expressions: CheckedExpressions, builder: ValueBuilder) -> None:
        self.scope = scope
        self.expressions = expressions
        self.builder = builder

    def is_method(self, function: ast.expr) -> bool:
        """Whether `x.name` in `x.name(...)` is a method of a stream."""
        if not isinstance(function, ast.Attribute):
            return False
        name = root_name(function.value)
        symbol = None if name is None else self.scope.local(name)
        return symbol is not None and symbol.kind is SymbolKind.STREAM

    def value(self, node: ast.Call) -> Expr | Symbol | None:
        """What `s.get()`, `s.peek()`, `s.try_put(x)`, `s.empty()` and `s.full()` give, in front of their statement."""
        found = self._method(node, ("get", "peek", "try_put", "empty", "full"))
        if found is None or not self._is_whole(node, found[0], found[2]):
            return None
        stream, indices, name = found
        kind = _type_of(stream)
        at = self.scope.source.position(node)
        if name == "try_put":
            value = self._given(node, stream)
            if value is None or not self._in_front(node, at):
                return None
            if not isinstance(value, Expr):
                value = self._as_word(stream, value, at)
            tried = StreamTryPut(bool_type, at, stream, indices, convert(value, kind.moved))
            return self.builder.variable(tried, f"{stream.name}_put")
        if name in ("empty", "full"):  # to ask where nobody needs to know changes nothing
            return self.builder.variable(StreamAsked(bool_type, at, stream, indices, name), name)
        if not self._in_front(node, at):
            return None
        if not kind.block:
            got = StreamGet(kind.element, at, stream, indices, name == "peek")
            return self.builder.variable(got, f"{stream.name}_value")
        block = Symbol(f"{stream.name}_block", SymbolKind.TENSOR, block_type(kind), at)
        self.builder.do_first(self.received(block, stream, indices, at, name == "peek"))
        return block

    def _as_word(self, stream: Symbol, value: Symbol | View, at: Position) -> Expr:
        """A packed block as a word, in front of the statement."""
        word, view = word_of(stream, at), whole(value, at) if isinstance(value, Symbol) else value
        self.builder.do_first(pack(word, _type_of(stream), view, at))
        return Var(_type_of(stream).moved, at, word)

    def _in_front(self, node: ast.Call, at: Position) -> bool:
        return self.builder.in_front(at, f"`{ast.unparse(node)}`", self.builder.seen, _EFFECTS)

    def _is_whole(self, node: ast.Call, stream: Symbol, method: str) -> bool:
        """Whether what is put goes through a stream at once, if `method` needs that."""
        kind = _type_of(stream)
        if method in ("put", "get") or not kind.block or kind.packed:
            return True
        message = f"`{ast.unparse(node)}`: '{stream.name}' holds blocks, which are put and got in parts"
        self.scope.error(node, message, _IN_PARTS)
        return False

    def tried(self, node: ast.Call) -> tuple[Symbol, tuple[Expr, ...]] | None:
        """The stream of `x, ok = s.try_get()`, and its subscripts; None after an error."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS and node.func.attr != "try_get":
            count = "no value" if node.func.attr == "put" else "one value"
            message = f"`{ast.unparse(node)}` gives {count}, but several names stand on the left"
            self.scope.error(node, message, "two values are given by `x, ok = s.try_get()`")
            return None
        found = self._method(node, ("try_get",))
        if found is None or not self._is_whole(node, found[0], "try_get"):
            return None
        return found[0], found[1]

    def block(self, node: ast.expr | None) -> TensorType | None:
        """The type of the block that `s.get()` gives; None for everything else."""
        if not isinstance(node, ast.Call) or not self.is_method(node.func):
            return None
        assert isinstance(node.func, ast.Attribute)
        kind = _type_of(self._symbol(node.func.value))
        gives = ("get", "peek") if kind.packed else ("get",)
        return block_type(kind) if node.func.attr in gives and kind.block and not node.args else None

    def received(
        self, target: Symbol, stream: Symbol, indices: tuple[Expr, ...], at: Position, stays: bool = False
    ) -> tuple[Stmt, ...]:
        """A new array that is the next block of a stream, taken out of it unless it `stays`."""
        place = whole(target, at).place
        assert place is not None
        kind = _type_of(stream)
        if kind.packed:
            word = word_of(stream, at)
            got = StreamGet(kind.moved, at, stream, indices, stays)
            return (Declare(at, word, got), Declare(at, target, None), *unpack(word, kind, target, at))
        element = kind.element

        def get(subscripts: tuple[Expr, ...]) -> Stmt:
            return store(place(subscripts), StreamGet(element, at, stream, indices), at)

        return (Declare(at, target, None), self._over_block(f"{target.name}_get", stream, at, get))

    def block_into(self, node: ast.expr, target: Symbol) -> tuple[Stmt, ...]:
        """`target`, declared as the block that `node`, which gets one, gives."""
        assert isinstance(node, ast.Call)
        found = self._method(node, ("get", "peek"))
        if found is None:
            return ()
        return self.received(target, found[0], found[1], self.scope.source.position(node), found[2] == "peek")

    def statement(self, node: ast.Call) -> tuple[Stmt, ...]:
        """`s.put(x)`; `s.get()` or `s.try_put(x)` whose value is not needed."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "try_put"):
            self.value(node)
            return ()
        found = self._method(node, ("put",))
        if found is None:
            return ()
        stream, indices, _ = found
        kind = _type_of(stream)
        at = self.scope.source.position(node)
        value = self._given(node, stream)
        if value is None:
            return ()
        if isinstance(value, Expr):
            return (StreamPut(at, stream, indices, convert(value, kind.element)),)
        if kind.packed:
            word = self._as_word(stream, value, at)
            return (StreamPut(at, stream, indices, word),)
        view = whole(value, at) if isinstance(value, Symbol) else value

        def put(subscripts: tuple[Expr, ...]) -> Stmt:
            return StreamPut(at, stream, indices, convert(view.read(subscripts), kind.element))

        return (self._over_block(f"{stream.name}_put", stream, at, put),)

    def _given(self, node: ast.Call, stream: Symbol) -> Expr | Symbol | View | None:
        """What a put puts, which is of the shape and the kind that the stream holds; None after an error."""
        kind = _type_of(stream)
        value = self.expressions.any(node.args[0], None if kind.block else kind.element)
        if value is None:
            return None
        shape = () if isinstance(value, Expr) else _shape(value)
        if shape != kind.block:
            wanted = f"single values of {kind.element!r}"
            if kind.block:
                wanted = f"{'packed ' * kind.packed}blocks of shape {shape_text(kind.block)}"
            given = f"an array of shape {shape_text(shape)}" if shape else "a single value"
            self.scope.error(node.args[0], f"'{stream.name}' holds {wanted}, got {given}")
            return None
        return value

    def _over_block(
        self, name: str, stream: Symbol, at: Position, body: Callable[[tuple[Expr, ...]], Stmt]
    ) -> Stmt:
        extents = whole(Symbol(name, SymbolKind.TENSOR, block_type(_type_of(stream)), at), at).extents
        return loops_over(extents, name, self.builder.nest_name(name), at, body)

    def _method(self, node: ast.Call, names: tuple[str, ...]) -> tuple[Symbol, tuple[Expr, ...], str] | None:
        """The stream, its subscripts and the method of a call, which has as many arguments as the method takes."""
        function = node.func
        assert isinstance(function, ast.Attribute)
        name, text = function.attr, ast.unparse(function)
        if name not in _METHODS:
            hint = nearest(name, _METHODS) or "streams have put, get, try_put, try_get, peek, empty and full"
            self.scope.error(function, f"a stream has no method '{name}'", hint)
            return None
        if name not in names:
            self._misplaced(node, name, text)
            return None
        wanted = 1 if name in _PUTTING else 0
        if len(node.args) != wanted or node.keywords:
            takes, given = "one value" if wanted else "no argument", len(node.args) + len(node.keywords)
            self.scope.error(node, f"`{text}` takes {takes}, got {counted(given, 'argument') if given else 'none'}")
            return None
        indices = self._indices(function.value)
        return None if indices is None else (self._symbol(function.value), indices, name)

    def _misplaced(self, node: ast.Call, name: str, text: str) -> None:
        """Report a method where another number of values is needed than it gives."""
        if name == "put":
            self.scope.error(node, f"`{text}` gives no value", "write it as a statement of its own")
        elif name == "try_get":
            message = f"`{text}` gives two values, the element and whether there was one, which two names take"
            self.scope.error(node, message, f"`x, ok = {text}()`, and use them in the statements behind")
        else:
            does = "looks, and takes nothing" if name == "peek" else "asks, and does nothing"
            hint = f"use the answer: `x = {text}()`" if name == "peek" else f"use the answer: `if {text}():`"
            self.scope.error(node, f"`{text}` only {does}", hint)

    def _symbol(self, node: ast.expr) -> Symbol:
        name = root_name(node)
        symbol = None if name is None else self.scope.local(name)
        assert symbol is not None
        return symbol

    def _indices(self, node: ast.expr) -> tuple[Expr, ...] | None:
        """The subscripts of one stream of an array of them."""
        stream = self._symbol(node)
        shape = _type_of(stream).shape
        nodes: list[ast.expr] = []
        if isinstance(node, ast.Subscript):
            nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(nodes) != len(shape):
            what = counted(len(shape), "dimension") if shape else "no dimensions"
            given = counted(len(nodes), "subscript") if nodes else "no subscript"
            self.scope.error(node, f"the stream '{stream.name}' has {what}, but {given} given")
            return None
        found = []
        for dimension, (place, extent) in enumerate(zip(nodes, shape, strict=True)):
            value = self.expressions.scalar(place)
            if value is not None:
                value = self.expressions.checked_index(place, value, stream.name, dimension, extent)
            if value is None:
                return None
            found.append(value)
        return tuple(found)


def _type_of(stream: Symbol) -> ChannelType:
    assert stream.stream is not None
    return stream.stream


def _shape(value: Symbol | View) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return value.type.shape
