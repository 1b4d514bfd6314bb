"""The value-based dataflow against running the program: each read sees the last write of its element."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import islpy as isl
import pytest
from hypothesis import strategies as st

import allo
from allo import customize
from allo.ir.types import float32
from allo.poly import Access
from allo.verify.affine.flow import Flows
from allo.verify.affine.graph import ComputationGraph
from allo.verify.affine.nodes import Gap, Kind
from allo.verify.program.branches import Guards
from allo.verify.program.programs import Program, load
from tests.customize.random_kernels import load as load_kernel
from tests.customize.random_kernels import programs
from tests.seeds import drawn, sweep


def points(relation: isl.Map) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    found: set[Any] = set()
    inputs = relation.dim(isl.dim_type.in_)

    def add(point: isl.Point) -> None:
        values = [point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(total)]
        found.add((tuple(values[:inputs]), tuple(values[inputs:])))

    total = inputs + relation.dim(isl.dim_type.out)
    relation.wrap().flatten().foreach_point(add)
    return found


def when(access: Access, iteration: tuple[int, ...]) -> tuple[int, ...]:
    """Its place in the order of execution."""
    woven = [value for pair in zip(access.path, iteration, strict=False) for value in pair]
    return (*woven, *access.path[len(iteration) :])


def assert_flows(program: Program) -> int:
    """Compare with a simulation of all accesses; how many reads there were."""
    graph = ComputationGraph(program.straight(Guards.VALUES))
    flows = Flows(graph)
    events = []
    for access in graph.model.accesses:
        events += [(when(access, x), access, x, e) for x, e in points(graph.relations.elements(access))]
    last: dict[Any, tuple[str, tuple[int, ...]]] = {}
    seen: dict[str, set[Any]] = {}
    for _, access, x, element in sorted(events, key=lambda event: event[0]):
        place = (access.buffer.label, element)
        if access.is_write:
            last[place] = (access.id, x)
        else:
            write, source = last.get(place, ("", element))
            seen.setdefault(access.id, set()).add((x, write, source))
    for access in graph.model.accesses:
        if access.is_write:
            continue
        node = graph.node(access.op.results[0])
        assert node.kind is Kind.READ
        origins = flows.origins(node)
        assert {(x, o.write, y) for o in origins for x, y in points(o.map)} == seen.get(access.id, set())
    return sum(map(len, seen.values()))


def stencil(A: float32[7, 6]):
    for t in range(2):  # noqa: B007
        for i, j in allo.grid(5, 4):
            if i + j > 2:
                A[i + 1, j + 1] = A[i, j + 1] + A[i + 1, j] + A[i + 2, j + 1]
            A[i, 2 * (j // 2)] = A[i, j] + 1.0


def test_writes_under_conditions_and_with_quotients() -> None:
    assert assert_flows(load(customize(stencil))) > 0


def test_reads_of_a_buffer_in_a_loop_see_this_iteration() -> None:
    def kernel(A: float32[5], B: float32[5]):
        for i in range(5):
            row: float32[3] = 0
            for j in range(2):
                row[j] = A[i] + j
            B[i] = row[0] + row[2]

    assert assert_flows(load(customize(kernel))) > 0


@sweep(3)
@drawn(4, st.data())
def test_random_kernels(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    kernel = load_kernel(data.draw(programs(run_time=False)), Path(tmp_path_factory.mktemp("kernels")))
    try:
        assert_flows(load(customize(kernel.function)))
    except Gap as gap:
        assert "not affine" in gap.stuck.reason


def test_subscripts_from_data_are_a_gap() -> None:
    def kernel(A: float32[5], P: allo.ir.types.int32[5]):
        for i in range(5):
            A[P[i]] = A[i]

    graph = ComputationGraph(load(customize(kernel)).straight(Guards.VALUES))
    read = next(a for a in graph.model.accesses if not a.is_write and a.exact and a.buffer.name == "A")
    with pytest.raises(Gap, match="not affine"):
        Flows(graph).origins(graph.node(read.op.results[0]))
