"""Random pipelines of tasks on grids, with random steps that bundle and chain them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, cast

import numpy as np

import allo
import allo.dataflow as df
from allo.backend.aie.module import AIEModule
from allo.errors import TargetError
from allo.mapping import flows_of
from tests.dataflow.random_graphs import loaded
from tests.mapping.switches.walked import assert_legal

HEAD = (
    "import allo\nimport allo.dataflow as df\nfrom allo.ir.types import Stream, int8, int16, int32, uint8\n"
    "from allo.memory import Layout\n\n\n"
)
_ATTEMPTS = 20  # programs of a seed, so that each seed has one that is run
_APART = 1_000_003
RANGES = ["8", "8", "8", "3", "0", "5, 5", "2, 7", "1, 8, 2", "0, 8, 2"]
CONDITIONS = [
    *("a[{x}] > 0", "c[{y}] > 0", "{i} < {j}", "{i} + p < 5", "{i} % 2 == 0", "p == 1", "2 * {i} >= 7", "{i} <= 8")
]
SUBSCRIPTS = ["{i}", "{i}", "7 - {i}", "{i} // 2", "{i} % 4", "({i} + {j}) % 8"]
VALUES = ["a[{x}] + 1", "c[{x}] * 3 + a[{y}]", "c[{x}] - c[{y}]", "{i} * 3 - p", "7"]
EXPRESSIONS = ["{x} + 1", "{x} * 3", "{x} - {w}", "{x} * {w} + 2", "-{x}"]


@dataclass(frozen=True, slots=True)
class Mapped:
    """A program: its text, the shapes of its arguments, and steps that place it."""

    text: str
    kind: str
    shapes: dict[str, tuple[int, ...]]
    steps: list[tuple[str, list[str]]]

    def arrays(self, random: Random) -> list[np.ndarray[Any, Any]]:
        """Arguments for a call."""
        state = np.random.default_rng(random.randrange(1 << 30))
        kind = np.dtype(self.kind)
        low = 0 if kind.kind == "u" else -100
        return [state.integers(low, 100, shape).astype(kind) for shape in self.shapes.values()]

    def region(self, folder: Path, seed: int) -> Callable[..., Any]:
        """The region."""
        return loaded(self.text, folder / f"mapped_{seed}.py", "top")


def compare(
    make: Callable[[int], Mapped], folder: Path, seed: int, limits: Sequence[str], steps: str | None = None
) -> AIEModule:
    """Build the first program for the array of those that a seed makes, and compare a call with the reference, which
    runs one task at a time, and the simulator; those that are refused with what `limits` tell of make room for another.

    `steps` map it, its own ones if None.
    """
    for attempt in range(_ATTEMPTS):
        number = seed + attempt * _APART
        made = make(number)
        region = made.region(folder, number)
        try:
            built = df.build(region, target="npu-model", mapping_primitives=made.steps if steps is None else steps)
        except TargetError as error:
            if not any(limit in str(error) for limit in limits):
                raise
            continue
        seen = made.arrays(Random(number))
        wanted, one_at_a_time = ([array.copy() for array in seen] for _ in range(2))
        df.build(region)(*wanted)
        allo.interpret(region)(*one_at_a_time)
        built(*seen)
        for one, other, reference in zip(seen, wanted, one_at_a_time, strict=True):
            np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(one, reference)
        plan = cast(AIEModule, built).plan
        flows = list(flows_of(plan.fifos, plan.routes, plan.placement))
        assert_legal(plan.routing, flows, plan.array.columns, plan.array.core_rows)
        return cast(AIEModule, built)
    raise AssertionError(f"none of {_ATTEMPTS} programs of seed {seed} fits")


def program(seed: int) -> Mapped:
    """A pipeline of stages: the first reads A, the last writes B, all may read W; blocks go from stage to stage.

    In some programs there is one block of each stream, outside of loops, which may be read backwards.
    """
    random = Random(seed)
    kind = random.choice(["int8", "int16", "int32", "int32", "uint8"])
    positions, stages = random.randint(1, 5), random.randint(1, 3)
    rounds, length = random.randint(1, 4), random.choice([4, 8, 12])
    is_scalar = random.random() < 0.25
    is_single = not is_scalar and random.random() < 0.4
    rounds, stages = (1, stages + random.randint(0, 2)) if is_single else (rounds, stages)
    joins = stages > 1 and positions > 1 and random.random() < 0.3
    columns = random.random() < 0.3
    shape = (rounds, length * positions) if columns else (rounds * positions, length)
    layout = 'Layout("RS0")' if columns else 'Layout("S0R")'
    shapes = {"A": shape, "B": (rounds, length) if joins else shape, "W": (length,)}
    declared = ", ".join(
        f"{name}: {kind}[{', '.join(map(str, extents))}]" for name, extents in shapes.items()
    )
    lines = ["@df.region()", f"def top({declared}):"]
    for k in range(stages - 1):
        block = kind if is_scalar else f"{kind}[{length}]"
        lines.append(f"    s{k}: Stream[{block}, {random.randint(2, 4)}][{positions}]")
    whole = f"{kind}[{shape[0]}, {shape[1]}]"
    for k in range(stages):
        last_joins = joins and k == stages - 1
        given = (["A"] if k == 0 else []) + (["B"] if k == stages - 1 else []) + ["W"]
        part = f"{whole} @ {layout}"
        kinds = {
            "A": part,
            "B": f"{kind}[{rounds}, {length}]" if last_joins else part,
            "W": f"{kind}[{length}]",
        }
        parameters = ", ".join(f"{name.lower()}: {kinds[name]}" for name in given)
        lines += [
            "",
            f"    @df.kernel(mapping=[{1 if last_joins else positions}], args=[{', '.join(given)}])",
        ]
        lines += [f"    def t{k}({parameters}):"]
        body = _body(random, k, stages, rounds, length, kind, is_scalar, positions if last_joins else 0)
        lines += _single(random, body, length) if is_single else body
    steps = _steps(random, positions, stages, joins)
    if is_single and stages > 2 and not joins and random.random() < 0.6:
        steps = _columns(random, positions, stages)
    return Mapped(HEAD + "\n".join(lines) + "\n", kind, shapes, steps)


def ring(seed: int) -> Mapped:
    """Positions on a ring or a line that pass blocks to the next one, in turn with their own work; some share cores."""
    random = Random(seed)
    kind, length = random.choice(["int16", "int32"]), random.choice([4, 8])
    positions, rounds, reach = random.randint(2, 5), random.randint(1, 4), random.choice([1, 1, 2])
    reach = 1 if positions == 2 else reach  # no stream to itself
    is_line = random.random() < 0.4
    whole = f"{kind}[{positions * length}]"
    lines = ["@df.region()", f"def top(A: {whole}, B: {whole}):"]
    lines += [f"    pass_on: Stream[{kind}[{length}], {random.randint(1, 3)}][{positions}]", ""]
    lines += [f"    @df.kernel(mapping=[{positions}], args=[A, B])"]
    lines += [f'    def cell(a: {whole} @ Layout("S0"), b: {whole} @ Layout("S0")):']
    lines += ["        p = df.get_pid()", f"        o: {kind}[{length}] = 0", f"        for j in range({length}):"]
    lines += ["            o[j] = a[j]", f"        for _r in range({rounds}):"]
    target = f"(p + {reach}) % {positions}"
    if is_line:
        lines += ["            with allo.meta_if(p > 0):", "                o[:] = allo.add(o, pass_on[p].get())"]
        lines += [f"            with allo.meta_if(p < {positions - 1}):", "                pass_on[p + 1].put(o)"]
    else:
        lines += [f"            pass_on[{target}].put(o)", f"            n: {kind}[{length}] = pass_on[p].get()"]
        lines += [f"            for j in range({length}):", f"                o[j] = o[j] * 3 + n[{length - 1} - j]"]
    lines += [f"        for j in range({length}):", "            b[j] = o[j]"]
    shapes = {"A": (positions * length,), "B": (positions * length,)}
    steps = []
    if random.random() < 0.6:
        names = [f"cell_{p}" for p in range(positions)]
        first = random.randrange(positions - 1)
        chosen = names[first : random.randint(first + 2, positions)]
        if random.random() < 0.2:
            chosen.reverse()
        steps = [(random.choice(["bundle", "bundle", "chain"]), chosen)]
    return Mapped(HEAD + "\n".join(lines) + "\n", kind, shapes, steps)


def updated(seed: int) -> Mapped:
    """Tasks that read, overwrite or update all or some elements of an array, in loops and branches of all kinds."""
    random = Random(seed)
    kind, positions, rank = random.choice(["int8", "int16", "int32"]), random.randint(1, 3), random.choice([1, 1, 2])
    shape, part = (8 * positions, 8)[:rank], ' @ Layout("S0")' if rank == 1 else ' @ Layout("S0R")'
    whole = f"{kind}[{', '.join(map(str, shape))}]"
    lines = ["@df.region()", f"def top(A: {whole}, C: {whole}):", f"    @df.kernel(mapping=[{positions}], args=[A, C])"]
    lines += [f"    def t(a: {whole}{part}, c: {whole}{part}):", "        p = df.get_pid()"]
    if random.random() < 0.6:
        place = ["u", "u, v"][rank - 1]
        names = {"i": "u", "j": "v", "x": place, "y": place}
        branch = random.choice(CONDITIONS).format(**names) if random.random() < 0.3 else "u >= 0"
        lines += ["        for u, v in allo.grid(8, 8):", f"            if {branch}:"]
        lines += [f"                c[{place}] = a[{place}] * 2"]
    lines += [" " * 8 + line for line in _updates(random, rank, [])]
    steps = [("bundle", [f"t_{p}" for p in range(positions)])] if positions > 1 and random.random() < 0.3 else []
    return Mapped(HEAD + "\n".join(lines) + "\n", kind, dict.fromkeys("AC", shape), steps)


def _updates(random: Random, rank: int, loops: Sequence[str], depth: int = 0) -> list[str]:
    def indented(inside: Sequence[str]) -> list[str]:
        return ["    " + line for line in _updates(random, rank, inside, depth + 1)]

    lines = []
    for _ in range(random.choice([1, 2, 2])):
        choice, own = random.random(), [*loops, f"i{len(loops)}"]
        if not loops or (depth < 4 and choice < 0.4):
            lines += [f"for {own[-1]} in range({random.choice(RANGES)}):", *indented(own)]
            continue
        names = {"i": random.choice(loops), "j": random.choice(loops)}
        places = [", ".join(random.choice(SUBSCRIPTS).format(**names) for _ in range(rank)) for _ in "zxy"]
        names |= dict(zip("zxy", places, strict=True))
        if depth < 4 and choice < 0.65:
            lines += [f"if {random.choice(CONDITIONS).format(**names)}:", *indented(loops)]
            lines += ["else:", *indented(loops)] if random.random() < 0.5 else []
        else:
            pattern = f"c[{{z}}] {random.choice(['=', '=', '+='])} {random.choice(VALUES)}"
            lines.append(pattern.format(**names))
    return lines


def _body(
    random: Random, k: int, stages: int, rounds: int, length: int, kind: str, is_scalar: bool, joined: int
) -> list[str]:
    pad = "        "
    uses = random.random() < 0.6
    expression = random.choice(EXPRESSIONS).format(x="x", w="w[j]" if uses else "2")
    lines = [] if joined else [f"{pad}p = df.get_pid()"]
    lines.append(f"{pad}for i in range({rounds}):")
    sources = [f"s{k - 1}[{m}]" for m in range(joined)] if joined else [f"s{k - 1}[p]"]
    if k and not is_scalar:
        lines += [f"{pad}    b{m}: {kind}[{length}] = {source}.get()" for m, source in enumerate(sources)]
    if k < stages - 1 and not is_scalar:
        lines.append(f"{pad}    o: {kind}[{length}] = 0")
    lines.append(f"{pad}    for j in range({length}):")
    if k == 0:
        lines.append(f"{pad}        x: {kind} = a[i, j]")
    else:
        terms = [f"{source}.get()" if is_scalar else f"b{m}[j]" for m, source in enumerate(sources)]
        lines.append(f"{pad}        x: {kind} = {terms[0]}")
        lines += [f"{pad}        x = x * 3 + {term}" for term in terms[1:]]
    lines.append(f"{pad}        y: {kind} = {expression}")
    if k == stages - 1:
        lines.append(f"{pad}        b[i, j] = y")
    elif is_scalar:
        lines.append(f"{pad}        s{k}[p].put(y)")
    else:
        lines += [f"{pad}        o[j] = y", f"{pad}    s{k}[p].put(o)"]
    return lines


def _single(random: Random, body: list[str], length: int) -> list[str]:
    """The statements of the only round of a loop."""
    start = next(number for number, line in enumerate(body) if line.lstrip().startswith("for i in"))
    lines = body[:start] + [line.removeprefix("    ").replace("[i, ", "[0, ") for line in body[start + 1 :]]
    if random.random() < 0.3:
        lines = [line.replace("b0[j]", f"b0[{length - 1} - j]") for line in lines]
    return lines


def _columns(random: Random, positions: int, stages: int) -> list[tuple[str, list[str]]]:
    """Each position with all of its stages on one core, and perhaps some of these cores as one."""
    steps: list[tuple[str, list[str]]] = []
    for p in range(positions):
        names = [f"t{k}_{p}" for k in range(stages)]
        steps += [("chain", ["-".join(names[:k]), names[k]]) for k in range(1, stages)]
    columns = ["-".join(f"t{k}_{p}" for k in range(stages)) for p in range(positions)]
    count = random.randint(1, positions)
    return [*steps, ("bundle", columns[:count])] if count > 1 else steps


def _steps(random: Random, positions: int, stages: int, joins: bool) -> list[tuple[str, list[str]]]:
    grids = [1 if joins and k == stages - 1 else positions for k in range(stages)]
    cores = [[f"t{k}_{p}" for p in range(count)] for k, count in enumerate(grids)]
    steps: list[tuple[str, list[str]]] = []
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        k = random.randrange(stages)
        if random.random() < 0.5 and len(cores[k]) > 1:
            count = random.randint(2, len(cores[k]))
            names = cores[k][:count]
            steps.append(("bundle", names))
            cores[k] = [f"{names[0]}x{count}", *cores[k][count:]]
        elif stages > 1 and (k := random.randrange(stages - 1)) is not None and cores[k] and cores[k + 1]:
            place = random.randrange(min(len(cores[k]), len(cores[k + 1])))
            names = [cores[k].pop(place), cores[k + 1].pop(place)]
            steps.append(("chain", names))
            cores[k].append("-".join(names))
    return steps
