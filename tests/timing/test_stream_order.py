"""Puts and gets of one FIFO in a pipeline: one a cycle, in the order of the program."""

import random
import runpy
from itertools import pairwise
from pathlib import Path

import pytest

import allo.dataflow as df
from allo.ir.access import is_end, is_put
from allo.target import load_target
from allo.timing.control.build import TreeOptions
from allo.timing.control.tree import Pipeline, nodes
from allo.timing.control.trees import Trees
from tests.seeds import sweep

HEAD = """
import allo
import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def top(A: int32[8], B: int32[8, {count}]):
    pipe: Stream[int32, 4]{array}

    @df.kernel(args=[A])
    def source(X: int32[8]):
        for i in range(8):
{body}

    @df.kernel(args=[B])
    def drain(Y: int32[8, {count}]):
        for i in range(8):
            for j in range({count}):
                for _n in range({each}):
                    Y[i, j] = pipe{at}.get()
"""


def pipeline(
    body: list[str], tmp_path: Path, count: int, array: str = "", each: int = 1, task: str = "source"
) -> Pipeline:
    """The loop `i` of a task of a region, whose body in the source are some lines."""
    file = tmp_path / "design.py"
    lines = "\n".join("            " + line for line in body)
    file.write_text(HEAD.format(body=lines, count=count, each=each, array=array, at="[j]" if array else ""))
    s = df.customize(runpy.run_path(str(file))["top"])
    s.pipeline(f"{task}:i")
    trees = Trees(s.ir, TreeOptions(load_target("u280")))
    trees.span("top")
    (found,) = (node for node in nodes(trees.spans[task].tree.root) if isinstance(node, Pipeline))
    return found


@pytest.mark.parametrize(
    ("body", "interval", "count"),
    [
        (["for j in range(6):", "    pipe.put(X[i] + j)"], 6, 6),
        (["pipe.put(X[i])", "pipe.put(X[i] * 3)"], 2, 2),
        (["if X[i] > 0:", "    pipe.put(1)", "else:", "    pipe.put(X[i] * 3)"], 1, 1),
        (["if X[i] > 0:", "    pipe.put(1)", "else:", "    pipe.put(2)", "pipe.put(3)"], 2, 2),
    ],
    ids=["copies", "two", "either", "either and one more"],
)
def test_puts_in_an_iteration(body: list[str], interval: int, count: int, tmp_path: Path) -> None:
    assert pipeline(body, tmp_path, count).interval == interval


def test_gets_in_an_iteration(tmp_path: Path) -> None:
    node = pipeline(["for j in range(3):", "    pipe.put(X[i])"], tmp_path, 3, task="drain")
    assert (node.interval, str(node.region.reason)) == (3, "3 gets from pipe, one a cycle")


def test_fifos_of_an_array_do_not_wait_for_one_another(tmp_path: Path) -> None:
    body = ["for j in range(3):", "    pipe[j].put(X[i])"]
    assert pipeline(body, tmp_path, 3, "[3]").interval == 1
    twice = [*body, "    pipe[j].put(X[i] * 2)"]
    node = pipeline(twice, tmp_path, 3, "[3]", 2)
    assert (node.interval, str(node.region.reason)) == (2, "2 puts into pipe, one a cycle")


