#ifndef ALLO_IR_STRUCTOPS_TD
#define ALLO_IR_STRUCTOPS_TD

include "allo/IR/AlloOpBase.td"

def Allo_StructConstructOp : Allo_Op<"struct_construct", [Pure,
    TypesMatchWith<"there is one value for each field, of the type of the field", "result", "fields",
                   "::llvm::cast<StructType>($_self).getTypes()">]> {
  let summary = "a struct from the values of all its fields, in their order";
  let arguments = (ins Variadic<AnyType>:$fields);
  let results = (outs Allo_StructType:$result);
  let assemblyFormat = "$fields attr-dict `:` qualified(type($result))";
}

def Allo_StructGetOp : Allo_Op<"struct_get", [Pure,
    InferTypeOpAdaptor]> {
  let summary = "the value of one field";
  let description = [{
    `allo.struct_get %s["a"] : !allo.struct<{a: i32}>`
  }];
  let arguments = (ins Allo_StructType:$source, StrAttr:$field);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source `[` $field `]` attr-dict `:` qualified(type($source))";
  let hasFolder = 1;
}

#endif
