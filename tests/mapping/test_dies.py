"""Assignment of stages to dies: the best of all of small graphs, and what is said where none fits."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from allo.customize.fifo.dies import RESOURCES, DieGraph, DieRoom, StageNeed, StageWires
from allo.errors import ScheduleError
from allo.mapping.dies import assigned
from tests.seeds import sweep


def graph(
    needs: list[int], links: list[tuple[int, int, int]], rooms: tuple[int, ...] = (10, 10, 10), wires: int = 0,
    fill: float = 1.0, key: str = "DSP",
) -> DieGraph:  # fmt: skip
    """Stages s0, s1, ... that take so many DSPs, with so many wires between two of them."""
    stages = [StageNeed(f"s{n}", dict.fromkeys(RESOURCES, 0) | {key: need}) for n, need in enumerate(needs)]
    between = [StageWires(f"x{n}", "FIFO", f"s{a}", f"s{b}", bits) for n, (a, b, bits) in enumerate(links)]
    dies = [DieRoom(f"SLR{n}", dict.fromkeys(RESOURCES, 100) | {key: room}, fill) for n, room in enumerate(rooms)]
    return DieGraph("f", "card", tuple(stages), tuple(between), tuple(dies), wires)


def refusal(given: DieGraph, fixed: dict[str, str] | None = None) -> str:
    with pytest.raises(ScheduleError) as caught:
        assigned(given, fixed or {})
    return str(caught.value)


@sweep(60, 5)
def test_best_of_all(seed: int) -> None:
    """Fewest wires, then the emptiest fullest die, or a refusal: as in a search through all places."""
    random = np.random.default_rng(seed)
    count = int(random.integers(2, 7))
    needs = [int(need) for need in random.integers(1, 8, count)]
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    links = [(a, b, int(random.integers(1, 40))) for a, b in pairs if random.random() < 0.5]
    rooms = tuple(int(room) for room in random.integers(6, 14, int(random.integers(2, 4))))
    made = graph(needs, links, rooms, wires=int(random.choice([0, 30, 60])))
    fixed = {"s0": f"SLR{random.integers(len(rooms))}"} if random.random() < 0.3 else {}
    best = None
    for ways in product(range(len(rooms)), repeat=count):
        places = {f"s{n}": f"SLR{die}" for n, die in enumerate(ways)}
        if made.excess(places) or any(places[name] != die for name, die in fixed.items()):
            continue
        bits = sum(abs(ways[a] - ways[b]) * w for a, b, w in links)
        share = max(sum(n for n, at in zip(needs, ways, strict=True) if at == d) / r for d, r in enumerate(rooms))
        best = min(best or (bits, share), (bits, share))
    if best is None:
        assert "card" in refusal(made, fixed)
        return
    plan = assigned(made, fixed)
    assert (plan.bits, plan.fullest[2]) == (best[0], pytest.approx(best[1]))
    assert not made.excess(plan.places) and all(plan.places[name] == die for name, die in fixed.items())
    assert plan.how == "of the fewest wires"


def test_neighbours() -> None:
    """Distance counts: a chain that does not fit on one die lies on dies side by side, cut where it is narrow."""
    plan = assigned(graph([6, 4, 6, 6], [(0, 1, 50), (1, 2, 3), (2, 3, 8), (0, 3, 1)]), {})
    places = [plan.places[f"s{n}"] for n in range(4)]
    assert places in (["SLR0", "SLR0", "SLR1", "SLR2"], ["SLR2", "SLR2", "SLR1", "SLR0"]) and plan.bits == 3 + 8 + 2


def test_nothing_fits() -> None:
    assert refusal(graph([11, 1], [])) == (
        "stage 's0' takes 11 DSP, and SLR0 of card has room for 10, 100 % of 10\n"
        "  hint: make two stages of it, or let it take less: fewer copies of its loops, other memories"
    )
    assert refusal(graph([9, 2], [], rooms=(20, 10), fill=0.5), {"s0": "SLR1"}) == (
        "stage 's0' takes 9 DSP, and SLR1 of card has room for 5, 50 % of 10\n"
        "  hint: make two stages of it, or let it take less: fewer copies of its loops, other memories"
    )
    assert refusal(graph([8, 8, 8, 8], [])) == (
        "the stages take 32 DSP together, and the dies of card have room for 30: 10, 10, 10, 100 % of each\n"
        "  hint: let stages take less, or give a larger fill="
    )


def test_stages_that_cannot_be_dealt() -> None:
    """Together they would fit, but not in whole stages: the die, the resource and how much it would have to hold."""
    assert refusal(graph([7, 7, 7, 6], [], rooms=(12, 9, 9))) == (
        "stages cannot be dealt to the dies of card: at best SLR0 has to hold 13 DSP, and has room for 12, 100 % of "
        "12\n"
        "  hint: make large stages smaller"
    )
    assert refusal(graph([7, 7, 7, 6], [], rooms=(24, 18, 18), fill=0.5, key="LUT")) == (
        "stages cannot be dealt to the dies of card: at best SLR0 has to hold 13 LUT, and has room for 12, 50 % of 24\n"
        "  hint: give fill=0.55, or make large stages smaller"
    )


def test_wires_that_are_not_there() -> None:
    assert refusal(graph([6, 6], [(0, 1, 25)], rooms=(10, 10), wires=20)) == (
        "stages cannot be dealt to the dies of card: at best 25 wires lie between SLR0 and SLR1, and there are 20\n"
        "  hint: let fewer elements a cycle pass between stages, or give a larger fill="
    )
    assert refusal(graph([1, 1], [(0, 1, 25)], wires=20), {"s0": "SLR0", "s1": "SLR2"}).startswith(
        "stages cannot be dealt to the dies of card: at best 25 wires lie between SLR0 and SLR1, and there are 20\n"
    )


def test_no_time() -> None:
    """What is not found in time is said, not guessed."""
    random = np.random.default_rng(0)
    needs = [int(need) for need in random.integers(3, 9, 60)]
    links = [(a, b, int(random.integers(1, 99))) for a in range(60) for b in range(a) if random.random() < 0.5]
    with pytest.raises(ScheduleError) as caught:
        assigned(graph(needs, links, rooms=(130, 130, 130)), {}, seconds=1e-4)
    assert str(caught.value) == (
        'no places of all stages were found in 0.0001 s\n  hint: place some by hand: fixed={"stage": "SLR0"}'
    )
