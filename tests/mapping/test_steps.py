"""Bundle and chain on virtual mapping graphs: what shares a core, in which order, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from allo.errors import TargetError
from allo.mapping import (
    ArrayPart,
    CallArray,
    PartAccess,
    PartUse,
    TokenWait,
    VirtualGraph,
    VirtualNode,
    VirtualStream,
    capacity_of,
    fifos_of,
    flows_of,
    mapped,
    overlapping,
    place,
    plan_of,
    sequence_of,
)  # fmt: skip
from allo.target import ProcessorArray, Tile, TileKind, TileSide, load_target

ARRAY = load_target("xdna1_npu1")
assert isinstance(ARRAY, ProcessorArray)


def stream(source: str, sink: str) -> VirtualStream:
    return VirtualStream(f"{source}_{sink}", "i32", 32, 8, 16, 64, source, sink)


def node(name: str, *uses: PartUse, function: str = "") -> VirtualNode:
    task, _, place = name.partition("_")
    return VirtualNode(name, task, (int(place or 0),), function or task, uses, (), (("f 0", 128),))


A = CallArray("A", "i32", 32, (64,))


def part(k: int, access: PartAccess = PartAccess.IN, parameter: int = 0) -> PartUse:
    return PartUse(parameter, ArrayPart(A, (8 * k,), (8,)), access)


def diamond() -> VirtualGraph:
    """a -> b -> d, a -> c -> d, and a second copy of `a` and `b`."""
    names = ["a_0", "b_0", "c_0", "d_0", "a_1", "b_1"]
    nodes = [node(name, *([part(int(name[-1]))] if name[0] == "a" else [])) for name in names]
    pairs = [("a_0", "b_0"), ("a_0", "c_0"), ("b_0", "d_0"), ("c_0", "d_0"), ("a_1", "b_1")]
    return VirtualGraph((A,), tuple(nodes), tuple(stream(*pair) for pair in pairs))


def cores(*steps: Any) -> dict[str, list[str]]:
    return {core.name: [own.name for own in core.nodes] for core in mapped(diamond(), steps).cores}


def test_each_node_has_a_core() -> None:
    assert list(cores()) == ["a_0", "b_0", "c_0", "d_0", "a_1", "b_1"]


def test_names_and_order() -> None:
    assert cores(("bundle", ["a_0", "a_1"]))["a_0x2"] == ["a_0", "a_1"]
    assert cores(("chain", ["a_0", "b_0"]))["a_0-b_0"] == ["a_0", "b_0"]
    both = cores(("chain", ["a_0", "b_0"]), ("chain", ["a_1", "b_1"]), ("bundle", ["a_0-b_0", "a_1-b_1"]))
    assert both["a_0-b_0x2"] == ["a_0", "b_0", "a_1", "b_1"]


def test_a_chain_of_bundles_takes_turns_if_they_are_of_one_size() -> None:
    pairs = [("bundle", ["a_0", "a_1"]), ("bundle", ["b_0", "b_1"]), ("chain", ["a_0x2", "b_0x2"])]
    assert cores(*pairs)["a_0x2-b_0x2"] == ["a_0", "b_0", "a_1", "b_1"]
    assert cores(("bundle", ["a_0", "a_1"]), ("chain", ["a_0x2", "b_0"]))["a_0x2-b_0"] == [
        "a_0",
        "a_1",
        "b_0",
    ]


def test_steps_are_recorded() -> None:
    steps = [("bundle", ["a_0", "a_1"]), ("chain", ["b_0", "d_0"])]
    with pytest.raises(TargetError):  # what `b` and `c` have put is needed
        mapped(diamond(), [("chain", ["d_0", "c_0"])])
    assert mapped(diamond(), steps).steps == (("bundle", ("a_0", "a_1")), ("chain", ("b_0", "d_0")))


REFUSED: list[tuple[list[Any], str]] = [
    ([("bundle", ["a_0", "a_2"])], "bundle: there is no task 'a_2'\n  hint: did you mean 'a_1'?"),
    (
        [("bundle", ["a_0", "b_0"])],
        "bundle: 'a_0' and 'b_0' are not alike: they are positions of other tasks\n"
        "  hint: bundle positions of one task; chain those of several",
    ),
    (
        [("chain", ["a_0", "b_0"]), ("bundle", ["a_0-b_0", "a_1"])],
        "bundle: 'a_0-b_0' and 'a_1' are not alike: they are chains of other lengths\n"
        "  hint: bundle positions of one task; chain those of several",
    ),
    (
        [("chain", ["b_0", "a_0"])],
        "chain: 'b_0' runs before 'a_0', whose stream 'a_0_b_0' it gets\n"
        "  hint: chain producers before their consumers",
    ),
    (
        [("chain", ["d_0", "a_0"])],
        "chain: 'd_0' needs what 'a_0' puts, by way of 'c_0', and runs before it on the core 'd_0-a_0'\n"
        "  hint: chain them with what is between, or the other way round",
    ),
    ([("chain", ["a_0"])], "chain: two tasks or more are joined, each named once; got ['a_0']"),
    (
        ["chain"],
        "mapping_primitives are pairs such as ('bundle', ['gemm_0_0', 'gemm_0_1']) and ('chain', ['load_0', 'add_0']); "
        "got 'chain'",
    ),
    (
        [("fuse", ["a_0", "a_1"])],
        "mapping_primitives are pairs such as ('bundle', ['gemm_0_0', 'gemm_0_1']) and ('chain', ['load_0', 'add_0']); "
        "got ('fuse', ['a_0', 'a_1'])",
    ),
]


@pytest.mark.parametrize(("steps", "message"), REFUSED)
def test_refused(steps: list[Any], message: str) -> None:
    with pytest.raises(TargetError) as caught:
        mapped(diamond(), steps)
    assert str(caught.value) == message


def test_a_bundle_that_runs_a_consumer_first_is_refused() -> None:
    graph = VirtualGraph((A,), (node("f_0", part(0)), node("f_1", part(1))), (stream("f_0", "f_1"),))
    assert [own.name for own in mapped(graph, [("bundle", ["f_0", "f_1"])]).cores[0].nodes] == ["f_0", "f_1"]
    with pytest.raises(TargetError) as caught:
        mapped(graph, [("bundle", ["f_1", "f_0"])])
    assert str(caught.value) == (
        "bundle: 'f_1' runs before 'f_0', whose stream 'f_0_f_1' it gets\n"
        "  hint: bundle producers before their consumers"
    )


def test_positions_with_other_bodies_are_bundled() -> None:
    """Their parts of one argument come through one FIFO, whichever parameter of their functions it is."""
    nodes = node("f_0", part(0)), node("f_1", part(1, parameter=2), function="f_1")
    mapping = mapped(VirtualGraph((A,), nodes, ()), [("bundle", ["f_0", "f_1"])])
    assert [(fifo.cores, len(fifo.objects)) for fifo in fifos_of(place(mapping, ARRAY)).arrays] == [(("f_0x2",), 2)]


def test_a_chain_of_bundles_whose_streams_cross_does_not_take_turns() -> None:
    nodes = tuple(map(node, ["a_0", "a_1", "b_0", "b_1"]))
    crossed = VirtualGraph((), nodes, (stream("a_0", "b_1"), stream("a_1", "b_0")))
    steps = [("bundle", ["a_0", "a_1"]), ("bundle", ["b_0", "b_1"]), ("chain", ["a_0x2", "b_0x2"])]
    assert [own.name for own in mapped(crossed, steps).cores[0].nodes] == ["a_0", "a_1", "b_0", "b_1"]


def test_neighbours_share_a_memory() -> None:
    chain = [f"t_{k}" for k in range(16)]
    pairs = tuple(stream(*pair) for pair in pairwise(chain))
    mapping = mapped(VirtualGraph((), tuple(map(node, chain)), pairs))
    assert place(mapping, ARRAY).distant() == 0
    assert all(fifo.shared for fifo in fifos_of(place(mapping, ARRAY)).streams)


def test_streams_are_in_the_memory_that_both_cores_see() -> None:
    """A core sees the memory in its west, not that in its east, so a stream to the west is with its consumer."""
    pairs = (stream("t_0", "t_1"), stream("t_1", "t_0"))
    mapping = mapped(VirtualGraph((), (node("t_0"), node("t_1")), pairs))
    beside = replace(place(mapping, ARRAY), tiles=(Tile(0, 2), Tile(1, 2)))
    assert [fifo.memory for fifo in fifos_of(beside).streams] == ["t_0", "t_0"]
    above = replace(beside, tiles=(Tile(0, 2), Tile(0, 3)))
    assert [fifo.memory for fifo in fifos_of(above).streams] == ["t_0", "t_1"]
    uses = capacity_of(beside, fifos_of(beside), (), ARRAY).uses
    assert [(use.place, use.used) for use in uses if use.resource.startswith("locks")] == [("core 't_0' at (0, 2)", 4)]


def test_memories_of_neighbours_are_those_of_the_file() -> None:
    """On an array whose cores see only what is north of them, or nothing, others need DMA engines and ports."""
    mapping = mapped(VirtualGraph((), (node("t_0"), node("t_1")), (stream("t_0", "t_1"),)))
    core = ARRAY.tiles[TileKind.CORE]
    for beside, tiles, memory in (
        ({TileSide.NORTH: 0}, (Tile(0, 2), Tile(0, 3)), "t_1"),
        ({TileSide.NORTH: 0}, (Tile(0, 2), Tile(1, 2)), None),
        ({}, (Tile(0, 2), Tile(0, 3)), None),
    ):
        own = replace(ARRAY, tiles={**ARRAY.tiles, TileKind.CORE: replace(core, beside=beside)})
        placed = replace(place(mapping, own), tiles=tiles)
        (fifo,) = fifos_of(placed).streams
        assert (fifo.memory, placed.distant()) == (memory, int(memory is None))
        assert [flow.name for flow in flows_of(fifos_of(placed), (), placed)] == ["t_0_t_1"] * placed.distant()


def test_what_has_no_channel_left_is_beside_what_it_puts_into() -> None:
    """Of six that put into one core, four have two outputs of their own: the other two are at DMA engines."""
    long = PartUse(1, ArrayPart(A, (32,), (16,)), PartAccess.OUT)
    full = [node(f"full_{k}", part(k, PartAccess.OUT), long) for k in range(4)]
    free = [node(f"free_{k}") for k in range(2)]
    streams = tuple(stream(own.name, "sink") for own in (*free, *full))
    placement = place(mapped(VirtualGraph((A,), (*free, *full, node("sink")), streams)), ARRAY)
    sink = placement.tile("sink")
    assert all(ARRAY.shared_memory(placement.tile(own.name), sink) is not None for own in full)
    assert placement.distant() == 2


def test_too_many_cores() -> None:
    mapping = mapped(VirtualGraph((), tuple(node(f"t_{k}") for k in range(17)), ()))
    with pytest.raises(TargetError) as caught:
        place(mapping, ARRAY)
    assert str(caught.value) == (
        "17 cores are needed, and 'xdna1_npu1' has 16: each position of a task takes one\n"
        '  hint: let cores run several: mapping_primitives=[("bundle", [...]), ("chain", [...])]'
    )


def test_same_parts_in_the_same_order_are_broadcast() -> None:
    """A FIFO that brings the same to all; what is the same in all shots stays in the core."""
    nodes = [node(f"f_{k}", part(0), part(k % 2, parameter=1)) for k in range(4)]
    mapping = mapped(
        VirtualGraph((A,), tuple(nodes), ()), [("bundle", ["f_0", "f_1"]), ("bundle", ["f_2", "f_3"])]
    )
    fifos = fifos_of(place(mapping, ARRAY)).arrays
    assert [(fifo.cores, len(fifo.objects), fifo.resident, fifo.depth) for fifo in fifos] == [
        (("f_0x2", "f_2x2"), 1, True, 1),
        (("f_0x2", "f_2x2"), 2, False, 2),
    ]


def test_what_does_not_fit_is_told_with_its_users() -> None:
    whole = ArrayPart(CallArray("A", "i32", 32, (20000,)), (0,), (20000,))
    mapping = mapped(VirtualGraph((whole.argument,), (node("f_0", PartUse(0, whole, PartAccess.IN)),), ()))
    with pytest.raises(TargetError) as caught:
        plan_of(mapping, ARRAY)
    assert str(caught.value) == (
        "the program does not fit 'xdna1_npu1'; there is too little of\n"
        "    memory of a core of core 'f_0' at (0, 2): 81,152 of 65,536, for 80,000 bytes of 'A_0', "
        "128 bytes of arrays that tasks make, 1,024 bytes of stack\n"
        "  hint: make parts of arrays smaller, or let cores run several tasks (mapping_primitives)"
    )


def test_channels_that_run_out() -> None:
    shared = [part(k, parameter=k) for k in range(3)] + [part(3, PartAccess.OUT, 3)]
    others = [PartUse(u.parameter, ArrayPart(A, u.part.low, (4 + u.parameter,)), u.access) for u in shared]
    mapping = mapped(VirtualGraph((A,), (node("f_0", *others),), ()))
    with pytest.raises(
        TargetError, match=r"DMA inputs of a core of core 'f_0' at \(0, 2\): 3 of 2, for A_0, A_1, A_2"
    ):
        plan_of(mapping, ARRAY)


def test_nodes_that_write_what_others_use() -> None:
    writer, reader = node("f_0", part(0, PartAccess.OUT)), node("f_1", part(0))
    found = overlapping([(own, use) for own in (writer, reader) for use in own.parts])
    assert found is not None and found[:2] == (writer, reader)
    assert overlapping([(reader, part(0)), (node("f_2"), part(0))]) is None


def test_a_call_waits_where_a_queue_or_the_descriptors_end() -> None:
    """No more than four transfers of a channel at once: parts at falling places are transfers of their own."""
    order = [5, 4, 3, 2, 1, 0]
    nodes = [node(f"f_{k}", part(at)) for k, at in enumerate(order)]
    mapping = mapped(VirtualGraph((A,), tuple(nodes), ()), [("bundle", [own.name for own in nodes])])
    steps = sequence_of(plan_of(mapping, ARRAY)).steps
    shown = ["wait" if isinstance(step, TokenWait) else (step.walk.offset, step.token) for step in steps]
    assert shown == [(40, True), (32, True), (24, False), (16, False), "wait", (8, False), "wait", (0, False)]
