"""Faults made from the syntax tree: a bound, a dropped condition, swapped arguments, a constant that is off by one."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path

from benchmarks.mutation.catalogue import ROOT, Fault

_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Mod: "//", ast.BitAnd: "|", ast.BitOr: "&",
    ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip
_CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}
_DIAGNOSTIC = ("Error", "Note", "hint", "describe", "error", "message", "refuse", "InternalError")


def propose(package: str, count: int, seed: int) -> list[Fault]:
    """So many faults in files under `package`, at most one a line, at random."""
    paths = [p for p in sorted((ROOT / package).rglob("*.py")) if "_mlir" not in p.parts]
    found = [fault for path in paths for fault in faults_of(path)]
    random.Random(seed).shuffle(found)
    taken: dict[tuple[str, str], Fault] = {}
    for fault in found:
        taken.setdefault((fault.file, fault.before), fault)
    return list(taken.values())[:count]


def faults_of(path: Path) -> Iterator[Fault]:
    """All faults of a file. The text of an error is not a place for one: goldens hold it."""
    text = path.read_text()
    parts = path.relative_to(ROOT).with_suffix("").parts[1:]
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef):
            continue
        for statement in function.body:
            for node in _inside(statement):
                for change in _changes(node, text):
                    first, last, after = change
                    fault = _widened(path, text, first, last, after)
                    if fault is not None:
                        number = text[:first].count("\n") + 1
                        column = first - text.rfind("\n", 0, first)
                        name = f"{'-'.join(parts)}-{function.name.strip('_')}-{number}-{column}"
                        yield Fault(name, path.relative_to(ROOT).as_posix(), *fault)


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that decide something, without nested functions, errors, texts and types."""
    if isinstance(
        node, ast.Raise | ast.FunctionDef | ast.ClassDef | ast.JoinedStr | ast.Assert | ast.ImportFrom
    ):
        return
    if isinstance(node, ast.Call) and any(word in ast.unparse(node.func) for word in _DIAGNOSTIC):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name == "annotation":
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _inside(child)


def _changes(node: ast.AST, text: str) -> Iterator[tuple[int, int, str]]:
    """Edits (from, to, text) of a node."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
            yield _end(left, text), _start(right, text), f" {_COMPARED[type(op)]} "
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _COMPUTED:
            yield from _operator(_end(left, text), _start(right, text), _COMPUTED[type(op)], text)
        case ast.BoolOp(op=op, values=values):
            yield _start(values[0], text), _start(values[1], text), ""
            yield _end(values[-2], text), _end(values[-1], text), ""
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield _start(node, text), _start(operand, text), ""
        case ast.Constant(value=bool() as value):
            yield *_span(node, text), str(not value)
        case ast.Constant(value=int() as value):
            yield *_span(node, text), str(value + 1)
        case ast.Call(func=ast.Name(id=name) as func) if name in _CALLED:
            yield *_span(func, text), _CALLED[name]
        case ast.Call(args=[one, other, *_]) if not isinstance(one, ast.Starred) and not isinstance(
            other, ast.Starred
        ):
            first, second = text[slice(*_span(one, text))], text[slice(*_span(other, text))]
            between = text[_end(one, text) : _start(other, text)]
            if first != second:
                yield _start(one, text), _end(other, text), f"{second}{between}{first}"
        case ast.If(
            test=test, body=[ast.Return() | ast.Continue() | ast.Raise() | ast.Break(), *_], orelse=[]
        ):
            yield *_span(test, text), "False"


def _operator(first: int, last: int, operator: str, text: str) -> Iterator[tuple[int, int, str]]:
    if all(c in " +-*/%&|<>" for c in text[first:last]):
        yield first, last, f" {operator} "


def _widened(path: Path, text: str, first: int, last: int, after: str) -> tuple[str, str] | None:
    """The change with as many whole lines around it as make it the only one; None if it does not parse."""
    changed = text[:first] + after + text[last:]
    try:
        ast.parse(changed)
    except SyntaxError:
        return None
    start, end = text.rfind("\n", 0, first) + 1, text.find("\n", last)
    end = len(text) if end < 0 else end
    while text.count(text[start:end]) > 1 and start > 0:
        start = text.rfind("\n", 0, start - 1) + 1
    before = text[start:end]
    result = text[start:first] + after + text[last:end]
    if "'''" in before or before == result or text.count(before) != 1:
        return None
    cut = len(before) - len(before.lstrip(" "))
    if "\n" not in before and text.count(before.strip()) == 1:
        before, result = before[cut:], result[cut:]
    return before, result


@cache
def _lines(text: str) -> tuple[list[str], list[int]]:
    """The lines, and where each begins."""
    lines = text.splitlines(keepends=True)
    return lines, [0, *accumulate(map(len, lines))]


def _offset(line: int, column: int, text: str) -> int:
    lines, starts = _lines(text)
    return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())


def _start(node: ast.expr, text: str) -> int:
    return _offset(node.lineno, node.col_offset, text)


def _end(node: ast.expr, text: str) -> int:
    return _offset(node.end_lineno or 0, node.end_col_offset or 0, text)


def _span(node: ast.expr, text: str) -> tuple[int, int]:
    return _start(node, text), _end(node, text)
