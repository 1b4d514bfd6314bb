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

//===-- enumerations of types --------------------------------------------===//

// The names are those of the quantisation and overflow modes of HLS fixed point.
def Allo_FixedRounding : I32EnumAttr<"FixedRounding", "what happens to digits on the right that do not fit", [
    I32EnumAttrCase<"trn", 0>, I32EnumAttrCase<"trn_zero", 1>,
    I32EnumAttrCase<"rnd", 2>, I32EnumAttrCase<"rnd_zero", 3>,
    I32EnumAttrCase<"rnd_min_inf", 4>, I32EnumAttrCase<"rnd_inf", 5>,
    I32EnumAttrCase<"rnd_conv", 6>]> {
  let cppNamespace = "::mlir::allo";
  let genSpecializedAttr = 0;
}

def Allo_FixedOverflow : I32EnumAttr<"FixedOverflow", "what happens to numbers that do not fit", [
    I32EnumAttrCase<"wrap", 0>, I32EnumAttrCase<"sat", 1>,
    I32EnumAttrCase<"sat_zero", 2>, I32EnumAttrCase<"sat_sym", 3>]> {
  let cppNamespace = "::mlir::allo";
  let genSpecializedAttr = 0;
}

//===-- enumerations of operations ---------------------------------------===//

def Allo_FixedPredicate : I32EnumAttr<"FixedPredicate", "comparison of fixed-point numbers", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>,
    I32EnumAttrCase<"lt", 2>, I32EnumAttrCase<"le", 3>,
    I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::mlir::allo";
}

#endif
