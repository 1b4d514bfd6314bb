"""Wrong sequences and objects that hardware would take: each is noticed, with the whole text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import pytest

import allo.dataflow as df
from allo.backend.aie.check import check_plan
from allo.errors import TargetError
from allo.layout import Walk
from allo.mapping import (
    ArrayPlan,
    RoutedFlow,
    Routing,
    RuntimeSequence,
    ShimTransfer,
    Shortage,
    StreamFlow,
    StreamPort,
    TokenWait,
    routing_of,
)
from allo.target import ProcessorArray, Tile, TileSide

from . import programs

type Steps = list[ShimTransfer | TokenWait]


@cache
def planned() -> tuple[ArrayPlan, RuntimeSequence]:
    """One core that scales four parts of a vector, with transfers of each part."""
    steps = [("bundle", [f"core_{k}" for k in range(4)])]
    built = df.build(programs.vector_scale, target="aie", mapping_primitives=steps)
    return built.plan, built.sequence


def first(route: str, **changes: object) -> Callable[[Steps], Steps]:
    """The first transfer of a route, changed."""

    def change(steps: Steps) -> Steps:
        at = next(k for k, step in enumerate(steps) if isinstance(step, ShimTransfer) and step.route == route)
        return [*steps[:at], replace(steps[at], **changes), *steps[at + 1 :]]  # type: ignore[arg-type]

    return change


def five(steps: Steps) -> Steps:
    """The first transfer five times, each with a descriptor of its own."""
    own = steps[0]
    assert isinstance(own, ShimTransfer)
    return [replace(own, descriptor=k) for k in range(5)] + steps[1:]


def twice(steps: Steps) -> Steps:
    return [steps[0], *steps]


def walk(offset: int, extents: tuple[int, ...], strides: tuple[int, ...]) -> Callable[[Steps], Steps]:
    return first("A_0", walk=Walk(offset, extents, strides))


A = "the transfer of 'A' over 'A_0'"
FAULTS: list[tuple[str, Callable[[Steps], Steps], str]] = [
    ("descriptor", first("A_0", descriptor=16), f"{A} has descriptor 16, and there are 16"),
    (
        "queue",
        five,
        "'B_out_0' has 4 transfers that have not ended, and its queue takes 4: hardware drops one more\n"
        "  hint: wait for one of them first",
    ),
    (
        "descriptor in use",
        twice,
        "descriptor 0 of shim tile (0, 0) is used by 'B_out_0' when 'B_out_0' writes it\n"
        "  hint: wait for that transfer first",
    ),
    (
        "no token",
        first("B_out_0", token=False),
        "the sequence waits for 'B_out_0', of which no transfer that runs has a token: it waits for ever\n"
        "  hint: let the transfer have a token (issue_token)",
    ),
    (
        "nothing to wait for",
        lambda steps: [TokenWait("A_0"), *steps],
        "the sequence waits for 'A_0', of which no transfer that runs has a token: it waits for ever\n"
        "  hint: let the transfer have a token (issue_token)",
    ),
    ("unknown", lambda steps: [TokenWait("Z"), *steps], "the sequence names 'Z', and there is no such FIFO"),
    ("beyond the end", walk(4, (256,), (1,)), f"{A} goes on to element 259, and there are 256"),
    ("amount", walk(0, (128,), (1,)), "transfers over 'A_0' move 128 elements, and cores take 256"),
    (
        "loops",
        walk(0, (2, 2, 2, 2, 2), (128, 64, 16, 4, 1)),
        f"{A} has 5 loops, and descriptors 3 and an iteration",
    ),
    ("iterations", walk(0, (65, 1, 2, 1), (2, 1, 4, 1)), f"{A} has 65 iterations, and there are 64 at most"),
    ("loop", walk(0, (2, 2000), (1, 0)), f"{A} has a loop of 2000, and 1023 is the longest"),
    (
        "stride",
        walk(0, (1, 2), (1 << 21, 2)),
        f"{A} has a stride of 2097152 words, and 1048576 is the longest",
    ),
]


@pytest.mark.parametrize(
    ("fault", "message"), [case[1:] for case in FAULTS], ids=[case[0] for case in FAULTS]
)
def test_faults(fault: Callable[[Steps], Steps], message: str) -> None:
    plan, sequence = planned()
    check_plan(plan, sequence)
    with pytest.raises(TargetError) as caught:
        check_plan(plan, RuntimeSequence(tuple(fault(list(sequence.steps)))))
    assert str(caught.value) == message


def narrow(bits: int) -> tuple[ArrayPlan, RuntimeSequence]:
    """The same transfers of elements of fewer bits."""
    plan, sequence = planned()
    steps = [
        replace(step, argument=replace(step.argument, bits=bits)) if isinstance(step, ShimTransfer) else step
        for step in sequence.steps
    ]
    return plan, RuntimeSequence(tuple(steps))


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (Walk(1, (8,), (1,)), f"{A} moves 8 bytes from byte 1 on, not words of 4"),
        (Walk(0, (4, 4), (1, 8)), f"{A} moves single elements of 1 bytes, not words of 4"),
        (Walk(0, (4, 4), (6, 1)), f"{A} has strides that are no multiples of 4 bytes"),
    ],
)
def test_words(own: Walk, message: str) -> None:
    plan, sequence = narrow(8)
    with pytest.raises(TargetError) as caught:
        check_plan(plan, RuntimeSequence(tuple(first("A_0", walk=own)(list(sequence.steps)))))
    assert str(caught.value) == message


def test_objects_are_words() -> None:
    plan, sequence = planned()
    fifos = plan.fifos
    array = fifos.arrays[0].objects[0].argument
    part = replace(fifos.arrays[0].objects[0], argument=replace(array, bits=8), extents=(3,))
    odd = replace(fifos.arrays[0], objects=(part,))
    with pytest.raises(TargetError) as caught:
        check_plan(replace(plan, fifos=replace(fifos, arrays=(odd,))), sequence)
    assert str(caught.value) == (
        "an object of 'A_0' has 3 bytes, and DMA engines move words of 4\n"
        "  hint: let parts of arrays be multiples of four bytes"
    )


type Ports = tuple[StreamPort, ...]


def up(row: int, channel: int = 0) -> StreamPort:
    return StreamPort(Tile(0, row), TileSide.NORTH, channel)


WAYS: list[tuple[str, Ports, str]] = [
    ("early", (up(0),), "'A_0' does not come to tile (0, 2)"),
    ("a gap", (up(0), up(2)), "'A_0' leaves tile (0, 2), to which it does not come"),
    ("too high", (up(0, 6), up(1, 6)), "'A_0' leaves tile (0, 0) by port 6 to the north, and there are 6"),
    (
        "another channel",
        (up(0), up(1, 1)),
        "'A_0' comes to tile (0, 1) on channel 0 and leaves it on channel 1: it keeps its channel there",
    ),
    ("back", (up(0), up(1), StreamPort(Tile(0, 2), TileSide.SOUTH, 0)), "'A_0' comes to tile (0, 1) twice"),
    (
        "no port",
        (up(0), StreamPort(Tile(0, 1), TileSide.EAST, 0)),
        "'A_0' leaves tile (0, 1) by port 0 to the east, and there are 0",
    ),
    (
        "outside",
        (StreamPort(Tile(0, 0), TileSide.WEST, 0),),
        "'A_0' leaves tile (0, 0) by port 0 to the west, and there are 0",
    ),
]


@pytest.mark.parametrize(("ports", "message"), [case[1:] for case in WAYS], ids=[case[0] for case in WAYS])
def test_ways_through_switches(ports: Ports, message: str) -> None:
    plan, sequence = planned()
    ways = [replace_way(own, ports) for own in plan.routing.flows]
    with pytest.raises(TargetError) as caught:
        check_plan(replace(plan, routing=Routing(tuple(ways))), sequence)
    assert str(caught.value) == message


def replace_way(own: RoutedFlow, ports: Ports) -> RoutedFlow:
    """The stream `A_0` with other ports."""
    return RoutedFlow(own.flow, ports) if own.flow.name == "A_0" else own


def test_two_streams_on_one_port() -> None:
    """A part of an array comes on the port of another, or nothing says how it comes."""
    built = df.build(programs.vector_scale, target="aie", device_type="npu1_1col")
    flows = built.plan.routing.flows
    ends = [own for own in flows if own.flow.source == Tile(0, 1)]
    one, other = ends[:2]
    shared = RoutedFlow(other.flow, (*one.ports[:1], *other.ports[1:]))
    ways = tuple(shared if own is other else own for own in flows)
    with pytest.raises(TargetError) as caught:
        check_plan(replace(built.plan, routing=Routing(ways)), built.sequence)
    assert str(caught.value) == (
        f"'{one.flow.name}' and '{other.flow.name}' both leave tile (0, 1) by port 0 to the north"
    )
    with pytest.raises(TargetError) as caught:
        check_plan(replace(built.plan, routing=Routing(flows[1:])), built.sequence)
    assert str(caught.value) == "there are no ports for 'hub_in_0' from (0, 0) to (0, 1)"


def test_a_program_whose_ways_are_not_known_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs and has a time, by the best ways that were found; its report ends with what is not known."""

    def crowded(flows: Sequence[StreamFlow], array: ProcessorArray, _: object) -> Routing:
        side = (Tile(0, 0), Tile(0, 0)), True, (TileSide.NORTH,), 1
        return Routing(routing_of(flows, array).flows, (Shortage(*side, ("A_0", "A_1")),), False, "no time is left")

    monkeypatch.setattr("allo.mapping.plan.routing_of", crowded)
    built = df.build(programs.vector_scale, target="aie")
    assert str(built.capacity).splitlines()[-2:] == [
        "stream ports of tile (0, 0), out to the north: 2 of 1, for A_0, A_1; whether there are other ways is not "
        "known",
        "no time is left",
    ]
    assert "stream ports" not in str(built.capacity).splitlines()[-3]
    assert built.timed().cycles > 0 and "ports N0" in str(built.draw())
