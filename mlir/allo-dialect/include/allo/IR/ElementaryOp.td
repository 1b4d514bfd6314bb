#ifndef ALLO_IR_ELEMENTARYOP_TD
#define ALLO_IR_ELEMENTARYOP_TD

include "allo/IR/AlloOpBase.td"

// Without a folder: those of the `math` dialect give the bits of the C library.
def Allo_ElementaryOp
    : Allo_Op<"elementary", !listconcat([Pure, SameOperandsAndResultType], ElementwiseMappable.traits)> {
  let summary = "an elementary function of single floats with the bits that kernels define";
  let description = [{
    `allo.elementary @allo.exp(%x) : f32`: a call of a function of the module that has no effect, for each element of a
    vector. The CPU backend makes it of `math.exp` before any pass that folds, and makes calls of it after all
    passes on loops.
  }];
  let arguments = (ins FlatSymbolRefAttr:$function, Variadic<FloatLike>:$values);
  let results = (outs FloatLike:$result);
  let assemblyFormat = "$function `(` $values `)` attr-dict `:` type($result)";
}

#endif
