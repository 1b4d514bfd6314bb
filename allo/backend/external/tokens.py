"""Tokens of C++, each with the file and line that it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<token>"(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | [A-Za-z_]\w* | \.?\d(?:[eEpP][+-]|[\w.'])* | :: | .)""",
    re.VERBOSE | re.DOTALL,
)
_RAW_STRING = re.compile(r'\b(?:u8|[uUL])?R"([^\s()\\]{0,16})\(.*?\)\1"', re.DOTALL)
_MARKER = re.compile(r'#\s*(?:line\s+)?(\d+)\s+"((?:\\.|[^"\\])*)"([ \d]*)')
_MARKER_LINE = re.compile(rf"^{_MARKER.pattern}[^\n]*$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[^\S\n]*#[^\n]*", re.MULTILINE)
_NO_SPACE_BEFORE = frozenset(("::", "<", ">", "[", "]", ")", ","))
_NO_SPACE_AFTER = frozenset(":<[(*&")
_SYSTEM_HEADER = "3"  # the flag of a line marker


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, string or sign."""

    text: str
    file: str
    line: int


def tokens_of(preprocessed: str) -> list[Token]:
    """The tokens of a preprocessed file, without those of system headers."""
    found: list[Token] = []
    for text, file, line in _sections(preprocessed):
        for match in _TOKEN.finditer(text):
            if match["token"] is not None:
                found.append(Token(match["token"], file, line))
            line += match[0].count("\n")
    return found


def without_markers(preprocessed: str) -> str:
    """The text without what depends on where its files lie."""
    return "\n".join(line for line in preprocessed.splitlines() if not _MARKER.match(line))


def _sections(preprocessed: str) -> Iterator[tuple[str, str, int]]:
    """Consecutive lines of one file, which line markers begin; directives such as pragmas are left empty."""
    text = preprocessed
    if 'R"' in text:
        text = _RAW_STRING.sub(lambda match: '""' + "\n" * match[0].count("\n"), text)
    file, first, flags, start = "", 1, "", 0
    for marker in _MARKER_LINE.finditer(text):
        if _SYSTEM_HEADER not in flags.split():
            yield _DIRECTIVE.sub("", text[start : max(marker.start() - 1, start)]), file, first
        first, file, flags, start = int(marker[1]), marker[2], marker[3], marker.end() + 1
    if _SYSTEM_HEADER not in flags.split():
        yield _DIRECTIVE.sub("", text[start:]), file, first


def text_of(tokens: Sequence[Token]) -> str:
    """Tokens as C++ that is easy to read."""
    text = ""
    for token in tokens:
        tight = token.text in _NO_SPACE_BEFORE or (text and text[-1] in _NO_SPACE_AFTER)
        text += token.text if tight or not text else f" {token.text}"
    return text
