"""Functions of a module: the kernel and all that it calls, each checked once."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import FunctionType
from typing import Any

from ..errors import Diagnostic, KernelError, Note, counted
from ..ir.memory import Memory
from ..ir.module import Module
from ..ir.names import unique_name
from ..ir.parts import Part
from ..ir.qualified import Placed
from ..ir.recursion import reads_programs
from ..ir.types import (
    DYNAMIC,
    AlloType,
    Bool,
    ChannelType,
    Fixed,
    Float,
    Index,
    Int,
    Struct,
    TensorType,
    UFixed,
    UInt,
    index,
)
from ..layout.sharding import Layout
from . import dsl, regions
from .check.annotations import read_annotation, split_memory
from .check.declared_values import constants_in_place
from .check.sharding import Sharded, sharded, split_layout, with_parts
from .check.statements import StatementChecker
from .check.streams import read_declared
from .check.tasks import TaskPlace, is_region
from .emit.module import emit_module
from .read.nesting import too_deep
from .read.source import KernelSource, belongs_to_a_library, knows_enclosing_names, read_kernel
from .read.templates import NestedKernel, TemplateInstance, instance, instantiate, parameters_of
from .typing.external import ExternalInstance, external_function
from .typing.known import Known, known, noted
from .typing.nodes import CheckedFunction, Return, Symbol, SymbolKind
from .typing.ranges import surely_inside
from .typing.rules import TypingRules
from .typing.scope import Captured, Scope
from .typing.tables import DEFAULT


@dataclass(frozen=True, slots=True)
class Checked:
    """A kernel without mistakes, `top`, and the `functions` that it needs, callees first."""

    functions: tuple[CheckedFunction, ...]
    top: CheckedFunction


class MadeKernel(ABC):
    """A kernel that is made of typed values and not of the text of a function, such as one of an importer."""

    __name__: str

    @abstractmethod
    def checked(self, rules: TypingRules) -> Checked:
        """Its typed trees by these rules, new ones in each call: a program gives the functions names of its own."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program without mistakes; who keeps the functions that are `known` by name need not compile them again."""

    checked: Checked
    known: Mapping[str, Known]

    @property
    def inside(self) -> frozenset[str]:
        """The names of the functions in which all subscripts are known to be inside of their arrays."""
        return frozenset(
            function.name
            for function in self.checked.functions
            if (self.known[function.name].inside if function.name in self.known else surely_inside(function))
        )

    @property
    def part(self) -> Part | None:
        """The MLIR of a program of one function, if a schedule that lives has it."""
        found = self.known.get(self.checked.top.name) if len(self.checked.functions) == 1 else None
        return None if found is None else found.emitted

    def emitted(self) -> Module:
        """Its module."""
        parts = {name: known.emitted for name, known in self.known.items()}
        return emit_module(self.checked.functions, self.checked.top, parts)


@reads_programs
def checked_program(
    kernel: Callable[..., Any],
    arguments: Sequence[Any] | Mapping[str, Any] | None = None,
    rules: TypingRules = DEFAULT,
) -> Checked:
    """The typed trees of `kernel` and of the kernels it calls.

    `arguments` are the values of the parameters of a template; `rules` type the operations.
    Raises KernelError with all mistakes, each with file, line and column.
    """
    if isinstance(kernel, MadeKernel):
        return _made(kernel, arguments, rules)
    return ReachedKernels(rules).checked(kernel, arguments)


def compile_kernel(
    kernel: Callable[..., Any],
    arguments: Sequence[Any] | Mapping[str, Any] | None = None,
    rules: TypingRules = DEFAULT,
) -> Compiled:
    """The program whose entry is `kernel`, to be emitted; arguments and errors are those of `checked_program`."""
    if isinstance(kernel, MadeKernel):
        return Compiled(_made(kernel, arguments, rules), {})
    program = ReachedKernels(rules, remembers=True)
    return Compiled(program.checked(kernel, arguments), program.known)


