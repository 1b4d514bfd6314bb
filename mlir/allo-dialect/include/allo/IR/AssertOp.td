#ifndef ALLO_IR_ASSERTOP_TD
#define ALLO_IR_ASSERTOP_TD

include "allo/IR/AlloOpBase.td"

// No effects are declared, so nothing moves across it and it is never dropped.
def Allo_AssertOp : Allo_Op<"assert"> {
  let summary = "ends the call of the kernel with an error unless the condition holds";
  let description = [{
    `allo.assert %inside, "subscript {0} is outside"(%i)`: what a debug build (`build(check=True)`) puts in front of what
    may go wrong. The error has the place of the operation; `{n}` in the text stands for the n-th value.
  }];
  let arguments = (ins I1:$condition, StrAttr:$message, Variadic<Index>:$values);
  let assemblyFormat = "$condition `,` $message (`(` $values^ `)`)? attr-dict";
  let hasVerifier = 1;
}

#endif
