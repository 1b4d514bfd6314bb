// Decides which loops marked `allo.unroll` are really unrolled, and in which order.
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/Affine/Analysis/LoopAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/LoopUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::allo {
#define GEN_PASS_DEF_UNROLLANNOTATED
#include "allo/Transforms/Passes.h.inc"

namespace {
constexpr llvm::StringLiteral kUnroll = "allo.unroll";

struct UnrollAnnotated : impl::UnrollAnnotatedBase<UnrollAnnotated> {
  using UnrollAnnotatedBase::UnrollAnnotatedBase;

  void runOnOperation() override {
    // Inner loops first; each is finished before the loop around it, which then copies the result.
    SmallVector<Operation *> annotated;
    getOperation().walk([&](Operation *op) {
      if (op->hasAttr(kUnroll))
        annotated.push_back(op);
    });
    for (Operation *op : annotated) {
      std::optional<uint64_t> factor;
      if (auto attr = op->getAttrOfType<IntegerAttr>(kUnroll))
        factor = attr.getValue().getZExtValue();
      op->removeAttr(kUnroll);
      if (auto loop = dyn_cast<affine::AffineForOp>(op); loop && factor)
        unroll(loop, *factor);
    }
  }

private:
  void unroll(affine::AffineForOp loop, uint64_t factor) {
    std::optional<uint64_t> trips = affine::getConstantTripCount(loop);
    if (factor == 0 && !trips) {
      loop.emitRemark("left rolled: its trip count is not constant");
      return;
    }
    bool full = factor == 0 || (trips && *trips <= factor);
    uint64_t copies = full ? *trips : factor;
    // Inner loops are unrolled already, so that their copies count here.
    uint64_t operations = 0;
    loop.getBody()->walk([&](Operation *) { ++operations; });
    if (copies > maxOperations / operations) {
      loop.emitRemark("left rolled: unrolling it would make ")
          << copies << " copies of " << operations << " operations";
      return;
    }
    LogicalResult done =
        full ? affine::loopUnrollFull(loop) : affine::loopUnrollByFactor(loop, factor);
    if (failed(done))
      loop.emitRemark("left rolled: its bounds do not allow a clean-up loop");
  }
};
} // namespace
} // namespace mlir::allo
