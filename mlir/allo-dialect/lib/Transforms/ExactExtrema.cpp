// Decides the greater of 0.0 and -0.0: `arith.maximumf` and `minimumf` as IEEE 754-2019 has them, in either order.
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::allo {
#define GEN_PASS_DEF_EXACTEXTREMA
#include "allo/Transforms/Passes.h.inc"

namespace {
template <typename From, typename To> void replace(From op) {
  OpBuilder builder(op);
  Value made = To::create(builder, op.getLoc(), op.getType(), op.getLhs(), op.getRhs());
  op.replaceAllUsesWith(made);
  op.erase();
}

struct ExactExtrema : impl::ExactExtremaBase<ExactExtrema> {
  using ExactExtremaBase::ExactExtremaBase;

  void runOnOperation() override {
    getOperation().walk([](arith::MaximumFOp op) { replace<arith::MaximumFOp, LLVM::MaximumOp>(op); });
    getOperation().walk([](arith::MinimumFOp op) { replace<arith::MinimumFOp, LLVM::MinimumOp>(op); });
  }
};
} // namespace
} // namespace mlir::allo
