"""How long `allo.verify` takes, how much memory, and what it finds: `python -m benchmarks.verify [gemm polybench ...]`.

Each row is measured in a process of its own. `--json FILE` also writes the rows there; `--store` writes those of each
section to `benchmarks/results/`, with the date and how many answers of each kind there were, and the table of
`docs/verification-details.md` with them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import allo
import polybench
from allo import Schedule
from allo.ir.types import float32
from allo.library.systolic import schedule_systolic, systolic
from allo.verify import Equivalent, Result, Unknown, load
from allo.verify.certificate import problems

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "verification-details.md"
START, END = "<!-- measured -->\n", "<!-- end of measured -->\n"
LISTED = {  # what the page tells of, and which answers would be wrong
    "mutants": "designs of `polybench/` with a random fault",
    "random": "random legal schedules of random kernels",
    "programs": "schedules of `tests/programs/`",
}
SIZE = "MEDIUM"
MUTANTS = 20  # of each program
RANDOM_CHUNK = 50  # kernels with four schedules each
BY_GRAPHS = "array dataflow graphs of any size"
TILE = 16  # processing elements along each side of the systolic array

type Row = dict[str, Any]


def gemm(n: int) -> Callable[..., None]:
    def gemm(A: float32[n, n], B: float32[n, n], C: float32[n, n]):
        for i, j in allo.grid(n, n):
            C[i, j] = 0.0
            for k in range(n):
                C[i, j] += A[i, k] * B[k, j]

    return gemm


def row_wise(n: int) -> Schedule:
    s = allo.customize(gemm(n))
    s.reorder("k", "j")
    s.buffer_at(s.C, axis="i")
    s.pipeline("j")
    return s


def tiled(n: int) -> Schedule:
    s = allo.customize(gemm(n))
    s.reorder("k", "j")
    (i, ii), (j, jj), (k, kk) = s.split("S_i_j_0.i", 32), s.split("S_i_j_0.j", 32), s.split("k", 32)
    s.reorder(i, k, j, kk, ii, jj)
    return s


def in_array(n: int) -> Schedule:
    def top(A: float32[n, n], B: float32[n, n], C: float32[n, n]):
        systolic[float32, float32, float32, n, n, n, TILE, TILE](A, B, C)

    s = allo.customize(top)
    schedule_systolic(s, "systolic")
    return s


GEMM = {"row-wise": row_wise, "tiled": tiled, "systolic": in_array}


def answered(name: str, a: Any, b: Any, **options: Any) -> Row:
    """One comparison; the certificate of a proof is checked after the time was taken."""
    start = time.perf_counter()
    result: Result = allo.verify(a, b, **options)
    seconds = time.perf_counter() - start
    row: Row = {"name": name, "answer": type(result).__name__, "seconds": round(seconds, 2)}
    row["method"] = getattr(result, "method", "")
    if not isinstance(result, Equivalent):
        row["told"] = str(result).splitlines()[1].strip()
    elif result.method == BY_GRAPHS:
        allowed = {"reassociate": options.get("reassociate", False)}
        row["certificate"] = problems(result.certificate.to_json(), load(a), load(b), **allowed) or "holds"
    return row


def gemm_row(name: str) -> Row:
    kind, size = name.split()
    return answered(name, gemm(int(size)), GEMM[kind](int(size)))


def polybench_row(name: str) -> Row:
    benchmark, design = name.split()
    found = polybench.load(benchmark)
    chosen = found.designs[design]
    return answered(name, found.kernel(SIZE), chosen.customized(SIZE), reassociate=chosen.reassociated)


def mutants_row(name: str) -> Row:
    """Random faults in a design: what is found, and whether what is called equivalent differs when it is run."""
    from tests.verify.mutants import mutants

    found = polybench.load(name)
    designs = [found.designs[d] for d in ("best", "vanilla") if d in found.designs]
    s = designs[0].customized("MINI") if designs else allo.customize(found.kernel("MINI"))
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    undecided: list[str] = []
    seed = random.Random(name).randrange(1 << 30)
    for mutant in mutants(s.ir, MUTANTS, seed):
        result = allo.verify(s, mutant.module)
        counts[type(result).__name__] += 1
        if result and type(allo.verify(s, mutant.module, method="differential")).__name__ == "Different":
            wrong.append(f"{mutant.kind}: {mutant.what}")
        if isinstance(result, Unknown):
            undecided.append(f"{mutant.kind}: {mutant.what}: {result.reason}")
    equal, unknown = counts["Equivalent"], counts["Unknown"]
    told = f"{counts['Different']} different, {equal} equal, {unknown} unknown, {len(wrong)} wrongly equal"
    return {"name": name, "answer": told, "seed": seed, "wrong": wrong, "undecided": undecided, "counts": counts}


def random_row(name: str) -> Row:
    """Random legal schedules of random kernels."""
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis import strategies as st

    from tests.customize.random_kernels import load as load_kernel
    from tests.customize.random_kernels import programs
    from tests.customize.test_random import random_sequence

    counts: Counter[str] = Counter()
    told: list[str] = []
    with tempfile.TemporaryDirectory() as folder:

        @seed(int(name))
        @settings(
            max_examples=RANDOM_CHUNK,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(st.data())
        def run(data: st.DataObject) -> None:
            kernel = load_kernel(data.draw(programs(run_time=False)), Path(folder))
            for _ in range(4):
                s = random_sequence(data, kernel)
                result = s.verify()
                counts[type(result).__name__] += 1
                if not result:
                    told.append(f"{result}\n{kernel.source}\n{s.steps}")

        run()
    answer = ", ".join(f"{number} {answer.lower()}" for answer, number in sorted(counts.items()))
    return {"name": name, "answer": answer, "seed": int(name), "told": told, "counts": counts}


def programs_row(name: str) -> Row:
    """All schedules that the tests of whole designs build."""
    import pytest

    found: dict[str, Schedule] = {}
    build = Schedule.build

    def recorded(self: Schedule, *arguments: Any, **named: Any) -> Any:
        if self.steps:
            found.setdefault(str(self.module), self.copy())
        return build(self, *arguments, **named)

    Schedule.build = recorded  # type: ignore[method-assign]
    pytest.main(["-q", "-n", "0", "-m", "", "-p", "no:cacheprovider", str(ROOT / "tests/programs")])
    rows = []
    for number, s in enumerate(found.values()):
        rows.append(answered(f"{number} {s.top_func_name}, {len(s.steps)} steps", Schedule(s.state(0)), s))
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    counts = Counter(row["answer"] for row in rows)
    answer = ", ".join(f"{number} {answer.lower()}" for answer, number in sorted(counts.items()))
    return {"name": name, "answer": answer, "rows": rows, "counts": counts}


SECTIONS: dict[str, tuple[Callable[[str], Row], Callable[[], Iterator[str]]]] = {
    "gemm": (gemm_row, lambda: (f"{kind} {size}" for size in (1024, 4096) for kind in GEMM)),
    "polybench": (
        polybench_row,
        lambda: (f"{name} {design}" for name in polybench.NAMES for design in polybench.load(name).designs),
    ),
    "programs": (programs_row, lambda: iter(["all"])),
    "mutants": (mutants_row, lambda: iter(polybench.NAMES)),
    "random": (random_row, lambda: map(str, range(10))),
}


def measured(section: str, name: str) -> Row:
    """A row from a process of its own, with the time and memory of the whole process."""
    command = [sys.executable, "-m", "benchmarks.verify", "--row", section, name]
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        output.seek(0)
        lines = output.read().splitlines()
    row: Row = {"section": section, "name": name, "answer": f"failed with status {status}"}
    if status == 0 and lines:
        row |= json.loads(lines[-1])
    row["process_seconds"] = round(usage.ru_utime + usage.ru_stime, 1)
    row["gigabytes"] = round(usage.ru_maxrss / (1 << 20), 2)
    return row


def summary(section: str, rows: list[Row]) -> dict[str, Any]:
    """What is kept of a section: when it was measured, how many answers of each kind there were, and its rows."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(row.get("counts") or [row["answer"]])
    slowest = max((part.get("seconds", 0.0) for row in rows for part in (row, *row.get("rows", ()))), default=0.0)
    return {
        "section": section,
        "date": datetime.now(UTC).date().isoformat(),
        "counts": dict(sorted(counts.items())),
        "wrongly_equal": sum(len(row.get("wrong", ())) for row in rows),
        "slowest_seconds": slowest,
        "process_seconds": round(sum(row["process_seconds"] for row in rows), 1),
        "gigabytes": max(row["gigabytes"] for row in rows),
        "rows": rows,
    }


