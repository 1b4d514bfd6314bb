"""Checker of the certificate of a proof, without the prover, by induction over the order of execution.

It tells which write each read sees, claims that values of the two programs are equal in related iterations, and pairs
the terms of sums. A claim follows from claims about values that were computed earlier; those on outputs are needed.
"""

from __future__ import annotations

import json
from functools import reduce
from typing import Any

import islpy as isl

from ...ir.access import is_at_stream, is_store, sees_element
from ...poly.computation import UNDEFINED, Computation, Copies, Value
from ...poly.model import Access
from ..program.branches import Guards
from ..program.programs import Program, other_interface, other_states
from .reading import demand_same_reading
from .streams import check_stream
from .sums import ANY_ORDER, DEFINED, SumCheck, Wrong, related

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
_COMMUTATIVE = {"arith.addi", "arith.addf", "allo.fixed_add", *ANY_ORDER}
type _Pair = tuple[str, str]  # the names of two values


def problems(certificate: str, a: Program, b: Program, *, reassociate: bool = False) -> str:
    """Why the certificate does not prove that `b` computes what `a` does; empty if it does.

    With `reassociate`, sums of floats may have their terms in another order, as in `allo.verify`.
    """
    try:
        if told := other_interface(a, b) or other_states(a, b):
            return told
        _Check(json.loads(certificate), (a, b), reassociate).run()
        return ""
    except Exception as error:  # whatever it is, nothing is shown
        return f"{type(error).__name__}: {error}"


class _Side:
    """One program, and where its reads take their values from: as told, and checked."""

    def __init__(self, program: Program, name: str, told: dict[str, str], form: Guards) -> None:
        if program.opaque or program.cycle:
            raise Wrong("a program has calls, `while` or tasks that wait for each other")
        if name != program.digest:
            raise Wrong(f"the certificate is of another program than '{program.name}'")
        self.computation = Computation(program.straight(form))
        demand_same_reading(self.computation)
        self.told = {read: isl.UnionMap(text) for read, text in told.items()}
        self.known: dict[str, Copies] = {}
        accesses = self.computation.accesses
        for label in dict.fromkeys(a.buffer.label for a in accesses if is_at_stream(a.op)):
            check_stream(self.computation, [a for a in accesses if a.buffer.label == label], self.told)

    def sources(self, value: Value) -> Copies:
        """What a value is copied from."""
        if value.copies is not None:
            return value.copies
        if value.name not in self.known:
            word, cut = value.word, self.computation.sliced
            self.known[value.name] = cut(self.sources(word), value.width) if word else self._of_read(value)
        return self.known[value.name]

    def _written(self, seen: isl.UnionMap) -> Copies:
        """The values that reads see, of the writes told."""
        maps = [seen.get_map_list().get_at(k) for k in range(seen.n_map())]
        return [(self.computation.stored(one.get_tuple_name(_OUT)), _plain(one)) for one in maps]

    def _of_read(self, value: Value) -> Copies:
        """The last write of an element before a read, else what was there before all; streams are checked already."""
        read, seen = value.read, self.told[value.name]
        if isinstance(read, Access) and sees_element(read.op):
            return self._written(seen)
        assert read is not None
        buffer = read.buffer if isinstance(read, Access) else read
        writes = [a for a in self.computation.accesses if a.is_write and a.buffer.label == buffer.label]
        stores = all(write.exact and is_store(write.op) for write in writes)
        if not stores or (isinstance(read, Access) and not read.exact):
            raise Wrong(f"'{buffer.name}' is used in a way that is not understood")
        elements, time = self.computation.reading(read)
        written, times = self.computation.relations(writes)
        before = elements.apply_range(written.reverse()).intersect(time.lex_gt_union_map(times))
        later = seen.reverse().apply_range(before).intersect(times.lex_lt_union_map(times))
        if not (seen.is_subset(before) and later.is_empty()):
            raise Wrong(f"{value.name} does not read the last write of '{buffer.name}'")
        if not before.subtract_domain(seen.domain()).is_empty():
            raise Wrong(f"the certificate does not say all that {value.name} reads of '{buffer.name}'")
        found, rest = self._written(seen), elements.subtract_domain(seen.domain())
        if not rest.is_empty():
            found.append((self.computation.initial(buffer), _plain(isl.Map.from_union_map(rest))))
        return found


