"""Constant expressions of C++, such as the extent of an array, and their values."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping

from .declarations import Tokens
from .tokens import text_of

_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_SIGNS = frozenset("+-*/%<>&|^()")
_SUFFIX = re.compile(r"^(0[xX][0-9a-fA-F']+|[0-9']+)[uUlLzZ]*$")


def integer_of(tokens: Tokens, constants: Mapping[str, Tokens], values: Mapping[str, int]) -> int:
    """The value of an expression over integer constants; `values` are those of template parameters.

    Raises ValueError with the part that has no value.
    """
    return _value(tokens, constants, values, ())


def _value(
    tokens: Tokens, constants: Mapping[str, Tokens], values: Mapping[str, int], pending: tuple[str, ...]
) -> int:
    words: list[str] = []
    for position, token in enumerate(tokens):
        if literal := _SUFFIX.match(token.text):
            digits = literal[1].replace("'", "")
            octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
            words.append(str(int(digits, 8 if octal else 0)))
        elif token.text in values:
            words.append(f"({values[token.text]})")
        elif token.text in constants and token.text not in pending:
            words.append(f"({_value(constants[token.text], constants, values, (*pending, token.text))})")
        elif token.text == "::" or (position + 1 < len(tokens) and tokens[position + 1].text == "::"):
            continue  # the namespace of a name
        elif token.text in _SIGNS:
            words.append("//" if token.text == "/" else token.text)
        else:
            raise ValueError(text_of(tokens))
    try:
        text = " ".join(words).replace("< <", "<<").replace("> >", ">>")
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise ValueError(text_of(tokens)) from None
    return _evaluated(tree, text_of(tokens))


def _evaluated(tree: ast.expr, text: str) -> int:
    match tree:
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluated(operand, text)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _evaluated(operand, text)
        case ast.BinOp(left=left, op=op, right=right):
            lhs, rhs = _evaluated(left, text), _evaluated(right, text)
            shift = isinstance(op, ast.LShift | ast.RShift)
            if shift and not 0 <= rhs < 64:
                raise ValueError(text)
            if type(op) in _BINARY:
                return _BINARY[type(op)](lhs, rhs)
            if isinstance(op, ast.FloorDiv | ast.Mod) and rhs != 0:  # C rounds towards 0
                quotient = abs(lhs) // abs(rhs) * (1 if (lhs < 0) == (rhs < 0) else -1)
                return quotient if isinstance(op, ast.FloorDiv) else lhs - quotient * rhs
    raise ValueError(text)
