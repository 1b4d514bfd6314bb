"""Writer of the certificate of a proof: all that `allo/verify/certificate/check.py` cannot find out by itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import islpy as isl

from ..program.branches import Guards
from ..program.programs import Program
from .algebra import Role
from .definedness import defined_by
from .expansion import Expansion, State
from .flow import Origin
from .nodes import Kind, ValueNode
from .reductions import Sums

if TYPE_CHECKING:
    from .proof import Prover

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def written(programs: tuple[Program, Program], form: Guards, prover: Prover) -> str:
    """The certificate as JSON.

    `programs` are digests; `form` is how they are read; `sources` have for each the write that each read sees, as
    { access[iteration] -> access[iteration] }; `claims` are two values and the iterations in which they are equal;
    `sums` are two values and their terms: operation, both sides with the map and the position taken apart of each
    state, pairs of terms.
    """
    sums = [(pair, found) for pair, all_found in prover.sums.items() for found in all_found]
    claims = [[a.id, b.id, str(one)] for (a, b), found in prover.entries.items() for one in _largest(found)]
    for _, found in sums:
        claims += [
            ["a value", node.id, str(isl.Map.from_range(points))] for node, points in _defined(found.right)
        ]
    told = {
        "version": 4,
        "programs": [program.digest for program in programs],
        "form": form.value,
        "sources": [_sources(flows.found) for flows in (prover.left, prover.right)],
        "claims": claims,
        "sums": [[a.id, b.id, _sums(found)] for (a, b), found in sums],
    }
    return json.dumps(told)


def _largest(found: Sequence[isl.Map]) -> list[isl.Map]:
    """Relations without those that later ones have widened."""
    return [one for k, one in enumerate(found) if not any(one.is_subset(other) for other in found[k + 1 :])]


def _sources(found: Mapping[ValueNode, Sequence[Origin]]) -> dict[str, str]:
    """The writes that loads, gets from streams, and outputs see."""
    return {node.id: str(_seen(node, origins)) for node, origins in found.items() if not node.width}


def _seen(node: ValueNode, origins: Sequence[Origin]) -> isl.UnionMap:
    read = "End" if node.access is None else node.access.id
    writes = [
        one.map.set_tuple_name(_IN, read).set_tuple_name(_OUT, one.write) for one in origins if one.write
    ]
    maps = [isl.UnionMap.from_map(one) for one in writes]
    return reduce(isl.UnionMap.union, maps, isl.UnionMap("{ }"))


def _sums(found: Sums) -> list[Any]:
    numbers: list[dict[State, int]] = []
    sides: list[Any] = []
    for side in (found.left, found.right):
        numbers.append({state: k for k, state in enumerate(side.maps)})
        states = [
            [
                [[f.node.id, f.width] for f in state.factors],
                state.negative,
                side.position[state],
                str(relation),
            ]
            for state, relation in side.maps.items()
        ]
        sides.append([str(side.start), states])
    matches = [[numbers[0][m.left], numbers[1][m.right], list(m.order), str(m.map)] for m in found.matches]
    return [found.algebra.operation, *sides, matches]


def _defined(side: Expansion) -> Iterator[tuple[ValueNode, isl.Set]]:
    """The reads that values depend on which are multiplied by a zero of floats."""

    def origins(node: ValueNode) -> list[tuple[ValueNode, isl.Map]]:
        return [(origin.node, origin.map) for origin in side.flows.origins(node)]

    for state, relation in side.maps.items():
        at, offset = side.position[state], 0
        is_zero = at >= 0 and side.algebra.role(state.factors[at].node) is Role.ZERO
        for k, factor in enumerate(state.factors if is_zero and not side.algebra.width else ()):
            points = relation.range().project_out(_SET, 0, offset)
            points = points.project_out(_SET, factor.width, points.dim(_SET) - factor.width)
            offset += factor.width
            depends = {} if k == at else defined_by(origins, factor.node, points)
            assert depends is not None  # else the state were not taken apart
            yield from ((node, where) for node, where in depends.items() if node.kind is Kind.READ)
