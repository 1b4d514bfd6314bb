"""One design of one benchmark at one size: is it right, proved, how fast, and how long does it compile?"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import allo
from allo.ir.types import float32, float64

from . import in_c
from .accuracy import ROUNDING_ONLY, element, error, inputs, tolerance
from .benchmark import Benchmark, Design
from .suite import load
from .timing import Timing, timed

CHECKS = ("cpu", "c", "csim", "verify", "estimate", "time")
"""cpu: the design against NumPy; c: the kernel against C, equal bits; csim: the HLS code of the design, compiled and
run, against the CPU, equal bits; verify: the design is proved equal to the kernel; estimate: cycles and resources;
time: milliseconds on this CPU, measured beside C."""

TARGET = "u280"


@dataclass(frozen=True, slots=True)
class Task:
    """What to evaluate; a value that can be sent to another process or machine."""

    kernel: str
    design: str
    size: str
    checks: tuple[str, ...] = CHECKS

    @property
    def name(self) -> str:
        """The name of its file of results."""
        return f"{self.kernel}-{self.design}-{self.size}"


@dataclass(frozen=True, slots=True)
class Check:
    """How a check ended: `passed`, `failed`, `unknown` (no answer), `skipped` (a tool is missing) or `error`."""

    status: str
    detail: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Figures:
    """What the static scheduler says of a design for TARGET: all estimated, none measured."""

    cycles: int | None
    ii: int | None  # the worst of its pipelined loops
    reason: str  # of that initiation interval
    dsp: int
    bram18: int
    uram: int
    lut: int
    ff: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All that is known of a design; `compile_seconds` as `compile_seconds` below has them."""

    kernel: str
    design: str
    size: str
    checks: dict[str, Check]
    figures: Figures | None
    timing: Timing | None
    dsp_limit: int
    lines: int
    compile_seconds: float
    fingerprint: str

    @property
    def failures(self) -> list[str]:
        """The checks that failed."""
        return [name for name, check in self.checks.items() if check.status in ("failed", "error")]

    def as_json(self) -> dict[str, Any]:
        """Plain dictionaries, lists, strings and numbers."""
        return asdict(self)

    @staticmethod
    def from_json(given: dict[str, Any]) -> Evaluation:
        """The inverse of `as_json`. Raises KeyError or TypeError for anything else."""
        checks = {name: Check(**check) for name, check in given["checks"].items()}
        figures = Figures(**given["figures"]) if given["figures"] else None
        timing = Timing(**given["timing"]) if given["timing"] else None
        return Evaluation(**{**given, "checks": checks, "figures": figures, "timing": timing})

    def only(self, wanted: Iterable[str]) -> Evaluation:
        """With the checks that are `wanted` and no others, in the order of CHECKS; `compile` is the last."""
        names = [name for name in (*CHECKS, "compile") if name in self.checks and name in wanted]
        return replace(
            self,
            checks={name: self.checks[name] for name in names},
            figures=self.figures if "estimate" in names else None,
            timing=self.timing if "time" in names else None,
        )

    def with_checks_of(self, earlier: Evaluation | None) -> Evaluation:
        """With those of `earlier` that this one has not."""
        if earlier is None:
            return self
        both = replace(
            self,
            checks={**earlier.checks, **self.checks},
            figures=self.figures or earlier.figures,
            timing=self.timing or earlier.timing,
        )
        return both.only(both.checks)


def applicable(checks: Iterable[str], name: str, design: Design) -> tuple[str, ...]:
    """Those of `checks` that a design is for: the kernel itself is compared with C, accelerators are not timed here."""
    for_hardware = [check for check in ("csim", "estimate") if not design.on_cpu]
    of_the_kernel = ["c"] if name == "vanilla" else []
    on_cpu = ["time"] if name == "vanilla" or design.on_cpu else []
    known = {"cpu", "verify", *for_hardware, *of_the_kernel, *on_cpu}
    return tuple(check for check in checks if check in known)


def evaluate(task: Task) -> Evaluation:
    """Do the checks of `task`; a check that raises is an `error` of that check alone."""
    benchmark = load(task.kernel)
    design = benchmark.designs[task.design]
    compiled = compile_seconds(design, task.size)
    figures: list[Figures] = []
    timings: list[Timing] = []

    def estimate(_: Benchmark, design: Design, size: str) -> tuple[str, str]:
        figures.append(estimated(design, size, baseline=task.design == "vanilla"))
        return "passed", ""

    def measure(benchmark: Benchmark, design: Design, size: str) -> tuple[str, str]:
        if not in_c.is_available():
            return "skipped", "gcc is missing"
        timings.extend(timed(benchmark, [design], size))
        return "passed", ""

    run: dict[str, Callable[[Benchmark, Design, str], tuple[str, str]]] = {
        "cpu": _on_cpu,
        "c": _like_c,
        "csim": _in_csim,
        "verify": _verified,
        "estimate": estimate,
        "time": measure,
    }
    checks = {name: _checked(run[name], benchmark, design, task) for name in task.checks}
    return Evaluation(
        task.kernel,
        task.design,
        task.size,
        checks,
        figures[0] if figures else None,
        timings[0] if timings else None,
        design.dsp,
        design.lines(),
        compiled,
        fingerprint(task),
    )


