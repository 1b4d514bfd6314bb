// Decides which floating-point operations may be contracted: additions, subtractions, multiplications, negations.
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::allo {
#define GEN_PASS_DEF_FPCONTRACT
#include "allo/Transforms/Passes.h.inc"

namespace {
struct FpContract : impl::FpContractBase<FpContract> {
  using FpContractBase::FpContractBase;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp>(op))
        return;
      auto fast = cast<arith::ArithFastMathInterface>(op);
      arith::FastMathFlags flags = fast.getFastMathFlagsAttr().getValue();
      op->setAttr(fast.getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(op->getContext(), flags | arith::FastMathFlags::contract));
    });
  }
};
} // namespace
} // namespace mlir::allo
