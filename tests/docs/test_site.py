"""The site: all pages are in its navigation, tutorials are pages with what they print, names of the reference exist."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path

import pytest

from .pages import ROOT
from .test_generated import generator

site = generator("build_site")
MADE = {"gallery.md", "reference.md"}


def test_every_page_is_in_the_navigation_once() -> None:
    names = re.findall(r"^ +- (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    written = {page.name for page in (ROOT / "docs").glob("*.md")}
    tutorials = {f"tutorials/{page.stem}.md" for page in (ROOT / "docs" / "tutorials").glob("*.py")}
    assert sorted(names) == sorted(written | tutorials | MADE)


TUTORIAL = '''"""Sums: what Python adds.

Run it.
"""

# %% 1. Two numbers.
#
# They are small.

a, b = 1, 2
print(a + b)

# %% 2. A function sees both.


def doubled():
    return 2 * (a + b)


assert doubled() == 6

# %% 3. A picture.


class Dot:
    def _repr_svg_(self):
        return '<svg/>'


Dot()
'''


def test_a_tutorial_is_a_page_with_what_it_prints_and_draws(tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text(TUTORIAL)
    ran = site.tutorial(tmp_path / "sums.py", ROOT)
    assert ran.page(tmp_path, "sums") == (
        "# Sums\n\nWhat Python adds.\n\n## 1. Two numbers\n\nThey are small.\n\n"
        "```python\na, b = 1, 2\nprint(a + b)\n```\n\n```text\n3\n```\n\n## 2. A function sees both\n\n"
        "```python\ndef doubled():\n    return 2 * (a + b)\n\n\nassert doubled() == 6\n```\n\n"
        "## 3. A picture\n\n```python\nclass Dot:\n    def _repr_svg_(self):\n        return '<svg/>'\n\n\n"
        "Dot()\n```\n\n![What the last line shows](sums_2.svg)\n"
    )
    assert (tmp_path / "sums_2.svg").read_text() == "<svg/>"
    cells = json.loads(ran.notebook())["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", *["markdown", "code"] * 3]
    printed = {"output_type": "stream", "name": "stdout", "text": "3\n"}
    assert (cells[2]["outputs"], cells[2]["source"]) == ([printed], "a, b = 1, 2\nprint(a + b)")
    assert cells[6]["outputs"][0]["data"] == {"image/svg+xml": "<svg/>"}


def test_a_tutorial_that_fails_makes_no_page(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(TUTORIAL.replace("== 6", "== 7"))
    with pytest.raises(AssertionError):
        site.tutorial(tmp_path / "broken.py", ROOT)


def test_the_reference_names_what_is_there() -> None:
    for name in (name for names in site.PARTS.values() for name in names):
        module, _, member = name.rpartition(".")
        assert getattr(import_module(module), member).__doc__, name
        assert f"::: {name}\n" in site.reference() + "\n"


def test_links_to_tutorials_lead_to_their_pages(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[a](tutorials/stencil.py) [b](rtl.md) `tutorials/stencil.py`")
    assert site.copied(page) == "[a](tutorials/stencil.md) [b](rtl.md) `tutorials/stencil.py`"


def test_the_gallery_has_picture_report_and_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "DESIGNS", ("jacobi_1d",))
    text = site.gallery(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{name}.{kind}" for name in ("jacobi_1d", "fork_and_join") for kind in ("svg", "html")
    }
    (row,) = [line for line in text.splitlines() if line.startswith("| [jacobi_1d]")]
    _, schedule, _ = next(iter(site.designs()))
    found = schedule.report("u280")
    assert row == f"| [jacobi_1d](#jacobi_1d) | {len(schedule.steps)} | {found.cycles} | 1761 | {found.dsp} | " + (
        f"{found.bram18} | {found.lut} |"
    )
    assert "[![jacobi_1d](gallery/jacobi_1d.svg)](gallery/jacobi_1d.svg)" in text
