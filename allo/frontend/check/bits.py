"""Checker of accesses to the bits of integers: `x[i]`, `x[lo:hi]`, on both sides, `.reverse()`, `.bitcast()`."""

from __future__ import annotations

import ast

from ...errors import counted
from ...ir.types import AlloType, Fixed, Float, Int, Struct, UFixed, UInt, float16, float32, float64, index
from ..typing.convert import convert
from ..typing.fields import Place
from ..typing.nodes import BitOp, Const, Expr, Field, Load, SymbolKind, Var
from ..typing.rules import as_integer
from ..typing.scope import Scope
from .annotations import read_annotation
from .checker import CheckedExpressions
from .slices import SliceChecker
from .structs import StructChecker

BIT_METHODS = ("reverse", "bitcast")
_FLOATS: dict[int, AlloType] = {16: float16, 32: float32, 64: float64}


class BitChecker:
    """Turns subscripts of integers into operations on their bits."""

    def __init__(
        self, scope: Scope, expressions: CheckedExpressions, structs: StructChecker, slices: SliceChecker
    ) -> None:
        self.scope = scope
        self.expressions = expressions
        self.structs = structs
        self.slices = slices

    def word(self, target: ast.Subscript) -> Place | None:
        """The integer variable or element whose bits `target` names; None if it names elements of an array."""
        base = self.structs.as_field(target.value)
        if isinstance(base, ast.Name):
            symbol = self.scope.local(base.id)
            if symbol is None or symbol.kind not in (SymbolKind.SCALAR, SymbolKind.ARGUMENT, SymbolKind.LOOP):
                return None
        elif not isinstance(base, ast.Subscript | ast.Attribute):
            return None
        errors = len(self.scope.diagnostics)
        value = self.expressions.any(base)
        if isinstance(value, Var | Load):
            return value
        if isinstance(value, Field) and isinstance(base, ast.Attribute):
            return self.structs.place(base)
        del self.scope.diagnostics[errors:]  # whoever checks the target as elements reports them
        return None

    def read(self, node: ast.Subscript, word: Expr) -> Expr | None:
        """`x[i]` as UInt(1), `x[lo:hi]` as UInt(hi - lo)."""
        at = self.scope.source.position(node)
        if not self._is_integer(node, word):
            return None
        if not isinstance(node.slice, ast.Slice):
            position = self._position(node.slice, word)
            return None if position is None else BitOp(UInt(1), at, "get_bit", word, (position,))
        bounds = self._range(node.slice, word)
        if bounds is None:
            return None
        return BitOp(UInt(bounds[2]), at, "get_slice", word, (bounds[1], bounds[0]))

    def written(self, node: ast.Subscript, word: Expr, value: Expr | None) -> Expr | None:
        """The integer after `word[...] = value`."""
        at = self.scope.source.position(node)
        if value is None or not self._is_integer(node, word):
            return None
        if as_integer(value.type) is None:
            self.scope.error(node, f"bits take an integer, got {value.type!r}", "convert it with int()")
            return None
        if not isinstance(node.slice, ast.Slice):
            position = self._position(node.slice, word)
            if position is None:
                return None
            return BitOp(word.type, at, "set_bit", word, (position,), convert(value, UInt(1)))
        bounds = self._range(node.slice, word)
        if bounds is None:
            return None
        return BitOp(word.type, at, "set_slice", word, (bounds[1], bounds[0]), convert(value, UInt(bounds[2])))

    def method(self, node: ast.Call, function: ast.Attribute) -> Expr | None:
        """`x.reverse()` turns the bits around; `x.bitcast()` reads them as a float, or those of another type as UInt.

        `x.bitcast(T)` reads them as a value of type `T`.
        """
        word = self.expressions.scalar(function.value)
        if word is None:
            return None
        at = self.scope.source.position(node)
        if function.attr == "bitcast" and len(node.args) == 1 and not node.keywords:
            return self._bitcast(node, word)
        if node.args or node.keywords:
            self.scope.error(node, f"`{function.attr}()` takes no arguments")
            return None
        if function.attr == "reverse":
            return BitOp(word.type, at, "reverse_bits", word) if self._is_integer(node, word) else None
        if isinstance(word.type, Float | Fixed | UFixed | Struct):
            return BitOp(UInt(word.type.bits), at, "bitcast", word)
        if isinstance(word.type, Int | UInt) and word.type.width in _FLOATS:
            return BitOp(_FLOATS[word.type.width], at, "bitcast", word)
        message = f"there is no float of the width of {word.type!r}"
        self.scope.error(node, message, "bitcast works on 16, 32 and 64 bits")
        return None

    def _bitcast(self, node: ast.Call, word: Expr) -> Expr | None:
        target = read_annotation(self.scope, node.args[0])
        if target is None:
            return None
        packed = Int | UInt | Float | Fixed | UFixed | Struct
        if isinstance(word.type, packed) and isinstance(target, packed) and word.type.bits == target.bits:
            return BitOp(target, self.scope.source.position(node), "bitcast", word)
        message = f"the bits of {word.type!r} are no {target!r}"
        self.scope.error(node, message, "bitcast keeps the number of bits, and does not work on bool and index")
        return None

    def _is_integer(self, node: ast.AST, word: Expr) -> bool:
        if isinstance(word.type, Int | UInt) and not isinstance(word, Const):
            return True
        hint = None
        if isinstance(word.type, Struct):
            hint = f"write a field behind a dot; its fields are {', '.join(name for name, _ in word.type.fields)}"
        message = f"`{ast.unparse(node)}`: a scalar of type {word.type!r} has no elements and no bits"
        self.scope.error(node, message, hint)
        return False

    def _position(self, node: ast.expr, word: Expr) -> Expr | None:
        value = self.expressions.scalar(node)
        if value is None:
            return None
        if as_integer(value.type) is None:
            message = f"the position of a bit must be an integer, got {value.type!r}"
            self.scope.error(node, message, "convert it with int()")
            return None
        if isinstance(value, Const):
            if not -word.type.bits <= value.value < word.type.bits:
                self.scope.error(node, f"bit {value.value} is outside of {word.type!r}")
                return None
            return Const(index, value.at, int(value.value) % word.type.bits)
        return value

    def _range(self, node: ast.Slice, word: Expr) -> tuple[Expr, Expr, int] | None:
        """Lower bound, upper bound, and the width of the slice."""
        at = self.scope.source.position(node)
        if node.step is not None:
            self.scope.error(node, "a slice of bits has no step")
            return None
        width = word.type.bits
        length = self.slices.constant_length(node)
        lower = Const(index, at, 0) if node.lower is None else self.expressions.scalar(node.lower)
        upper = Const(index, at, width) if node.upper is None else self.expressions.scalar(node.upper)
        if lower is None or upper is None:
            return None
        if length is not None and not 0 < length <= width:
            self.scope.error(node, f"a slice of {counted(length, 'bit')} is outside of {word.type!r}, or empty")
            return None
        if isinstance(lower, Const) and isinstance(upper, Const):
            low, high = (int(v.value) % width if v.value < 0 else int(v.value) for v in (lower, upper))
            if not 0 <= low < high <= width:
                self.scope.error(node, f"bits {lower.value}:{upper.value} are outside of {word.type!r}, or empty")
                return None
            return Const(index, at, low), Const(index, at, high), high - low
        return lower, upper, width if length is None else length


