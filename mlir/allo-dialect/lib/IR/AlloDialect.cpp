// What the dialect consists of, and which operation stands for a folded constant.
#include "allo/IR/AlloDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

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
  auto number = dyn_cast<IntegerAttr>(value);
  if (number && getFixedFormat(type))
    return FixedConstantOp::create(builder, loc, type, number);
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