def _made(kernel: MadeKernel, arguments: Sequence[Any] | Mapping[str, Any] | None, rules: TypingRules) -> Checked:
    if arguments is not None:
        raise KernelError(f"the kernel '{kernel.__name__}' is no template", hint="leave out `instantiate`")
    return kernel.checked(rules)


def _called(node: ast.AST) -> str:
    """How a call names what it calls."""
    return ast.unparse(getattr(node, "func", node))


class ReachedKernels:
    """The kernels reached so far, callees before callers; a key is a kernel with its template arguments.

    One that `remembers` takes functions from other programs, and keeps its own for others, by their names.
    """

    def __init__(self, rules: TypingRules = DEFAULT, *, remembers: bool = False) -> None:
        self.rules = rules
        self.remembers = remembers
        self.known: dict[str, Known] = {}
        self.functions: dict[Hashable, CheckedFunction] = {}
        self.diagnostics: list[Diagnostic] = []
        self._open: dict[Hashable, str] = {}
        self._failed: set[Hashable] = set()
        self._named: dict[tuple[Hashable, str], tuple[tuple[type, Any], ...]] = {}

    def checked(self, kernel: Any, arguments: Sequence[Any] | Mapping[str, Any] | None) -> Checked:
        """The kernel and all that it calls. Raises KernelError with all mistakes."""
        top = self._again(kernel, kernel) if arguments is None else None
        top = top or self.function(instance(kernel, arguments), kernel)
        if self.diagnostics or top is None:
            raise KernelError.collected(self.diagnostics)
        return Checked(tuple(self.functions.values()), top)

    def _again(self, kernel: Any, key: Hashable) -> CheckedFunction | None:
        """The checked form of a kernel that another program has checked, if it means the same here."""
        found = known(kernel, self.rules) if self.remembers else None
        if found is None:
            return None
        function = replace(found.function, name=self._unique(found.function.source.name))
        self.known[function.name] = found
        self.functions[key] = function
        return function

    def _task(self, source: KernelSource, grid: tuple[int, ...], captured: Captured) -> CheckedFunction | None:
        """A task of a region, on a grid of these extents; its first parameters are its position."""
        return self.function(source, object(), task=TaskPlace.of(source, grid, captured))

    def function(
        self, source: KernelSource, key: Hashable, name: str | None = None, task: TaskPlace | None = None
    ) -> CheckedFunction | None:
        """The checked form of the kernel `source`, which may be a `task`; None if it has mistakes."""
        if (deep := too_deep(source)) is not None:
            self.diagnostics.append(deep)
            self._failed.add(key)
            return None
        before = len(self.diagnostics)
        unique = self._unique(name or source.name)
        self._open[key] = unique
        scope = Scope(source, self.diagnostics, self._callee, self.rules, self._task)
        function = CheckedFunction(unique, source, (), ())
        function.is_region = is_region(scope, source)
        if task is not None:
            task.enter(scope)
        shards: list[Sharded] = []
        function.params = (*scope.positions, *self._params(scope, source, shards))
        results = self._results(scope, source)
        function.results = results or ()
        checker = StatementChecker(scope, function, results is not None)
        for symbol in function.params:
            checker.expressions.layouts.argument(symbol)
        for shard in shards:
            checker.expressions.layouts.argument(shard.part, shard.whole, shard.layout)
        function.body = checker.tasks.without_constants(checker.body(source.tree.body))
        function.body = with_parts(function, shards, checker.expressions.builder, scope)
        function.links = tuple(scope.links)
        checker.release()
        returns = any(isinstance(statement, Return) for statement in function.body)
        if function.results and not returns and len(self.diagnostics) == before:
            wanted = counted(len(function.results), "result")
            message = f"'{source.name}' is declared to give {wanted}, but returns none"
            scope.error(source.tree.returns or source.tree, message, "end it with `return x`")
        del self._open[key]
        if len(self.diagnostics) > before:
            self._failed.add(key)
            return None
        function.body = constants_in_place(function)
        self.functions[key] = function
        if self.remembers and scope.is_alone and (made := noted(function, self.rules, scope.read)) is not None:
            self.known[unique] = made
        return function

    def _unique(self, name: str) -> str:
        taken = {f.name for f in self.functions.values()} | set(self._open.values())
        return unique_name(name, taken)

    def _callee(self, callee: Any, node: ast.AST, scope: Scope) -> CheckedFunction | None:
        """The function that a call means; None after an error at `node`."""
        scope.is_alone = False
        if isinstance(callee, ExternalInstance):
            if callee not in self.functions:
                self.functions[callee] = external_function(callee, self._unique(callee.kernel.name))
            return self.functions[callee]
        if isinstance(callee, MadeKernel):
            return self._of_made(callee)
        instance = callee if isinstance(callee, TemplateInstance) else TemplateInstance(callee, (), None)
        kernel = instance.kernel
        library = belongs_to_a_library(kernel)
        if not isinstance(kernel, NestedKernel) and (not isinstance(kernel, FunctionType) or library):
            text = _called(node)
            same = next((name for name in dsl.__all__ if name == text.split(".")[-1]), None)
            hint = f"use allo.{same}" if same else "a kernel can call other kernels, and functions such as allo.exp"
            if kernel is regions.get_pid:
                hint = f"give the position of a task a name on a line of its own, `i = {text}()`"
            scope.error(node, f"`{text}` cannot be called in a kernel", hint)
            return None
        kinds = tuple((type(value), value) for value in instance.values)  # 1 is not True, and not 1.0
        key: Hashable = (kernel, kinds, instance.id) if isinstance(callee, TemplateInstance) else kernel
        if key in self._open:
            scope.error(node, f"'{_called(node)}' calls itself, and hardware has no call stack", "write a loop instead")
            return None
        if key in self._failed:
            return None
        if instance.id and self._named.setdefault((kernel, instance.id), kinds) != kinds:
            other = ", ".join(repr(value) for _, value in self._named[kernel, instance.id])
            message = f"the instance '{instance.id}' of this template is already the one for [{other}]"
            scope.error(node, message, "give each instance a name of its own")
            return None
        if key in self.functions:
            return self.functions[key]
        if not isinstance(callee, TemplateInstance) and (function := self._again(kernel, key)) is not None:
            return function
        try:
            source = kernel.source if isinstance(kernel, NestedKernel) else read_kernel(kernel)
            if isinstance(callee, TemplateInstance) or parameters_of(source):
                source = instantiate(source, instance.values)
            name = f"{source.name}_{instance.id}" if instance.id else None
            before = len(self.diagnostics)
            made = self.function(source, key, name)
            if isinstance(callee, TemplateInstance):
                at = scope.source.location(scope.source.position(node))
                note = Note(f"in the instance `{_called(node)}`, which is called here", at)
                self.diagnostics[before:] = [replace(d, notes=(*d.notes, note)) for d in self.diagnostics[before:]]
            return made
        except KernelError as error:
            first = error.diagnostics[0]
            scope.error(node, f"`{_called(node)}` cannot be called in a kernel: {first.message}", first.hint)
            return None

    def _of_made(self, kernel: MadeKernel) -> CheckedFunction:
        """The function of a kernel that is made of typed values, with those that it calls in front."""
        if kernel not in self.functions:
            made = kernel.checked(self.rules)
            for function in made.functions:
                function.name = self._unique(function.name)
                self.functions[kernel if function is made.top else (kernel, function.name)] = function
        return self.functions[kernel]

    def _params(self, scope: Scope, source: KernelSource, shards: list[Sharded]) -> tuple[Symbol, ...]:
        """The parameters of a kernel; `shards` gets those that are arrays of which a task has parts."""
        arguments = source.tree.args
        for extra in (arguments.vararg, arguments.kwarg, *arguments.kwonlyargs):
            if extra is not None:
                what = "keyword-only" if extra in arguments.kwonlyargs else "collecting"
                hint = "write out every argument, without * and **"
                scope.error(extra, f"a kernel cannot have the {what} argument '{extra.arg}'", hint)
                scope.declare(extra.arg, SymbolKind.INVALID, None, source.position(extra))
        for default in arguments.defaults:
            scope.error(default, "kernel arguments have no default values", "pass the value in the call")
        params, annotations = [], _python_annotations(source)
        for argument in (*arguments.posonlyargs, *arguments.args):
            declared: AlloType | TensorType | ChannelType | None = None
            memory: Memory | None = None
            layout: Layout | None = None
            if argument.annotation is None:
                scope.error(
                    argument, f"argument '{argument.arg}' has no type", "annotate it: `A: float32[M, N]`"
                )
            else:
                layout, annotation = split_layout(scope, argument.annotation)
                memory, annotation = split_memory(scope, annotation)
                placed = annotations.get(argument.arg)
                if isinstance(placed, Placed):
                    memory = placed.memory
                declared = _evaluated(placed) or read_declared(scope, annotation, True)
            at = source.position(argument)
            if isinstance(declared, ChannelType):
                params.append(scope.declare_stream(argument.arg, declared, at))
                continue
            kind = SymbolKind.TENSOR if isinstance(declared, TensorType) else SymbolKind.ARGUMENT
            symbol = scope.declare(argument.arg, SymbolKind.INVALID if declared is None else kind, declared, at)
            if isinstance(declared, TensorType) and not declared.is_static:
                symbol.extents = tuple(
                    Symbol(f"{symbol.name}.shape[{dimension}]", SymbolKind.ARGUMENT, index, at)
                    if extent == DYNAMIC
                    else None
                    for dimension, extent in enumerate(declared.shape)
                )
            if memory is not None and kind is not SymbolKind.TENSOR and declared is not None:
                scope.error(argument, f"'{argument.arg}' is a scalar and has no memory to choose")
            symbol.memory = memory
            params.append(symbol)
            if layout is not None and (shard := sharded(scope, argument, symbol, layout)) is not None:
                shards.append(shard)
        return tuple(params)

    def _results(self, scope: Scope, source: KernelSource) -> tuple[AlloType | TensorType, ...] | None:
        """The declared types of the results; None after an error."""
        node = source.tree.returns
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return ()
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        if (evaluated := _evaluated(_python_annotations(source).get("return"))) is not None:
            return (evaluated,)
        types = [read_annotation(scope, part) for part in parts]
        known = tuple(t for t in types if t is not None)
        return known if len(known) == len(parts) else None


