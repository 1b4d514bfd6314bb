// Calls of the functions that `allo.elementary` names.
#include "allo/Conversion/Passes.h"
#include "allo/IR/AlloDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::allo {
#define GEN_PASS_DEF_CALLELEMENTARY
#include "allo/Conversion/Passes.h.inc"
} // namespace mlir::allo

using namespace mlir;
using namespace mlir::allo;

static Value call(OpBuilder &builder, ElementaryOp op, Type type, ValueRange values) {
  return func::CallOp::create(builder, op.getLoc(), op.getFunction(), type, values).getResult(0);
}

static Value callEach(OpBuilder &builder, ElementaryOp op, VectorType type) {
  Value result = arith::ConstantOp::create(builder, op.getLoc(), builder.getZeroAttr(type));
  SmallVector<int64_t> strides = computeStrides(type.getShape());
  for (int64_t k = 0, count = type.getNumElements(); k < count; ++k) {
    SmallVector<int64_t> at = delinearize(k, strides);
    SmallVector<Value> elements;
    for (Value value : op.getValues())
      elements.push_back(vector::ExtractOp::create(builder, op.getLoc(), value, at));
    Value element = call(builder, op, type.getElementType(), elements);
    result = vector::InsertOp::create(builder, op.getLoc(), element, result, at);
  }
  return result;
}

namespace {
struct CallElementary : allo::impl::CallElementaryBase<CallElementary> {
  void runOnOperation() override {
    getOperation().walk([](ElementaryOp op) {
      OpBuilder builder(op);
      auto type = dyn_cast<VectorType>(op.getType());
      op.replaceAllUsesWith(type ? callEach(builder, op, type) : call(builder, op, op.getType(), op.getValues()));
      op.erase();
    });
  }
};
} // namespace
