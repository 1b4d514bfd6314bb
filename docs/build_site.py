"""Fills build/site/pages, of which mkdocs makes the site: the pages of docs/, tutorials as they run, a gallery, a
reference out of docstrings.

    python docs/build_site.py && python -m mkdocs build --strict
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
PAGES = ROOT / "build" / "site" / "pages"
sys.path[:0] = [str(ROOT), str(DOCS)]  # polybench lies beside the package
from tutorial_cells import tutorial  # noqa: E402

TARGET = "u280"
# Those of PolyBench whose schedules differ most; the last one is the region of docs/dataflow.md.
DESIGNS = (
    "atax", "bicg", "cholesky", "correlation", "covariance", "deriche", "doitgen", "durbin", "fdtd_2d", "gemm",
    "gemver", "gesummv", "gramschmidt", "heat_3d", "jacobi_1d", "jacobi_2d", "lu", "mvt", "syrk",
)  # fmt: skip
PARTS = {
    "Kernels and schedules": ("allo.customize.schedule.Schedule", "allo.customize.uses.Uses"),
    "Checks": ("allo.equivalence.verify", "allo.frontend.reference.compare.check_python", "allo.reference.interpret"),
    "Estimates": ("allo.estimate.estimate.estimate", "allo.estimate.report.result.Estimate"),
    "Search": ("allo.search.search.search", "allo.search.found.SearchResult"),
    "Pictures": (
        "allo.report.drawing.draw", "allo.report.drawing.draw_loops", "allo.report.drawing.draw_banks",
        "allo.report.waveform.draw_waveform", "allo.report.roofline.draw_roofline", "allo.picture.drawing.Drawing",
    ),
    "Runs": ("allo.build.build", "allo.dataflow.timed.run.TimedRun"),
}  # fmt: skip


def designs() -> Iterator[tuple[str, Any, Any]]:
    """Names, schedules and timed runs, where there are some, of the designs of the gallery."""
    import generate_pictures

    import polybench

    for name in DESIGNS:
        yield name, polybench.load(name).designs["best"].customized(kept(name).size), None
    timing, schedule = generate_pictures.run()
    yield "fork_and_join", schedule, timing


def kept(name: str) -> Any:
    """What `polybench` keeps of the simulation of a kernel's best design, with its size."""
    from polybench.measured_rtl import read

    (found,) = [row for row in read() if (row.kernel, row.design) == (name, "best")]
    return found


def simulated(name: str, schedule: Any) -> int:
    """Cycles in RTL; those that `polybench` keeps must still agree with the estimate."""
    import numpy as np

    if name not in DESIGNS:
        module = schedule.build(target="rtl")
        module(np.zeros(64, np.float32), np.zeros(64, np.float32))
        return int(module.cycles)
    found = kept(name)
    expected = schedule.report(TARGET, profile="rtl", rewritten=True).cycles
    if not found.equal or abs(found.simulated - expected) > 0.01 * expected:  # triangular loops are estimated by means
        command = f"python -m polybench.reproduce_rtl --kernel {name} --design best"
        raise SystemExit(f"{name}: {found.simulated} cycles were simulated, {expected} are estimated: run {command}")
    return int(found.simulated)


def gallery(folder: Path) -> str:
    """The page of designs, with a picture and a report of each in `folder`."""
    rows = ["| design | steps | cycles | cycles in RTL | DSP | BRAM | LUT |", "|---|---|---|---|---|---|---|"]
    parts = []
    for name, schedule, timing in designs():
        found = schedule.report(TARGET)
        schedule.draw(timing or found).save(folder / f"{name}.svg")
        code = ("vhls",) if timing is None else ("vhls", "rtl")  # RTL of unrolled designs takes its time
        found.to_html(folder / f"{name}.html", timing=timing, code=code)
        figures = f"{found.cycles} | {simulated(name, schedule)} | {found.dsp} | {found.bram18} | {found.lut}"
        rows.append(f"| [{name}](#{name}) | {len(schedule.steps)} | {figures} |")
        shown = f"[![{name}](gallery/{name}.svg)](gallery/{name}.svg)"
        parts.append(f"## {name}\n\n[Report](gallery/{name}.html)\n\n{shown}")
    intro = (
        "Designs with their pictures and reports, made by `docs/build_site.py`. Cycles in RTL are *simulated*, in our "
        f"own SystemVerilog; all other figures are *estimated* for the {TARGET}. The designs of PolyBench are the best "
        "ones, of the size at which they were simulated: most of SMALL, some of MINI (the page on PolyBench tells)."
    )
    return "\n\n".join(["# Gallery", intro, "\n".join(rows), *parts]) + "\n"


def reference() -> str:
    """The page that mkdocstrings fills out of docstrings."""
    parts = [f"## {title}\n\n" + "\n\n".join(f"::: {name}" for name in names) for title, names in PARTS.items()]
    intro = "Out of docstrings. The primitives have [a page of their own](primitives.md)."
    return "\n\n".join(["# Classes and functions", intro, *parts]) + "\n"


def copied(page: Path) -> str:
    """A page of docs/ for the site, where tutorials are pages."""
    return re.sub(r"\]\((tutorials/\w+)\.py\)", r"](\1.md)", page.read_text(encoding="utf-8"))


def main() -> None:
    """Write all pages."""
    shutil.rmtree(PAGES, ignore_errors=True)
    (PAGES / "gallery").mkdir(parents=True)
    (PAGES / "tutorials").mkdir()
    shutil.copytree(DOCS / "images", PAGES / "images")
    shutil.copy(DOCS / "site.css", PAGES)
    for page in DOCS.glob("*.md"):
        (PAGES / page.name).write_text(copied(page), encoding="utf-8")
    for path in (DOCS / "tutorials").glob("*.py"):
        ran = tutorial(path, ROOT)
        download = f"[As a notebook]({path.stem}.ipynb){{: download }}"
        page = ran.page(PAGES / "tutorials", path.stem).replace("\n\n## ", f"\n\n{download}\n\n## ", 1)
        (PAGES / "tutorials" / f"{path.stem}.md").write_text(page, encoding="utf-8")
        (PAGES / "tutorials" / f"{path.stem}.ipynb").write_text(ran.notebook(), encoding="utf-8")
    (PAGES / "reference.md").write_text(reference(), encoding="utf-8")
    (PAGES / "gallery.md").write_text(gallery(PAGES / "gallery"), encoding="utf-8")


if __name__ == "__main__":
    main()
