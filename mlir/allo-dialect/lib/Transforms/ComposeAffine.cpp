// allo-compose-affine: what the loop primitives run after they have rewritten a loop variable.
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IntegerSet.h"

namespace mlir::allo {
#define GEN_PASS_DEF_COMPOSEAFFINE
#include "allo/Transforms/Passes.h.inc"
} // namespace mlir::allo

using namespace mlir;
using namespace mlir::affine;

namespace {

/// The composed and canonical form of `map(operands)`.
void compose(AffineMap &map, SmallVectorImpl<Value> &operands) {
  fullyComposeAffineMapAndOperands(&map, &operands);
  canonicalizeMapAndOperands(&map, &operands);
  map = simplifyAffineMap(map);
  map = removeDuplicateExprs(map);
}

/// Accesses keep all results of their map, equal ones too: each is a subscript.
void composeAccess(AffineMap &map, SmallVectorImpl<Value> &operands) {
  fullyComposeAffineMapAndOperands(&map, &operands);
  canonicalizeMapAndOperands(&map, &operands);
  map = simplifyAffineMap(map);
}

void rewriteLoad(AffineLoadOp load) {
  AffineMap map = load.getAffineMap();
  SmallVector<Value> operands(load.getMapOperands());
  composeAccess(map, operands);
  if (map == load.getAffineMap() && operands == SmallVector<Value>(load.getMapOperands()))
    return;
  OpBuilder b(load);
  auto made = AffineLoadOp::create(b, load.getLoc(), load.getMemRef(), map, operands);
  made->setDiscardableAttrs(load->getDiscardableAttrDictionary());
  load.replaceAllUsesWith(made.getResult());
  load.erase();
}

void rewriteStore(AffineStoreOp store) {
  AffineMap map = store.getAffineMap();
  SmallVector<Value> operands(store.getMapOperands());
  composeAccess(map, operands);
  if (map == store.getAffineMap() && operands == SmallVector<Value>(store.getMapOperands()))
    return;
  OpBuilder b(store);
  auto made = AffineStoreOp::create(b, store.getLoc(), store.getValueToStore(), store.getMemRef(), map, operands);
  made->setDiscardableAttrs(store->getDiscardableAttrDictionary());
  store.erase();
}

void rewriteBounds(AffineForOp loop) {
  AffineMap lower = loop.getLowerBoundMap(), upper = loop.getUpperBoundMap();
  SmallVector<Value> lowerOperands(loop.getLowerBoundOperands());
  SmallVector<Value> upperOperands(loop.getUpperBoundOperands());
  compose(lower, lowerOperands);
  compose(upper, upperOperands);
  loop.setLowerBound(lowerOperands, lower);
  loop.setUpperBound(upperOperands, upper);
}

void rewriteCondition(AffineIfOp branch) {
  IntegerSet set = branch.getIntegerSet();
  SmallVector<Value> operands(branch.getOperands());
  // compose the constraints as the results of a map over the same operands
  AffineMap map = AffineMap::get(set.getNumDims(), set.getNumSymbols(), set.getConstraints(), set.getContext());
  composeAccess(map, operands);
  branch.setConditional(IntegerSet::get(map.getNumDims(), map.getNumSymbols(), map.getResults(), set.getEqFlags()),
                        operands);
}

void rewriteApply(AffineApplyOp apply) {
  AffineMap map = apply.getAffineMap();
  SmallVector<Value> operands(apply.getMapOperands());
  composeAccess(map, operands);
  apply.setMap(map);
  apply->setOperands(operands);
}

struct ComposeAffinePass : public mlir::allo::impl::ComposeAffineBase<ComposeAffinePass> {
  using ComposeAffineBase::ComposeAffineBase;

  void runOnOperation() override {
    SmallVector<Operation *> affineOps;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<AffineLoadOp, AffineStoreOp, AffineForOp, AffineIfOp, AffineApplyOp>(op))
        affineOps.push_back(op);
    });
    SmallVector<AffineApplyOp> applies;
    for (Operation *op : affineOps) {
      if (auto load = dyn_cast<AffineLoadOp>(op))
        rewriteLoad(load);
      else if (auto store = dyn_cast<AffineStoreOp>(op))
        rewriteStore(store);
      else if (auto loop = dyn_cast<AffineForOp>(op))
        rewriteBounds(loop);
      else if (auto branch = dyn_cast<AffineIfOp>(op))
        rewriteCondition(branch);
      else {
        rewriteApply(cast<AffineApplyOp>(op));
        applies.push_back(cast<AffineApplyOp>(op));
      }
    }
    for (AffineApplyOp apply : llvm::reverse(applies))
      if (apply.use_empty())
        apply.erase();
  }
};

} // namespace
