// What the dialect consists of, and which operation stands for a folded constant.
#include "allo/IR/AlloDialect.h"

using namespace mlir;
using namespace mlir::allo;

#include "allo/IR/AlloDialect.cpp.inc"

void AlloDialect::initialize() {
  registerTypes();
  registerAttributes();
  registerOperations();
}

Operation *AlloDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  auto mantissa = dyn_cast<IntegerAttr>(value);
  if (!mantissa || !getFixedFormat(type))
    return nullptr;
  return FixedConstantOp::create(builder, loc, type, mantissa);
}
