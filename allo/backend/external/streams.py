"""Directions of `hls::stream` parameters, from what the function does with them."""

from __future__ import annotations

from collections.abc import Sequence

from .cxx_types import UnsupportedType
from .declarations import CxxFunction, Declarations, Tokens, split
from .tokens import Token

_GETS = frozenset({"read", "read_nb"})
_PUTS = frozenset({"write", "write_nb"})
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class Directions:
    """Answers for the functions of a file, and follows streams into those that they are passed to."""

    def __init__(self, declarations: Declarations) -> None:
        self._functions = [function for function in declarations.functions if function.body]

    def of(self, function: CxxFunction, position: int, given: str | None) -> str:
        """ "in" or "out" for a parameter; `given` is what the user says. Raises UnsupportedType if it is not clear."""
        found = {given} if given else self._sides(function, position, frozenset())
        name = _name(function.parameters[position])
        hint = f'say it: streams={{"{name}": "in"}} if the function reads it, "out" if it writes to it'
        if not found:
            raise UnsupportedType(
                "its function neither reads this stream nor writes to it, as far as can be seen", hint
            )
        if len(found) > 1:
            raise UnsupportedType(
                "its function reads this stream and writes to it", "use one stream for each direction"
            )
        return found.pop()

    def _sides(self, function: CxxFunction, position: int, pending: frozenset[tuple[int, int]]) -> set[str]:
        """What the body of a function does with a parameter."""
        name, body = _name(function.parameters[position]), function.body
        texts = [token.text for token in body]
        found: set[str] = set()
        for place, text in enumerate(texts):
            if text != name or (place and texts[place - 1] in (".", "::")):
                continue
            after = texts[place + 1 : place + 3]
            if after[:1] == ["."]:
                found |= {"in"} if after[1] in _GETS else {"out"} if after[1] in _PUTS else set()
            elif after in ([">", ">"], ["<", "<"]):
                found |= {"in" if after[0] == ">" else "out"}
            else:
                found |= self._passed(body, place, pending | {(id(function), position)})
        return found

    def _passed(self, body: Tokens, place: int, pending: frozenset[tuple[int, int]]) -> set[str]:
        """What the function does that gets the stream as an argument of a call."""
        call = _call_around(body, place)
        if call is None:
            return set()
        called, number = call
        found: set[str] = set()
        for function in self._functions:
            fits = function.name.split("::")[-1] == called and len(function.parameters) > number
            if fits and (id(function), number) not in pending:
                found |= self._sides(function, number, pending)
        return found


def _name(parameter: Sequence[Token]) -> str:
    """The name that a parameter `hls::stream<int> &in` declares."""
    depth, name = 0, ""
    for token in parameter:
        depth += (token.text == "<") - (token.text == ">")
        if depth == 0 and token.text.isidentifier() and token.text != "const":
            name = token.text
    return name


def _call_around(body: Tokens, place: int) -> tuple[str, int] | None:
    """The function that is called with `body[place]` as a whole argument, and which argument it is."""
    depth, opening = 0, None
    for position in range(place - 1, -1, -1):
        text = body[position].text
        depth += (text in _CLOSING.values()) - (text in _CLOSING)
        if depth < 0:
            opening = position
            break
    if opening is None or body[opening].text != "(" or opening == 0:
        return None
    arguments = split(body[opening + 1 : place + 1], ",")
    if len(arguments[-1]) != 1 or body[place + 1].text not in (",", ")"):
        return None
    callee = opening - 1
    if body[callee].text == ">":  # f<int, 4>(...)
        depth = 0
        while callee > 0:
            depth += (body[callee].text == ">") - (body[callee].text == "<")
            callee -= 1
            if depth == 0:
                break
    return body[callee].text, len(arguments) - 1
