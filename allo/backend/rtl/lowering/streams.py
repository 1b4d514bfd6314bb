"""Streams of a function: FIFOs that it makes, or ends of them that are its ports; who puts, and who gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir import ir

from ..netlist.builder import ModuleBuilder, OpenOutput
from ..netlist.design import Direction, Signal
from .arrays import BankedArray, BankPlace


@dataclass(slots=True, eq=False)
class HandshakeEnd:
    """One end of a FIFO: `stops` is full, or empty; `uses` are the conditions under which it is used, with words, or
    outputs of an instance that are that."""

    stops: Signal
    does: Signal
    data: Signal
    uses: list[tuple[str, str] | tuple[OpenOutput, OpenOutput | None]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class StreamPorts:
    """A stream, or the streams of an array, in a module; elements are numbered row by row."""

    builder: ModuleBuilder
    name: str
    value: ir.Value
    array: BankedArray
    width: int
    depth: int
    is_outside: bool
    puts: dict[int, HandshakeEnd] = field(default_factory=dict)
    gets: dict[int, HandshakeEnd] = field(default_factory=dict)
    instances: dict[int, str] = field(default_factory=dict)

    def end(self, element: int, is_put: bool) -> HandshakeEnd:
        """An end of an element."""
        ends = self.puts if is_put else self.gets
        if element not in ends:
            ends[element] = self._made(self._element_name(element), is_put)
        return ends[element]

    def _element_name(self, element: int) -> str:
        return self.name if self.array.banks == 1 else f"{self.name}_{element}"

    def _made(self, name: str, is_put: bool) -> HandshakeEnd:
        stops, does, data = (
            (f"{name}_full", f"{name}_put", f"{name}_put_data")
            if is_put
            else (f"{name}_empty", f"{name}_get", f"{name}_get_data")
        )
        new = self.builder
        if not self.is_outside:
            return HandshakeEnd(new.signal(stops, 1), new.signal(does, 1), new.signal(data, self.width))
        of_data = Direction.OUTPUT if is_put else Direction.INPUT
        return HandshakeEnd(
            new.port(stops, 1, Direction.INPUT),
            new.port(does, 1, Direction.OUTPUT),
            new.port(data, self.width, of_data),
        )

    # -- puts and gets ----------------------------------------------------------------------------------

    def can(self, place: BankPlace, chosen: Signal | None, is_put: bool) -> str:
        """The condition under which the FIFO at a place lets something happen."""
        flags = [f"!{self.end(element, is_put).stops.name}" for element in place.banks]
        return _selected(place.banks, flags, chosen)

    def got(self, place: BankPlace, chosen: Signal | None) -> str:
        """The element that a get at a place finds."""
        return _selected(place.banks, [self.end(element, False).data.name for element in place.banks], chosen)

    def use(self, place: BankPlace, chosen: Signal | None, is_put: bool, fire: str, word: str) -> None:
        """Put a word, or take one, under a condition."""
        for element in place.banks:
            own = "" if chosen is None else f" && {chosen.name} == {chosen.width}'d{element}"
            self.end(element, is_put).uses.append((f"{fire}{own}", word))

    def finish(self) -> None:
        """Drive the ends, and make the FIFOs."""
        for is_put, ends in ((True, self.puts), (False, self.gets)):
            for end in ends.values():
                if len(end.uses) == 1 and isinstance(end.uses[0][0], OpenOutput):
                    does, data = end.uses[0]
                    does.joined(end.does)
                    if isinstance(data, OpenOutput):
                        data.joined(end.data)
                    continue
                uses = [(self._text(does), self._text(data)) for does, data in end.uses]
                self.builder.drive(end.does, " || ".join(f"({condition})" for condition, _ in uses) or "1'b0")
                if is_put:
                    *rest, (_, last) = uses
                    word = "".join(f"({condition}) ? {one} : " for condition, one in rest) + last
                    self.builder.drive(end.data, word)
        if not self.is_outside:
            for element in sorted({*self.puts, *self.gets}):
                self.instances[element] = self._fifo(element)

    def _text(self, given: str | OpenOutput | None) -> str:
        return given.made(self.builder) if isinstance(given, OpenOutput) else given or ""

    def _fifo(self, element: int) -> str:
        name = self._element_name(element)
        put, get = self.puts.get(element), self.gets.get(element)
        sockets = {"clk": "clk", "rst": "rst"}
        sockets |= {"put": put.does.name, "put_data": put.data.name} if put else {"put": "1'b0", "put_data": "'0"}
        sockets["get"] = get.does.name if get else "1'b0"
        sockets |= {"full": put.stops.name} if put else {}
        sockets |= {"empty": get.stops.name, "get_data": get.data.name} if get else {}
        return self.builder.instance("allo_fifo", f"{name}_fifo", {"W": self.width, "DEPTH": self.depth}, sockets)

    # -- calls ------------------------------------------------------------------------------------------

    def connect(self, inner: StreamPorts, elements: Sequence[int], prefix: str, sockets: dict[str, str]) -> None:
        """Connect an instance that uses these elements as its own stream."""
        for is_put, ends in ((True, inner.puts), (False, inner.gets)):
            for number, own in ends.items():
                outer = self.end(elements[number], is_put)
                sockets[own.stops.name] = outer.stops.name
                does = OpenOutput(sockets, own.does, prefix)
                if is_put:
                    outer.uses.append((does, OpenOutput(sockets, own.data, prefix)))
                else:
                    sockets[own.data.name] = outer.data.name
                    outer.uses.append((does, None))


def _selected(elements: Sequence[int], texts: Sequence[str], chosen: Signal | None) -> str:
    """One of some texts, by the element that is chosen."""
    if chosen is None:
        return texts[-1]
    cases = zip(elements[:-1], texts[:-1], strict=True)
    return "(" + "".join(f"{chosen.name} == {chosen.width}'d{n} ? {text} : " for n, text in cases) + f"{texts[-1]})"
