#ifndef ALLO_IR_ALLOATTRS_TD
#define ALLO_IR_ALLOATTRS_TD

include "allo/IR/AlloDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"

def Allo_PartitionKind : I32EnumAttr<"PartitionKind", "how one dimension lies in banks", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Complete", 1, "complete">,
    I32EnumAttrCase<"Cyclic", 2, "cyclic">,
    I32EnumAttrCase<"Block", 3, "block">]> {
  let cppNamespace = "::mlir::allo";
  let genSpecializedAttr = 0;
}

def Allo_PartitionAttr : AttrDef<Allo_Dialect, "Partition", [
    DeclareAttrInterfaceMethods<MemRefLayoutAttrInterface, ["verifyLayout"]>]> {
  let mnemonic = "partition";
  let summary = "how an array lies in banks, per dimension";
  let description = [{
    `#allo.partition<[cyclic 4, none]>`: the rows lie in 4 banks in turn, the
    columns together. As the layout of a memref it means the identity map: banks
    say where an element lies, not which element it is.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::allo::PartitionDim">:$dims);
  let assemblyFormat = "`<` `[` custom<PartitionDims>($dims) `]` `>`";
  let genVerifyDecl = 1;
}

//===-- enumerations of operations ---------------------------------------===//

def Allo_FixedPredicate : I32EnumAttr<"FixedPredicate", "comparison of fixed-point numbers", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>,
    I32EnumAttrCase<"lt", 2>, I32EnumAttrCase<"le", 3>,
    I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::mlir::allo";
}

#endif