def table() -> str:
    """The rows of `docs/verification-details.md`, from the stored results."""
    lines = [
        "| compared with the original | cases | `Equivalent` | `Different` | `Unknown` | wrong "
        "| CPU time | memory | date |",
        "|---|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for section, what in LISTED.items():
        file = RESULTS / f"verify_{section}.json"
        if not file.exists():
            continue
        kept = json.loads(file.read_text())
        counts = Counter(kept["counts"])
        answers = [counts[name] for name in ("Equivalent", "Different", "Unknown")]
        wrong = kept["wrongly_equal"] if section == "mutants" else counts["Different"]
        measures = f"{kept['process_seconds']:.0f} s | {kept['gigabytes']} GB | {kept['date']}"
        lines.append(f"| {what} | {counts.total()} | {' | '.join(map(str, answers))} | {wrong} | {measures} |")
    return "\n".join(lines) + "\n"


def write_page() -> None:
    """Put the table into the page."""
    before, _, rest = PAGE.read_text().partition(START)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{START}{table()}{END}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", default=[], help=f"some of {', '.join(SECTIONS)}")
    parser.add_argument("--json", type=Path, help="write all rows to this file")
    parser.add_argument("--store", action="store_true", help="write each section to benchmarks/results/")
    parser.add_argument("--row", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        section, name = options.row
        print(json.dumps(SECTIONS[section][0](name)), flush=True)
        return
    rows: list[Row] = []
    print(f"{'section':10} {'case':28} {'answer':44} {'seconds':>8} {'GB':>5}  method")
    for section in options.sections or SECTIONS:
        for name in SECTIONS[section][1]():
            row = measured(section, name)
            rows.append(row)
            seconds = row.get("seconds", row["process_seconds"])
            print(
                f"{section:10} {row['name']:28} {row['answer']:44} {seconds:8.2f} {row['gigabytes']:5.2f}"
                f"  {row.get('method', '')} {row.get('told', '') if section == 'polybench' else ''}",
                flush=True,
            )
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1) + "\n")
        if options.store:
            RESULTS.mkdir(exist_ok=True)
            kept = summary(section, [row for row in rows if row["section"] == section])
            (RESULTS / f"verify_{section}.json").write_text(json.dumps(kept, indent=1) + "\n")
            write_page()


if __name__ == "__main__":
    main()
