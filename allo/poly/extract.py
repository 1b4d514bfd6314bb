"""The walk over one function that makes its polyhedral model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count

from mlir import ir

from ..ir.access import Effect, accessed, callee_name, is_access, is_load, reads_element
from ..ir.effects import Effects
from ..ir.module import Module
from ..ir.processes import ELEMENT_OF
from ..ir.streams import is_stream
from ..ir.walk import LOOP_OPERATIONS, statement_of, statements
from .buffers import ALLOCATIONS, Buffers
from .domains import Domain, LoopDomain, affine_for, affine_if, scf_for
from .linear import Linear, Row, variable
from .model import Access, AccessKind, Model, ModelBuffer, ModelLoop, Source, source_of
from .values import Terms, Values


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where the walk is: the loops around, their domain, and the positions left in the innermost one."""

    loops: tuple[ModelLoop, ...]
    path: tuple[int, ...]
    domain: Domain
    positions: Iterator[int]


@dataclass(frozen=True, slots=True)
class _Found:
    """An access before the parameters of the whole function are known."""

    kind: AccessKind
    buffer: ModelBuffer
    scope: _Scope
    position: int
    terms: Terms
    rows: tuple[Row, ...]
    reason: str
    source: Source
    op: ir.Operation


def extract(
    function: ir.Operation | ir.OpView,
    nest: ir.Operation | ir.OpView | None = None,
    until: ir.Operation | ir.OpView | None = None,
    using: ir.Value | None = None,
) -> Model:
    """The model of a `func.func` as it is now; the function is not changed.

    If `nest` is given, an operation at the top of the function or inside of one, the other loops at the top are left
    out, and arrays that nothing else uses: what the model says of this nest is the same, and takes the time of this
    nest; with `until`, a later such operation, it is all from the one to the other. With `using`, it is the loops at
    the top that use this value. The model names operations and values of the function: keep its module while you use
    them.
    """
    if using is not None:
        users = [statement_of(use.owner.operation) for use in using.uses]
        return _Extraction(function.operation, lambda ops: [op for op in ops if op in users]).run()
    if nest is None:
        return _Extraction(function.operation, None).run()
    first, last = statement_of(nest.operation), statement_of((nest if until is None else until).operation)
    return _Extraction(function.operation, lambda ops: ops[ops.index(first) : ops.index(last) + 1]).run()


def model_of(module: Module, name: str) -> Model:
    """The model of a function: made once of a module that is not changed any more."""
    return module.read(name, extract)


def model_without_elements(module: Module, name: str) -> Model:
    """The model of a function without the calls of processing elements at its top, each of which is a process; made
    once as well, and that of `model_of` if there are none. What it says of all that the function does by itself is
    the same."""
    blocks = module.function(name).operation.regions[0].blocks
    elements = any(_is_element(op) for block in blocks for op in statements(block))
    return module.read(name, _without_elements if elements else extract)


def _without_elements(function: ir.OpView) -> Model:
    return _Extraction(function.operation, None, lambda ops: [op for op in ops if not _is_element(op)]).run()


def _is_element(op: ir.Operation) -> bool:
    return op.name == "func.call" and ELEMENT_OF in op.attributes


@dataclass(frozen=True, slots=True)
class Reading:
    """The model of the entry of a module, and which SSA values are affine in the loops and parameters of the model."""

    module: Module
    model: Model
    values: Values

    @classmethod
    def of(cls, module: Module) -> Reading:
        made = _Extraction(module.function(module.top).operation, None)
        return cls(module, made.run(), made.values)


def loop_name(op: ir.Operation, number: int) -> str:
    attributes = op.attributes
    return ir.StringAttr(attributes["allo.name"]).value if "allo.name" in attributes else f"loop{number}"


type _Choice = Callable[[list[ir.Operation]], list[ir.Operation]]  # which statements of a function are walked