class _Check:
    """The claims of a certificate: those that are needed are looked at, each once."""

    def __init__(self, told: dict[str, Any], programs: tuple[Program, Program], reassociate: bool) -> None:
        sides, form = zip(programs, told["programs"], told["sources"], strict=True), Guards(told["form"])
        self.left, self.right = (_Side(*one, form) for one in sides)
        self.reassociate = reassociate
        self.claims: dict[_Pair, list[tuple[isl.Map, Any]]] = {}  # and the sums that show it, if any
        for a, b, text in told["claims"]:
            self.claims.setdefault((a, b), []).append((isl.Map(text), None))
        for a, b, sums in told["sums"]:
            self.claims.setdefault((a, b), []).append((related(sums), sums))
        self.chosen: dict[str, tuple[str, isl.Map]] = {}
        self.needed: dict[_Pair, tuple[Value, Value]] = {}

    def run(self) -> None:
        """Raises Wrong unless all outputs are equal."""
        left, right = self.left.computation, self.right.computation
        for a, b in zip(left.outputs(), right.outputs(), strict=True):
            self.demand(a, b, left.elements(a).identity())
        checked, sources = 0, (self.left.sources, self.right.sources)
        while checked < len(self.needed):
            a, b = list(self.needed.values())[checked]
            checked += 1
            for relation, sums in self.claims[a.name, b.name]:
                if sums is not None:
                    SumCheck(sums, sources, (a, b), self.demand).run(self.reassociate)
                elif not ((a.is_copy or b.is_copy) and self.copied(a, b, relation, a.is_copy, b.is_copy)):
                    raise Wrong(f"nothing shows that {a.name} and {b.name} are equal where it is claimed")

    def demand(self, a: Value, b: Value, relation: isl.Map) -> None:
        """Raises Wrong unless values in related iterations are equal if all claims hold."""
        if not self.equal(a, b, relation):
            raise Wrong(f"nothing shows that {a.name} and {b.name} are equal where it is needed")

    def copied(self, a: Value, b: Value, relation: isl.Map, first: bool, second: bool) -> bool:
        """Whether what the first or the second value is copied from, or both, are equal."""
        lefts = self.left.sources(a) if first else [(a, self.left.computation.same(a.depth))]
        rights = self.right.sources(b) if second else [(b, self.right.computation.same(b.depth))]
        parts = [(one, relation.apply_domain(through)) for one, through in lefts]
        return all(self.equal(x, y, part.apply_range(through)) for x, part in parts for y, through in rights)

    def equal(self, a: Value, b: Value, relation: isl.Map) -> bool:
        """Whether values in related iterations are equal if all claims hold."""
        for side, value in ((_IN, a), (_OUT, b)):
            relation = relation.project_out(side, value.depth, relation.dim(side) - value.depth)
        if relation.is_empty():
            return True
        if a.label == UNDEFINED:
            return self.chosen_once(a, b, relation)
        if a.is_choice or b.is_choice:
            return self.copied(a, b, relation, a.is_choice, b.is_choice)
        claims = [claim for claim, _ in self.claims.get((a.name, b.name), ())]
        if claims and relation.is_subset(reduce(isl.Map.union, claims)):
            self.needed.setdefault((a.name, b.name), (a, b))
            return True
        return not (a.is_copy or b.is_copy) and self.computed(a, b, relation)

    def chosen_once(self, a: Value, b: Value, relation: isl.Map) -> bool:
        """Whether undefined elements can have the values they are said to equal: each of them that of one iteration."""
        other, before = self.chosen.get(a.name, (b.name, relation))
        self.chosen[a.name] = other, before.union(relation)
        return other == b.name and bool(self.chosen[a.name][1].is_single_valued())

    def computed(self, a: Value, b: Value, relation: isl.Map) -> bool:
        """Whether equal operations on equal operands compute two values."""
        if a is DEFINED:
            return b.label not in ((), UNDEFINED) and all(self.equal(a, one, relation) for one in b.operands)
        if b.label == ("arith.select",) and all(self.equal(a, one, relation) for one in b.operands[1:]):
            return True
        if not a.label or a.label != b.label:
            return False
        numbers = [value.number for value in (a, b) if value.number is not None]
        if len(numbers) == 2 and not relation.is_subset(numbers[0].apply_range(numbers[1].reverse())):
            return False
        swaps = a.label[0] in _COMMUTATIVE and len(a.operands) == 2 and a.label[2] == a.label[3]
        orders = (b.operands, b.operands[::-1]) if swaps else (b.operands,)
        return any(all(map(self.equal, a.operands, order, [relation] * len(order))) for order in orders)


def _plain(relation: isl.Map) -> isl.Map:
    """Without the names of accesses and arrays."""
    return relation.reset_tuple_id(_IN).reset_tuple_id(_OUT)
