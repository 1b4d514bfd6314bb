"""Decides how a page of the documentation is run."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code of a page; `line` is the line of its first line of code, `expected` what it should print."""

    line: int
    code: str
    expected: str | None


def python_blocks(page: Path) -> list[Block]:
    """The ```python blocks of a page; a ```text block that follows at once is what the code prints."""
    text = page.read_text()
    fences = list(_FENCE.finditer(text))
    blocks = []
    for number, fence in enumerate(fences):
        if fence[1] != "python":
            continue
        follower = fences[number + 1] if number + 1 < len(fences) else None
        printed = None
        if (
            follower is not None
            and follower[1] == "text"
            and not text[fence.end() : follower.start()].strip()
        ):
            printed = follower[2]
        blocks.append(Block(text.count("\n", 0, fence.start()) + 2, fence[2], printed))
    return blocks


def run_page(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Block, str]]:
    """Run the blocks of a page one after the other, as one program; each with what it printed.

    The program is a file in `folder`, where it runs, whose lines are those of the page, so that kernels have a source.
    In what is printed its folder is cut, and lines are counted from the head of the block, so that they do not change
    with the page.
    """
    blocks = python_blocks(page)
    lines = [""] * max(block.line + block.code.count("\n") for block in blocks)
    for block in blocks:
        code = block.code.splitlines()
        lines[block.line - 1 : block.line - 1 + len(code)] = code
    file = folder / f"{page.stem}.py"
    file.write_text("\n".join(lines) + "\n")
    module = ModuleType(f"page_{page.stem}")  # there is a module `types` in Python already
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.chdir(folder)
    result = []
    for block in blocks:
        shifted = "\n" * (block.line - 1) + block.code
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(shifted, str(file), "exec"), vars(module))
        result.append((block, _relative(output.getvalue(), file, block)))
    return result


def _relative(printed: str, file: Path, block: Block) -> str:
    """What a block printed, with the places of its errors seen from the block."""

    def place(match: re.Match[str]) -> str:
        return f'File "{file.name}", line {int(match[1]) - block.line + 1}'

    return re.sub(rf'File "{re.escape(str(file))}", line (\d+)', place, printed)
