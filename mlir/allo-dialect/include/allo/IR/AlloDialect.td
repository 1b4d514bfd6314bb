#ifndef ALLO_IR_ALLODIALECT_TD
#define ALLO_IR_ALLODIALECT_TD

include "mlir/IR/DialectBase.td"

def Allo_Dialect : Dialect {
  let name = "allo";
  let cppNamespace = "::mlir::allo";
  let summary = "What kernels need and the upstream dialects lack";
  let description = [{
    Fixed-point numbers, structs, streams, access to single bits, the layout of
    an array in banks, and the attributes by which loops and buffers are named
    and annotated (`allo.name`, `allo.nest`, `allo.pipeline`, `allo.rewind`,
    `allo.unroll`, `allo.parallel`, `allo.memory`, `allo.top`).
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"]; // of folded constants
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
    void registerOperations();
  }];
}

#endif
