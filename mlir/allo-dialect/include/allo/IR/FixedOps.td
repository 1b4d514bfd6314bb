#ifndef ALLO_IR_FIXEDOPS_TD
#define ALLO_IR_FIXEDOPS_TD

include "allo/IR/AlloOpBase.td"

class Allo_FixedBinaryOp<string mnemonic, list<Trait> traits = []>
    : Allo_Op<mnemonic, traits> {
  let arguments = (ins Allo_AnyFixed:$lhs, Allo_AnyFixed:$rhs);
  let results = (outs Allo_AnyFixed:$result);
}

class Allo_FixedSameTypeOp<string mnemonic, list<Trait> traits = []>
    : Allo_FixedBinaryOp<mnemonic, !listconcat([Pure,
        Allo_SameType<"lhs", "rhs",
          "both operands have one type; widen them with allo.fixed_cast">,
        Allo_SameType<"lhs", "result",
          "the result has the type of the operands; convert it with allo.fixed_cast">],
        traits)> {
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Allo_FixedAddOp : Allo_FixedSameTypeOp<"fixed_add", [Commutative]> {
  let summary = "sum of two numbers of one type, in that type (it wraps)";
}

def Allo_FixedSubOp : Allo_FixedSameTypeOp<"fixed_sub"> {
  let summary = "difference of two numbers of one type, in that type (it wraps)";
}

def Allo_FixedMulOp : Allo_FixedBinaryOp<"fixed_mul", [Pure,
    InferTypeOpAdaptor]> {
  let summary = "exact product";
  let description = [{
    (W1, F1) times (W2, F2) is (W1 + W2, F1 + F2), signed if an operand is.
  }];
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

def Allo_FixedDivOp : Allo_FixedBinaryOp<"fixed_div", [NoMemoryEffect,
    InferTypeOpAdaptor]> {
  let summary = "quotient, rounded toward minus infinity";
  let description = [{
    (W1, F1) by (W2, F2) is (W1 + F2 + s, F1), signed if an operand is; s is 1
    if the divisor is signed, else 0. No quotient overflows this type. Division
    by zero is undefined.
  }];
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}

def Allo_FixedNegOp : Allo_Op<"fixed_neg", [Pure, SameOperandsAndResultType]> {
  let summary = "negation, in the type of the operand (the least number wraps to itself)";
  let arguments = (ins Allo_AnyFixed:$operand);
  let results = (outs Allo_AnyFixed:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Allo_FixedCmpOp : Allo_Op<"fixed_cmp", [Pure,
    Allo_SameType<"lhs", "rhs",
      "both operands have one type; widen them with allo.fixed_cast">]> {
  let summary = "comparison of two numbers of one type";
  let arguments = (ins Allo_FixedPredicate:$predicate, Allo_AnyFixed:$lhs,
                       Allo_AnyFixed:$rhs);
  let results = (outs I1:$result);
  let assemblyFormat = "$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Allo_FixedConstantOp : Allo_Op<"fixed_constant", [Pure, ConstantLike]> {
  let summary = "the number mantissa / 2^frac";
  let description = [{
    `allo.fixed_constant 24 : !allo.fixed<8, 4>` is 1.5. The mantissa is kept as
    the signless integer of the type's width.
  }];
  let arguments = (ins APIntAttr:$mantissa);
  let results = (outs Allo_AnyFixed:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Allo_FixedCastOp : Allo_Op<"fixed_cast", [Pure]> {
  let summary = "conversion from, to or between fixed-point numbers";
  let description = [{
    One side is a fixed-point number, the other one too, or an integer (`iN` and
    `siN` are signed, `uiN` and `i1` unsigned), an index or a float.

    A fixed-point type says itself what becomes of numbers that it does not hold
    (`!allo.fixed<8, 4, rnd, sat>`); integers drop digits toward minus infinity
    and wrap. From a float: exact before rounding; NaN becomes 0, an infinity
    wraps to 0 or saturates. To a float: rounded to nearest even (a mantissa of
    more than 53 bits first to f64).
  }];
  let arguments = (ins Allo_AnyScalar:$source);
  let results = (outs Allo_AnyScalar:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif
