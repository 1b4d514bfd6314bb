"""Body of a function in C++: loops with labels and pragmas, variables, assignments, calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ....errors import TargetError
from ....ir.access import callee_name, is_at_stream
from ....ir.processes import TASK_NUMBER, Statement
from ....ir.walk import location_of, operations, string_of
from ...checked import REQUIRE, SITE
from .expression import Expr, atom, call, convert, named_integer
from .memory import MemoryWriter
from .names import identifier
from .operations import choice, width_of
from .vendor import Place

_SILENT = frozenset({"func.return", "affine.yield", "scf.yield", "scf.condition", "memref.dealloc"})

# threads are a matter of CPUs: hardware runs as many iterations at once as there are copies of the body
_PARALLEL = "// parallel: the iterations are independent; s.unroll says how many run at once"


class StatementWriter(MemoryWriter):
    """Names of the values of one function; what an expression has read stays in front of what is written later."""

    # -- blocks ----------------------------------------------------------------------------------

    processes: Mapping[ir.Operation, Statement] = MappingProxyType({})  # of the regions, if the text is simulated

    def region(self, block: ir.Block) -> list[str]:
        """The statements of a block without its terminator; in a simulated region they take turns."""
        found = self.body.statements(block)
        shown = [op for op in found if op.name not in _SILENT]
        if not self.processes or not any(op in self.processes for op in shown):
            return [line for op in shown for line in self.operation(op)]
        region = identifier("region", self.taken)
        numbers: dict[ir.Operation, int] = {}
        lines = [f"allo_sim::region {region};"]
        for op in shown:
            after = ", ".join(str(numbers[other]) for other in self.processes[op].after if other in numbers)
            lines += [*self._declare_all(), *self.flush(())]
            if self.processes[op].is_process:
                lines += self._result_places(op)  # others take them
            made = self.operation(op)
            if self.processes[op].is_process:
                numbers[op] = len(numbers)
                inner = [line if line.startswith("#") else f"  {line}" for line in made]
                name = ", ".join((string_of(op, TASK_NUMBER) or "").split())
                made = [f"{region}.start({{{after}}}, [&] {{", *inner, f"}}, {{{name}}});"]
            elif after:
                made = [f"{region}.await({{{after}}});", *made]
            lines += made
        return [*lines, *self._declare_all(), *self.flush(()), f"{region}.end();"]

    def block(self, block: ir.Block, targets: Sequence[str] = ()) -> list[str]:
        """The statements of a block; what it yields is assigned to `targets`."""
        if not targets:
            return self.region(block) + self.flush(())
        lines: list[str] = []
        for op in self.body.statements(block):
            name = op.name
            if name in ("scf.yield", "affine.yield"):
                operands = self.body.operands(op)
                values = self.take(operands)
                lines += self.flush(operands)
                pairs = zip(targets, values, operands, strict=True)
                lines += [f"{target} = {self.assigned(value, given.type)};" for target, value, given in pairs]
            elif name not in _SILENT:
                lines += self.operation(op)
        return lines + self.flush(())

    def scope(self, block: ir.Block, targets: Sequence[str] = ()) -> list[str]:
        """A block with names of its own, indented."""
        before, waiting = self.taken.copy(), dict(self.undeclared)
        assert not waiting
        lines = self.block(block, targets)
        lines += self._declare_all()
        self.taken = before
        return [line if line.startswith("#") else f"  {line}" for line in lines]

    def operation(self, op: ir.Operation) -> list[str]:
        match op.name:
            case "affine.for" | "scf.for" | "scf.while" as name:
                outer, self.nest = self.nest, string_of(op, "allo.nest") or self.nest
                lines = self._while(op) if name == "scf.while" else self._for(op)
                self.nest = outer
                return self.marked(op, lines)
            case "affine.if" | "scf.if":
                return self._if(op)
            case "affine.store" | "memref.store":
                return self.marked(op, self._store(op))
            case "memref.alloc" | "memref.get_global" | "allo.element_cast" | "allo.stream_create":
                return self._declare(op)
            case "memref.subview" | "memref.cast":
                return self._register(op)
            case "affine.load" | "memref.load":
                return self._load(op)
            case "affine.apply":
                return self._apply(op)
            case "func.call":
                return self.marked(op, self._call(op))
            case _ if is_at_stream(op):
                return self.marked(op, self._stream(op))
            case "memref.copy":
                return self.marked(op, self._copy(op))
            case "allo.set_bit" | "allo.set_slice":
                return self._set_bits(op)
            case "allo.assert":
                return self._require(op)
        return self._scalar(op)

    def _require(self, op: ir.Operation) -> list[str]:
        """A check of a debug build; its values are converted, for numbers wider than those of C++ too."""
        if SITE not in op.attributes:
            raise TargetError("hardware has no 'allo.assert'", at=location_of(op), hint="build for csim or the CPU")
        operands = self.body.operands(op)
        holds, *values = self.take(operands)
        lines = self._declare_all()
        site = ir.IntegerAttr(op.attributes[SITE]).value
        shown = "".join(f", {convert('int64_t', value).text}" for value in values)
        return [*lines, f"{REQUIRE}({holds.text}, {site}{shown});"]

    def _scalar(self, op: ir.Operation) -> list[str]:
        operands = self.take(self.body.operands(op))
        if op.name == "allo.sign_cast" and operands[0].kind == "set":
            self.exprs[op.results[0]] = operands[0]
            return []
        if self.open_places and (place := self.open_places.get((op, "value"))) is not None:
            expr: Expr | None = named_integer(place.texts()[0], width_of(op.results[0]))
        else:
            expr = self.operations.expression(op, operands)
        if expr is None:
            raise TargetError(f"HLS C++ has no form of '{op.name}'", at=location_of(op))
        if (op.name == "arith.constant" and (expr.value or 0) >= 0) or op.name == "arith.index_castui":
            self.positive.add(op.results[0])
        return self.set_value(op, expr)

    # -- loops and branches ----------------------------------------------------------------------

    def _for(self, op: ir.Operation) -> list[str]:
        if len(op.results):
            raise TargetError("loops with results have no form in HLS C++", at=location_of(op))
        variable = op.regions[0].blocks[0].arguments[0]
        lines = [*self._declare_all(), *self.flush(())]
        if op.name == "affine.for":
            lower, upper, step = self._affine_bounds(op)
        else:
            lower, upper, step = self.take(self.body.operands(op)[:3])
            if op.operands[0] in self.positive:
                self.positive.add(variable)
        waiting = list(lines)
        upper = self._fixed_bound(upper, waiting)
        step = self._fixed_bound(step, waiting)
        before = self.taken.copy()
        name = identifier(string_of(op, "allo.name") or "i", self.taken)
        wide = isinstance(variable.type, ir.IntegerType) and variable.type.width > 32
        counter = "int64_t" if wide else "int"
        self.exprs[variable] = Expr(name, type=counter)
        increment = f"{name}++" if step.text == "1" else f"{name} += {step.text}"
        head = f"for ({counter} {name} = {lower.text}; {name} < {atom(upper, 8)}; {increment}) {{"
        body = self.scope(op.regions[0].blocks[0])
        self.taken = before
        parallel = [_PARALLEL] if "allo.parallel" in op.attributes else []
        return [*waiting, *parallel, *self._headed(op, head), *body, "}"]

    def _headed(self, op: ir.Operation, head: str) -> list[str]:
        """The first line of a loop, with its label and its pragmas."""
        label, pragmas = self._label(op), self._loop_pragmas(op)
        if self.vendor.place is Place.BEFORE_LABEL:
            return [*pragmas, f"{label}: {head}"]
        if self.vendor.place is Place.INSIDE or not pragmas:
            return [f"{label}: {head}", *pragmas]
        return [f"{label}:", *pragmas, head]

    def _fixed_bound(self, bound: Expr, lines: list[str]) -> Expr:
        """A bound that reads memory is read once."""
        if not bound.reads and bound.kind != "call":
            return bound
        name = identifier("bound", self.taken)
        kind = "int64_t" if bound.type == "int64_t" else "int"
        lines.append(f"{kind} {name} = {bound.text};")
        return Expr(name, type=kind)

    def _affine_bounds(self, op: ir.Operation) -> tuple[Expr, Expr, Expr]:
        first = op.attributes["lowerBoundMap"]
        operands = self.body.operands(op)
        inputs = ir.AffineMapAttr(first).value.n_inputs if operands else 0
        lower_operands, upper_operands = operands[:inputs], operands[inputs:]
        if self.operations.affine.never_negative(first, [value in self.positive for value in lower_operands]):
            self.positive.add(op.regions[0].blocks[0].arguments[0])
        bounds = self.operations.affine.bounds
        lower = bounds(*self.opened(op, "lowerBoundMap", lower_operands))
        upper = bounds(*self.opened(op, "upperBoundMap", upper_operands))
        step = ir.IntegerAttr(op.attributes["step"]).value
        return _least("max", lower), _least("min", upper), Expr(str(step))

    def _label(self, op: ir.Operation) -> str:
        nest, name = self.nest, string_of(op, "allo.name") or "loop"
        return identifier(
            "l_" + (name if nest is None or name.startswith(nest) else f"{nest}_{name}"), self.labels
        )

    def _loop_pragmas(self, op: ir.Operation) -> list[str]:
        attributes, lines = op.attributes, []
        if "allo.pipeline" in attributes:
            interval = ir.IntegerAttr(attributes["allo.pipeline"]).value
            streams = any(map(is_at_stream, operations(op.regions[0].blocks[0])))
            rewind = "allo.rewind" in attributes
            lines.append(self.vendor.pipeline_text(interval, rewind, location_of(op), uses_streams=streams))
        if "allo.unroll" in attributes:
            factor = ir.IntegerAttr(attributes["allo.unroll"]).value
            lines.append(self.vendor.unroll_text(factor, location_of(op)))
        if "allo.dataflow" in attributes:
            lines.append(self.vendor.known(self.vendor.dataflow, "loops whose statements run at once", location_of(op)))
        return lines or [self.vendor.plain_loop] * bool(self.vendor.plain_loop)

    def _while(self, op: ir.Operation) -> list[str]:
        if len(op.results) or len(op.operands):
            raise TargetError("loops with results have no form in HLS C++", at=location_of(op))
        lines = [*self._declare_all(), *self.flush(())]
        taken = self.taken.copy()
        before = op.regions[0].blocks[0]
        inner: list[str] = []
        statements = self.body.statements(before)
        for statement in statements:
            if statement.name not in _SILENT:
                inner += self.operation(statement)
        inner += self._declare_all()
        test = self.take([self.body.operands(statements[-1])[0]])[0]
        inner += self.flush(())
        if inner:  # the condition takes statements of its own
            inner.append(f"if (!{atom(test)}) {{ break; }}")
            head = [*self._headed(op, "while (true) {"), *(f"  {line}" for line in inner)]
        else:
            head = self._headed(op, f"while ({test.text}) {{")
        body = self.scope(op.regions[1].blocks[0])
        self.taken = taken
        return [*lines, *head, *body, "}"]

    def _if(self, op: ir.Operation) -> list[str]:
        if op.name == "affine.if":
            test = self.operations.affine.condition(*self.opened(op, "condition", self.body.operands(op)))
        else:
            test = self.take([op.operands[0]])[0]
        lines = [*self._declare_all(), *self.flush(())]
        if len(op.results) == 1 and (chosen := self._choice(op, test)) is not None:
            return [*lines, *self.set_value(op, chosen)]
        targets = []
        for result in op.results:
            name = self.temporary_name()
            kind = result.type
            target = self._value_type(kind)
            width = kind.width if isinstance(kind, ir.IntegerType) else 0
            self.exprs[result] = Expr(name, type=target, width=width)
            lines.append(f"{target} {name};")
            targets.append(name)
        lines += [f"if ({test.text}) {{", *self.scope(op.regions[0].blocks[0], targets)]
        if len(op.regions[1].blocks):
            other = self.scope(op.regions[1].blocks[0], targets)
            lines += ["} else {", *other] if other else []
        return [*lines, "}"]

    def _choice(self, op: ir.Operation, test: Expr) -> Expr | None:
        """`c ? a : b` where both branches are expressions."""
        yielded = []
        for region in op.regions:
            statements = self.body.statements(region.blocks[0])
            if any(o.regions or not _is_expression(o) for o in statements[:-1]):
                return None
            yielded.append(statements)
        exprs: list[Expr] = []
        saved = dict(self.exprs)
        for statements in yielded:
            lines = [line for o in statements[:-1] for line in self.operation(o)]
            value = self.take(self.body.operands(statements[-1]))[0]
            lines += self.flush(())
            if lines:
                self.exprs = saved
                return None
            exprs.append(value)
        kind = op.results[0].type
        made = choice(test, exprs[0], exprs[1], self._value_type(kind))
        width = kind.width if isinstance(kind, ir.IntegerType) else 0
        return Expr(made.text, made.binds, True, type=made.type, width=width)

    # -- calls and streams -----------------------------------------------------------------------

    def _call(self, op: ir.Operation) -> list[str]:
        callee = self.functions[callee_name(op)]
        operands = self.body.operands(op)
        lines = self._declared(operands)
        arguments = []
        for value, expr in zip(operands, self.take(operands), strict=True):
            plain = isinstance(value.type, ir.MemRefType | allo_d.StreamType) or _is_counter(value, expr)
            arguments.append(
                expr if plain else Expr(self.operations.stored(expr, value.type), reads=expr.reads)
            )
        lines += self.flush(())
        if len(op.results) == 1 and not isinstance(op.results[0].type, ir.MemRefType):
            kind = op.results[0].type
            width = kind.width if isinstance(kind, ir.IntegerType) else 0
            made = call(callee, arguments)
            if not self.body.uses(op.results[0]):
                return [*lines, f"{made.text};"]
            expr = Expr(made.text, type=self.types.of(kind), width=width)
            return [*lines, self.name(op.results[0], expr, string_of(op, "allo.name") or callee + "_result")]
        lines += self._result_places(op)
        arguments += [Expr(self.exprs[result].text) for result in op.results]
        return [*lines, f"{call(callee, arguments).text};"]

    def _result_places(self, op: ir.Operation) -> list[str]:
        """The declarations of variables for the results of a call, unless they were written before."""
        lines: list[str] = []
        for result in op.results:
            if result in self.exprs:
                continue
            name, declaration = self._result_place(op, result)
            kind = "" if isinstance(result.type, ir.MemRefType) else self.types.of(result.type)
            self.exprs[result] = Expr(name, type=kind)
            lines += declaration
        return lines

    def _result_place(self, op: ir.Operation, result: ir.Value) -> tuple[str, list[str]]:
        """A variable for a result of a call, and its declaration."""
        if result in self.outputs:
            return self.outputs[result], []
        name = identifier(string_of(op, "allo.name") or "result", self.taken)
        if not isinstance(result.type, ir.MemRefType):
            return name, [f"{self.types.of(result.type)} {name};"]
        memref = ir.MemRefType(result.type)
        return name, self.array(memref, name, op)


def _is_counter(value: ir.Value, expr: Expr) -> bool:
    """The variable of a loop, which C++ widens where an argument has 64 bits."""
    return isinstance(value.owner, ir.Block) and isinstance(value.type, ir.IndexType) and expr.type == "int"


def _is_expression(op: ir.Operation) -> bool:
    changes = ("allo.assert", "allo.set_bit", "allo.set_slice", "allo.element_cast")
    if op.name in changes or is_at_stream(op):
        return False
    found: bool = op.name.startswith(
        ("arith.", "math.", "allo.", "affine.load", "affine.apply", "memref.load")
    )
    return found


def _least(function: str, exprs: list[Expr]) -> Expr:
    result = exprs[0]
    kind = "int64_t" if any(expr.type == "int64_t" for expr in exprs) else "int"
    for expr in exprs[1:]:
        result = call(f"std::{function}<{kind}>", [result, expr], kind)
    return result
