"""Files that the page of results links to: schedule, code and report of each design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import allo

from .benchmark import Design
from .evaluation import TARGET, Evaluation
from .suite import load

FOLDER = "designs"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of a design, by what the page calls it; `path` is that from the page."""

    label: str
    path: str


def attachments(result: Evaluation) -> tuple[Attachment, ...]:
    """The files of a design."""
    design = load(result.kernel).designs[result.design]
    name = f"{FOLDER}/{result.kernel}-{result.design}-{result.size}"
    code = "ll" if design.on_cpu else "cpp"
    files = {"schedule": "schedule.txt", "code": f"code.{code}", "report": "report.html"}
    return tuple(Attachment(label, f"{name}.{ending}") for label, ending in files.items())


def write_attachments(results: Sequence[Evaluation], folder: Path) -> None:
    """Write the files of all designs beside the page. Raises OSError if that cannot be."""
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    for result in results:
        design = load(result.kernel).designs[result.design]
        schedule = design.customized(result.size)
        texts = (_schedule(result, schedule), _code(design, schedule), _report(result, design, schedule))
        for attachment, text in zip(attachments(result), texts, strict=True):
            (folder / attachment.path).write_text(text, encoding="utf-8")


def _schedule(result: Evaluation, schedule: allo.Schedule) -> str:
    head = f"# {result.kernel} {result.design}, {result.size}: s = allo.customize(kernel), then\n"
    return f"{head}{schedule.steps or '# no step\n'}\n\n# which makes\n\n{schedule.pseudocode()}\n"


def _code(design: Design, schedule: allo.Schedule) -> str:
    return schedule.build().llvm if design.on_cpu else schedule.build(target="vhls").hls_code


def _report(result: Evaluation, design: Design, schedule: allo.Schedule) -> str:
    if not design.on_cpu:
        found = schedule.report(
            target=TARGET, auto_pipeline=result.design == "vanilla", operators=design.operators
        )
        return found.to_html()
    title = escape(f"{result.kernel} {result.design}, {result.size}")
    return f"<!DOCTYPE html><meta charset='utf-8'><title>{title}</title><pre>{escape(str(schedule.report()))}</pre>\n"
