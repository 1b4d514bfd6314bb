"""Every Python block of the documentation runs, and prints what the page says it prints."""

from __future__ import annotations

import ast
import re
from inspect import signature
from operator import attrgetter
from pathlib import Path

import pytest

import allo

from .pages import ROOT, python_blocks, run_page

PAGES = [path for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if python_blocks(path)]
ALL_PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_print_what_the_page_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for block, printed in run_page(page, tmp_path, monkeypatch):
        if block.expected is not None:
            assert printed == block.expected, f"{page.name}, line {block.line}"


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
    targets = [target for target in re.findall(r"\]\(([^)]+)\)", prose) if "://" not in target]
    assert not [target for target in targets if not leads_somewhere(page, *target.partition("#"))]


def leads_somewhere(page: Path, file: str, mark: str, anchor: str) -> bool:
    """Whether a link of `page` names a file, and, behind the `#`, one of its headings."""
    target = page.parent / file if file else page
    if not mark or not target.exists():
        return target.exists()
    headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
    return anchor in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_named_files_exist(page: Path) -> None:
    """A path of the repository in backticks is there."""
    named = re.findall(
        r"`((?:allo|benchmarks|docs|examples|lib|mlir|polybench|scripts|targets|tests)/[\w/.-]+)`", page.read_text()
    )
    assert not [name for name in named if not (ROOT / name).exists()]


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_calls_in_sentences_exist(page: Path) -> None:
    """`allo.name(..., key=...)` in a sentence is a function of the package, with arguments of these names."""
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for text in re.findall(r"`([^`]*)`", prose):
        for call in _calls(text):
            function = attrgetter(ast.unparse(call.func).removeprefix("allo."))(allo)
            kinds = signature(function).parameters
            named = {key.arg for key in call.keywords} - {None}
            assert named <= set(kinds) or any(one.kind is one.VAR_KEYWORD for one in kinds.values()), text


def _calls(text: str) -> list[ast.Call]:
    """The calls of functions of `allo` in a piece of code, if it can be read as one."""
    try:
        tree = ast.parse(text.replace("\n", " "))
    except SyntaxError:
        return []
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call for call in calls if re.fullmatch(r"allo(\.\w+)+", ast.unparse(call.func))]
