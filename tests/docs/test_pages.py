"""Every Python block of the documentation runs, and prints what the page says it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose)
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert not missing


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_named_files_exist(page: Path) -> None:
    """A path of the repository in backticks is there."""
    named = re.findall(
        r"`((?:allo|benchmarks|docs|examples|mlir|polybench|tests)/[\w/.-]+)`", page.read_text()
    )
    assert not [name for name in named if not (ROOT / name).exists()]