@cache
def _warm() -> None:
    """The first module of a process pays for loading passes and dialects."""
    for target in ("vhls", None):
        load("atax").designs["best"].customized("MINI").build(target=target)


def compile_seconds(design: Design, size: str) -> float:
    """CPU time of customize, all primitives and the HLS code, in a process that has compiled before.

    Of a design for a CPU, instead of the HLS code, the passes down to LLVM.
    """
    _warm()
    start = time.process_time()
    design.customized(size).build(target=None if design.on_cpu else "vhls")
    return time.process_time() - start


@cache
def _sources() -> str:
    """A digest of the library and of this package, whose change makes results stale."""
    digest = hashlib.sha256()
    for folder in (Path(allo.__file__).parent, Path(__file__).parent):
        for path in sorted(p for p in folder.rglob("*") if p.suffix in (".py", ".so", ".h", ".c", ".toml")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def fingerprint(task: Task) -> str:
    """Equal for equal results: of the sources and of the design; not of the checks, which are known one by one."""
    return hashlib.sha256("\n".join((_sources(), task.name)).encode()).hexdigest()[:16]


def estimated(design: Design, size: str, *, baseline: bool = False) -> Figures:
    """The figures of the design; a `baseline` gets what the vendor's tool does to code without any pragma."""
    s = design.customized(size)
    estimate = allo.estimate(s, target=TARGET, auto_pipeline=baseline, operators=design.operators)
    pipelined = [loop for loop in estimate.loops if loop.state == "pipelined" and loop.interval is not None]
    worst = max(pipelined, key=lambda loop: loop.interval or 0, default=None)
    return Figures(
        estimate.cycles,
        estimate.interval,
        str(worst.reason) if worst else "",
        estimate.dsp,
        estimate.bram18,
        estimate.uram,
        estimate.lut,
        estimate.ff,
    )


def _checked(
    check: Callable[[Benchmark, Design, str], tuple[str, str]],
    benchmark: Benchmark,
    design: Design,
    task: Task,
) -> Check:
    start = time.perf_counter()
    try:
        status, detail = check(benchmark, design, task.size)
    except Exception as problem:  # one check must not cost the results of the others
        status, detail = "error", f"{type(problem).__name__}: {problem}"
    return Check(status, detail, time.perf_counter() - start)


def _arguments(benchmark: Benchmark, size: str) -> tuple[Any, ...]:
    return inputs(benchmark.name, size)


def _on_cpu(benchmark: Benchmark, design: Design, size: str) -> tuple[str, str]:
    """The design computes what NumPy does, up to rounding."""
    if (benchmark.name, float32) in ROUNDING_ONLY and size != "MINI":
        return "unknown", "the results in float32 are rounding errors; `c` compares them in float64"
    got, wanted = _arguments(benchmark, size), _arguments(benchmark, size)
    design.customized(size).build()(*got)
    benchmark.reference(size, *wanted)
    difference, allowed = error(benchmark.name, got, wanted), tolerance(benchmark.name)
    return _verdict(
        difference <= allowed
    ), f"relative error {difference:.1e}, rounding explains {allowed:.0e}"


def _like_c(benchmark: Benchmark, _: Design, size: str) -> tuple[str, str]:
    """The kernel computes what the loops in C do, bit for bit, in the type of the original."""
    if not in_c.is_available():
        return "skipped", "gcc is missing"
    T = element(benchmark.name, float64)
    got, wanted = inputs(benchmark.name, size, T), inputs(benchmark.name, size, T)
    allo.customize(benchmark.kernel(size, T)).build()(*got)
    with tempfile.TemporaryDirectory() as folder:
        in_c.compile_c(benchmark, size, str(T), Path(folder), options=in_c.EXACT)(*wanted)
    return _same(got, wanted)


def _in_csim(benchmark: Benchmark, design: Design, size: str) -> tuple[str, str]:
    """The C++ for the HLS tool, compiled and run here, computes what the CPU does, bit for bit."""
    s = design.customized(size)
    got, wanted = _arguments(benchmark, size), _arguments(benchmark, size)
    s.build(target="vitis_hls", mode="csim")(*got)
    s.build()(*wanted)
    return _same(got, wanted)


def _verified(benchmark: Benchmark, design: Design, size: str) -> tuple[str, str]:
    """The design is equivalent to the kernel of the benchmark."""
    answer = allo.verify(
        allo.customize(benchmark.kernel(size)), design.customized(size), reassociate=design.reassociated
    )
    status = {"Equivalent": "passed", "Different": "failed"}.get(type(answer).__name__, "unknown")
    return status, str(answer)


def _same(got: tuple[Any, ...], wanted: tuple[Any, ...]) -> tuple[str, str]:
    pairs = [(g, w) for g, w in zip(got, wanted, strict=True) if isinstance(g, np.ndarray)]
    different = sum(int((g.view(np.uint8) != w.view(np.uint8)).any()) for g, w in pairs)
    return _verdict(
        not different
    ), f"{different} of {len(pairs)} arrays differ" if different else "equal bits"


def _verdict(passed: bool) -> str:
    return "passed" if passed else "failed"