class _Extraction:
    def __init__(self, function: ir.Operation, chosen: _Choice | None, kept: _Choice | None = None) -> None:
        """Of the loops at the top those that are `chosen` are walked, or of all statements there those that are `kept`;
        None: all."""
        self.function = function
        self.chosen, self.kept = chosen, kept
        blocks = function.regions[0].blocks
        self.entry = blocks[0] if len(blocks) else None
        self.values = Values(self.entry)
        self.effects = Effects(function.parent and function.parent.operation)
        self.buffers = Buffers(function, self.values, self.effects, all_arguments=chosen is None)
        self.loops: list[ModelLoop] = []
        self.found: list[_Found] = []

    def run(self) -> Model:
        for block in self.function.regions[0]:
            scope = _Scope((), (), Domain(((),), True, ""), count())
            for op in self.walked(statements(block)):
                self.operation(op, scope)
        parameters = tuple(self.values.parameters)
        accesses = []
        for number, found in enumerate(self.found):
            scope = found.scope
            elements = all(form is not None for form in found.terms.forms) and not found.reason
            accesses.append(
                Access(
                    id=f"A{number}",
                    kind=found.kind,
                    buffer=found.buffer,
                    loops=scope.loops,
                    path=(*scope.path, found.position),
                    pieces=scope.domain.pieces,
                    subscripts=tuple(form for form in found.terms.forms if form is not None),
                    rows=found.rows,
                    quotients=found.terms.quotients,
                    exact_domain=scope.domain.exact,
                    exact_elements=elements,
                    reason=found.reason or scope.domain.reason,
                    parameters=parameters,
                    source=found.source,
                    op=found.op,
                )
            )
        name = ir.StringAttr(self.function.attributes["sym_name"]).value
        return Model(
            name,
            tuple(self.loops),
            parameters,
            tuple(self.buffers.made),
            tuple(accesses),
            tuple(self.buffers.values()),
        )

    def walked(self, ops: list[ir.Operation]) -> list[ir.Operation]:
        """The statements of the function without those that nobody asks for, and arrays that are met anyway."""
        if self.chosen is None:
            return ops if self.kept is None else self.kept(ops)
        chosen = set(self.chosen(ops))
        return [op for op in ops if op in chosen or op.name not in (*LOOP_OPERATIONS, *ALLOCATIONS)]

    def block(self, block: ir.Block, scope: _Scope) -> None:
        for op in statements(block):
            self.operation(op, scope)

    def region(self, op: ir.Operation, number: int, scope: _Scope) -> None:
        for block in op.regions[number]:
            self.block(block, scope)

    def operation(self, op: ir.Operation, scope: _Scope) -> None:
        match op.name:
            case _ if is_access(op):
                self.subscripted(op, scope)
            case "affine.for":
                self.known_loop(op, scope, affine_for(op, scope.domain, self.values))
            case "affine.if":
                self.conditional(op, scope)
            case "scf.for":
                self.known_loop(op, scope, scf_for(op, scope.domain, self.values))
            case "scf.while":
                self.unknown_loop(op, scope, "inside a `while` loop")
            case "scf.if":
                inner = replace(scope, domain=scope.domain.uncertain("under a condition that is not affine"))
                for number in range(len(op.regions)):
                    self.region(op, number, inner)
            case name if name in ALLOCATIONS:
                self.buffers.allocate(op, scope.loops, source_of(op))
            case name if name.startswith(("arith.", "math.")):
                pass
            case _:
                self.other(op, scope)

    def other(self, op: ir.Operation, scope: _Scope) -> None:
        if effects := self.effects.of(op):
            self.affected(op, effects, scope)
        if len(op.results):
            self.buffers.results(op, scope.loops, source_of(op))
        if len(op.regions) == 0 or op.name.startswith("linalg."):
            return
        if op.name in ("scf.execute_region", "memref.alloca_scope"):
            self.region(op, 0, scope)
        else:
            self.unknown_loop(op, scope, f"inside `{op.name}`")

    def add(
        self,
        kind: AccessKind,
        buffer: ModelBuffer,
        scope: _Scope,
        position: int,
        terms: Terms,
        reason: str,
        op: ir.Operation,
        source: Source,
    ) -> None:
        """Record an access; subscripts that are not affine become any element inside the shape."""
        rows: list[Row] = list(terms.rows())
        forms: list[Linear | None] = list(terms.forms)
        for dimension, form in enumerate(forms):
            if form is None:
                reason = reason or "has a subscript that is not affine"
                forms[dimension], inside = self.anywhere(buffer.shape[dimension])
                rows.extend(inside)
        found = Terms(forms, terms.quotients)
        self.found.append(_Found(kind, buffer, scope, position, found, tuple(rows), reason, source, op))

    def anywhere(self, extent: int | None) -> tuple[Linear, tuple[Row, ...]]:
        element = variable(self.values.fresh())
        if extent is None:
            return element, (Row(element),)
        return element, (Row(element), Row(element.scaled(-1).plus(extent - 1)))

    def whole(self, buffer: ModelBuffer) -> tuple[Terms, list[Row]]:
        forms: list[Linear | None] = []
        rows: list[Row] = []
        for extent in buffer.shape:
            form, inside = self.anywhere(extent)
            forms.append(form)
            rows.extend(inside)
        return Terms(forms), rows

    def subscripted(self, op: ir.Operation, scope: _Scope) -> None:
        if is_load(op) and not reads_element(op):
            return  # taking a stream out of an array of streams; its puts and gets are the accesses
        kind = AccessKind.READ if is_load(op) else AccessKind.WRITE
        buffer, terms = self.buffers.resolve(accessed(op), self.values.subscripts(op))
        self.add(kind, buffer, scope, next(scope.positions), terms, "", op, source_of(op))

    def affected(self, op: ir.Operation, effects: tuple[Effect, ...], scope: _Scope) -> None:
        position = next(scope.positions)
        source = source_of(op)
        described = f"is touched by `{op.name}`, which may use any element"
        if op.name == "func.call":
            described = f"is passed to '{callee_name(op)}', which may use any element"
        for effect in effects:
            if effect.symbol:
                buffer, viewed, exact = self.buffers.of_global(effect.symbol), False, False
                terms, rows = self.whole(buffer)
            elif is_stream(op.operands[effect.operand].type):
                buffer, stream = self.buffers.of_stream(op.operands[effect.operand])
                self.add(AccessKind.WRITE, buffer, scope, position, stream, "", op, source)
                continue
            else:
                buffer, viewed = self.buffers.base(op.operands[effect.operand])
                terms, rows = self.whole(buffer)
                exact = not viewed and None not in buffer.shape
            streams = effect.puts or effect.gets
            for kind, wanted, whole in (
                (AccessKind.READ, effect.reads or streams, effect.whole_read),
                (AccessKind.WRITE, effect.writes or streams, effect.whole_write),
            ):
                if wanted:
                    reason = "" if exact and whole else described
                    self.found.append(
                        _Found(kind, buffer, scope, position, terms, tuple(rows), reason, source, op)
                    )

    def known_loop(self, op: ir.Operation, scope: _Scope, loop: LoopDomain) -> None:
        self.enter(op, scope, loop.number, loop.domain)

    def unknown_loop(self, op: ir.Operation, scope: _Scope, reason: str) -> None:
        """Iterations are numbered from 0; how many there are is not known."""
        number = self.values.fresh()
        domain = scope.domain.with_rows((Row(variable(number)),)).uncertain(reason)
        self.enter(op, scope, number, domain)

    def enter(self, op: ir.Operation, scope: _Scope, number: int, domain: Domain) -> None:
        path = (*scope.path, next(scope.positions))
        name, depth = loop_name(op, len(self.loops)), len(scope.loops)
        span = self.values.span(number)
        loop = ModelLoop(number, name, op, depth, path, domain.pieces, domain.exact, source_of(op), span)
        self.loops.append(loop)
        self.body(op, scope, _Scope((*scope.loops, loop), path, domain, count()))

    def body(self, op: ir.Operation, scope: _Scope, inner: _Scope) -> None:
        """Walk a loop's body; what the loop carries in SSA values is one more memory, read and written."""
        carries = len(op.results) > 0
        if carries:
            buffer = self.buffers.carried(op, scope.loops, source_of(op))
            first = next(inner.positions)
            self.add(AccessKind.READ, buffer, inner, first, Terms([]), "", op, source_of(op))
        for number in range(len(op.regions)):
            self.region(op, number, inner)
        if carries:
            last = next(inner.positions)
            self.add(AccessKind.WRITE, buffer, inner, last, Terms([]), "", op, source_of(op))

    def conditional(self, op: ir.Operation, scope: _Scope) -> None:
        for number, domain in enumerate(affine_if(op, scope.domain, self.values)):
            self.region(op, number, replace(scope, domain=domain))
