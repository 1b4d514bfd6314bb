"""Commands of `allo`, as typer reads them: each takes its options and gives back what is to be done."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from . import actions
from .designs import completions

type Action = Callable[[], int | None]

app = typer.Typer(
    help="Print, check, apply, draw, estimate, search and build schedules; say what works on this machine.",
    epilog="A design is `file.py:name`, where the name is a kernel, a schedule or a function that makes one, "
    "or a module, `file.mlir`; `-:name` and `-` read them from stdin.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Design = Annotated[
    str,
    typer.Argument(
        metavar="DESIGN", show_default=False, autocompletion=completions,
        help="file.py:name of a kernel, a schedule or a function that makes one, or file.mlir; - is stdin",
    ),
]  # fmt: skip
Designs = Annotated[
    list[str],
    typer.Argument(
        metavar="DESIGN...", show_default=False, autocompletion=completions,
        help="designs; file.py:name of a kernel, a schedule or a function that makes one, or file.mlir; - is stdin",
    ),
]  # fmt: skip
Link = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE", show_default=False,
        help="C++ or a shared object with functions that a module only declares; it runs in this process",
    ),
]  # fmt: skip


def _version(is_asked: bool) -> None:
    if is_asked:
        print(actions.versions())
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="print the version and exit")
    ] = False,
) -> None:
    pass


@app.command("print")
def _print(
    design: Design,
    link: Link = None,
    loops: Annotated[bool, typer.Option("--loops", help="the loop nests of all functions as a tree")] = False,
    python: Annotated[bool, typer.Option("--python", help="the functions as Python-like text")] = False,
    report: Annotated[bool, typer.Option("--report", help="trip counts, bytes moved, arrays and their banks")] = False,
    diff: Annotated[
        int | None, typer.Option(metavar="K", show_default=False, help="what step K (the first is 0) changed")
    ] = None,
) -> Action:
    """Print the module after all steps, or one of its other forms."""
    forms = {"loops": loops, "python": python, "report": report, "diff": diff is not None}
    return partial(actions.print_design, design, link or (), [name for name, wanted in forms.items() if wanted], diff)


@app.command("check")
def _check(
    designs: Designs,
    link: Link = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="DESIGN", show_default=False, help="compare with this, not with the unscheduled kernel"),
    ] = None,
    reassociate: Annotated[
        bool, typer.Option("--reassociate", help="sums of floats may be added in any order")
    ] = False,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="give up after this time")] = 60.0,
    json: Annotated[bool, typer.Option("--json", help="print the answer as JSON")] = False,
    certificate: Annotated[
        bool, typer.Option("--certificate", help="as JSON, with the certificate of a proof")
    ] = False,
) -> Action:
    """Apply all steps and verify the result; the exit code is the answer, of several designs the worst one.

    0: equivalent, 1: different, 2: unknown, 3: a design or the command is refused.
    """
    form = "certificate" if certificate else "json" if json else ""
    return partial(actions.check_designs, designs, link or (), against, reassociate, timeout, form)


@app.command("apply")
def _apply(
    design: Design,
    link: Link = None,
    steps: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", show_default=False,
            help="printed steps to apply behind those of the design; - is stdin",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", show_default=False, help="write the module to it")
    ] = None,
) -> Action:  # fmt: skip
    """Apply steps and print the module."""
    return partial(actions.apply_steps, design, link or (), steps, output)


@app.command("steps")
def _steps(
    design: Design,
    link: Link = None,
    mlir: Annotated[bool, typer.Option("--mlir", help="as operations; `allo apply` takes this text")] = False,
) -> Action:
    """Print the steps as Python, or as operations of MLIR behind the module."""
    return partial(actions.print_steps, design, link or (), mlir)


@app.command("draw")
def _draw(
    design: Design,
    link: Link = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", show_default=False, help="write it: .svg, .dot or .gv"),
    ] = None,
) -> Action:
    """Draw the dataflow graph: arrays and streams, what writes and reads them; without a file, print it as DOT."""
    return partial(actions.draw_design, design, link or (), output)


@app.command("estimate")
def _estimate(
    design: Design,
    link: Link = None,
    target: Annotated[str, typer.Option(help="a description of hardware, by name or as a TOML file")] = "u280",
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", show_default=False, help="who makes the hardware: vitis_hls_2023.2 or rtl"),
    ] = None,
    frequency: Annotated[
        float | None, typer.Option(metavar="MHZ", show_default=False, help="a clock other than that of the target")
    ] = None,
    auto_pipeline: Annotated[
        bool, typer.Option("--auto-pipeline", help="pipeline innermost loops, as Vitis HLS does")
    ] = False,
    unsafe_math: Annotated[
        bool, typer.Option("--unsafe-math", help="sums of floats in trees, if a profile has that")
    ] = False,
    rewritten: Annotated[
        bool, typer.Option("--rewritten", help="do to the module what is else assumed of the tool")
    ] = False,
    memory: Annotated[
        str | None, typer.Option(show_default=False, help="where arguments lie, such as HBM (default: on the chip)")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="as JSON")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", show_default=False, help="as a page with the tree of loops")
    ] = None,
) -> Action:
    """Estimate cycles and resources on hardware, with what binds them."""
    return partial(
        actions.estimate_design, design, link or (), target, profile, frequency, auto_pipeline, unsafe_math, rewritten,
        memory, json, html,
    )  # fmt: skip


@app.command("search")
def _search(
    design: Design,
    link: Link = None,
    objective: Annotated[str, typer.Option(metavar="FIGURE", help="what is to be small")] = "cycles",
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="FIGURE=MOST", show_default=False, help="the most of a figure, such as dsp=440"),
    ] = None,
    budget: Annotated[int, typer.Option(metavar="POINTS", help="how many points are looked at")] = 300,
    driver: Annotated[str, typer.Option(help="beam, evolution, exhaustive or optuna")] = "beam",
    workers: Annotated[
        int | None, typer.Option(metavar="COUNT", show_default=False, help="processes (default: one for each core)")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(metavar="FILE", show_default=False, help="keep points in a file and go on from it")
    ] = None,
    target: Annotated[str, typer.Option(help="a description of hardware, by name or as a TOML file")] = "u280",
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", show_default=False, help="who makes the hardware: vitis_hls_2023.2 or rtl"),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", show_default=False, help="write all points as a table")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", show_default=False, help="draw cycles over DSPs of all designs")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", show_default=False, help="write the steps of the best design"),
    ] = None,
) -> Action:
    """Search for schedules of a kernel: orders, lanes, pipelines, banks and stages; the best one is verified."""
    asked = {"objective": objective, "budget": budget, "driver": driver, "workers": workers, "store": store}
    hardware = {"target": target, "profile": profile}
    return partial(
        actions.search_schedules, design, link or (), limit or (), {**asked, **hardware}, csv, plot, output
    )


@app.command("build")
def _build(
    design: Design,
    link: Link = None,
    target: Annotated[str | None, typer.Option(show_default=False, help="the target (default: the CPU)")] = None,
    mode: Annotated[str | None, typer.Option(show_default=False, help="the mode of the target")] = None,
    project: Annotated[
        str | None, typer.Option(metavar="FOLDER", show_default=False, help="the folder of the project")
    ] = None,
    config: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", show_default=False, help="a setting, such as frequency=250"),
    ] = None,
) -> Action:
    """Build for a target: print the code, or write a project and say what to run next."""
    return partial(actions.build_design, design, link or (), target, mode, project, config or ())


@app.command("doctor")
def _doctor(json: Annotated[bool, typer.Option("--json", help="as JSON")] = False) -> Action:
    """Say what works on this machine, and what each target lacks: compilers, simulators, vendors' tools, packages."""
    return partial(actions.tell_what_works, json)
