"""Top module for the pins of a chip: the kernel, the memories of its arguments, and a serial port that fills them.

The port is that of an SPI device of mode 0. A word of it is, the first bit first: whether it writes, the number of a
place, an address, data. What the word asks for is done when `select_n` goes up; what it reads is in the data of the
next word that comes back. Place 0 is control: data 1 starts a call, 2 resets; its bits are then: a call runs, it hangs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..library.described import address_width
from ..netlist.design import Direction, Signal
from .arrays import BankedArray
from .function import FunctionHardware
from .memories import place_cell, place_memory
from .top import TopModule

_LEAST = 2  # digits of each part of a word, so that parts of it are vectors
_OWN = ("rst", "start", "done", "stuck")
_PARTS = ("host_place", "host_address", "host_data")  # of a word
_HOST = ("host_access", "host_write", "host_running", "host_hung", "host_free", "host_writes")


@dataclass(frozen=True, slots=True)
class BoardPlace:
    """A memory, a register (depth 1) or a result (depth 1, never written) that words of the port name by a number."""

    number: int
    depth: int
    width: int


@dataclass(frozen=True, slots=True)
class WordForm:
    """The bits of the parts of a word, the first bit of which says whether it writes."""

    place: int
    address: int
    data: int

    @property
    def bits(self) -> int:
        return 1 + self.place + self.address + self.data


class BoardModule(TopModule):
    """The kernel with its memories, and a port by which a host reads and writes them while no call runs.

    `places` are what the port reaches, by the names that `arguments`, `results` and `states` have for them. Where a
    memory that the kernel only reads has a port left, it is the host's, else both share one of the kernel's.
    """

    def __init__(self, kernel: FunctionHardware, taken: Collection[str]) -> None:
        self.places: dict[str, BoardPlace] = {}
        self._values: list[tuple[BoardPlace, str]] = []  # what is read of each place
        self._latency = 0
        super().__init__(kernel, taken, "board")
        form = self.form = WordForm(
            max(_LEAST, len(self.places).bit_length()),
            max([_LEAST, *(address_width(place.depth) for place in self.places.values())]),
            max([_LEAST, *(place.width for place in self.places.values())]),
        )
        parts = zip(_PARTS, (form.place, form.address, form.data), strict=True)
        self.builder.module.signals += [Signal(name, width) for name, width in parts]
        self._answers(form)

    @property
    def name(self) -> str:
        """What the module is called."""
        return self.builder.module.name

    def control(self) -> None:
        for name in ("clk", "sck", "select_n", "mosi"):
            self.builder.port(name, 1, Direction.INPUT)
        self.builder.port("miso", 1, Direction.OUTPUT)
        self.builder.taken.update((*_HOST, *_PARTS))
        self.builder.module.signals += [Signal(name, 1) for name in (*_OWN, *_HOST)]

    def _answers(self, form: WordForm) -> None:
        builder = self.builder
        access, running, hung = (Signal(name, 1) for name in ("host_access", "host_running", "host_hung"))
        order = builder.wire("host_order", 1, "host_access && host_write && host_place == 0")
        resets = f"{order.name} && host_data[1]"
        begins = builder.wire("host_begins", 1, f"{order.name} && host_data[0] && !host_running")
        for name, following in (
            ("rst", resets), ("start", begins.name),
            (running.name, f"!rst && ({begins.name} || (host_running && !done))"),
            (hung.name, "!rst && !start && (host_hung || (host_running && stuck))"),
        ):  # fmt: skip
            builder.register(Signal(name, 1), following)
        builder.drive(Signal("host_free", 1), "!host_running")
        builder.drive(Signal("host_writes", 1), "host_access && host_write && !host_running")
        known = [(0, "{host_hung, host_running}"), *((place.number, value) for place, value in self._values)]
        width = form.data
        read = [f"({{{width}{{host_place == {number}}}}} & {width}'({value}))" for number, value in known]
        answer = builder.signal("host_answer", form.data)
        builder.register(answer, " | ".join(read))
        answered = builder.delayed(access, self._latency + 2)
        sockets = {
            "clk": "clk", "sck": "sck", "select_n": "select_n", "mosi": "mosi", "miso": "miso", "access": access.name,
            "word": "{host_write, host_place, host_address, host_data}", "answered": answered.name,
            "answer": answer.name,
        }  # fmt: skip
        builder.instance("allo_spi", "host", {"N": form.bits, "W": form.data}, sockets)

    def _placed(self, depth: int, width: int) -> tuple[BoardPlace, str]:
        """A new place, and the expression that the host writes to it."""
        place = BoardPlace(len(self.places) + 1, depth, width)
        chosen = self.builder.wire("host_writes_it", 1, f"host_writes && host_place == {place.number}")
        return place, chosen.name

    def _known(self, name: str, place: BoardPlace, value: str) -> str:
        self.places[name] = place
        self._values.append((place, value))
        return name

    def _shared(self, hint: str, width: int, host: str, kernel: str) -> Signal:
        return self.builder.wire(f"{hint}_either", width, f"host_free ? {host} : {kernel}")

    def result(self, _number: int, port: Signal) -> str:
        place, _ = self._placed(1, port.width)
        value = self.socket(port)
        return self._known(value.name, place, value.name)

    def cell(
        self, name: str, width: int, value: str, write: str, data: str, _: Sequence[int] | None = None
    ) -> str:  # the host writes first values
        place, chosen = self._placed(1, width)
        either = self._shared(name, width, _low("host_data", width), data).name
        made = place_cell(self.builder, name, width, value, f"({chosen} || ({write} && host_running))", either)
        return self._known(made, place, value)

    def memory(
        self, name: str, array: BankedArray, drivers: Mapping[int, tuple[Signal, ...]], words: Mapping[int, Signal],
        writing: set[int], _: Sequence[int] | None = None,
    ) -> str:  # fmt: skip
        memory = array.memory
        place, chosen = self._placed(array.depth, memory.width)
        self._latency = max(self._latency, memory.read)
        host = ("1'b1", chosen, _low("host_address", array.address_bits), _low("host_data", memory.width))
        widths = (1, 1, array.address_bits, memory.width)
        if memory.read and len(drivers) == 1 and set(drivers) <= {0, 1} and not writing:
            port = 1 - min(drivers)
            own = tuple(
                self.builder.wire(f"{name}_host", width, text) for width, text in zip(widths, host, strict=True)
            )
            words = {**words, port: self.builder.signal(f"{name}_host_q", memory.width)}
        else:
            port = min(writing or drivers)
            own = tuple(
                self._shared(name, width, text, one.name)
                for width, text, one in zip(widths, host, drivers[port], strict=True)
            )
        made = place_memory(self.builder, name, array, {**drivers, port: own}, words, writing | {port})
        return self._known(made, place, words[port].name)


def _low(name: str, width: int) -> str:
    return f"{name}[{width - 1}:0]" if width > 1 else f"{name}[0]"
