"""Checker of statements: a kernel's syntax tree becomes a typed one; all its mistakes are collected."""

from __future__ import annotations

import ast
from dataclasses import replace
from types import FunctionType
from typing import TypeGuard

from ...errors import counted
from ...ir.types import TensorType, index
from ..read.templates import NestedKernel
from ..typing.convert import NotExpressible, convert
from ..typing.external import ExternalValue
from ..typing.nodes import (
    Call,
    CheckedFunction,
    Const,
    Expr,
    For,
    If,
    Return,
    Stmt,
    Symbol,
    SymbolKind,
    While,
)
from ..typing.scope import Scope
from ..typing.view import View, whole
from ..typing.writes import inlined
from .assignments import AssignmentChecker
from .calls import is_function_of_values
from .chained import assign_chained
from .expressions import ExpressionChecker
from .iteration import differs_by_position, read_iteration
from .meta import MetaChecker, single_contexts
from .moves import moved_block
from .parallel import assign_at_once, assigns_at_once
from .streams import called_streams
from .tasks import TaskChecker, asks_position, bind_position, is_task

_UNSUPPORTED = {
    "Break": ("`break`", "put the condition into a `while`, or guard the rest of the body with `if`"),
    "Continue": ("`continue`", "guard the rest of the body with `if`"),
    "Try": ("`try`", "hardware has no exceptions; test the condition with `if`"),
    "Raise": ("`raise`", "hardware has no exceptions"),
    "Assert": ("`assert`", "check the results in Python after the call"),
    "Import": ("`import`", "import outside of the kernel"),
    "ImportFrom": ("`import`", "import outside of the kernel"),
    "ClassDef": ("`class`", "define kernels with `def`"),
    "AsyncFunctionDef": ("`async def`", "define kernels with `def`"),
    "Global": ("`global`", "pass the array as an argument"),
    "Nonlocal": ("`nonlocal`", "pass the array as an argument"),
    "Delete": ("`del`", "a variable ends with its block"),
    "TryStar": ("`try`", "hardware has no exceptions; test the condition with `if`"),
    "TypeAlias": ("`type`", "name types outside of the kernel"),
    "Match": ("`match`", "use `if` and `elif`"),
    "AsyncFor": ("`async for`", "use `for`"),
    "AsyncWith": ("`async with`", "kernels are not asynchronous"),
}


