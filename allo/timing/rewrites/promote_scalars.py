"""Scalar promotion: an element that stays the same while a loop runs is in a register meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir

from ...ir.access import access_map, is_load, stored, subscripts
from ...ir.builder import Builder, affine_dim, i32_attr, string_attr
from ...ir.context import context, unknown_location
from ...ir.module import Module
from ...ir.names import unique_name
from ...ir.partitions import with_divisions
from ...ir.walk import bound_operands, constant_bounds, induction_variable, location_of, string_of
from ..roles import Datapath
from .facts import FunctionFacts, following, names_in
from .promotion_plan import Promotion, Unpromoted, accessed_array, promotions
from .record import Rewrite

NAME = "allo-promote-scalars"
_LESS_THAN = 2  # signed, as `arith.cmpi` numbers its predicates


def promote_scalars(module: Module, function: str, datapaths: Callable[[], list[Datapath]]) -> list[Rewrite]:
    """Rewrite one function, until nothing is left to do; `datapaths` are found again after each round."""
    found: list[Rewrite] = []
    while True:
        seen = FunctionFacts(module, function)
        left: list[Rewrite] = []
        plans: list[Promotion] = []
        for plan in promotions(seen, datapaths()):
            if isinstance(plan, Unpromoted):
                at = location_of(plan.access.op)
                left.append(Rewrite(NAME, function, plan.reason, at, done=False))
            elif all(known.label != plan.label for known in plans):
                plans.append(plan)
        taken = names_in(module, function)
        for plan in plans:
            first = plan.accesses[0]
            name = string_of(plan.loop, "allo.name") or "?"
            what = f"{first.text} stays in a register while loop '{name}' runs"
            found.append(Rewrite(NAME, function, what, location_of(first.op)))
            _Promoted(plan, taken).write()
        if not plans:
            return found + left


class _Promoted:
    """The rewrite of one promotion."""

    def __init__(self, plan: Promotion, taken: set[str]) -> None:
        self.plan = plan
        first = plan.accesses[0]
        self.array = accessed_array(first)
        self.template = first.op
        self.taken = taken
        self.name = first.buffer.name
        self.variables = [induction_variable(copy) for copy in plan.copies]
        self.lowers = [(constant_bounds(copy) or (0, 0, 1))[0] for copy in plan.copies]

    def write(self) -> None:
        plan = self.plan
        builder = Builder(ir.InsertionPoint(plan.loop), self.template.location)
        register = builder.alloc(self._type(), unique_name(f"{self.name}_register", self.taken))
        place, operands = access_map(self.template), subscripts(self.template)
        assert place is not None

        def moved(variables: Sequence[ir.Value]) -> list[ir.Value]:
            new = dict(zip(self.variables, variables, strict=True))
            return [new.get(value, value) for value in operands]

        def load(variables: Sequence[ir.Value]) -> None:
            value = builder.affine_load(self.array, place, moved(variables))
            builder.affine_store(value, register, self._inside(), variables)

        def store(variables: Sequence[ir.Value]) -> None:
            value = builder.affine_load(register, self._inside(), variables)
            builder.affine_store(value, self.array, place, moved(variables))

        if not plan.first_written:
            self._around(builder, "load", load)
        if plan.written:
            builder.point = ir.InsertionPoint(following(plan.loop))
            self._around(builder, "store", store)
        for access in plan.accesses:
            self._turn(access.op, register)

    def _type(self) -> ir.MemRefType:
        element = ir.MemRefType(self.array.type).element_type
        bounds = [constant_bounds(copy) or (0, 0, 1) for copy in self.plan.copies]
        kind = ir.MemRefType.get([upper - lower for lower, upper, _ in bounds], element, loc=unknown_location())
        return with_divisions(kind, [("complete", 0)] * len(bounds)) if bounds else kind

    def _inside(self) -> ir.AffineMap:
        """The register of a copy."""
        count = len(self.variables)
        places = [affine_dim(k) - lower for k, lower in enumerate(self.lowers)]
        return ir.AffineMap.get(count, 0, places, context())

    def _turn(self, op: ir.Operation, register: ir.Value) -> None:
        builder = Builder.before(op)
        if is_load(op):
            value = builder.affine_load(register, self._inside(), self.variables)
            op.results[0].replace_all_uses_with(value)
        else:
            builder.affine_store(stored(op), register, self._inside(), self.variables)
        op.erase()

    def _around(self, builder: Builder, what: str, body: Callable[[Sequence[ir.Value]], None]) -> None:
        """A copy for each copy of the loops, all at once, if the loop runs."""
        point = builder.point
        if self.plan.may_not_run:
            _if_runs(builder, self.plan.loop)
        variables: list[ir.Value] = []
        for copy in self.plan.copies:
            name = unique_name(f"{string_of(copy, 'allo.name') or 'copy'}_{what}", self.taken)
            lower, upper, _ = constant_bounds(copy) or (0, 0, 1)
            bounds = [ir.AffineMap.get_constant(value, context()) for value in (lower, upper)]
            attributes: dict[str, ir.Attribute] = {"allo.name": string_attr(name), "allo.unroll": i32_attr(0)}
            if not variables and "allo.nest" in self.plan.loop.attributes:
                attributes["allo.nest"] = string_attr(name)
            loop = builder.affine_for((bounds[0], []), (bounds[1], []), 1, attributes)
            variables.append(induction_variable(loop))
            builder.point = ir.InsertionPoint.at_block_terminator(loop.regions[0].blocks[0])
        body(variables)
        builder.point = point


def _if_runs(builder: Builder, loop: ir.Operation) -> None:
    """Go on in a branch that is taken if a loop runs at least once."""
    if loop.name == "scf.for":
        condition = builder.compare(_LESS_THAN, loop.operands[0], loop.operands[1])
        branch = builder.scf_if(condition, [], has_else=False)
    else:
        lower, upper = (ir.AffineMapAttr(loop.attributes[f"{side}BoundMap"]).value for side in ("lower", "upper"))
        below, above = bound_operands(loop)
        dims, symbols = lower.n_dims, lower.n_symbols
        forms = [
            end.shift_dims(upper.n_dims, dims).shift_symbols(upper.n_symbols, symbols) - start - 1
            for start in lower.results
            for end in upper.results
        ]
        condition_set = ir.IntegerSet.get(
            dims + upper.n_dims, symbols + upper.n_symbols, forms, [False] * len(forms), context()
        )
        operands = [*below[:dims], *above[: upper.n_dims], *below[dims:], *above[upper.n_dims :]]
        branch = builder.affine_if(condition_set, operands, has_else=False)
    builder.point = ir.InsertionPoint.at_block_terminator(branch.regions[0].blocks[0])
