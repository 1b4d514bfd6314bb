"""Arrays as banks of memory: in which bank an access comes to which address, as expressions of hardware."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import gcd, prod
from typing import NamedTuple

import numpy as np

from ....layout import Banks, Division
from ....timing.problem.memory import ArrayMemory
from .linear import SubscriptNumber, constant, quotient, remainder, row_major

type Numbers = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


class BankPlace(NamedTuple):
    """Where an access goes: banks that it may come to, which of them (None: there is one), and the address in it."""

    banks: tuple[int, ...]
    chosen: str | None
    address: str


@dataclass(frozen=True)
class BankedArray:
    """An array of `memory`; registers are banks of one element each."""

    memory: ArrayMemory

    @cached_property
    def dims(self) -> tuple[Banks, ...]:
        if self.memory.is_register:
            return tuple(Banks(Division.COMPLETE) for _ in self.memory.shape)
        return self.memory.dims

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """The banks of each dimension."""
        return tuple(banks.count(extent) for banks, extent in zip(self.dims, self.memory.shape, strict=True))

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The elements of each dimension that lie in one bank."""
        found = []
        for banks, extent, count in zip(self.dims, self.memory.shape, self.counts, strict=True):
            kind = banks.canonical(extent)
            found.append(kind.run(extent) if kind.kind is Division.BLOCK else -(-extent // count) if extent else 1)
        return tuple(found)

    @cached_property
    def _blocks(self) -> tuple[bool, ...]:
        """Which dimensions are divided into blocks of neighbours."""
        pairs = zip(self.dims, self.memory.shape, strict=True)
        return tuple(banks.canonical(extent).kind is Division.BLOCK for banks, extent in pairs)

    @cached_property
    def _is_apart(self) -> bool:
        """Whether each element is a bank of its own."""
        return self.counts == tuple(self.memory.shape)

    @cached_property
    def banks(self) -> int:
        return prod(self.counts)

    @cached_property
    def depth(self) -> int:
        """The words of a bank."""
        return max(1, prod(self.lengths))

    @property
    def address_bits(self) -> int:
        return max(1, (self.depth - 1).bit_length())

    def place(self, subscripts: Sequence[SubscriptNumber]) -> BankPlace:
        """Where an access with these subscripts goes."""
        numbers = [one.offset for one in subscripts if not one.terms]
        if len(numbers) == len(subscripts) and self.has(numbers):
            return self.at(numbers)
        candidates: list[list[int]] = []
        chosen: list[SubscriptNumber] = []
        address: list[SubscriptNumber] = []
        for banks, extent, count, length, one in zip(
            self.dims, self.memory.shape, self.counts, self.lengths, subscripts, strict=True
        ):
            kind = banks.canonical(extent)
            is_block = kind.kind is Division.BLOCK
            candidates.append(_reached(kind, extent, count, one))
            divisor = length if is_block else count
            whole, rest = quotient(one, divisor, in_bounds=True), remainder(one, divisor, in_bounds=True)
            chosen.append(whole if is_block else rest)
            address.append(rest if is_block else constant(0) if length == 1 else whole)
        banks_of = [_linear(place, self.counts) for place in product(*candidates)]
        choice = None if len(banks_of) == 1 else row_major(chosen, self.counts).sum_text
        return BankPlace(tuple(banks_of), choice, row_major(address, self.lengths).sum_text)

    def has(self, numbers: Sequence[int]) -> bool:
        """Whether there is an element with these numbers."""
        return all(0 <= number < extent for number, extent in zip(numbers, self.memory.shape, strict=True))

    def at(self, numbers: Sequence[int]) -> BankPlace:
        """Where the element is that has these numbers."""
        if self._is_apart:
            return BankPlace((_linear(numbers, self.counts),), None, "0")
        bank, address = [], []
        for is_block, count, length, number in zip(self._blocks, self.counts, self.lengths, numbers, strict=True):
            whole, rest = divmod(number, length if is_block else count)
            bank.append(whole if is_block else rest)
            address.append(rest if is_block else whole)
        return BankPlace((_linear(bank, self.counts),), None, str(_linear(address, self.lengths)))

    def positions(self) -> tuple[Numbers, Numbers]:
        """The bank and the address of each element, in the shape of the array."""
        shape = self.memory.shape
        bank, address = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        grids: Iterable[Numbers] = np.indices(shape) if shape else ()
        for banks, extent, count, length, grid in zip(
            self.dims, shape, self.counts, self.lengths, grids, strict=True
        ):
            is_block = banks.canonical(extent).kind is Division.BLOCK
            divisor = length if is_block else count
            bank = bank * count + (grid // divisor if is_block else grid % divisor)
            address = address * length + (grid % divisor if is_block else grid // divisor)
        return bank, address


    def divided(self, elements: Sequence[int]) -> dict[int, list[int]]:
        """The words of each bank; those that hold no element are 0."""
        banks, addresses = (numbers.reshape(-1) for numbers in self.positions())
        found: dict[int, list[int]] = {int(bank): [0] * self.depth for bank in np.unique(banks)}
        for element, bank, address in zip(elements, banks, addresses, strict=True):
            found[int(bank)][int(address)] = element
        return found


def _reached(kind: Banks, extent: int, count: int, one: SubscriptNumber) -> list[int]:
    """The banks of a dimension that a subscript may come to."""
    low, high = max(one.low, 0), min(one.high, extent - 1)
    if count == 1 or low > high:
        return [0]
    if kind.kind is Division.BLOCK:
        run = kind.run(extent)
        return list(range(low // run, high // run + 1))
    step = gcd(one.step, count)
    found = [bank for bank in range(count) if (bank - one.residue) % step == 0]
    if high - low + 1 < count:
        near = {number % count for number in range(low, high + 1)}
        found = [bank for bank in found if bank in near]
    return found or [0]


def _linear(place: Sequence[int], counts: Sequence[int]) -> int:
    number = 0
    for one, count in zip(place, counts, strict=True):
        number = number * count + one
    return number
