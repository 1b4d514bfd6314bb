"""Latency of one sample through the stages of a function, by the copies that there are of their inner loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from ..timing.control.paths import StagePath, StageShape
from ..timing.control.span import Ends, Event, Span
from ..timing.control.spans import Spans
from ..timing.control.tokens import settled
from ..timing.control.tree import Dataflow, Node, parts_of


class Shorter(NamedTuple):
    """Loops of which one run takes `latency` cycles from now on: one of their innermost loop, which took `inner`, takes
    so many `fewer`."""

    latency: Fraction
    inner: Fraction
    fewer: Fraction


class StageSpan:
    """A stage of which inner loops take fewer cycles: its span, with the times of what it puts and gets.

    What is put or got under conditions comes sooner in the proportion in which the stage is shorter.
    """

    def __init__(self, spans: Spans, part: Node) -> None:
        self.spans = spans
        self.part = part
        self.plain = spans.of(part)
        self.exact = settled(spans, part)

    def taking(self, cycles: Mapping[Node, Shorter]) -> Span:
        """The stage where one run of each of these nodes is shorter."""
        if not cycles:
            return self.exact
        found = Spans(self.spans.tree, self.spans.callee, listed=False, known=self.spans)
        for node in _above(self.part, cycles):
            found.found.pop(node, None)
        for node, made in cycles.items():
            found.found[node] = _shrunk(self.spans.of(node), made)
        span = found.of(self.part)
        assert span.latency is not None and self.plain.latency
        part = span.latency / self.plain.latency
        puts, gets = (
            {stream: _moved(event, own.get(stream), exact.get(stream), part) for stream, event in made.items()}
            for made, own, exact in (
                (span.ends.puts, self.plain.ends.puts, self.exact.ends.puts),
                (span.ends.gets, self.plain.ends.gets, self.exact.ends.gets),
            )
        )
        return replace(span, ends=Ends(puts, gets, span.ends.reads, span.ends.writes))


class SampleLatency:
    """The cycles that one sample takes: the critical path through stages, or what nests take one after the other."""

    def __init__(self, spans: Spans, stages: Mapping[Node, StageSpan]) -> None:
        root = spans.tree.root
        self.overlaps = isinstance(root, Dataflow)
        self.spans = [stages[part].exact if part in stages else settled(spans, part) for part in root.parts]
        self.places = [root.parts.index(part) for part in stages]
        self.path = StagePath(self.spans)
        self.fixed = [self.path.shape(number, span) for number, span in enumerate(self.spans)]

    def shape(self, stage: int, span: Span) -> StageShape:
        """What a stage is on the path, by its number among the stages."""
        return self.path.shape(self.places[stage], span)

    def of(self, shapes: Sequence[StageShape]) -> int:
        """The cycles, with these shapes of the stages."""
        whole = [*self.fixed]
        for place, shape in zip(self.places, shapes, strict=True):
            whole[place] = shape
        return self.path.length(whole) if self.overlaps else sum(shape.length for shape in whole)


def _above(node: Node, changed: Mapping[Node, Shorter]) -> list[Node]:
    """The nodes around those that change, but for what is in one of these."""
    if node in changed:
        return []
    inside = [found for part in parts_of(node) for found in _above(part, changed)]
    return [node, *inside] if inside or any(part in changed for part in parts_of(node)) else []


def _shrunk(span: Span, made: Shorter) -> Span:
    """A span of another latency: its first iteration is as before, and what is put or got in front of the inner loop is
    behind the fewer iterations of that in its last one."""
    puts, gets = (
        {s: replace(e, tail=e.tail - made.fewer if e.tail >= made.inner else e.tail) for s, e in events.items()}
        for events in (span.ends.puts, span.ends.gets)
    )
    return replace(span, latency=made.latency, ends=replace(span.ends, puts=puts, gets=gets))


def _moved(event: Event, plain: Event | None, exact: Event | None, part: Fraction) -> Event:
    """An event, moved as conditions move it, in proportion."""
    if plain is None or exact is None:
        return event
    first = event.first + (exact.first - plain.first) * part
    return replace(event, first=first, tail=event.tail + (exact.tail - plain.tail) * part, times=None)
