"""The report of a design as one page: what is on it, what it says where something is missing, in a browser."""

from __future__ import annotations

from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

import allo
from allo.errors import TargetError
from allo.ir.types import float32, int32
from tests.picture.browser import asked

VOID = ("meta", "!doctype")


def scale(A: float32[32], B: float32[32]):
    for i in range(32):
        B[i] = A[i] * 2.0


class Outline(HTMLParser):
    """Headings and texts; each tag is closed, and nothing is loaded."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag != "script" and not {"src", "href"} & {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Shapes of SVG are closed where they begin."""

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


@pytest.fixture(scope="module")
def schedule() -> allo.Schedule:
    s = allo.customize(scale)
    s.split("i", 4)
    s.pipeline("i.outer")
    return s


@pytest.fixture(scope="module")
def page(schedule: allo.Schedule) -> str:
    return schedule.report("u280").to_html(verification=schedule.verify())


def test_all_parts_are_on_the_page(page: str, schedule: allo.Schedule) -> None:
    texts = Outline(page).texts
    assert texts["h2"] == ["Verification", "Dataflow", "Loops and steps", "Code"]
    assert texts["h3"] == ["Kernel, as it was read", "With its schedule", "C++ for Vitis HLS", "SystemVerilog"]
    proof, steps, kernel, scheduled, cpp, hardware = map(unescape, texts["pre"])
    assert proof.startswith("Equivalent: ") and steps == str(schedule.steps)
    assert kernel == schedule.pseudocode(0) and scheduled == schedule.pseudocode() != kernel
    assert cpp == str(schedule.build(target="vhls")) and hardware == schedule.build(target="rtl").code
    cycles = schedule.report("u280").cycles
    assert str(cycles) in texts["strong"] and f"{cycles} cycles of scale on u280, estimated" in texts["text"]


def test_it_is_the_report_of_the_schedule_as_it_was(schedule: allo.Schedule, tmp_path: Path) -> None:
    s = schedule.copy()
    found = s.report("u280")
    s.unroll("i.inner")
    text = found.to_html(tmp_path / "report.html", code=())
    assert "s.unroll(" not in text and (tmp_path / "report.html").read_text(encoding="utf-8") == text
    assert "Not verified: " in text and found == schedule.report("u280")


def test_what_a_backend_refuses_is_told() -> None:
    def large(A: int32[4], n: int32) -> int32:
        found: int32 = 0
        while found < n:
            found += A[0]
        return found

    s = allo.customize(large)
    texts = Outline(s.report("u280").to_html(code=("vhls", "nothing"))).texts
    assert texts["h3"][-1] == "nothing" and texts["pre"][-1].startswith("refused: ")


def test_an_estimate_alone_has_no_design(schedule: allo.Schedule) -> None:
    alone = allo.estimate(schedule)
    assert "<h2>" not in alone.to_html()
    with pytest.raises(TargetError) as refused:
        alone.to_html(verification=schedule.verify())
    assert str(refused.value) == (
        'this estimate does not know its design\n  hint: take that of s.report("u280")'
    )


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_a_browser_shows_it_without_complaint(page: str, dark: bool, tmp_path: Path) -> None:
    script = """
      const wide = [...document.body.children].filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth
                                                        && getComputedStyle(e).overflowX != 'auto');
      return [performance.getEntriesByType('resource').length, document.querySelectorAll('svg').length,
              getComputedStyle(document.body).backgroundColor, wide.map(e => e.outerHTML.slice(0, 80)),
              document.documentElement.scrollWidth - innerWidth];
    """
    loaded, pictures, ground, cut, beyond = asked(page, script, tmp_path, dark=dark, width=400 if dark else 1280)
    assert [loaded, cut] == [0, []] and pictures >= 2 and beyond <= 0
    assert ground == ("rgb(22, 25, 31)" if dark else "rgb(255, 255, 255)")
