"""The hierarchical dataflow graph: what are its nodes, which are one array, who writes and reads them."""

# ruff: noqa: F821 - kernels declare arrays without a value

import re

import numpy as np
import pytest

import allo
from allo import ScheduleError, customize
from allo.compose import ArrayRole, Link, dataflow_graph
from allo.ir.module import Module
from allo.ir.types import Fixed, float32, int32

WEIGHTS = np.arange(8, dtype=np.int32)


def mul(A: int32[8], B: int32[8]) -> int32[8]:
    C: int32[8]
    for i in range(8, name="product"):
        C[i] = A[i] * B[i] + WEIGHTS[i]
    return C


def add(A: int32[8]) -> int32[8]:
    B: int32[8]
    for i in range(8):
        B[i] = A[i] + 1
    return B


def top(A: int32[8], B: int32[8]) -> int32[8]:
    C = mul(A, B)
    D = add(C)
    return D


def graph_of(kernel):
    return dataflow_graph(customize(kernel).ir)


def test_nodes():
    graph = graph_of(top)
    assert {name: node.role for name, node in graph.nodes.items() if node.function in ("", "mul", "top")} == {
        "@mul_WEIGHTS": ArrayRole.GLOBAL,
        "mul:A": ArrayRole.ARGUMENT,
        "mul:B": ArrayRole.ARGUMENT,
        "mul:WEIGHTS": ArrayRole.CONSTANT,
        "mul:C": ArrayRole.LOCAL,
        "top:A": ArrayRole.ARGUMENT,
        "top:B": ArrayRole.ARGUMENT,
        "top:C": ArrayRole.RESULT,
        "top:D": ArrayRole.RESULT,
    }
    assert graph.node("mul:C").type == "memref<8xi32>"
    assert graph.node("mul:C").at.line == mul.__code__.co_firstlineno + 1


def test_edges_of_fig_9():
    edges = {(edge.kind, edge.source, edge.target) for edge in graph_of(top).edges}
    assert edges == {
        (Link.GLOBAL, "@mul_WEIGHTS", "mul:WEIGHTS"),
        (Link.ARGUMENT, "top:A", "mul:A"),
        (Link.ARGUMENT, "top:B", "mul:B"),
        (Link.RETURN, "mul:C", "top:C"),
        (Link.ARGUMENT, "top:C", "add:A"),
        (Link.RETURN, "add:B", "top:D"),
    }


def test_equivalent_nodes():
    graph = graph_of(top)
    assert graph.equivalent("top:C") == ("top:C", "mul:C", "add:A")
    assert set(graph.equivalent("add:A")) == {"top:C", "mul:C", "add:A"}
    assert [(edge.source, edge.target) for edge in graph.edges_of("top:C")] == [("mul:C", "top:C"), ("top:C", "add:A")]


def test_producers_and_consumers():
    graph = graph_of(top)
    assert [(use.part, use.kind) for use in graph.producers("mul:C")] == [("product", "nest")]
    assert [(use.part, use.kind) for use in graph.consumers("mul:C")] == [("func.return", "return")]
    assert [(use.part, use.kind) for use in graph.producers("top:C")] == [("mul", "call")]
    assert [(use.part, use.kind) for use in graph.consumers("top:C")] == [("add", "call")]
    assert [use.part for use in graph.users("mul:A")] == ["product"] and graph.producers("mul:A") == ()


def test_arguments_that_a_callee_writes():
    def fill(A: int32[8], B: int32[8]):
        for i in range(8):
            A[i] = B[i]

    def calls(A: int32[8], B: int32[8]):
        fill(A, B)

    graph = graph_of(calls)
    assert [use.part for use in graph.producers("calls:A")] == ["fill"] and graph.consumers("calls:A") == ()
    assert [use.part for use in graph.consumers("calls:B")] == ["fill"] and graph.producers("calls:B") == ()


def test_streams_are_nodes():
    def stages(A: int32[8], B: int32[8]):
        C: int32[8]
        for i in range(8, name="produce"):
            C[i] = A[i] + 1
        for i in range(8, name="consume"):
            B[i] = C[i] * 2

    s = customize(stages)
    s.relay("C", "consume", depth=2)
    graph = dataflow_graph(s.ir)
    assert graph.node("stages:fifo_C").type == "!allo.stream<i32, 2>"
    assert [use.part for use in graph.producers("stages:fifo_C")] == ["produce"]
    assert [use.part for use in graph.consumers("stages:fifo_C")] == ["consume"]


def test_views_are_the_array_that_they_show():
    table = np.array([0.5, 1.5])

    def kernel(A: Fixed(16, 8)[2]):
        T: Fixed(16, 8)[2] = table
        for i in range(2):
            A[i] = T[i]

    names = list(graph_of(kernel).nodes)
    assert len(names) == len(set(names)) and not any("#" in name for name in names)


def test_operators_on_whole_arrays():
    def kernel(A: float32[4, 4], B: float32[4, 4]) -> float32[4, 4]:
        C = allo.matmul(A, B)
        return C

    graph = graph_of(kernel)
    assert [use.kind for use in graph.producers("kernel:C")][-1] == "nest"
    assert len(graph.consumers("kernel:A")) == 1


def test_a_node_that_is_not_there():
    with pytest.raises(ScheduleError, match=re.escape("the dataflow graph has no node 'top:c'")):
        graph_of(top).users("top:c")


def test_handles_name_nodes():
    s = customize(top)
    names = s.get_equivalent_variables("C")
    assert names == s.get_equivalent_variables(s.C) == s.graph.equivalent(s.buffers["top:C"])
    assert s.get_equivalent_variables(s.buffers["add:A"])[0] == "add:A"
    assert s.graph.users(s.C) == s.graph.users("top:C") and s.graph.edges_of(s.C) == s.graph.edges_of("top:C")


@pytest.mark.parametrize("name", [None, 3, ["C"], top])
def test_what_is_no_name_of_a_node(name):
    s = customize(top)
    wanted = f"a node is named by a string or a handle such as s.A, got {type(name).__name__} {name!r}"
    for query in (s.get_equivalent_variables, s.graph.node, s.graph.users, s.graph.edges_of, s.graph.equivalent):
        with pytest.raises(ScheduleError) as refused:
            query(name)
        assert str(refused.value) == wanted


def test_a_graph_outlives_the_module():
    s = customize(top)
    graph = dataflow_graph(s.ir)
    s.partition("C")
    assert graph.node("top:C").type == "memref<8xi32>"
    assert dataflow_graph(s.ir).node("add:A").type == "memref<8xi32, #allo.partition<[complete]>>"


def test_arrays_of_one_name_are_numbered():
    alloc = 'memref.alloc() {allo.name = "T"} : memref<4xi32>'
    body = "\n".join(f"%{k} = {alloc}" for k in range(4))
    module = Module.parse(f'module attributes {{allo.top = "f"}} {{ func.func @f() {{ {body}\nreturn }} }}')
    graph = dataflow_graph(module)
    assert list(graph.nodes) == ["f:T", "f:T#2", "f:T#3", "f:T#4"]
    assert [node.buffer for node in graph.nodes.values()] == ["T", "T#2", "T#3", "T#4"]
