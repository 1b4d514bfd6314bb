#ifndef ALLO_IR_BITOPS_TD
#define ALLO_IR_BITOPS_TD

include "allo/IR/AlloOpBase.td"

def Allo_SignCastOp : Allo_Op<"sign_cast", [Pure]> {
  let summary = "the same bits with another signedness";
  let description = [{
    `allo.sign_cast %x : ui8 to i8`. Memory and signatures say how an integer is
    signed; arithmetic works on signless integers; this goes between.
  }];
  let arguments = (ins AnyInteger:$source);
  let results = (outs AnyInteger:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Allo_BitcastOp : Allo_Op<"bitcast", [Pure]> {
  let summary = "the same bits as another type of the same width";
  let arguments = (ins Allo_AnyPacked:$source);
  let results = (outs Allo_AnyPacked:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Allo_ElementCastOp : Allo_Op<"element_cast", [Pure,
    DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "the same array with elements of another type of the same width";
  let description = [{
    `allo.element_cast %g : memref<4xi8> to memref<4x!allo.fixed<8, 4>>`: how a
    constant array of integers becomes one of fixed-point numbers or structs.
  }];
  let arguments = (ins AnyMemRef:$source);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
}

def Allo_GetBitOp : Allo_Op<"get_bit", [Pure]> {
  let summary = "bit `index` of an integer; bit 0 is the lowest";
  let description = [{
    `allo.get_bit %x[%i] : i8 -> i1`. An index out of range is undefined.
  }];
  let arguments = (ins AnyInteger:$num, Index:$index);
  let results = (outs I1:$result);
  let assemblyFormat = "$num `[` $index `]` attr-dict `:` type($num) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Allo_SetBitOp : Allo_Op<"set_bit", [Pure,
    Allo_SameType<"num", "result", "the result has the type of the integer">]> {
  let summary = "the integer with bit `index` replaced";
  let arguments = (ins AnyInteger:$num, Index:$index, I1:$bit);
  let results = (outs AnyInteger:$result);
  let assemblyFormat = "$num `[` $index `]` `,` $bit attr-dict `:` type($num)";
  let hasVerifier = 1;
}

def Allo_GetSliceOp : Allo_Op<"get_slice", [Pure]> {
  let summary = "bits lo to hi - 1 of an integer (Python's x[lo:hi])";
  let description = [{
    `allo.get_slice %x[%hi, %lo] : i8 -> i4` are the hi - lo bits from bit lo
    on, extended with zeros or cut to the width of the result. Unless
    0 <= lo < hi <= width the result is undefined.
  }];
  let arguments = (ins AnyInteger:$num, Index:$hi, Index:$lo);
  let results = (outs AnyInteger:$result);
  let assemblyFormat =
      "$num `[` $hi `,` $lo `]` attr-dict `:` type($num) `->` type($result)";
  let hasVerifier = 1;
}

def Allo_SetSliceOp : Allo_Op<"set_slice", [Pure,
    Allo_SameType<"num", "result", "the result has the type of the integer">]> {
  let summary = "the integer with bits lo to hi - 1 replaced (Python's x[lo:hi] = value)";
  let description = [{
    `allo.set_slice %x[%hi, %lo], %v : i8, i4`. The value is extended with zeros
    or cut to hi - lo bits. Unless 0 <= lo < hi <= width the result is undefined.
  }];
  let arguments = (ins AnyInteger:$num, Index:$hi, Index:$lo, AnyInteger:$value);
  let results = (outs AnyInteger:$result);
  let assemblyFormat =
      "$num `[` $hi `,` $lo `]` `,` $value attr-dict `:` type($num) `,` type($value)";
  let hasVerifier = 1;
}

def Allo_ReverseBitsOp : Allo_Op<"reverse_bits", [Pure, SameOperandsAndResultType, Involution]> {
  let summary = "the integer with its bits in the opposite order";
  let arguments = (ins AnyInteger:$num);
  let results = (outs AnyInteger:$result);
  let assemblyFormat = "$num attr-dict `:` type($num)";
}

#endif
