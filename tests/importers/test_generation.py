"""Times of models that say tokens: which calls a prompt takes, and what of them is estimated."""

# ruff: noqa: E501 - messages are not wrapped

from __future__ import annotations

from typing import Any

import pytest

import allo
from allo.errors import TargetError
from allo.importers import estimate_generator
from allo.ir.types import float32, index

from .test_generator import decode, prefill


def schedules() -> tuple[Any, Any]:
    return allo.customize(decode), allo.customize(prefill)


def test_a_prompt_and_tokens_behind_it() -> None:
    """The first tokens of a prompt at once and the others one by one; each token behind the first takes a call."""
    one, several = schedules()
    found = estimate_generator(
        one, several, prefill_tokens=3, prompt=5, said=4, blocks=2, target="u55c", frequency=250
    )
    ms, before = (allo.estimate(s, "u55c", frequency=250).milliseconds for s in (one, several))
    assert ms is not None and before is not None
    assert found.calls == (1, 2)
    assert found.token == pytest.approx(2 * ms) and found.tokens_per_second == pytest.approx(500 / ms)
    assert found.first_token == pytest.approx(2 * (before + 2 * ms))
    assert found.latency == pytest.approx(found.first_token + 3 * 2 * ms)
    head, times, _, columns, _, first, second = str(found).splitlines()
    assert head == (
        "decode, 4 tokens behind 5 on u55c at 250 MHz, 2 blocks one after the other; all figures are *estimated*"
    )
    assert times == (
        f"  *{found.first_token:.4g}* ms to the first token, then *{found.tokens_per_second:.4g}* tokens a second: "
        f"*{found.latency:.4g}* ms"
    )
    assert columns.split("  ")[0] == "call of" and columns.endswith("until the first token")
    assert first.split()[:2] == ["prefill", "3"] and first.endswith(" 2 calls")
    assert second.split()[:3] == ["decode", "1", str(found.decode.cycles)] and second.endswith(" 4 calls")


@pytest.mark.parametrize(
    ("prompt", "tokens", "calls"), [(3, 3, (1, 0)), (2, 3, (0, 2)), (7, 3, (1, 4)), (4, None, (0, 4))]
)
def test_calls(prompt: int, tokens: int | None, calls: tuple[int, int]) -> None:
    """As the host program does it: a prompt that is shorter than a prefill goes through the other kernel."""
    one, several = schedules()
    found = estimate_generator(one, several if tokens else None, prefill_tokens=tokens, prompt=prompt, said=1)
    assert found.calls == calls and found.latency == found.first_token
    assert found.decode.target == "u280"


def test_weights_beside_the_chip() -> None:
    """What `memory=` moves is part of each call."""
    one, _ = schedules()
    near, far = (estimate_generator(one, prompt=1, said=2, **given) for given in ({}, {"memory": "HBM"}))
    assert far.token > near.token and far.decode.transfers


def unknown(A: float32[8], n: index) -> float32[8]:
    B: float32[8] = 0.0
    for i in range(n):
        B[i] = A[i]
    return B


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prompt": 0}, "prompt= must be at least 1, got 0"),
        ({"said": 0}, "said= must be at least 1, got 0"),
        ({"blocks": -1}, "blocks= must be at least 1, got -1"),
        (
            {"prefill_tokens": 3},
            "prefill_tokens= is given alone\n  hint: give both: estimate_generator(decode, prefill, prefill_tokens=32, ...)",
        ),
        (
            {"prefill": True},
            "prefill is given alone\n  hint: give both: estimate_generator(decode, prefill, prefill_tokens=32, ...)",
        ),
    ],
)
def test_refusals(change: dict[str, Any], message: str) -> None:
    one, several = schedules()
    given = {"prompt": 2, "said": 2, **change}
    if "prefill" in given:
        given["prefill"] = several
    with pytest.raises(TargetError) as caught:
        estimate_generator(one, **given)
    assert str(caught.value) == message


def test_unknown_times() -> None:
    s = allo.customize(unknown)
    with pytest.raises(TargetError) as caught:
        estimate_generator(s, prompt=1, said=1)
    assert str(caught.value) == (
        "how long a call of 'unknown' takes is known at run time only\n"
        '  hint: say how often its loops run: trips={"i": 64}'
    )
    assert estimate_generator(s, prompt=1, said=1, trips={"i": 8}).token > 0