@sweep(60, quick=6)
def test_random_puts_happen_in_the_order_of_the_program(seed: int, tmp_path: Path) -> None:
    choose = random.Random(seed)
    body: list[str] = []
    program: list[str] = []
    puts = count = 0
    for nest in range(choose.randint(1, 3)):
        names = [f"{name}{nest}" for name in choose.choice(["", "j", "jk"])]
        copies = 1
        for depth, name in enumerate(names):
            trips = choose.randint(1, 3)
            body.append("    " * depth + f"for {name} in range({trips}):")
            program.append(body[-1])
            copies *= trips
        for value in choose.sample(["X[i] + 1", "X[i] * X[i]", "X[i] * X[i] * X[i]", "X[0]"], choose.randint(1, 2)):
            body.append("    " * len(names) + f"pipe.put({value})")
            program.append("    " * len(names) + f"put({puts}, [{', '.join(names)}])")
            puts, count = puts + 1, count + copies
    node = pipeline(body, tmp_path, count)
    schedule, region = node.region.schedule, node.region.graph.region
    ends = [use for use in region.nodes if is_end(use.op)]
    assert len(ends) == puts and node.interval >= count
    cycles: list[int] = []

    def put(number: int, copies: list[int]) -> None:
        table, at = schedule.cycles[ends[number].index], dict(zip(ends[number].around, copies, strict=True))
        place = tuple(at.get(axis, 0) if size > 1 else 0 for axis, size in enumerate(table.shape))
        cycles.append(int(table[place]))

    exec("\n".join(program), {"put": put})
    everything = [n * node.interval + cycle for n in range(3) for cycle in cycles]
    assert len(cycles) == count and all(one < other for one, other in pairwise(everything))


QUESTIONS = """
import allo
import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def top(A: int32[8], B: int32[8]):
    p: Stream[int32, 16]
    q: Stream[int32, 16]
    r: Stream[int32, 16]

    @df.kernel(args=[A, B])
    def source(X: int32[8], Y: int32[8]):
        for i in range(8):
            s: int32 = X[i]
{body}

    @df.kernel()
    def others():
        for i in range(8):
{others}
"""


@sweep(60, quick=6)
def test_several_streams_are_used_in_the_order_of_the_program(seed: int, tmp_path: Path) -> None:
    """An answer is not waited for before the question is put, nor by a copy before that of the copy before."""
    choose = random.Random(seed)
    body: list[str] = []
    program: list[str] = []
    others: list[str] = []
    got, put = "v{{n}}: int32 = {}.get()", "q.put({n})"
    ends = {
        "p.put(X[i])": got.format("p"), "p.put(s * s * s)": got.format("p"), "r.put(i)": got.format("r"),
        "s = s + q.get()": put, "Y[i] = q.get() * s": put,
    }  # fmt: skip
    used = 0
    for nest in range(choose.randint(1, 2)):
        name = choose.choice(["", f"j{nest}"])
        head = [f"for {name} in range({choose.randint(2, 3)}):"] if name else []
        inside = choose.sample(list(ends), choose.randint(1, 3))
        indent = " " * (4 if name else 0)
        body += [*head, *(indent + text for text in inside)]
        program += [*head, *(f"{indent}use({used + n}, [{name}])" for n in range(len(inside)))]
        others += [*head, *(indent + ends[text].format(n=used + n) for n, text in enumerate(inside))]
        used += len(inside)
    file = tmp_path / "design.py"
    source, rest = ("\n".join(" " * 12 + line for line in lines) for lines in (body, others))
    file.write_text(QUESTIONS.format(body=source, others=rest))
    s = df.customize(runpy.run_path(str(file))["top"])
    s.pipeline("source:i")
    trees = Trees(s.ir, TreeOptions(load_target("u280")))
    trees.span("top")
    (node,) = (found for found in nodes(trees.spans["source"].tree.root) if isinstance(found, Pipeline))
    schedule = node.region.schedule
    uses = [use for use in node.region.graph.region.nodes if is_end(use.op)]
    assert len(uses) == used
    cycles: list[tuple[int, bool]] = []

    def use(number: int, copies: list[int]) -> None:
        table, at = schedule.cycles[uses[number].index], dict(zip(uses[number].around, copies, strict=True))
        place = tuple(at.get(axis, 0) if size > 1 else 0 for axis, size in enumerate(table.shape))
        cycles.append((int(table[place]), is_put(uses[number].op)))

    exec("\n".join(program), {"use": use})
    for (one, asked), (other, asks) in pairwise(cycles):
        assert other >= one + (asked and not asks)
