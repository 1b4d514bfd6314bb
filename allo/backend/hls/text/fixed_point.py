"""Fixed-point arithmetic in C++: in types without modes, which only conversions apply."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from mlir import ir

from ....ir.mlir_types import integer_of, mantissa_of, scalar_from_mlir
from ....ir.types import Fixed, Float, Index, UFixed
from .cxx_types import fixed_type
from .expression import Expr, atom, call, convert, infix
from .floats import FloatWriter
from .operations import Form, with_width

_FIXED_COMPARE = ("==", "!=", "<", "<=", ">", ">=")


class FixedWriter(FloatWriter):
    """The operations on fixed-point numbers."""

    @classmethod
    @cache
    def forms(cls) -> dict[str, Form]:
        return super().forms() | {
            "allo.fixed_add": (cls._fixed_infix, "+"),
            "allo.fixed_sub": (cls._fixed_infix, "-"),
            "allo.fixed_mul": (cls._fixed_mul,),
            "allo.fixed_div": (cls._fixed_div,),
            "allo.fixed_neg": (cls._fixed_neg,),
            "allo.fixed_cmp": (cls._fixed_cmp,),
            "allo.fixed_cast": (cls._fixed_cast,),
            "allo.fixed_constant": (cls._fixed_constant,),
        }

    def _plain(self, kind: Fixed | UFixed) -> str:
        """The type without modes, in which arithmetic is done."""
        return fixed_type(kind, modes=False)

    def _result(self, op: ir.Operation) -> str:
        kind = scalar_from_mlir(op.results[0].type)
        assert isinstance(kind, Fixed | UFixed)
        return self._plain(kind)

    def _fixed_infix(self, operator: str, op: ir.Operation, operands: Sequence[Expr]) -> Expr:
        whole = infix(operator, operands[0], operands[1])
        return Expr(
            f"{self._result(op)}({whole.text})", reads=whole.reads, type=self._result(op), cast=whole.text
        )

    def _fixed_mul(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        return infix("*", operands[0], operands[1], self._result(op))

    def _fixed_div(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        self.needs.update(("floor_div", "from_bits", "fixed_div"))
        dividend, divisor = (scalar_from_mlir(operand.type) for operand in op.operands)
        assert isinstance(divisor, Fixed | UFixed)
        result = scalar_from_mlir(op.results[0].type)
        width = max(dividend.bits + divisor.fracs, divisor.bits, result.bits) + 2
        return call(
            f"fixed_div<{self._result(op)}, {result.bits}, {width}, {divisor.fracs}>",
            operands,
            self._result(op),
        )

    def _fixed_neg(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        text = f"-{atom(operands[0])}"
        return Expr(f"{self._result(op)}({text})", reads=operands[0].reads, type=self._result(op), cast=text)

    def _fixed_cmp(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        predicate = ir.IntegerAttr(op.attributes["predicate"]).value
        return with_width(infix(_FIXED_COMPARE[predicate], operands[0], operands[1], "bool"), 1)

    def _fixed_cast(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        source, result = scalar_from_mlir(op.operands[0].type), scalar_from_mlir(op.results[0].type)
        operand = operands[0]
        if isinstance(result, Fixed | UFixed):
            kind = op.operands[0].type
            if isinstance(kind, ir.IntegerType) and kind.is_signless and kind.width == 1:
                operand = convert("ap_uint<1>", operand)
            if operand.type == "bfloat16":
                operand = convert("float", operand)
            return convert(self.types.scalar(result), operand)
        assert isinstance(source, Fixed | UFixed)
        if isinstance(result, Float):
            exact = Expr(f"{atom(operand)}.to_double()", reads=operand.reads, type="double")
            return convert(self.types.scalar(result), exact)
        return self._fixed_to_integer(op, operand, result)

    def _fixed_to_integer(self, op: ir.Operation, operand: Expr, result: object) -> Expr:
        """By way of a fixed-point number without digits behind the point, which drops them and wraps."""
        width = 64 if isinstance(result, Index) else op.results[0].type.width
        signed = isinstance(result, Index) or not op.results[0].type.is_unsigned
        whole = convert(f"{'ap_fixed' if signed else 'ap_ufixed'}<{width}, {width}>", operand)
        if isinstance(result, Index):
            return convert("int", convert("ap_int<64>", whole))
        target = self.types.of(op.results[0].type)
        if width == 1:
            return with_width(convert("bool", convert("ap_uint<1>", convert("ap_ufixed<1, 1>", operand))), 1)
        middle = f"{'ap_int' if signed else 'ap_uint'}<{width}>"
        made = convert(middle, whole)
        return with_width(convert(target, made), width)

    def _fixed_constant(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        kind = scalar_from_mlir(op.results[0].type)
        assert isinstance(kind, Fixed | UFixed)
        return self.fixed_constant(integer_of(op.attributes["mantissa"]), kind)

    def fixed_constant(self, mantissa: int, kind: Fixed | UFixed) -> Expr:
        """The number with these bits."""
        plain = self._plain(kind)
        number = mantissa_of(mantissa, kind)
        if abs(number) < 2**53:
            return Expr(f"{plain}({number / 2**kind.fracs!r})", type=plain)
        self.needs.add("from_bits")
        return Expr(f'from_bits<{plain}, {kind.width}>("{mantissa & ((1 << kind.width) - 1)}")', type=plain)