class StatementChecker:
    """Turns the body of one kernel into typed statements."""

    def __init__(self, scope: Scope, function: CheckedFunction, results_known: bool = True) -> None:
        self.scope = scope
        self.function = function
        self.results_known = results_known
        self.expressions = ExpressionChecker(scope)
        self.assignments = AssignmentChecker(scope, self.expressions)
        self.meta = MetaChecker(scope, self)
        self.tasks = TaskChecker(scope, function)
        self._nests = 0
        self._block: list[ast.stmt] = []  # the statements around the one that is checked
        self._choices = 0  # the loops and branches around it that run time decides
        self._returned = False  # whether nothing that follows is run

    def release(self) -> None:
        """Let go of the checkers, which refer to each other: what they have read need not wait for the collector."""
        for checker in (self.expressions, self.assignments, self.meta):
            vars(checker).clear()

    def body(self, nodes: list[ast.stmt]) -> tuple[Stmt, ...]:
        """The statements of one block; those with errors are left out."""
        result: list[Stmt] = []
        nodes = single_contexts(nodes)
        outer, pending = self.meta.enter_block(), self.expressions.builder.take_pending()
        around, self._block = self._block, nodes
        done = 0
        for position, node in enumerate(nodes):
            if self._returned:
                break
            if position < done:
                continue
            if (chain := self.meta.chain_of_positions(nodes[position:])) is not None:
                done = position + len(chain)
                result.extend(self.meta.positions.branches(chain, nodes[done:]))
                continue
            self.meta.next_statement(node)
            if self._leaves_early(node):
                result.extend(self._early_return(node, nodes[position + 1 :]))
                break
            try:
                statements = self.statement(node)
            except NotExpressible as error:
                self.scope.error_at(error.at, str(error), error.hint)
                statements = self._undeclared(node)
            before, after = self.expressions.builder.take_pending()
            result.extend((*inlined(before, statements), *after))
        self._block = around
        self.meta.leave_block(outer)
        self.expressions.builder.restore_pending(pending)
        return tuple(result)

    def _undeclared(self, node: ast.stmt) -> tuple[Stmt, ...]:
        """The name that a declaration with a mistake was to declare, whose uses are not reported again."""
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            self.scope.declare(node.target.id, SymbolKind.INVALID, None, self.scope.source.position(node))
        return ()

    def _leaves_early(self, node: ast.stmt) -> TypeGuard[ast.If]:
        """Whether `node` is `if c: ...; return` outside of loops, in a kernel without results."""
        if not isinstance(node, ast.If) or self.function.results or self.scope.depth:
            return False
        last = node.body[-1]
        return isinstance(last, ast.Return) and (last.value is None or ast.unparse(last.value) == "None")

    def _early_return(self, node: ast.If, rest: list[ast.stmt]) -> tuple[Stmt, ...]:
        """What follows an early return runs only if the condition is false."""
        final = rest[:-1] if rest and isinstance(rest[-1], ast.Return) and rest[-1].value is None else rest
        rewritten = ast.If(node.test, node.body[:-1], [*node.orelse, *final])
        return self.statement(ast.copy_location(rewritten, node))

    def block(self, nodes: list[ast.stmt]) -> tuple[Stmt, ...]:
        """The statements of a block with a scope of its own."""
        self.scope.enter()
        result = self.body(nodes)
        self.scope.leave()
        return result

    def of_some_positions(self, nodes: list[ast.stmt]) -> tuple[Stmt, ...]:
        """A block in the scope around it that not all positions of a task run."""
        with self.expressions.layouts.block(nodes):
            return self.body(nodes)

    def _branch(self, nodes: list[ast.stmt]) -> tuple[Stmt, ...]:
        """A block that run time decides about."""
        self._choices += 1
        self.scope.choices += 1
        with self.expressions.layouts.block(nodes):
            result = self.block(nodes)
        self.scope.choices -= 1
        self._choices -= 1
        return result

    def statement(self, node: ast.stmt) -> tuple[Stmt, ...]:
        """What one statement means."""
        with self.expressions.layouts.assignment(node):
            made = self._checked(node)
        self.tasks.note(made)
        return made

    def _checked(self, node: ast.stmt) -> tuple[Stmt, ...]:
        if (moved := moved_block(node, self.scope, self.body)) is not None:
            return moved
        match node:
            case ast.AnnAssign():
                return self.assignments.annotated(node)
            case ast.Assign() if asks_position(self.scope, node.value):
                return bind_position(self.scope, node)
            case ast.Assign() if len(node.targets) > 1:
                return assign_chained(node, self.scope, self.expressions, self.assignments.infer, self.body)
            case ast.Assign() if (streams := called_streams(self.scope, node)) is not None:
                return streams
            case ast.Assign():
                if assigns_at_once(node):
                    return assign_at_once(node, self.scope, self.expressions, self.body)
                return self.assignments.assign(node)
            case ast.AugAssign():
                return self.assignments.augmented(node)
            case ast.For():
                return self._for(node)
            case ast.While():
                return self._while(node)
            case ast.If():
                return self._if(node)
            case ast.Return():
                return self._return(node)
            case ast.Expr():
                return self._expression(node)
            case ast.With():
                return self.meta.with_statement(node)
            case ast.FunctionDef():
                return self._nested(node)
            case ast.Pass():
                return ()
        construct, hint = _UNSUPPORTED.get(type(node).__name__, (f"`{type(node).__name__}`", None))
        self.scope.error(node, f"a kernel cannot contain {construct}", hint)
        return ()

    def _nested(self, node: ast.FunctionDef) -> tuple[Stmt, ...]:
        """A kernel defined in this one; it sees the compile-time names, not the variables."""
        if is_task(self.scope, node):
            return self.tasks.task(node)
        if node.decorator_list:
            self.scope.error(node, f"nested kernel '{node.name}' cannot have decorators", "drop them")
        source = replace(self.scope.source, function=None, tree=node, names=self.scope.static_names())
        self.scope.define(node.name, NestedKernel(source), self.scope.source.position(node))
        return ()

    # -- control flow ----------------------------------------------------------------------------

    def _for(self, node: ast.For) -> tuple[Stmt, ...]:
        if node.orelse:
            self.scope.error(
                node.orelse[0], "a loop cannot have an `else`", "put the statements behind the loop"
            )
        iteration = read_iteration(node, self.scope, self.expressions)
        ranges, name = iteration.ranges, iteration.name
        names = [node.target] if isinstance(node.target, ast.Name) else getattr(node.target, "elts", [])
        at = self.scope.source.position(node)
        nest = name
        if self.scope.depth == 0 and names and all(isinstance(n, ast.Name) for n in names):
            nest = name or f"S_{'_'.join(n.id for n in names)}_{self._nests}"
            self._nests += 1
        if ranges is not None and (
            len(names) != len(ranges) or not all(isinstance(n, ast.Name) for n in names)
        ):
            self.scope.error(
                node.target,
                f"the loop needs {counted(len(ranges), 'variable')}, got `{ast.unparse(node.target)}`",
            )
            ranges = None
        self._refuse_shadowing([n for n in names if isinstance(n, ast.Name)])
        self.scope.enter()
        self.scope.depth += 1
        kind = SymbolKind.INVALID if ranges is None else SymbolKind.LOOP
        symbols = [
            self.scope.declare(n.id, kind, index, self.scope.source.position(n))
            for n in names
            if isinstance(n, ast.Name)
        ]
        self._choices += 1
        differs = int(ranges is not None and differs_by_position(ranges, self.scope.positions))
        self.scope.choices += differs
        with self.expressions.layouts.block(node.body):
            body = self.body(node.body)
        self.scope.choices -= differs
        self._choices -= 1
        self.scope.depth -= 1
        self.scope.leave()
        if ranges is None:
            return ()
        for position in reversed(range(len(ranges))):
            lower, upper, step = ranges[position]
            marks = iteration.marks_of(position)
            loop = For(at, symbols[position], lower, upper, step, nest if position == 0 else None, body, marks)
            body = (loop,)
        return body

    def _refuse_shadowing(self, names: list[ast.Name]) -> None:
        """A loop variable is not that of a loop around it: Python would go on with the inner value."""
        before: list[str] = []
        for node in names:
            symbol = self.scope.local(node.id)
            if node.id in before or (symbol is not None and symbol.kind is SymbolKind.LOOP):
                message = f"'{node.id}' is already the variable of a loop around this one"
                self.scope.error(node, message, "use another name")
            before.append(node.id)

    def _while(self, node: ast.While) -> tuple[Stmt, ...]:
        if node.orelse:
            self.scope.error(
                node.orelse[0], "a loop cannot have an `else`", "put the statements behind the loop"
            )
        condition = self.expressions.condition(node.test)
        if condition is not None and self.expressions.builder.needs_after():
            condition = self.expressions.builder.variable(condition, "condition")
        before, after = self.expressions.builder.take_pending()
        self.scope.depth += 1
        body = self._branch(node.body)
        self.scope.depth -= 1
        at = self.scope.source.position(node)
        return () if condition is None else (While(at, (*before, *after), condition, body),)

    def _if(self, node: ast.If) -> tuple[Stmt, ...]:
        condition = self.expressions.condition(node.test)
        if isinstance(condition, Const):
            return self.block(node.body if condition.value else node.orelse)
        condition = None if condition is None else self.expressions.builder.settled(condition)
        body, orelse = self._branch(node.body), self._branch(node.orelse)
        return () if condition is None else (If(self.scope.source.position(node), condition, body, orelse),)

    def _return(self, node: ast.Return) -> tuple[Stmt, ...]:
        is_last = node is self.scope.source.tree.body[-1]
        if not is_last and (self._choices or node is not self._block[-1]):
            self.scope.error(
                node, "`return` must be the last statement of a kernel", "assign to a variable and return it"
            )
            return ()
        self._returned = True
        if (given := self._given_by_call(node)) is None:
            return ()
        call, nodes = given
        if len(nodes) == 1 and isinstance(nodes[0], ast.Constant) and nodes[0].value is None:
            nodes = []
        expected = self.function.results
        if not self.results_known:
            for place in nodes:
                self.expressions.any(place)
            return ()
        if len(nodes) != len(expected):
            self.scope.error(
                node,
                f"'{self.function.name}' is declared to give {counted(len(expected), 'result')}, "
                f"but returns {len(nodes) or 'none'}",
                "declare what it returns: `def f(...) -> T:`",
            )
            return ()
        values: list[Expr | Symbol] = []
        for place, result in zip(nodes, expected, strict=True):
            value = self.expressions.any(place, result)
            if value is None:
                return ()
            same = isinstance(result, TensorType) and getattr(value.type, "shape", None) == result.shape
            if isinstance(value, Symbol) and same and value.type != result:
                self.expressions.structs.check_copy(place, value, result)  # type: ignore[arg-type]
                value = whole(value, self.scope.source.position(place))
            if isinstance(value, View) and isinstance(result, TensorType) and same:
                value = self.expressions.builder.materialise(value, f"{self.function.name}_result", result.element)
                if value is None:
                    return ()
            if isinstance(value, View) or isinstance(result, TensorType) != isinstance(value, Symbol):
                self.scope.error(place, f"the result must be {result!r}, got {value.type!r}")
                return ()
            if isinstance(value, Symbol) and value.type != result:
                self.scope.error(place, f"the result must be {result!r}, got {value.type!r}")
                return ()
            if isinstance(value, Expr):
                value = self.expressions.builder.settled(convert(value, result))  # type: ignore[arg-type]
            values.append(value)
        returned = Return(self.scope.source.position(node), tuple(values))
        if not call:
            return (returned,)
        before, after = self.expressions.builder.take_pending()
        return (*call, *inlined(before, (returned,)), *after)

    def _given_by_call(self, node: ast.Return) -> tuple[tuple[Stmt, ...], list[ast.expr]] | None:
        """What is returned, after the results of a kernel that gives several went to variables; None is a mistake."""
        value, results = node.value, self.assignments.results
        if isinstance(value, ast.Tuple):
            return (), value.elts
        if not isinstance(value, ast.Call) or len(self.function.results) < 2 or not results.calls_kernel(value):
            return (), [] if value is None else [value]
        call = results.call(value)
        if call is None:
            return None
        wanted, given = len(self.function.results), call.call.callee
        if len(given.results) != wanted:
            self.scope.error(
                node,
                f"'{self.function.name}' is declared to give {counted(wanted, 'result')}, but returns "
                f"{counted(len(given.results), 'result')} of '{given.name}'",
            )
            return None
        names = [f"{given.name}.{number}" for number in range(wanted)]  # no names of Python's
        places = [ast.copy_location(ast.Name(name, ast.Store()), value) for name in names]
        assigned = results.given(ast.copy_location(ast.Assign([], value), node), call, places)
        before, after = self.expressions.builder.take_pending()
        read = [ast.copy_location(ast.Name(name, ast.Load()), value) for name in names]
        return (*before, *assigned, *after), list(read)

    def _expression(self, node: ast.Expr) -> tuple[Stmt, ...]:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return ()
        if isinstance(node.value, ast.Call) and self.expressions.streams.is_method(node.value.func):
            return self.expressions.streams.statement(node.value)
        if isinstance(node.value, ast.Call) and self.expressions.calls.is_scatter(node.value):
            return self.expressions.gathers.scatter(node.value)
        if (
            isinstance(node.value, ast.Call)
            and (call := self.assignments.results.call(node.value)) is not None
        ):
            return (Call(self.scope.source.position(node), call.call, (), ()),)
        if isinstance(node.value, ast.Yield | ast.YieldFrom | ast.Await | ast.NamedExpr):
            self.expressions.any(node.value)
        elif not isinstance(node.value, ast.Call):
            self.scope.error(node, f"the statement `{ast.unparse(node)}` has no effect", "assign its value")
        elif (callee := self.expressions.calls.callee(node.value)) is not None:
            if is_function_of_values(callee):
                self.scope.error(node, f"the statement `{ast.unparse(node)}` has no effect", "assign its value")
            elif not isinstance(callee, FunctionType | ExternalValue):
                self.scope.compile_callee(callee, node.value, self.scope)
        return ()
