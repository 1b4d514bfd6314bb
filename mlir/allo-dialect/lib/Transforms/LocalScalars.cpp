// Decides how a variable of a loop body gets out of the way of reordering: as a value, or as one element an iteration.
#include "LocalScalars.h"
#include "mlir/Dialect/Affine/Analysis/LoopAnalysis.h"

namespace mlir::allo {

using affine::AffineForOp;
using affine::AffineLoadOp;
using affine::AffineStoreOp;

namespace {
/// Longest array that may take the place of a scalar.
constexpr uint64_t kMaxElements = 1 << 16;

bool isFirstUseAStore(memref::AllocOp scalar) {
  Operation *first = nullptr;
  for (Operation *user : scalar->getUsers()) {
    Operation *inBlock = scalar->getBlock()->findAncestorOpInBlock(*user);
    if (!first || inBlock->isBeforeInBlock(first))
      first = inBlock;
  }
  return isa_and_nonnull<AffineStoreOp>(first);
}

bool isUsedInOneBlock(memref::AllocOp scalar) {
  return llvm::all_of(scalar->getUsers(), [&](Operation *user) { return user->getBlock() == scalar->getBlock(); });
}

/// The scalar starts with a store and is used in its own block: every load has the value of the store before it.
void forwardStores(memref::AllocOp scalar) {
  Value current;
  for (Operation &op : llvm::make_early_inc_range(*scalar->getBlock())) {
    if (auto store = dyn_cast<AffineStoreOp>(&op); store && store.getMemRef() == scalar.getResult()) {
      current = store.getValueToStore();
      store.erase();
    } else if (auto load = dyn_cast<AffineLoadOp>(&op); load && load.getMemRef() == scalar.getResult()) {
      load.replaceAllUsesWith(current);
      load.erase();
    }
  }
  scalar.erase();
}

void expand(memref::AllocOp scalar, AffineForOp nest) {
  auto loop = cast<AffineForOp>(scalar->getParentOp());
  int64_t extent = loop.getConstantUpperBound() - loop.getConstantLowerBound();
  OpBuilder builder(nest);
  auto type = MemRefType::get({extent}, scalar.getType().getElementType());
  auto array = memref::AllocOp::create(builder, scalar.getLoc(), type);
  array->setDiscardableAttrs(scalar->getDiscardableAttrDictionary());
  AffineMap position = AffineMap::get(1, 0, builder.getAffineDimExpr(0) - loop.getConstantLowerBound());
  Value iteration = loop.getInductionVar();
  for (Operation *user : llvm::make_early_inc_range(scalar->getUsers())) {
    builder.setInsertionPoint(user);
    if (auto store = dyn_cast<AffineStoreOp>(user)) {
      AffineStoreOp::create(builder, user->getLoc(), store.getValueToStore(), array, position, iteration);
    } else {
      Value loaded = AffineLoadOp::create(builder, user->getLoc(), array, position, iteration);
      user->getResult(0).replaceAllUsesWith(loaded);
    }
    user->erase();
  }
  scalar.erase();
}
} // namespace

bool isRemovableScalar(memref::AllocOp scalar) {
  auto loop = dyn_cast<AffineForOp>(scalar->getParentOp());
  if (!loop || scalar.getType().getRank() != 0 || !isFirstUseAStore(scalar))
    return false;
  for (OpOperand &use : scalar->getUses()) {
    auto store = dyn_cast<AffineStoreOp>(use.getOwner());
    if (!isa<AffineLoadOp>(use.getOwner()) && !(store && store.getMemRef() == use.get()))
      return false;
  }
  return isUsedInOneBlock(scalar) ||
         (loop.hasConstantBounds() &&
          loop.getConstantUpperBound() - loop.getConstantLowerBound() <= static_cast<int64_t>(kMaxElements) &&
          affine::getConstantTripCount(loop).value_or(0) > 0);
}

void removeLocalScalar(memref::AllocOp scalar, AffineForOp nest) {
  if (isUsedInOneBlock(scalar))
    forwardStores(scalar);
  else
    expand(scalar, nest);
}

} // namespace mlir::allo
