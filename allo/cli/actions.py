"""Actions of the command: what each does with a design, and its exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..customize import Schedule
from ..customize.step.text import parse_steps
from ..equivalence import verify
from ..errors import AlloError, counted
from ..search import search
from ..verify import Different, Equivalent
from .designs import STDIN, TYPED, DesignFailed, WrongCommand, load, read, split_name
from .doctor import findings, system
from .output import complain, complain_of_design, show, tell, write

EQUIVALENT, DIFFERENT, UNKNOWN, REFUSED = 0, 1, 2, 3  # exit codes of `check`


def versions() -> str:
    """The versions of this package and of what it stands on."""
    return f"allo {version('allo')} (MLIR {version('xtc-mlir-python-bindings')}, Python {sys.version.split()[0]})"


def print_design(design: str, link: Sequence[str], forms: Sequence[str], step: int | None) -> None:
    """`allo print`."""
    if len(forms) > 1:
        raise WrongCommand(f"--{forms[0]} and --{forms[1]} are two forms; say one")
    schedule = load(design, link)
    match forms:
        case ["loops"]:
            trees = [schedule.get_loops(function.name.value) for function in schedule.ir.functions()]
            show("\n".join(map(str, trees)), "text")
        case ["python"]:
            show(schedule.pseudocode(), "python")
        case ["report"]:
            show(schedule.report(), "text")
        case ["diff"] if step is not None:
            show(schedule.diff(step), "diff")
        case _:
            show(schedule.module, "llvm")


def estimate_design(
    design: str,
    link: Sequence[str],
    target: str,
    profile: str | None,
    frequency: float | None,
    auto_pipeline: bool,
    unsafe_math: bool,
    rewritten: bool,
    memory: str | None,
    as_json: bool,
    page: Path | None,
) -> None:
    """`allo estimate`."""
    if as_json and page is not None:
        raise WrongCommand("--json and --html are two forms; say one")
    found = load(design, link).report(
        target, profile=profile, frequency=frequency, auto_pipeline=auto_pipeline,
        unsafe_math=unsafe_math, rewritten=rewritten, memory=memory,
    )  # fmt: skip
    if page is not None:
        write(page, found.to_html())
    elif as_json:
        show(found.to_json(), "json")
    else:
        show(found, "text")


def search_schedules(
    design: str,
    link: Sequence[str],
    limits: Sequence[str],
    asked: Mapping[str, Any],
    csv: Path | None,
    plot: Path | None,
    steps: Path | None,
) -> None:
    """`allo search`."""
    found = search(load(design, link), constraints=dict(map(_limit, limits)), **asked)
    show(found, "text")
    if csv is not None:
        found.to_csv(csv)
    if plot is not None:
        found.plot(plot)
    if steps is not None:
        write(steps, str(found.schedule().steps))


def _limit(text: str) -> tuple[str, float]:
    """The figure and its most of `dsp=440`."""
    name, _, most = text.partition("=")
    try:
        return name, float(most)
    except ValueError:
        raise WrongCommand(f"--limit takes FIGURE=MOST, such as dsp=440, got '{text}'") from None


def check_designs(
    designs: Sequence[str], link: Sequence[str], against: str | None, reassociate: bool, timeout: float, form: str
) -> int:
    """`allo check`: of several designs all are looked at, and what is worst is the exit code."""
    if against is not None and any(split_name(d)[0] == split_name(against)[0] == STDIN for d in designs):
        raise WrongCommand("only one of the two designs can be read from stdin")
    if len(designs) == 1:
        return _checked(designs[0], link, against, reassociate, timeout, form)
    if form:
        raise WrongCommand(f"--{form} is a form of one answer, and these are {len(designs)} designs")
    codes = set()
    for design in designs:
        show(f"== {design}", "text")
        try:
            codes.add(_checked(design, link, against, reassociate, timeout, form))
        except AlloError as error:
            complain(str(error))
            codes.add(REFUSED)
        except DesignFailed as failed:
            complain_of_design(failed)
            codes.add(REFUSED)
    return next(code for code in (DIFFERENT, REFUSED, UNKNOWN, EQUIVALENT) if code in codes)


def _checked(
    design: str, link: Sequence[str], against: str | None, reassociate: bool, timeout: float, form: str
) -> int:
    schedule = load(design, link)
    is_module = against is not None and Path(against).suffix == ".mlir"
    other = schedule.state(0) if against is None else load(against, link if is_module else ())
    result = verify(other, schedule, reassociate=reassociate, timeout=timeout)
    if form:
        show(result.to_json(certificate=form == "certificate"), "json")
    else:
        show(f"{schedule.top_func_name}: the kernel is valid; {counted(len(schedule.steps), 'step')} accepted", "text")
        proven = f"equivalent to {against or 'the unscheduled kernel'}"
        show(f"{proven}, by {result.method}" if isinstance(result, Equivalent) else result, "text")
    if isinstance(result, Equivalent):
        return EQUIVALENT
    return DIFFERENT if isinstance(result, Different) else UNKNOWN


def apply_steps(design: str, link: Sequence[str], steps: str | None, output: Path | None) -> None:
    """`allo apply`."""
    if steps == split_name(design)[0] == STDIN:
        raise WrongCommand("only one of the design and its steps can be read from stdin")
    schedule = load(design, link)
    if steps is not None:
        schedule.replay(parse_steps(read(steps), Schedule.primitives(), TYPED if steps == STDIN else steps))
    if output is None:
        show(schedule.module, "llvm")
    else:
        write(output, f"{schedule.module}\n")


def print_steps(design: str, link: Sequence[str], mlir: bool) -> None:
    """`allo steps`."""
    schedule = load(design, link)
    text = schedule.to_mlir() if mlir else str(schedule.steps)
    if text:
        show(text.rstrip("\n"), "llvm" if mlir else "python")


def draw_design(design: str, link: Sequence[str], output: Path | None) -> None:
    """`allo draw`."""
    drawing = load(design, link).draw()
    if output is None:
        show(drawing.dot.rstrip("\n"), "text")
        return
    try:
        drawing.save(output)
    except ValueError as error:
        raise WrongCommand(str(error)) from None
    except OSError as error:
        raise WrongCommand(f"cannot write '{output}': {error.strerror}") from None


def build_design(
    design: str, link: Sequence[str], target: str | None, mode: str | None, project: str | None, config: Sequence[str]
) -> None:
    """`allo build`."""
    configs = _settings(config) if config else None
    schedule = load(design, link)
    built: Any = schedule.build(target=target or "llvm", mode=mode, project=project, configs=configs)
    if project is None:
        show(built, "cpp" if target not in (None, "llvm") else "llvm")
        return
    tell(f"the project is in {built.project.folder}")
    for command in built.commands:
        tell(f"run next: {command}")
    if not built.commands:
        tell(f"what to do with it: {built.project.folder / 'README.md'}")


def tell_what_works(as_json: bool) -> None:
    """`allo doctor`."""
    found = findings()
    if as_json:
        told = {"versions": versions(), "system": system(), "findings": [asdict(one) for one in found]}
        show(json.dumps(told, indent=2), "json")
        return
    width = max(len(one.label) for one in found)
    show("\n".join([f"{versions()} on {system()}", "", *(f"{one.label:<{width}}  {one}" for one in found)]), "text")


def _settings(entries: Sequence[str]) -> dict[str, Any]:
    """`NAME=VALUE` as settings; a value is JSON, or else text."""
    settings: dict[str, Any] = {}
    for entry in entries:
        name, sign, text = entry.partition("=")
        if not sign:
            raise WrongCommand(f"--config {entry}: write it as NAME=VALUE")
        try:
            settings[name] = json.loads(text)
        except ValueError:
            settings[name] = text
    return settings