def _python_annotations(source: KernelSource) -> Mapping[str, Any]:
    """What Python made of the annotations of a nested function whose names can no longer be read, by argument.

    Those of the call that defines it can, and those of its closure, which mean what they mean in its body.
    """
    function = source.function
    if function is None or "<locals>" not in function.__qualname__ or knows_enclosing_names(function):
        return {}
    arguments, closed = source.tree.args, set(function.__code__.co_freevars)
    written = {argument.arg: argument.annotation for argument in (*arguments.posonlyargs, *arguments.args)}
    found = {}
    for name, annotation in (*written.items(), ("return", source.tree.returns)):
        names = _names_in(annotation)
        if not names or not names <= closed:
            found[name] = function.__annotations__.get(name)
    return found


@lru_cache(maxsize=2048)
def _names_in(annotation: ast.expr | None) -> frozenset[str]:
    """The names in an annotation, which stands in a tree that several kernels may share."""
    nodes = ast.walk(annotation) if annotation is not None else ()
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


def _evaluated(value: Any) -> AlloType | TensorType | None:
    """The type that Python made of an annotation of a nested function, if it is one that kernels have."""
    value = value.type if isinstance(value, Placed) else value
    if isinstance(value, Int | UInt | Float | Bool | Index | Fixed | UFixed | Struct):
        return value
    if not isinstance(value, TensorType):
        return None
    return value if all(type(extent) is int and extent > 0 for extent in value.shape) else None
