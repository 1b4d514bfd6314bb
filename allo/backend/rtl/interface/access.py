"""Access of a shell to the banks of an array: a walk over its elements, which come off words and go into words."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ....layout import Division
from ..lowering.arrays import BankedArray
from ..netlist.builder import ModuleBuilder
from ..netlist.design import Signal
from .plan import ArrayTransfer


@dataclass(frozen=True, slots=True)
class WordSource:
    """Where words come from: whether there is one, and it; `active`: it is the turn of this array to take them."""

    valid: str
    data: str
    active: str


@dataclass(frozen=True, slots=True)
class WordDrain:
    """Where words go to: whether there is no room, and whose turn it is."""

    full: str
    active: str


class ArrayAccess:
    """One array: `take` and `load_ends` of its loads, `put`, `data`, `strobes` and `store_ends` of its stores.

    Loads write through registers, so a memory has the last element one cycle after `load_ends`.
    """

    def __init__(
        self, builder: ModuleBuilder, name: str, transfer: ArrayTransfer, word_bits: int,
        source: WordSource | None, drain: WordDrain | None,
    ) -> None:  # fmt: skip
        self.builder, self.name, self.transfer = builder, name, transfer
        self.word_bits, self.latency = word_bits, transfer.latency
        array = transfer.array
        self.bank_bits = max(1, (array.banks - 1).bit_length())
        self.load_step, self.store_step = self._flag("load_step"), self._flag("store_step")
        if source is None:
            builder.drive(self.load_step, "1'b0")
        if drain is None:
            builder.drive(self.store_step, "1'b0")
        self.bank, self.address, self.last = self._walk()
        self.storing = "1'b0" if drain is None else drain.active
        self.enable = "1'b1"
        if source is not None:
            self._load(source)
        if drain is not None:
            self._prepare_store(drain)

    def _flag(self, hint: str) -> Signal:
        return self.builder.signal(f"{self.name}_{hint}", 1)

    # -- the walk ----------------------------------------------------------------------------------------

    def _walk(self) -> tuple[Signal, Signal, Signal]:
        """The bank and the address of the group of elements that is next, and whether it is the last one."""
        array, builder = self.transfer.array, self.builder
        shape, banks, addresses, ended = array.memory.shape, [], [], ["1'b1"]
        for dim in reversed(range(len(shape))):
            lanes = self.transfer.lanes if dim == len(shape) - 1 else 1
            bank = builder.signal(f"{self.name}_bank_{dim}", self.bank_bits)
            address = builder.signal(f"{self.name}_address_{dim}", array.address_bits)
            last = self._flag(f"last_{dim}")
            step = f"({self.load_step.name} || {self.store_step.name})"
            step = " && ".join([step, *ended[1:]])
            ports = {"clk": "clk", "rst": "rst", "step": step}
            ports |= {"bank": bank.name, "addr": address.name, "last": last.name}
            parameters = {**_digits(array, dim, lanes), "BW": self.bank_bits, "AW": array.address_bits}
            builder.instance("allo_digit", f"{self.name}_digit_{dim}", parameters, ports)
            banks.append(bank.name)
            addresses.append(address.name)
            ended.append(last.name)
        zero = (f"{self.bank_bits}'d0", f"{array.address_bits}'d0")
        return (
            builder.wire(f"{self.name}_bank", self.bank_bits, " + ".join(reversed(banks)) or zero[0]),
            builder.wire(f"{self.name}_address", array.address_bits, " + ".join(reversed(addresses)) or zero[1]),
            builder.wire(f"{self.name}_last", 1, " && ".join(ended[1:]) or ended[0]),
        )

    # -- loads -------------------------------------------------------------------------------------------

    def _load(self, source: WordSource) -> None:
        builder, transfer, name = self.builder, self.transfer, self.name
        width = transfer.array.memory.width
        self.take = self._flag("take")
        group = builder.signal(f"{name}_group", transfer.lanes * width)
        builder.instance(
            "allo_load", f"{name}_load",
            {"W": self.word_bits, "E": transfer.bits, "B": width, "LANES": transfer.lanes},
            {
                "clk": "clk", "rst": "rst", "active": source.active, "valid": source.valid, "data": source.data,
                "take": self.take.name, "last": self.last.name, "step": self.load_step.name, "group": group.name,
            },
        )  # fmt: skip
        self.load_ends = builder.wire(f"{name}_load_ends", 1, f"{self.load_step.name} && {self.last.name}")
        self.write = self._flag("load_write")
        builder.register(self.write, self.load_step.name, reset=0)
        self.write_bank = builder.signal(f"{name}_load_bank", self.bank_bits)
        self.write_address = builder.signal(f"{name}_load_address", transfer.array.address_bits)
        self.words = builder.signal(f"{name}_load_words", group.width)
        for register, follows in (
            (self.write_bank, self.bank), (self.write_address, self.address), (self.words, group),
        ):  # fmt: skip
            builder.register(register, follows.name)

    def writes(self, bank: int) -> str | None:
        """The condition under which a load writes a bank; None if none does."""
        if not self.transfer.loads:
            return None
        first = bank - bank % self.transfer.lanes
        if self.transfer.array.banks <= self.transfer.lanes:
            return self.write.name
        return f"{self.write.name} && {self.write_bank.name} == {self.bank_bits}'d{first}"

    def written(self, bank: int) -> str:
        """The element that a load writes to a bank."""
        width, lane = self.transfer.array.memory.width, bank % self.transfer.lanes
        if self.transfer.lanes == 1:
            return self.words.name
        return f"{self.words.name}[{lane * width} +: {width}]"

    # -- stores ------------------------------------------------------------------------------------------

    def _prepare_store(self, drain: WordDrain) -> None:
        builder, name = self.builder, self.name
        self.drain = drain
        enable = self._flag("store_en")
        self.enable = f"(!{drain.active} || {enable.name})"
        self.put, self.store_ends = self._flag("put"), self._flag("store_ends")
        self.data = builder.signal(f"{name}_word", self.word_bits)
        self.strobes = builder.signal(f"{name}_strobes", self.word_bits // 8)
        self.store_enable = enable

    def finish(self, read: dict[int, str]) -> None:
        """Connect what the banks that there are read."""
        if not self.transfer.stores:
            return
        builder, transfer, lanes = self.builder, self.transfer, self.transfer.lanes
        place = builder.delayed(self.bank, self.latency, enables=[self.store_enable.name] * self.latency)
        choice = place.name if lanes == 1 else f"{place.name} >> {(lanes - 1).bit_length()}"
        elements, kept = [], []
        for lane in range(lanes):
            word, is_there = self._lane(lane, read, choice)
            elements.append(widened(word, transfer.bits, transfer.is_signed))
            kept.append(is_there)
        group = builder.wire(f"{self.name}_stored", transfer.group_bits, _joined(elements))
        keep = builder.wire(f"{self.name}_keep", lanes, _joined(kept))
        builder.instance(
            "allo_store", f"{self.name}_store",
            {"W": self.word_bits, "E": transfer.bits, "LANES": lanes, "LAT": self.latency},
            {
                "clk": "clk", "rst": "rst", "active": self.drain.active, "last": self.last.name,
                "step": self.store_step.name, "en": self.store_enable.name, "group": group.name, "keep": keep.name,
                "full": self.drain.full, "put": self.put.name, "data": self.data.name,
                "strobes": self.strobes.name, "ends": self.store_ends.name,
            },
        )  # fmt: skip

    def _lane(self, lane: int, read: dict[int, str], choice: str) -> tuple[Signal, str]:
        """The element of a lane, and whether its bank is there."""
        width, hint = self.transfer.array.memory.width, f"{self.name}_read_{lane}"
        banks = list(range(lane, self.transfer.array.banks, self.transfer.lanes))
        words = [read.get(bank, f"{width}'d0") for bank in banks]
        there = "".join("1" if bank in read else "0" for bank in reversed(banks))
        if len(banks) == 1:
            return self.builder.wire(hint, width, words[0]), f"1'b{there}"
        every = self.builder.wire(f"{hint}_all", width * len(banks), _joined(words))
        word = self.builder.wire(hint, width, f"{every.name}[({choice}) * {width} +: {width}]")
        if "0" not in there:
            return word, "1'b1"
        known = self.builder.wire(f"{hint}_there", len(banks), f"{len(banks)}'b{there}")
        return word, self.builder.wire(f"{hint}_kept", 1, f"{known.name}[{choice}]").name


def _digits(array: BankedArray, dim: int, lanes: int) -> dict[str, int]:
    """The walk along a dimension, `lanes` elements a step."""
    kind = array.dims[dim].canonical(array.memory.shape[dim])
    extent, count, length = array.memory.shape[dim], array.counts[dim], array.lengths[dim]
    bank, address = prod(array.counts[dim + 1 :]), prod(array.lengths[dim + 1 :])
    if kind.kind is Division.BLOCK:
        return {
            "COUNT": extent, "FAST": length, "FAST_BANK": 0, "FAST_ADDR": address,
            "SLOW_BANK": bank, "SLOW_ADDR": 0,
        }  # fmt: skip
    return {
        "COUNT": extent // lanes, "FAST": count // lanes, "FAST_BANK": bank * lanes, "FAST_ADDR": 0,
        "SLOW_BANK": 0, "SLOW_ADDR": address,
    }  # fmt: skip


def widened(word: Signal, bits: int, is_signed: bool) -> str:
    """A number in more bits."""
    more = bits - word.width
    if not more:
        return word.name
    sign = word.name if word.width == 1 else f"{word.name}[{word.width - 1}]"
    return f"{{{{{more}{{{sign}}}}}, {word.name}}}" if is_signed else f"{{{more}'d0, {word.name}}}"


def _joined(parts: list[str]) -> str:
    """Parts of a vector, the first one in its low bits."""
    return parts[0] if len(parts) == 1 else "{" + ", ".join(reversed(parts)) + "}"
