"""Orders of writes and reads of arrays that pass through FIFOs: each element once, and both sides in one order.

Iterations of any shape are compared pair by pair; `tokens.py` numbers tokens, which takes boxes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product

import islpy as isl

from .linear import PRIME, Linear, Piece, Pieces, Row, variable
from .model import Access
from .systems import feasible, lexicographic_minimum, set_of
from .violation import Undecided, unknown

_ELEMENT = 8 * PRIME  # the variable of dimension d of the first element is _ELEMENT + d, of the second PRIME more


class OrderMismatch(StrEnum):
    TWICE = "written twice"
    REREAD = "read twice"
    UNREAD = "never read"
    UNWRITTEN = "never written"
    EARLY = "read before it is written"
    ORDER = "order"


@dataclass(frozen=True, slots=True)
class Transfer:
    """One write or read of a FIFO: `access` in the first `depth` loops around it; inner ones do not repeat it.

    The loops before `fixed` stand around the array itself. `key` tells functions apart: accesses with one key
    share their loops and parameters.
    """

    access: Access
    fixed: int
    depth: int
    key: str

    @property
    def shared(self) -> frozenset[int]:
        """What is the same for all instances in question: the parameters and the loops around the array."""
        fixed = {loop.variable for loop in self.access.loops[: self.fixed]}
        return frozenset(fixed | {parameter.variable for parameter in self.access.parameters})

    @property
    def counted(self) -> tuple[int, ...]:
        """The variables that number its instances."""
        return tuple(loop.variable for loop in self.access.loops[self.fixed : self.depth])

    @property
    def pieces(self) -> Pieces:
        """When it happens: in each iteration of the loops that count, whether inner ones run or not."""
        access = self.access
        if self.depth == len(access.loops):
            return access.pieces
        return access.loops[self.depth - 1].pieces if self.depth else ((),)

    @property
    def uses_parameters(self) -> bool:
        access = self.access
        forms = [*access.subscripts, *(row.form for piece in (*self.pieces, access.rows) for row in piece)]
        numbers = {number for form in forms for number, _ in form.terms}
        return any(parameter.variable in numbers for parameter in access.parameters)


@dataclass(frozen=True, slots=True)
class OrderObstacle:
    """Why a FIFO does not do: `element` (and `other`) of the array, with the accesses concerned."""

    mismatch: OrderMismatch
    element: tuple[int, ...]
    other: tuple[int, ...]
    first: Access
    second: Access


type Box = tuple[tuple[int, int], ...]  # the least and the greatest subscript of each dimension


def read_box(reads: Sequence[Transfer]) -> Box | None:
    """The box of the elements that are read; None if they are no box, or depend on what is around the array."""
    if not all(read.access.exact for read in reads) or any(read.uses_parameters or read.fixed for read in reads):
        return None
    dims = tuple(_ELEMENT + d for d in range(len(reads[0].access.subscripts)))
    found = set_of((), dims, [rows for read in reads for rows in _Instance(read, 0).systems(_ELEMENT)])
    if found.is_empty() or not dims:
        return None
    ends = [(found.dim_min_val(d), found.dim_max_val(d)) for d in range(len(dims))]
    if not all(value.is_int() for end in ends for value in end):
        return None
    box = tuple((int(low.to_python()), int(high.to_python())) for low, high in ends)
    rows = [side for number, (low, high) in zip(dims, box, strict=True) for side in _between(number, low, high)]
    return box if set_of((), dims, [rows]).is_equal(found) else None


def _between(number: int, low: int, high: int) -> tuple[Row, Row]:
    return Row(variable(number).plus(-low)), Row(variable(number).scaled(-1).plus(high))


def inside(transfer: Transfer, box: Box) -> Transfer:
    """The instances of a transfer whose elements are in a box."""
    access = transfer.access
    rows = [
        row
        for form, (low, high) in zip(access.subscripts, box, strict=True)
        for row in (Row(form.plus(-low)), Row(form.scaled(-1).plus(high)))
    ]
    return replace(transfer, access=replace(access, rows=(*access.rows, *rows)))


def fifo_obstacle(
    writes: Sequence[Transfer], reads: Sequence[Transfer], lanes: Sequence[int] = ()
) -> OrderObstacle | Undecided | None:
    """The first reason why the elements cannot go through FIFOs, one for each value of the subscripts `lanes`.

    Each element must be written once, then read once, and any two of a lane in the same order on both sides. Of
    accesses in different functions, it is for the caller to see to it that the writes come first.
    """
    for transfer in (*writes, *reads):
        if not transfer.access.exact:
            return unknown(transfer.access)
        if transfer.uses_parameters and writes[0].key != reads[0].key:
            return Undecided("it depends on a value that is known at run time only", transfer.access)
    return (
        _repeated(writes, OrderMismatch.TWICE)
        or _repeated(reads, OrderMismatch.REREAD)
        or _left_over(writes, reads, OrderMismatch.UNREAD)
        or _left_over(reads, writes, OrderMismatch.UNWRITTEN)
        or _early(writes, reads)
        or _reordered(writes, reads, lanes)
    )


def unwritten(writes: Sequence[Transfer], reads: Sequence[Transfer]) -> OrderObstacle | Undecided | None:
    """An element that is read although nothing writes it; Undecided if what is only known roughly may write it."""
    rough = [transfer for transfer in (*reads, *writes) if not transfer.access.exact]
    sure = [write for write in writes if write.access.exact]
    if any(read in rough for read in reads) or not sure:
        return unknown(rough[0].access)
    found = _left_over(reads, sure, OrderMismatch.UNWRITTEN)
    return unknown(rough[0].access) if found is not None and rough else found


def overwritten(earlier: Sequence[Transfer], later: Sequence[Transfer]) -> bool:
    """Whether later writes surely replace all that earlier ones write."""
    exact = all(transfer.access.exact for transfer in (*earlier, *later))
    exact = exact and (earlier[0].key == later[0].key or not any(t.uses_parameters for t in (*earlier, *later)))
    return exact and _left_over(earlier, later, OrderMismatch.UNREAD) is None


def only_first_values(
    first: Sequence[Transfer], writes: Sequence[Transfer], reads: Sequence[Transfer]
) -> bool:
    """Whether all that `reads` surely see was written by `first`, and not by the `writes` that come with the reads."""
    transfers = (*first, *writes, *reads)
    exact = all(transfer.access.exact for transfer in transfers)
    if not exact or (first[0].key != reads[0].key and any(t.uses_parameters for t in transfers)):
        return False
    return _left_over(reads, first, OrderMismatch.UNWRITTEN) is None and _early(reads, writes) is None


@dataclass(frozen=True, slots=True)
class _Instance:
    """One instance of a transfer: the variables that are not shared are moved up by `shift`."""

    transfer: Transfer
    shift: int

    def form(self, form: Linear) -> Linear:
        shared = self.transfer.shared
        moved = sorted((v if v in shared else v + self.shift, c) for v, c in form.terms)
        return Linear(form.constant, tuple(moved))

    def systems(self, element: int) -> Iterator[Piece]:
        """The disjuncts of: it runs, and its element is that of the variables from `element` on."""
        access = self.transfer.access
        rows = [Row(self.form(row.form), row.equality) for row in access.rows]
        rows += [
            Row(variable(element + d) - self.form(subscript), True)
            for d, subscript in enumerate(access.subscripts)
        ]
        for piece in self.transfer.pieces:
            yield (*rows, *(Row(self.form(row.form), row.equality) for row in piece))

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(number + self.shift for number in self.transfer.counted)


def _before(first: _Instance, second: _Instance) -> list[Piece]:
    """The ways in which one instance comes before another one of the same side."""
    one, two = first.transfer, second.transfer
    ways: list[Piece] = []
    equal: list[Row] = []
    common = one.fixed
    while common < min(one.depth, two.depth):
        outer, inner = one.access.loops[common].variable, two.access.loops[common].variable
        if outer != inner:
            break
        difference = variable(inner + second.shift) - variable(outer + first.shift)
        ways.append((*equal, Row(difference.plus(-1))))
        equal.append(Row(difference, True))
        common += 1
    if _in_front(one, two, common):
        ways.append(tuple(equal))
    return ways


def _in_front(one: Transfer, two: Transfer, common: int) -> bool:
    """Whether `one` stands before `two` in the text, below the `common` loops that they share.

    What an inner loop does not repeat happens in front of that loop, and before what is in it.
    """
    left, right = one.access.path[common], two.access.path[common]
    if left != right or one.depth > common:
        return left < right
    return two.depth > common or one.access.path < two.access.path


def _repeated(transfers: Sequence[Transfer], mismatch: OrderMismatch) -> OrderObstacle | None:
    """Two instances of one side with the same element."""
    for first, second, order in _sequences(transfers, 0):
        for left, right in product(first.systems(_ELEMENT), second.systems(_ELEMENT)):
            rows = [*left, *right, *order]
            if feasible(rows):
                numbers = (*first.numbers, *second.numbers)
                return _obstacle(mismatch, rows, numbers, first.transfer.access, second.transfer.access)
    return None


def _left_over(ones: Sequence[Transfer], others: Sequence[Transfer], mismatch: OrderMismatch) -> OrderObstacle | None:
    """An element of one side that the other side has not."""
    rank = len(ones[0].access.subscripts)
    dims = tuple(_ELEMENT + d for d in range(rank))
    outer = {loop.variable for t in (*ones, *others) for loop in t.access.loops[: t.fixed]}
    if ones[0].key == others[0].key:
        outer |= {parameter.variable for t in (*ones, *others) for parameter in t.access.parameters}
    parameters = tuple(sorted(outer))

    def elements(transfers: Sequence[Transfer], shift: int) -> Iterator[Piece]:
        for transfer in transfers:
            yield from _Instance(transfer, shift).systems(_ELEMENT)

    found = set_of(parameters, dims, elements(ones, 0))
    missing = found.subtract(set_of(parameters, dims, elements(others, PRIME)))
    if missing.is_empty():
        return None
    points = missing.project_out(isl.dim_type.param, 0, len(parameters))
    element: list[int] = []
    for d in range(rank):
        value = points.dim_min_val(d)
        points = points.fix_val(isl.dim_type.set, d, value)
        element.append(int(value.to_python()))
    return OrderObstacle(mismatch, tuple(element), (), ones[0].access, others[0].access)


def _early(writes: Sequence[Transfer], reads: Sequence[Transfer]) -> OrderObstacle | None:
    """An element that is read before it is written."""
    for write, read in product(writes, reads):
        if write.key != read.key:
            continue
        first, second = _Instance(read, 0), _Instance(write, PRIME)
        for order in _before(first, second):
            for left, right in product(first.systems(_ELEMENT), second.systems(_ELEMENT)):
                rows = [*left, *right, *order]
                if feasible(rows):
                    numbers = (*first.numbers, *second.numbers)
                    return _obstacle(OrderMismatch.EARLY, rows, numbers, read.access, write.access)
    return None


def _reordered(writes: Sequence[Transfer], reads: Sequence[Transfer], lanes: Sequence[int]) -> OrderObstacle | None:
    """Two elements of a lane that are written in one order and read in the other."""
    second = _ELEMENT + PRIME
    lane = [Row(variable(_ELEMENT + d) - variable(second + d), True) for d in lanes]
    first_writes = {id(w): list(_Instance(w, 0).systems(_ELEMENT)) for w in writes}
    next_writes = {id(w): list(_Instance(w, PRIME).systems(second)) for w in writes}
    first_reads = {id(r): list(_Instance(r, 2 * PRIME).systems(second)) for r in reads}
    next_reads = {id(r): list(_Instance(r, 3 * PRIME).systems(_ELEMENT)) for r in reads}
    for w1, w2, write_order in _sequences(writes, 0):
        for r2, r1, read_order in _sequences(reads, 2 * PRIME):
            for parts in product(
                first_writes[id(w1.transfer)],
                next_writes[id(w2.transfer)],
                first_reads[id(r2.transfer)],
                next_reads[id(r1.transfer)],
            ):
                rows = [*(row for part in parts for row in part), *write_order, *read_order, *lane]
                if feasible(rows):
                    numbers = (*w1.numbers, *w2.numbers)
                    return _obstacle(OrderMismatch.ORDER, rows, numbers, w1.transfer.access, r1.transfer.access)
    return None


def _sequences(transfers: Sequence[Transfer], shift: int) -> Iterator[tuple[_Instance, _Instance, Piece]]:
    """Two instances of one side and a way in which the first comes before the second."""
    for one, two in product(transfers, repeat=2):
        first, second = _Instance(one, shift), _Instance(two, shift + PRIME)
        for order in _before(first, second):
            yield first, second, order


def _obstacle(
    mismatch: OrderMismatch, rows: Sequence[Row], numbers: tuple[int, ...], first: Access, second: Access
) -> OrderObstacle:
    """The obstacle at the first solution of `rows`, in the order of `numbers`."""
    rank = len(first.subscripts)
    elements = tuple(_ELEMENT + k * PRIME + d for k in range(2) for d in range(rank))
    used = {number for row in rows for number, _ in row.form.terms}
    dims = (*(n for n in numbers if n in used), *(n for n in elements if n in used))
    found = dict(zip(dims, lexicographic_minimum(dims, rows) or (), strict=True))
    one = tuple(found[n] for n in elements[:rank])
    two = tuple(found.get(n, one[d]) for d, n in enumerate(elements[rank:]))
    return OrderObstacle(mismatch, one, two, first, second)
