// Decides which floating-point operations may be contracted: all but short sums that a loop carries.
#include "NestCost.h"
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/Affine/Analysis/AffineAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::allo {
#define GEN_PASS_DEF_FPCONTRACT
#include "allo/Transforms/Passes.h.inc"

namespace {
using affine::AffineForOp;

/// With more sums than this, the units of the machine are what an iteration waits for, and two operations are too many.
constexpr size_t kMostSums = 4;

/// The sums from what `store` overwrites to what it writes, if nothing but sums lies between; empty otherwise.
SmallVector<Operation *> sumsInto(affine::AffineWriteOpInterface store) {
  SmallVector<Operation *> sums;
  auto reaches = [&](auto &self, Value value) -> bool {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != store->getBlock())
      return false;
    if (isa<affine::AffineReadOpInterface>(op))
      return affine::MemRefAccess(op) == affine::MemRefAccess(store);
    if (!isa<arith::AddFOp, arith::SubFOp>(op) || !llvm::any_of(op->getOperands(), [&](Value v) { return self(self, v); }))
      return false;
    sums.push_back(op);
    return true;
  };
  (void)reaches(reaches, store.getValueToStore());
  return sums;
}

/// The sums at places that stay the same in all iterations of `loop`, an innermost one: each waits for the one before.
SmallVector<Operation *> carriedSums(AffineForOp loop) {
  SmallVector<Operation *> sums;
  for (auto store : loop.getBody()->getOps<affine::AffineWriteOpInterface>())
    if (strideOf(store, loop) == 0)
      llvm::append_range(sums, sumsInto(store));
  return sums;
}

struct FpContract : impl::FpContractBase<FpContract> {
  using FpContractBase::FpContractBase;

  void runOnOperation() override {
    llvm::SmallPtrSet<Operation *, 8> kept;
    getOperation().walk([&](AffineForOp loop) {
      if (!childrenOf(loop).empty())
        return;
      SmallVector<Operation *> sums = carriedSums(loop);
      if (sums.size() <= kMostSums)
        kept.insert_range(sums);
    });
    getOperation().walk([&](Operation *op) {
      if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp>(op) || kept.contains(op))
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
