"""Expressions of hardware, split at the names in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import chain
from typing import NamedTuple

_NAME = re.compile(r"(?<![\w'$])([A-Za-z_]\w*)")
_MARK = re.compile(r"[(){}?]| && | \|\| ")
_DIGITS = b"0123456789"
ALONE = ("", "")  # around a name


class Expression(NamedTuple):
    """Names, and the texts before, between and behind them; a tuple, since there are so many."""

    gaps: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def name(self) -> str | None:
        """The name that the expression is; None if it is more."""
        return self.names[0] if self.gaps == ALONE else None

    def filled(self, text: Callable[[str], str]) -> str:
        """The expression with other texts for its names."""
        return "".join(chain.from_iterable(zip(self.gaps, (*map(text, self.names), ""), strict=True)))

    def renamed(self, names: Mapping[str, str]) -> Expression:
        """The expression with other names for those in a table."""
        found = tuple([names.get(name, name) for name in self.names])
        return self if found == self.names else Expression(self.gaps, found)


class Chain(NamedTuple):
    """Conditions that are joined by `&&` or `||`."""

    operator: str
    terms: tuple[Expression, ...]

    def renamed(self, names: Mapping[str, str]) -> Chain:
        """The chain with other names for those in a table."""
        return Chain(self.operator, tuple(term.renamed(names) for term in self.terms))


def alone(name: str) -> Expression:
    """The expression that a name is."""
    return tuple.__new__(Expression, (ALONE, (name,)))  # there are so many that a call of its own counts


def expression(text: str) -> Expression:
    """The expression of a text."""
    if text.isidentifier() and text.isascii():
        return alone(text)
    parts = _NAME.split(text)
    return Expression(tuple(parts[::2]), tuple(parts[1::2]))


def chain_of(text: str, least: int) -> Chain | None:
    """The conditions that a text joins, if they are as many."""
    if len(text) < 5 * least - 4 or max(text.count(" && "), text.count(" || ")) < least - 1:
        return None
    depth, start, operators, terms = 0, 0, set[str](), list[str]()
    for mark in _MARK.finditer(text):
        match mark.group():
            case "(" | "{":
                depth += 1
            case ")" | "}":
                depth -= 1
            case operator if depth == 0:
                operators.add(operator)
                terms.append(text[start : mark.start()])
                start = mark.end()
    if len(operators) != 1 or "?" in operators or len(terms) + 1 < least:
        return None
    return Chain(operators.pop().strip(), tuple(map(expression, (*terms, text[start:]))))


def without_digits(text: str) -> str:
    """What names of one kind have in common."""
    return text.encode().translate(None, _DIGITS).decode()
