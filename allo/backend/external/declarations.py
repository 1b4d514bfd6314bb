"""Declarations of a file of C++ on the level of namespaces: functions, names of types, constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .tokens import Token

Tokens = tuple[Token, ...]
_OPEN = {"(": ")", "[": "]", "{": "}"}
_CLASSES = frozenset({"struct", "class", "union"})


@dataclass(frozen=True, slots=True)
class CxxFunction:
    """A declared or defined function; `template` has its parameters as (name, is a type), None if it is no template.

    `instance` are the arguments of an explicit instantiation, `template void f<float, 8>(...)`; `body` is what stands
    in its braces.
    """

    name: str
    template: tuple[tuple[str, bool], ...] | None
    instance: tuple[Tokens, ...]
    result: Tokens
    parameters: tuple[Tokens, ...]
    defined: bool
    body: Tokens = field(default=(), repr=False)

    @property
    def at(self) -> Token:
        """Where it stands."""
        return self.result[0]


@dataclass(slots=True)
class Declarations:
    """What the file declares; names are without their namespaces but for functions."""

    functions: list[CxxFunction] = field(default_factory=list)
    types: dict[str, Tokens] = field(
        default_factory=dict
    )  # a declaration of a variable of that type and name
    constants: dict[str, Tokens] = field(default_factory=dict)


def declarations_of(tokens: list[Token]) -> Declarations:
    """Read all declarations; what is none of the three kinds is passed over."""
    found = Declarations()
    _Reader(tokens, found).scope(0, len(tokens), "")
    return found


class _Reader:
    def __init__(self, tokens: list[Token], found: Declarations) -> None:
        self.tokens = tokens
        self.found = found
        self.texts = [token.text for token in tokens]

    def scope(self, start: int, stop: int, prefix: str) -> None:
        """Read the declarations between two positions, in the namespace `prefix`."""
        position = start
        while position < stop:
            position = self._declaration(position, stop, prefix)

    def _declaration(self, position: int, stop: int, prefix: str) -> int:
        """Read one declaration; where the next one begins."""
        text = self.texts[position]
        if text == "inline" and position + 1 < stop and self.texts[position + 1] == "namespace":
            return position + 1
        if text in (";", "}"):
            return position + 1
        if text == "namespace":
            brace = self._first(position, stop, "{;")
            if brace < stop and self.texts[brace] == "{":
                name = "".join(self.texts[position + 1 : brace])
                end = self.closing(brace, stop)
                if "=" not in name:
                    self.scope(brace + 1, end, f"{prefix}{name}::" if name else prefix)
                return end + 1
            return brace + 1
        if text == "extern" and position + 1 < stop and self.texts[position + 1].startswith('"'):
            if position + 2 < stop and self.texts[position + 2] == "{":
                end = self.closing(position + 2, stop)
                self.scope(position + 3, end, prefix)
                return end + 1
            return position + 2
        return self._statement(position, stop, prefix)

    def _statement(self, position: int, stop: int, prefix: str) -> int:
        """Read a declaration up to its `;` or the end of its body."""
        template: tuple[tuple[str, bool], ...] | None = None
        while self.texts[position] == "template" and position + 1 < stop and self.texts[position + 1] == "<":
            end = self._closing_angle(position + 1, stop)
            template = self._template_parameters(position + 2, end)
            position = end + 1
            if position >= stop:
                return stop
        head, end, body = self._head(position, stop)
        words = [token.text for token in head]
        if not words:
            return end
        if words[0] == "typedef":
            self._typedef(head[1:])
        elif words[0] == "using" and len(words) > 3 and words[2] == "=" and template is None:
            end_of_element = words.index("[") if "[" in words else len(words)  # `using row = float[8]`
            self.found.types[words[1]] = (*head[3:end_of_element], head[1], *head[end_of_element:])
        elif words[0] == "enum" and body is not None:
            self._enumeration(*body)
        elif words[0] not in _CLASSES and words[0] != "using":
            self._function_or_constant(head, template, prefix, body)
        return end

    def _head(self, position: int, stop: int) -> tuple[Tokens, int, tuple[int, int] | None]:
        """The tokens in front of `;` or a body, where the next declaration begins, and the body."""
        head: list[Token] = []
        first, assigned = self.texts[position], False
        while position < stop:
            text = self.texts[position]
            if text == ";":
                return tuple(head), position + 1, None
            if text == "__attribute__" or (text == "[" and self.texts[position : position + 2] == ["[", "["]):
                opening = position + 1 if text == "__attribute__" else position
                position = self.closing(opening, stop) + 1
                continue
            if text == "{":
                end = self.closing(position, stop)
                if first == "enum":
                    return tuple(head), end + 1, (position, end)
                if first not in _CLASSES and first != "typedef" and not assigned:
                    return tuple(head), end + 1, (position, end)
                position = end + 1  # the fields of a class, or an initial value
                continue
            if text in _OPEN:
                end = self.closing(position, stop)
                head += self.tokens[position : end + 1]
                position = end + 1
                continue
            assigned |= text == "="
            head.append(self.tokens[position])
            position += 1
        return tuple(head), stop, None

    def _typedef(self, declared: Tokens) -> None:
        """`typedef float row[8]`, `typedef unsigned int word`; not those of functions."""
        name = next((k for k, t in enumerate(declared) if t.text == "[" and k > 0), len(declared)) - 1
        if name > 0 and "(" not in [token.text for token in declared]:
            self.found.types[declared[name].text] = declared

    def _enumeration(self, start: int, end: int) -> None:
        """`enum { N = 8, M }`."""
        previous: Tokens = ()
        for entry in split(self.tokens[start + 1 : end], ","):
            if not entry:
                continue
            at = entry[0]
            if len(entry) > 2:
                value = entry[2:]
            elif previous:
                value = (*previous, Token("+", at.file, at.line), Token("1", at.file, at.line))
            else:
                value = (Token("0", at.file, at.line),)
            opening, closing = Token("(", at.file, at.line), Token(")", at.file, at.line)
            self.found.constants[at.text] = previous = (opening, *value, closing)

    def _function_or_constant(
        self,
        head: Tokens,
        template: tuple[tuple[str, bool], ...] | None,
        prefix: str,
        body: tuple[int, int] | None,
    ) -> None:
        words = [token.text for token in head]
        if "=" in words and ("(" not in words or words.index("(") > words.index("=")):
            position = words.index("=")
            if {"const", "constexpr"} & set(words[:position]) and "[" not in words[:position]:
                self.found.constants[words[position - 1]] = head[position + 1 :]
            return
        explicit = words[0] == "template"
        start = 1 if explicit else 0
        opening = _parameter_list(words)
        if opening is None:
            return
        name_end, instance = opening, tuple[Tokens, ...]()
        if words[opening - 1] == ">":
            angle = _opening_angle(words, opening - 1)
            instance, name_end = split(head[angle + 1 : opening - 1], ","), angle
        begin = name_end - 1
        while begin >= 2 and words[begin - 1] == "::":
            begin -= 2
        result = tuple(
            t for t in head[start:begin] if t.text not in ("static", "inline", "extern", "constexpr")
        )
        if not result or not words[name_end - 1].isidentifier():
            return
        closing = opening + _closing(words[opening:])
        parameters = split(head[opening + 1 : closing], ",")
        name = prefix + "".join(words[begin:name_end])
        inside = () if body is None else tuple(self.tokens[body[0] + 1 : body[1]])
        defined = body is not None or explicit
        self.found.functions.append(
            CxxFunction(name, template, instance, result, parameters, defined, inside)
        )

    def _template_parameters(self, start: int, end: int) -> tuple[tuple[str, bool], ...]:
        found = []
        for parameter in split(self.tokens[start:end], ","):
            words = [token.text for token in parameter]
            words = words[: words.index("=")] if "=" in words else words
            if words:
                found.append((words[-1], words[0] in ("typename", "class")))
        return tuple(found)

    def _first(self, position: int, stop: int, texts: str) -> int:
        while position < stop and self.texts[position] not in texts:
            position += 1
        return position

    def closing(self, position: int, stop: int) -> int:
        """Where the bracket at `position` is closed."""
        return min(position + _closing(self.texts[position:stop]), stop - 1)

    def _closing_angle(self, position: int, stop: int) -> int:
        depth = 0
        while position < stop:
            text = self.texts[position]
            depth += (text == "<") - (text == ">")
            if depth == 0:
                break
            position = self.closing(position, stop) + 1 if text in _OPEN else position + 1
        return position


def _closing(texts: Sequence[str]) -> int:
    """The position of the bracket that closes the first one."""
    depth = 0
    for position, text in enumerate(texts):
        depth += (text in _OPEN) - (text in _OPEN.values())
        if depth == 0:
            return position
    return len(texts) - 1


def _parameter_list(words: Sequence[str]) -> int | None:
    """The position of the `(` that opens the parameters of a function."""
    depth = 0
    for position, word in enumerate(words):
        depth += (word == "<") - (word == ">")
        if word == "(" and depth == 0:
            return position if position > 0 else None
    return None


def _opening_angle(words: Sequence[str], position: int) -> int:
    depth = 0
    while position > 0:
        depth += (words[position] == ">") - (words[position] == "<")
        if depth == 0:
            break
        position -= 1
    return position


def split(tokens: Sequence[Token], separator: str) -> tuple[Tokens, ...]:
    """The parts between separators that stand in no brackets; no part if there is no token."""
    parts: list[list[Token]] = [[]]
    depth = angles = 0
    for token in tokens:
        depth += (token.text in _OPEN) - (token.text in _OPEN.values())
        if depth == 0:  # in other brackets, < and > compare or shift
            angles += (token.text == "<") - (token.text == ">")
        if token.text == separator and depth == 0 and angles == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return tuple(map(tuple, parts)) if tokens else ()
