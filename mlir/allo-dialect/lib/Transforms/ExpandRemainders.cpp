// Decides which affine expressions become arithmetic before the first `canonicalize`, which would fold them wrongly.
//
// MLIR 22 takes the least value of `e` for the least value of `e mod c`: with %i from 2 to 5, its canonicalizer folds
// `(%i mod 4) floordiv 2` to 1, although %i = 4 gives 0.
#include "allo/Transforms/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::allo {
#define GEN_PASS_DEF_EXPANDREMAINDERS
#include "allo/Transforms/Passes.h.inc"

namespace {
using namespace mlir::affine;

bool hasRemainder(AffineExpr expr) {
  return expr.walk([](AffineExpr inner) {
           return inner.getKind() == AffineExprKind::Mod ? WalkResult::interrupt() : WalkResult::advance();
         }).wasInterrupted();
}

/// Whether a remainder stands inside of a division or another remainder.
bool isAtRisk(AffineExpr expr) {
  return expr.walk([](AffineExpr inner) {
           auto binary = dyn_cast<AffineBinaryOpExpr>(inner);
           bool divides = binary && (inner.getKind() == AffineExprKind::FloorDiv ||
                                     inner.getKind() == AffineExprKind::CeilDiv ||
                                     inner.getKind() == AffineExprKind::Mod);
           return divides && hasRemainder(binary.getLHS()) ? WalkResult::interrupt() : WalkResult::advance();
         }).wasInterrupted();
}

bool isAtRisk(AffineMap map) {
  return llvm::any_of(map.getResults(), [](AffineExpr expr) { return isAtRisk(expr); });
}

struct ExpandRemainders : impl::ExpandRemaindersBase<ExpandRemainders> {
  using ExpandRemaindersBase::ExpandRemaindersBase;

  void runOnOperation() override {
    SmallVector<Operation *> accesses;
    bool wholeFunction = false;
    getOperation().walk([&](Operation *op) {
      if (auto loop = dyn_cast<AffineForOp>(op))
        wholeFunction |= isAtRisk(loop.getLowerBoundMap()) || isAtRisk(loop.getUpperBoundMap());
      else if (auto branch = dyn_cast<AffineIfOp>(op))
        wholeFunction |= llvm::any_of(branch.getIntegerSet().getConstraints(),
                                      [](AffineExpr expr) { return isAtRisk(expr); });
      else if (AffineMap map = mapOf(op); map && isAtRisk(map))
        accesses.push_back(op);
    });
    if (wholeFunction)
      return expandAll();
    for (Operation *op : accesses)
      expand(op);
  }

private:
  static AffineMap mapOf(Operation *op) {
    if (auto load = dyn_cast<AffineLoadOp>(op))
      return load.getAffineMap();
    if (auto store = dyn_cast<AffineStoreOp>(op))
      return store.getAffineMap();
    auto apply = dyn_cast<AffineApplyOp>(op);
    return apply ? apply.getAffineMap() : AffineMap();
  }

  void expand(Operation *op) {
    OpBuilder builder(op);
    Location where = op->getLoc();
    auto indices = [&](AffineMap map, ValueRange operands) {
      return *expandAffineMap(builder, where, map, operands); // fails only for expressions that are not affine
    };
    Operation *made = nullptr;
    if (auto load = dyn_cast<AffineLoadOp>(op)) {
      auto at = indices(load.getAffineMap(), load.getMapOperands());
      made = memref::LoadOp::create(builder, where, load.getMemRef(), at);
    } else if (auto store = dyn_cast<AffineStoreOp>(op)) {
      auto at = indices(store.getAffineMap(), store.getMapOperands());
      made = memref::StoreOp::create(builder, where, store.getValueToStore(), store.getMemRef(), at);
    } else {
      auto apply = cast<AffineApplyOp>(op);
      apply.replaceAllUsesWith(indices(apply.getAffineMap(), apply.getOperands()).front());
      return apply.erase();
    }
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op->replaceAllUsesWith(made);
    op->erase();
  }

  void expandAll() {
    RewritePatternSet patterns(&getContext());
    populateAffineToStdConversionPatterns(patterns);
    ConversionTarget target(getContext());
    target.addLegalDialect<arith::ArithDialect, memref::MemRefDialect, scf::SCFDialect>();
    target.addIllegalDialect<AffineDialect>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
} // namespace mlir::allo
