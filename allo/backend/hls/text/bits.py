"""Bits of integers in C++: read, replaced, and seen as another type."""

from __future__ import annotations

from functools import cache

from mlir import ir

from ....errors import TargetError
from ....ir.mlir_types import scalar_from_mlir
from ....ir.types import AlloType, Bool, Fixed, Float, Int, Struct, UFixed, UInt
from ....ir.walk import location_of
from ....ir.words import offsets
from .cxx_types import TypeNames, field_names, signed_type, unsigned_type
from .dialect import AMD_WORDS, Words
from .expression import Expr, as_unsigned, atom, call, convert, from_unsigned, infix
from .fixed_point import FixedWriter
from .operations import Form

_FLOATS = {16: "half", 32: "float", 64: "double"}


class BitWriter(FixedWriter):
    """The operations on bits."""

    def __init__(self, types: TypeNames, words: Words = AMD_WORDS) -> None:
        super().__init__(types)
        self.words = words

    @classmethod
    @cache
    def forms(cls) -> dict[str, Form]:
        return super().forms() | {
            "allo.get_bit": (cls._get_bit,),
            "allo.get_slice": (cls._get_slice,),
            "allo.reverse_bits": (cls._reverse_bits,),
            "allo.bitcast": (cls._bitcast,),
            "arith.bitcast": (cls._bitcast,),
            "allo.struct_get": (cls._struct_get,),
            "allo.struct_construct": (cls._struct_construct,),
        }

    def word(self, value: ir.Value, operand: Expr) -> Expr:
        """An integer as `ap_uint`, which has `range` and `[]`."""
        kind = value.type
        if kind.is_signless:
            operand = as_unsigned(operand)
        return convert(f"ap_uint<{kind.width}>", operand)

    def integer_result(self, expr: Expr, kind: ir.Type) -> Expr:
        """`expr`, an `ap_uint` of the width, as a value of an integer type."""
        if kind.is_signless and kind.width > 1:
            return from_unsigned(convert(unsigned_type(kind.width), expr), kind.width)
        target = "bool" if kind.is_signless else self.types.of(kind)
        made = convert(target, expr)
        return Expr(made.text, made.binds, made.reads, type=target, width=kind.width, cast=made.cast)

    def _get_bit(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        word, index = self.word(op.operands[0], operands[0]), operands[1]
        read = word.reads or index.reads
        if word.cast and index.value is not None:  # T(U(v))[3] in parentheses can be a type: a function's, of v
            return self._part_of(word, (index.text, index.text), op.results[0].type, read)
        return Expr(f"bool({atom(word)}[{index.text}])", reads=read, type="bool", width=1)

    def span(self, operands: list[Expr]) -> tuple[str, str]:
        """The highest and the lowest bit of the operands `hi`, `lo`."""
        high, low = operands
        last = str(high.value - 1) if high.value is not None else infix("-", high, Expr("1")).text
        return last, low.text

    def _get_slice(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        word = self.word(op.operands[0], operands[0])
        read = any(o.reads for o in operands)
        return self._part_of(word, self.span(operands[1:]), op.results[0].type, read)

    def _part_of(self, word: Expr, span: tuple[str, str], kind: ir.Type, read: bool) -> Expr:
        """Some bits, the highest and the lowest of which are given, as a value of type `kind`."""
        target = f"ap_uint<{kind.width}>"
        part = self.words.part(atom(word), *span, kind.width)
        made = Expr(f"{target}({part})", reads=read, type=target, width=kind.width)
        return self.integer_result(made, kind)

    def _reverse_bits(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        self.needs.add("reversed")
        kind = op.operands[0].type
        word = self.word(op.operands[0], operands[0])
        return self.integer_result(call(f"reversed<{kind.width}>", [word], f"ap_uint<{kind.width}>"), kind)

    # -- one type seen as another ----------------------------------------------------------------

    def _bitcast(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        source, result = op.operands[0].type, op.results[0].type
        if isinstance(source, ir.IntegerType):
            bits = self.word(op.operands[0], operands[0])
        else:
            bits = self.bits_of(scalar_from_mlir(source), operands[0], op)
        if isinstance(result, ir.IntegerType):
            return self.integer_result(bits, result)
        return self.from_bits(scalar_from_mlir(result), bits, op)

    def bits_of(self, kind: AlloType, value: Expr, op: ir.Operation | None = None) -> Expr:
        """The bits of a value in memory as `ap_uint` (for one bit and more)."""
        target = f"ap_uint<{kind.bits}>"
        match kind:
            case Float(brain=True):
                return convert(target, Expr(f"{atom(value)}.bits", reads=value.reads, type="uint16_t"))
            case Float():
                self.types.scalar(kind)
                self.needs.add("half_bits" if kind.width == 16 else "float_bits")
                return convert(target, call("bits_of", [value], unsigned_type(kind.width)))
            case Fixed() | UFixed():
                part = self.words.part(atom(value), str(kind.width - 1), "0", kind.width)
                return Expr(f"{target}({part})", reads=value.reads, type=target)
            case Int() if kind.width == 1:
                return convert(target, value)
            case Int() | UInt() | Bool():
                return convert(target, convert(unsigned_type(kind.bits), value))
            case Struct():
                self.needs.add("struct_bits")
                self.types.scalar(kind)
                return call("bits_of", [value], target)
        at = location_of(op) if op is not None else None
        raise TargetError(f"HLS C++ has no bits for {kind!r}", at=at)

    def from_bits(self, kind: AlloType, bits: Expr, op: ir.Operation | None = None) -> Expr:
        """The value with these bits."""
        target = self.types.scalar(kind)
        match kind:
            case Float(brain=True):
                return call("bfloat16::of", [convert("uint16_t", bits)], target)
            case Float():
                self.needs.add("half_bits" if kind.width == 16 else "float_bits")
                return call(f"{_FLOATS[kind.width]}_of", [convert(unsigned_type(kind.width), bits)], target)
            case Fixed() | UFixed():
                self.needs.add("from_bits")
                return call(f"from_bits<{target}, {kind.width}>", [bits], target)
            case Int() if kind.width > 1:
                return convert(target, convert(signed_type(kind.width), bits))
            case Int() | UInt() | Bool():
                return convert(target, bits)
            case Struct():
                self.needs.add("struct_bits")
                return call(f"{target}_of", [bits], target)
        raise TargetError(f"HLS C++ has no bits for {kind!r}", at=location_of(op) if op is not None else None)

    def struct_functions(self) -> list[str]:
        """`bits_of` and `..._of` of every struct."""
        lines: list[str] = []
        for struct, name in list(self.types.structs.items()):
            word = f"ap_uint<{struct.bits}>"
            lines += [
                f"static inline {word} bits_of(const {name} &value) {{",
                "#pragma HLS inline",
                f"  {word} bits = 0;",
            ]
            labels = field_names(struct)
            for label, field, low in offsets(struct):
                inner = self.bits_of(field, Expr(f"value.{labels[label]}"))
                lines.append(f"  bits{self.words.change(str(low + field.bits - 1), str(low), inner.text)};")
            lines += ["  return bits;", "}", f"static inline {name} {name}_of(const {word} &bits) {{"]
            lines += ["#pragma HLS inline", f"  {name} value;"]
            for label, field, low in offsets(struct):
                bits = self.words.part("bits", str(low + field.bits - 1), str(low), field.bits)
                part = Expr(f"ap_uint<{field.bits}>({bits})", type=f"ap_uint<{field.bits}>")
                lines.append(f"  value.{labels[label]} = {self.from_bits(field, part).text};")
            lines += ["  return value;", "}", ""]
        return lines

    # -- structs ---------------------------------------------------------------------------------

    def _struct_get(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        kind = op.results[0].type
        source = operands[0]
        self.types.of(op.operands[0].type)
        struct = scalar_from_mlir(op.operands[0].type)
        assert isinstance(struct, Struct)
        field = field_names(struct)[ir.StringAttr(op.attributes["field"]).value]
        expr = Expr(f"{atom(source)}.{field}", reads=source.reads, type=self.types.of(kind))
        if isinstance(kind, ir.IntegerType) and kind.is_signless:
            return Expr(expr.text, expr.binds, expr.reads, type=signed_type(kind.width), width=kind.width)
        return expr

    def _struct_construct(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        name = self.types.of(op.results[0].type)
        texts = [
            self.stored(operand, value.type) for operand, value in zip(operands, op.operands, strict=True)
        ]
        return Expr(
            f"{name}{{{', '.join(texts)}}}", reads=any(o.reads for o in operands), type=name, kind="call"
        )

    def stored(self, value: Expr, kind: ir.Type) -> str:
        """`value` where a place of type `kind` takes it."""
        if isinstance(kind, ir.IndexType):
            return convert("int64_t", value).text
        return convert(self.types.of(kind), value).text
