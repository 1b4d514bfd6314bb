"""Functions as Python-like text: loops, branches and assignments, without the noise of SSA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ..errors import InternalError
from .access import callee_name, is_at_stream
from .dies import placed_stages, stage_name
from .mlir_types import from_mlir
from .module import Module
from .names import unique_name
from .pseudocode_expr import TERNARY, Text, affine_text, atom, joined, operation_text, set_text
from .walk import annotations_of, argument_names, entry_block, string_of

_SILENT = frozenset({"func.return", "affine.yield", "scf.yield", "scf.condition", "memref.dealloc", "linalg.yield"})


def module_text(module: Module) -> str:
    """All functions of `module`, callees first as they stand."""
    return "\n\n".join(function_text(function) for function in module.functions())


def function_text(function: ir.OpView) -> str:
    """One function, one line for each loop, branch, variable, assignment and call."""
    return "\n".join(_Printer(function).lines())


class _Printer:
    """Names of the values of one function; what an expression has read stays in front of what is written later."""

    def __init__(self, function: ir.OpView) -> None:
        self.function = function
        self.dies = placed_stages(function)
        self.texts: dict[ir.Value, Text] = {}
        self.pending: dict[ir.Value, Text] = {}  # values that read memory and are not used yet
        self.taken: set[str] = set()

    def lines(self) -> Iterator[str]:
        entry = entry_block(self.function)
        name = self.function.name.value
        types = ir.FunctionType(ir.TypeAttr(self.function.operation.attributes["function_type"]).value)
        names = argument_names(self.function)
        self.taken.update(names)
        shown = [f"{n}: {_type_text(t)}" for n, t in zip(names, types.inputs, strict=True)]
        results = ", ".join(_type_text(t) for t in types.results)
        marks = _marks(self.function.operation)
        yield f"def {name}({', '.join(shown)}){f' -> {results}' if results else ''}:{marks}"
        if entry is None:
            yield "    ..."
            return
        for argument, text in zip(entry.arguments, names, strict=True):
            self.texts[argument] = Text(text)
        body = list(self.block(entry))
        yield from (f"    {line}" for line in body or ["pass"])

    def block(self, block: ir.Block) -> Iterator[str]:
        for view in block.operations:
            op = view.operation
            if op.name in ("func.return", "scf.yield", "affine.yield") and len(op.operands):
                yield from self._leave(op)
            elif op.name not in _SILENT:
                yield from self.operation(op)
        yield from self._flush(())

    def _leave(self, op: ir.Operation) -> Iterator[str]:
        values = ", ".join(self.text(o) for o in op.operands)
        yield from self._flush(op.operands)
        yield f"return {values}" if op.name == "func.return" else f"yield {values}"

    def operation(self, op: ir.Operation) -> Iterator[str]:
        match op.name:
            case "affine.for" | "scf.for":
                yield from self._for(op)
            case "scf.while":
                yield from self._while(op)
            case "affine.if" | "scf.if":
                yield from self._if(op)
            case "affine.store" | "memref.store":
                yield from self._store(op)
            case "memref.alloc" | "memref.get_global" | "allo.stream_create":
                yield from self._declare(op)
            case _ if op.name.startswith(("arith.", "math.", "allo.")) and len(op.results) == 1:
                yield from self._value(op, operation_text(op, self.atoms(op.operands)))
            case "affine.load" | "memref.load":
                yield from self._value(op, Text(self._element(op.operands[0], op, 1), reads=True))
            case "affine.apply":
                exprs = affine_text(ir.AffineMapAttr(op.attributes["map"]).value, self.atoms(op.operands))
                yield from self._value(op, exprs[0])
            case _:
                yield from self._other(op)

    # -- values ----------------------------------------------------------------------------------

    def text(self, value: ir.Value) -> str:
        return self.atoms([value])[0].text

    def atoms(self, values: Sequence[ir.Value]) -> list[Text]:
        """What stands for `values`; a value that was waiting is used up."""
        found = []
        for value in values:
            self.pending.pop(value, None)
            found.append(self.texts.get(value) or Text("?"))
        return found

    def _value(self, op: ir.Operation, text: Text) -> Iterator[str]:
        result = op.results[0]
        uses = len(list(result.uses))
        if text.effect or (uses > 1 and text.compound):
            yield from self._flush(op.operands)
            yield self._name(result, text)
        else:
            self.texts[result] = text
            if text.reads and uses:
                self.pending[result] = text

    def _name(self, value: ir.Value, text: Text) -> str:
        name = unique_name("t", self.taken)
        self.texts[value] = Text(name)
        return f"{name} = {text.text}"

    def _flush(self, used: Sequence[ir.Value]) -> Iterator[str]:
        """Names for the values that were read before, in front of a statement that may change what they read."""
        for value, text in list(self.pending.items()):
            if value not in used:
                yield self._name(value, text)
            del self.pending[value]

    def _element(self, memref: ir.Value, op: ir.Operation, first: int) -> str:
        operands = list(op.operands)[first:]
        if "map" in op.attributes:
            texts = affine_text(ir.AffineMapAttr(op.attributes["map"]).value, self.atoms(operands))
        else:
            texts = self.atoms(operands)
        array = self.text(memref)
        return f"{array}[{joined(texts)}]" if texts else array

    # -- statements ------------------------------------------------------------------------------

    def _store(self, op: ir.Operation) -> Iterator[str]:
        value = self.atoms([op.operands[0]])[0]
        target = self._element(op.operands[1], op, 2)
        yield from self._flush(())
        if value.lhs == target and value.operator in ("+", "-", "*", "/"):
            yield f"{target} {value.operator}= {value.rhs}"
        else:
            yield f"{target} = {value.text}"

    def _declare(self, op: ir.Operation) -> Iterator[str]:
        given = string_of(op, "allo.name") or "buffer"
        name = given if given not in self.taken else unique_name(given, self.taken)
        self.taken.add(name)
        self.texts[op.results[0]] = Text(name)
        constant = op.name == "memref.get_global"
        origin = f" = @{ir.FlatSymbolRefAttr(op.attributes['name']).value}" if constant else ""
        yield f"{name}: {_type_text(op.results[0].type)}{origin}{_marks(op)}"

    def _for(self, op: ir.Operation) -> Iterator[str]:
        variable = op.regions[0].blocks[0].arguments[0]
        yield from self._flush(())
        if op.name == "affine.for":
            bounds = self._affine_bounds(op)
        else:
            bounds = [self.text(operand) for operand in list(op.operands)[:3]]
        if bounds[-1] == "1":
            bounds.pop()
        if len(bounds) == 2 and bounds[0] == "0":
            bounds.pop(0)
        name = string_of(op, "allo.name") or "i"
        self.texts[variable] = Text(name)
        nest = string_of(op, "allo.nest")
        named = f', name="{nest}"' if nest is not None and not nest.startswith("S_") else ""
        yield f"for {name} in range({', '.join(bounds)}{named}):{_marks(op, self._place(op))}"
        yield from self._indented(op.regions[0].blocks[0])

    def _affine_bounds(self, op: ir.Operation) -> list[str]:
        lower = ir.AffineMapAttr(op.attributes["lowerBoundMap"]).value
        upper = ir.AffineMapAttr(op.attributes["upperBoundMap"]).value
        operands = list(op.operands)
        first = affine_text(lower, self.atoms(operands[: lower.n_inputs]))
        second = affine_text(upper, self.atoms(operands[lower.n_inputs : lower.n_inputs + upper.n_inputs]))
        step = ir.IntegerAttr(op.attributes["step"]).value
        return [_least("max", first), _least("min", second), str(step)]

    def _while(self, op: ir.Operation) -> Iterator[str]:
        yield from self._flush(())
        before = op.regions[0].blocks[0]
        lines = list(self.block_without_flush(before))
        condition = before.operations[len(before.operations) - 1].operation.operands[0]
        text = self.text(condition)
        if lines:  # the condition takes statements of its own
            yield f"while True:{_marks(op)}"
            yield from (f"    {line}" for line in [*lines, f"if not {atom(Text(text))}: break"])
        else:
            yield f"while {text}:{_marks(op)}"
        yield from self._indented(op.regions[1].blocks[0])

    def block_without_flush(self, block: ir.Block) -> Iterator[str]:
        for view in block.operations:
            if view.operation.name not in _SILENT:
                yield from self.operation(view.operation)

    def _if(self, op: ir.Operation) -> Iterator[str]:
        if op.name == "affine.if":
            condition = set_text(op.attributes["condition"], self.atoms(op.operands))
        else:
            condition = self.text(op.operands[0])
        yield from self._flush(())
        if len(op.results) == 1 and (choice := self._choice(op, condition)) is not None:
            self.texts[op.results[0]] = self.pending[op.results[0]] = choice
            return
        for result in op.results:
            name = unique_name("t", self.taken)
            self.texts[result] = Text(name)
        target = ", ".join(self.texts[r].text for r in op.results)
        yield f"{f'{target} = ' if target else ''}if {condition}:{_marks(op)}"
        yield from self._indented(op.regions[0].blocks[0])
        if len(op.regions[1].blocks):
            yield "else:"
            yield from self._indented(op.regions[1].blocks[0])

    def _choice(self, op: ir.Operation, condition: str) -> Text | None:
        """`a if c else b` where both branches are one expression."""
        lines = [list(self.block(region.blocks[0])) for region in op.regions]
        if any(len(branch) != 1 for branch in lines):
            return None
        first, second = (branch[0].removeprefix("yield ") for branch in lines)
        return Text(f"{first} if {condition} else {second}", TERNARY, reads=True)

    def _indented(self, block: ir.Block) -> Iterator[str]:
        lines = list(self.block(block))
        yield from (f"    {line}" for line in lines or ["pass"])

    def _other(self, op: ir.Operation) -> Iterator[str]:
        arguments = self.atoms(op.operands)
        yield from self._flush(())
        called = op.name == "func.call"
        callee = callee_name(op) if called else op.name
        names = []
        given = string_of(op, "allo.name")
        for result in op.results:
            name = unique_name(given or "t", self.taken)
            self.texts[result] = Text(name)
            names.append(name)
        target = f"{', '.join(names)} = " if names else ""
        if is_at_stream(op):
            yield f"{target}{arguments[0].text}.{op.name.removeprefix('allo.stream_')}({joined(arguments[1:])})"
        else:
            yield f"{target}{callee}({joined(arguments)}){_marks(op, self._place(op))}"

    def _place(self, op: ir.Operation) -> str:
        """The die of a statement, if it is a stage that steps have placed."""
        is_stage = bool(self.dies) and op.block == entry_block(self.function)
        return self.dies.get(stage_name(op) or "", "") if is_stage else ""


def _least(function: str, texts: list[Text]) -> str:
    return texts[0].text if len(texts) == 1 else f"{function}({joined(texts)})"


def _marks(op: ir.Operation, die: str = "") -> str:
    """The annotations of an operation as a comment, and the die on which it is."""
    marks = annotations_of(op) + ([f"on {die}"] if die else [])
    if "allo.memory" in op.attributes:
        marks.append(f"memory={op.attributes['allo.memory']}")
    return f"  # {', '.join(marks)}" if marks else ""


def _stream_text(mlir_type: ir.Type) -> str:
    """`!allo.stream<f32, 4>` as `Stream[float32, 4]`, an array of them with its extents behind it."""
    extents = ""
    if isinstance(mlir_type, ir.MemRefType):
        extents = str(list(mlir_type.shape))
        mlir_type = mlir_type.element_type
    if not isinstance(mlir_type, allo_d.StreamType):
        return str(mlir_type)
    return f"Stream[{_type_text(mlir_type.element_type)}, {mlir_type.depth}]{extents}"


def _type_text(mlir_type: ir.Type) -> str:
    """The type as a user writes it, with the layout behind it where there is one."""
    try:
        text = repr(from_mlir(mlir_type))
    except InternalError:
        return _stream_text(mlir_type)
    if isinstance(mlir_type, ir.MemRefType):
        text = text.removesuffix("[]")
        layout = str(mlir_type.layout)
        if layout.startswith("#allo.partition"):
            text += f" @ {layout.removeprefix('#allo.')}"
    return text
