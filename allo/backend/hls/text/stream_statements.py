"""FIFOs in C++: declarations, and what puts into them, gets from them and asks them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mlir import ir

from ....errors import TargetError
from ....ir.access import puts_side
from ....ir.stream_facts import STREAM_NUMBER
from ....ir.task_facts import SITE_NUMBER
from ....ir.walk import location_of, string_of
from .expression import Expr
from .names import identifier
from .values import ValueWriter

_QUERIES = {"allo.stream_empty": "empty", "allo.stream_full": "full"}


class StreamWriter(ValueWriter):
    """The statements about streams."""

    def stream_type(self, stream: ir.Type) -> str:
        """The type of a FIFO."""
        if isinstance(stream.element_type, ir.VectorType | ir.RankedTensorType):
            raise TargetError(
                f"streams of blocks ({stream}) have no form in HLS C++", hint="stream their elements"
            )
        element = (
            "int64_t" if isinstance(stream.element_type, ir.IndexType) else self.types.of(stream.element_type)
        )
        return element

    def _stream_declaration(self, op: ir.Operation, stream: ir.Type, shape: Sequence[int], name: str) -> list[str]:
        streams, at = self.vendor.streams, location_of(op)
        several = bool(shape) and streams.array is not None
        made = self.vendor.known(streams.array if several else streams.made, "streams inside of a kernel", at)
        extents = "".join(f"[{extent}]" for extent in shape)
        values = {"name": name, "depth": max(stream.depth, 1), "extents": extents, "count": prod(shape)}
        declared = made.format(element=self.stream_type(stream), **values)
        if self.vendor.simulated:
            number = string_of(op, STREAM_NUMBER)
            holds = max(stream.depth, self.vendor.room) if self.vendor.room else 0
            return [declared, f'allo_sim::declare({name}, "{number}", {holds});']
        return [declared, *([streams.pragma.format(**values)] if streams.pragma else [])]

    def _stream(self, op: ir.Operation) -> list[str]:
        operands = self.take(self.body.operands(op))
        stream = operands[0].text
        if SITE_NUMBER in op.attributes and self.vendor.simulated:
            stream = f"{stream}.at({ir.IntegerAttr(op.attributes[SITE_NUMBER]).value})"
        if puts_side(op) and len(op.operands) > 1:
            value = self.operations.stored(operands[1], op.operands[1].type)
            if op.name == "allo.stream_put":
                return [*self.flush(()), f"{stream}.write({value});"]
            return [*self.flush(()), self._answer(op, "try_put", "bool", name=stream, value=value)]
        lines = self.flush(())
        if op.name == "allo.stream_get":
            kind = op.results[0].type
            if not self.body.uses(op.results[0]):
                return [*lines, f"{stream}.read();"]
            return [*lines, self.name(op.results[0], self._typed(f"{stream}.read()", kind))]
        if op.name == "allo.stream_peek":
            return [*lines, *self._peek(op, stream)]
        if op.name == "allo.stream_try_get":
            return [*lines, *self._try_get(op, stream)]
        return [*lines, self._answer(op, _QUERIES[op.name], "bool", name=stream)]

    def _typed(self, text: str, kind: ir.Type) -> Expr:
        """An element of a stream."""
        width = kind.width if isinstance(kind, ir.IntegerType) else 0
        return Expr(text, type="int64_t" if isinstance(kind, ir.IndexType) else self.types.of(kind), width=width)

    def _pattern(self, op: ir.Operation, what: str) -> str:
        pattern: str | None = getattr(self.vendor.streams, what)
        return self.vendor.known(pattern, f"'{what}' of a stream", location_of(op))

    def _answer(self, op: ir.Operation, what: str, kind: str, **values: str) -> str:
        text = self._pattern(op, what).format(**values)
        if not self.body.uses(op.results[0]):
            return f"{text};"
        return self.name(op.results[0], Expr(text, type=kind, width=1))

    def _peek(self, op: ir.Operation, stream: str) -> list[str]:
        element = self._typed("", op.results[0].type)
        name = identifier("t", self.taken)
        self.exprs[op.results[0]] = Expr(name, type=element.type, width=element.width)
        return [f"{element.type} {name};", self._pattern(op, "peek").format(name=stream, into=name)]

    def _try_get(self, op: ir.Operation, stream: str) -> list[str]:
        """Tools leave open what is in the variable if there was no element: 0 in kernels."""
        kind = op.results[0].type
        element = self._typed("", kind)
        into, done = identifier("t", self.taken), identifier("t", self.taken)
        self.exprs[op.results[1]] = Expr(done, type="bool", width=1)
        lines = [
            f"{element.type} {into};",
            f"bool {done};",
            self._pattern(op, "try_get").format(name=stream, into=into, done=done),
        ]
        if self.body.uses(op.results[0]):
            lines.append(f"if (!{done}) {{ {into} = {self.types.zero(kind)}; }}")
            self.exprs[op.results[0]] = Expr(into, type=element.type, width=element.width)
        elif not self.body.uses(op.results[1]):
            lines.append(f"(void){done};")
        return lines
