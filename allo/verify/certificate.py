"""Decides whether the certificate of a proof is right, without the prover, by induction over the order of execution.

Sources of reads are writes before the read, no other one between; what a claim (two nodes are equal in related
iterations) leads to, through sources and operands of equal operations, is part of claims; so are the outputs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import reduce
from typing import Any

import islpy as isl

from ..poly.model import Access
from .affine.graph import Graph
from .affine.nodes import Gap, Kind, Node
from .affine.slices import slice_origins
from .certificate_sums import SumCheck, Wrong
from .programs import Program

_IN, _OUT, _SET, _PARAM = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set, isl.dim_type.param
_COMMUTATIVE = {f"arith.{name}" for name in ("addi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui")}
_COMMUTATIVE |= {"arith.addf", "arith.mulf", "arith.maximumf", "arith.minimumf", "allo.fixed_add"}
type Origins = list[tuple[Node, isl.Map]]


def problems(certificate: str, a: Program, b: Program, *, reassociate: bool = False) -> str:
    """Why the certificate does not prove that `b` computes what `a` does; empty if it does.

    With `reassociate`, sums of floats may have their terms in another order, as in `allo.verify`.
    """
    try:
        told = json.loads(certificate)
        claims = {(x, y): [isl.Map(text) for text in texts] for x, y, texts in told["obligations"]}
        check = _Check(_Side(a, told["origins"][0]), _Side(b, told["origins"][1]), claims, reassociate)
        for x, y, one in told["sums"]:
            check.sums.setdefault((x, y), []).append(one)
        check.run()
        return ""
    except (Wrong, Gap, isl.Error, ValueError, LookupError, TypeError) as error:
        return f"{type(error).__name__}: {error}"


class _Side:
    def __init__(self, program: Program, told: dict[str, list[list[str]]]) -> None:
        if program.opaque or program.cycle:
            raise Wrong("a program has calls, `while` or tasks that wait for each other")
        self.graph = Graph(program.module)
        self.told = {node: [(write, isl.Map(text)) for write, text in found] for node, found in told.items()}
        self.known: dict[Node, Origins] = {}
        model = self.graph.model
        self.maps = {a.id: self._plain(a.map.intersect_domain(a.domain)) for a in model.accesses}
        self.times = {a.id: self._plain(a.schedule(model.depth)) for a in model.accesses}
        for label in dict.fromkeys(a.buffer.label for a in model.accesses if _is_token(a)):
            self._check_stream(self.graph.accesses[label])

    def origins(self, node: Node) -> Origins:
        """Checked sources of a read."""
        if node in self.known:
            return self.known[node]
        if node.width:
            of_base = self.origins(node.base) if node.base is not None and node.base.kind is Kind.READ else []
            found = slice_origins(self.graph, node, of_base)
        elif node.access is not None and _is_token(node.access):
            ends = {end.id: end.op for end in self.graph.accesses[node.access.buffer.label]}
            found = [(self.graph.node(ends[write].operands[1]), m) for write, m in self.told[node.id]]
        else:
            found = self._of_array(node)
        return self.known.setdefault(node, found)

    def _plain(self, relation: isl.Map) -> isl.Map:
        for side in (_IN, _OUT):
            relation = relation.reset_tuple_id(side) if relation.has_tuple_id(side) else relation
        for k, name in enumerate(self.graph.parameter_names):
            relation = relation.set_dim_name(_PARAM, k, name)
        return relation

    def _of_array(self, node: Node) -> Origins:
        if node.access is None:  # an output, which is read after everything else
            buffer, elements = self.graph.outputs[node.output].buffer, self.graph.elements(node.output)
            after = 1 + max((access.path[0] for access in self.graph.model.accesses), default=0)
            time = isl.Map.universe(self.graph.map_space(node.depth, 2 * self.graph.model.depth + 1))
            time = time.fix_val(_OUT, 0, after)
        else:
            buffer, elements, time = node.access.buffer, self.maps[node.access.id], self.times[node.access.id]
        if buffer is None or buffer.origin == "carried" or (node.access is not None and not node.access.exact):
            raise Wrong(f"{node.id} reads elements that are not known")
        writes = {w.id: w for w in self.graph.accesses.get(buffer.label, []) if w.is_write}
        if any(not w.exact or not w.op.name.endswith(".store") for w in writes.values()):
            raise Wrong(f"'{buffer.name}' is written in a way that is not understood")
        same = {name: elements.apply_range(self.maps[name].reverse()) for name in writes}
        earlier = {name: m.intersect(time.lex_gt_map(self.times[name])) for name, m in same.items()}
        covered = isl.Set.empty(elements.domain().get_space())
        for name, relation in self.told[node.id]:
            covered = covered.union(relation.domain())
            if not relation.is_subset(earlier[name] if name else elements):
                raise Wrong(f"{node.id} does not read what {name or 'was there before'} has written")
            for other in writes:
                hidden = relation.reverse().apply_range(earlier[other])
                if name:
                    hidden = hidden.intersect(self.times[name].lex_lt_map(self.times[other]))
                if not hidden.is_empty():
                    raise Wrong(f"{other} overwrites what {node.id} is said to read")
        if not elements.domain().is_subset(covered):
            raise Wrong(f"the certificate does not say all that {node.id} reads")
        stored = {name: self.graph.node(write.op.operands[0]) for name, write in writes.items()}
        return [(stored[name] if name else self.graph.initial(buffer), m) for name, m in self.told[node.id]]

    def _check_stream(self, accesses: Sequence[Access]) -> None:
        """Gets and puts are matched one to one, in order, and the put comes first."""
        gets, puts = ([a for a in accesses if a.op.name == f"allo.stream_{name}"] for name in ("get", "put"))
        if any(not a.exact for a in accesses) or len(gets) + len(puts) != len(accesses):
            raise Wrong("a stream is used in a way that is not understood")
        told = [(g, self.told[self.graph.node(g.op.results[0]).id]) for g in gets]
        pairs = [(g, p, m) for g, found in told for w, m in found for p in puts if p.id == w]
        for access in accesses:
            rest = self.maps[access.id].domain()
            for part in [m.domain() if get is access else m.range() for get, put, m in pairs if access in (get, put)]:
                if not part.is_subset(rest):
                    raise Wrong(f"a token of '{access.buffer.name}' is matched twice")
                rest = rest.subtract(part)
            if not rest.is_empty():
                raise Wrong(f"a token of '{access.buffer.name}' is not matched")
        for get, put, one in pairs:
            late = one.intersect(self.times[get.id].lex_le_map(self.times[put.id]))
            same = self.maps[get.id].apply_range(self.maps[put.id].reverse())
            if not (one.is_bijective() and late.is_empty() and one.is_subset(same)):
                raise Wrong(f"tokens of '{get.buffer.name}' are matched wrongly")
            for other_get, other_put, other in pairs:
                later = self.maps[get.id].apply_range(self.maps[other_get.id].reverse())
                later = later.intersect(self.times[get.id].lex_lt_map(self.times[other_get.id]))
                crossed = one.reverse().apply_range(later).apply_range(other)
                if not crossed.intersect(self.times[put.id].lex_ge_map(self.times[other_put.id])).is_empty():
                    raise Wrong(f"tokens of '{get.buffer.name}' are out of order")


def _is_token(access: Access) -> bool:
    return str(access.op.name).startswith("allo.stream_")


class _Check:
    def __init__(
        self, left: _Side, right: _Side, claims: dict[tuple[str, str], list[isl.Map]], reassociate: bool
    ) -> None:
        self.left, self.right, self.claims = left, right, claims
        self.seen: list[tuple[Node, Node]] = []
        self.reassociate = reassociate
        self.sums: dict[tuple[str, str], list[Any]] = {}  # what is told of the terms of pairs of sums
        self.summed: dict[tuple[str, str], list[isl.Map]] = {}  # the pairs of iterations that this shows equal

    def run(self) -> None:
        graph, other = self.left.graph, self.right.graph
        for number in range(max(len(graph.outputs), len(other.outputs))):
            self.demand(graph.output(number), other.output(number), graph.elements(number))
        for a, b in self.seen:  # which grows
            lefts = self.left.origins(a) if a.kind is Kind.READ else [(a, None)]
            rights = self.right.origins(b) if b.kind is Kind.READ else [(b, None)]
            for relation in self.claims[a.id, b.id]:
                for one, through in lefts:
                    part = relation if through is None else relation.apply_domain(through)
                    for another, also in rights:
                        self.demand(one, another, part if also is None else part.apply_range(also))

    def demand(self, a: Node, b: Node, relation: isl.Map) -> None:
        if not self.equal(a, b, relation):
            raise Wrong(f"nothing shows that {a.id} and {b.id} are equal where it is needed")

    def _same_terms(self, a: Node, b: Node, relation: isl.Map) -> bool:
        """Whether sums that have the same terms cover this; what is told of them is checked when it is first used."""
        pair = (a.id, b.id)
        if pair not in self.sums:
            return False
        for side, node in ((_IN, a), (_OUT, b)):
            relation = relation.project_out(side, node.depth, relation.dim(side) - node.depth)
        if pair not in self.summed:
            found = [SumCheck(one, self.left, self.right, a, b, self.reassociate) for one in self.sums[pair]]
            self.summed[pair] = [one.relation for one in found]  # as values come from earlier ones: an induction
            for one in found:
                one.run(self.equal)
        return any(relation.is_subset(one) for one in self.summed[pair])

    def equal(self, a: Node, b: Node, relation: isl.Map) -> bool:
        """Whether the obligations cover this, or operands and leaves do."""
        if relation.is_empty() or a.kind is Kind.UNDEFINED:
            return True
        if Kind.CHOICE in (a.kind, b.kind):
            side, node = (_IN, a) if a.kind is Kind.CHOICE else (_OUT, b)
            for case, one in zip(node.cases or (), node.operands, strict=True):
                case = case.add_dims(_SET, relation.dim(side) - node.depth)
                part = relation.intersect_domain(case) if side == _IN else relation.intersect_range(case)
                if not (self.equal(one, b, part) if side == _IN else self.equal(a, one, part)):
                    return False
            return True
        if Kind.READ in (a.kind, b.kind):
            for side, node in ((_IN, a), (_OUT, b)):
                relation = relation.project_out(side, node.depth, relation.dim(side) - node.depth)
            claims = self.claims.get((a.id, b.id), [])
            if claims and (a, b) not in self.seen:
                self.seen.append((a, b))
            return bool(relation.is_subset(reduce(isl.Map.union, claims, isl.Map.empty(relation.get_space()))))
        if self._same_terms(a, b, relation):
            return True
        if b.signature[:1] == ("arith.select",) and all(self.equal(a, one, relation) for one in b.operands[1:]):
            return True
        if a.kind is not b.kind or a.signature != b.signature or a.kind is Kind.OPAQUE:
            return False
        if a.kind is Kind.INDEX:
            x, y = self.left.graph.index_map(a, relation.dim(_IN)), self.right.graph.index_map(b, relation.dim(_OUT))
            return bool(relation.is_subset(x.apply_range(y.reverse())))
        if a.kind is Kind.INPUT:
            return a.depth == 0 or bool(relation.is_subset(isl.Map.identity(relation.get_space())))
        if a.base is not None and b.base is not None:  # the same bits of equal words
            (last, also), words = (a.depth - 1, b.depth - 1), (a.base, b.base)
            inner = relation.project_out(_IN, last, 1).project_out(_OUT, also, 1)
            return bool(relation.is_subset(relation.equate(_IN, last, _OUT, also))) and self.equal(*words, inner)
        if all(self.equal(x, y, relation) for x, y in zip(a.operands, b.operands, strict=True)):
            return True
        swaps = a.signature[0] in _COMMUTATIVE and len(a.operands) == 2 and a.signature[2] == a.signature[3]
        return swaps and all(self.equal(x, y, relation) for x, y in zip(a.operands, b.operands[::-1], strict=True))
