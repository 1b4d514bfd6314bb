"""The dataflow regions of emitted C++, and what in them is neither a declaration nor a call that passes names."""

from __future__ import annotations

import re

from allo.backend.hls.text.escape import uncommented

_NAME = r"[A-Za-z_]\w*"
_TYPE = rf"{_NAME}(?:::{_NAME})?(?:<[\w:<>, ]+>)?"
_LITERAL = r"-?\d[\w.+-]*"
_PASSED = rf"(?:{_NAME}(?:\[\d+\])*|{_LITERAL}|true|false)"
_ALLOWED = re.compile(
    rf"#pragma HLS .*|{_TYPE} {_NAME}(?:\[\d+\])*;|{_NAME}\((?:{_PASSED}(?:, {_PASSED})*)?\);"
)


def regions(code: str) -> list[list[str]]:
    """The statements of each region, without those of regions in it."""
    found: list[list[str]] = []
    open_blocks: list[list[str]] = []
    for line in code.splitlines():
        text = uncommented(line).strip()
        if text.startswith("}"):
            block = open_blocks.pop()
            if "#pragma HLS dataflow" in block:
                found.append(block)
        elif open_blocks and text and not text.endswith("{"):
            open_blocks[-1].append(text)
        if text.endswith("{"):
            if open_blocks:
                open_blocks[-1].append(text)
            open_blocks.append([])
    return found


def strangers(code: str) -> list[str]:
    """The lines of regions that are not canonical."""
    return [line for region in regions(code) for line in region if not _ALLOWED.fullmatch(line)]
