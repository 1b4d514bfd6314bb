"""Estimate of a language model that says tokens: time to the first one, and tokens a second behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import TargetError
from ..estimate import estimate
from ..picture import aligned, preformatted
from ..target import Target

if TYPE_CHECKING:
    from pathlib import Path

    from ..customize import Schedule
    from ..estimate import Estimate


@dataclass(frozen=True, slots=True)
class GeneratorEstimate:
    """Times of a model that says `said` tokens behind a prompt of `prompt`. All numbers are *estimated*.

    `decode` is one call for one token, `prefill` one for the first `prefill_tokens` of a prompt (None: all tokens of a
    prompt go through `decode`); both are calls of one of `blocks` equal blocks, which run one after the other.
    """

    decode: Estimate
    prefill: Estimate | None
    prefill_tokens: int
    prompt: int
    said: int
    blocks: int = 1

    @property
    def calls(self) -> tuple[int, int]:
        """How often `prefill` and `decode` are called, for a block, until the first token is there.

        As the program of `write_generator` does it: a prompt that is shorter than what `prefill` takes goes through
        `decode`, and so does what is left of a longer one.
        """
        if self.prefill is None or self.prompt < self.prefill_tokens:
            return 0, self.prompt
        return 1, self.prompt - self.prefill_tokens

    @property
    def token(self) -> float:
        """Milliseconds from a token to the next."""
        return self.blocks * _milliseconds(self.decode)

    @property
    def first_token(self) -> float:
        """Milliseconds to the first token."""
        prefills, decodes = self.calls
        before = _milliseconds(self.prefill) if self.prefill is not None and prefills else 0.0
        return self.blocks * before + decodes * self.token

    @property
    def tokens_per_second(self) -> float:
        """Tokens that come in a second behind the first one."""
        return 1000 / self.token

    @property
    def latency(self) -> float:
        """Milliseconds until all tokens are there: the first one comes of the prompt, each other takes a call."""
        return self.first_token + (self.said - 1) * self.token

    def __str__(self) -> str:
        on = self.decode.on
        blocks = f", {self.blocks} blocks one after the other" if self.blocks > 1 else ""
        rows = [("call of", "tokens", "cycles", "ms", "DSP", "BRAM18", "until the first token")]
        prefills, decodes = self.calls
        for one, tokens, times in ((self.prefill, self.prefill_tokens, prefills), (self.decode, 1, decodes)):
            if one is not None:
                numbers = (f"{one.cycles:,}", f"{_milliseconds(one):.4g}", f"{one.dsp:,}", f"{one.bram18:,}")
                rows.append((one.top, str(tokens), *numbers, f"{times * self.blocks:,} calls"))
        return "\n".join([
            f"{self.decode.top}, {self.said} tokens behind {self.prompt} on {on}{blocks}; all figures are *estimated*",
            f"  *{self.first_token:.4g}* ms to the first token, then *{self.tokens_per_second:.4g}* tokens a second: "
            f"*{self.latency:.4g}* ms",
            "", *aligned(rows),
        ])  # fmt: skip

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def _milliseconds(one: Estimate) -> float:
    assert one.milliseconds is not None  # what `estimate_generator` has looked at
    return one.milliseconds


def estimate_generator(
    decode: Schedule,
    prefill: Schedule | None = None,
    *,
    prompt: int,
    said: int,
    prefill_tokens: int | None = None,
    blocks: int = 1,
    target: str | Path | Target = "u280",
    **options: Any,
) -> GeneratorEstimate:
    """How long a model takes to the first token behind a prompt of `prompt` tokens, and to each of `said` tokens.

    `decode` is the schedule of a kernel for one token, `prefill` that of one for the first `prefill_tokens` of a
    prompt. If both are one block of a model, `blocks` of them run one after the other on the same hardware, each with
    weights of its own. `options` are those of `allo.estimate`, such as `frequency=250`; without `memory=` arguments,
    and so weights, are on the chip. What the host takes between two calls is not counted.

    Raises TargetError for numbers that are below 1, for a prefill without its tokens, and for kernels that take a time
    that is known at run time only. Source: StreamTensor, section 6.1: TTFT and speed.
    """
    for name, number in (("prompt", prompt), ("said", said), ("blocks", blocks), ("prefill_tokens", prefill_tokens)):
        if number is not None and number < 1:
            raise TargetError(f"{name}= must be at least 1, got {number}")
    if (prefill is None) != (prefill_tokens is None):
        lacks = "prefill_tokens= is" if prefill is None else "prefill is"
        raise TargetError(
            f"{lacks} given alone", hint="give both: estimate_generator(decode, prefill, prefill_tokens=32, ...)"
        )
    found = [estimate(one, target, **options) for one in (decode, prefill) if one is not None]
    for one in found:
        if one.milliseconds is None:
            raise TargetError(
                f"how long a call of '{one.top}' takes is known at run time only",
                hint='say how often its loops run: trips={"i": 64}',
            )
    first, last = found[0], found[1] if prefill is not None else None
    return GeneratorEstimate(first, last, prefill_tokens or 0, prompt, said, blocks)
