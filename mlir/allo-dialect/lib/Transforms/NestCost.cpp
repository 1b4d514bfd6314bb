// Decides what an access costs in a loop: nothing when it stays put, little when contiguous, a lot when strided.
#include "NestCost.h"
#include "mlir/Dialect/Affine/Analysis/AffineAnalysis.h"
#include "mlir/Dialect/Affine/Analysis/AffineStructures.h"
#include "mlir/Dialect/Affine/IR/AffineValueMap.h"

namespace mlir::allo {

using affine::AffineForOp;

namespace {
/// Coefficient of operand `position` in `expr`; none when it occurs under a division or remainder.
std::optional<int64_t> coefficientOf(AffineExpr expr, unsigned position, AffineMap map) {
  SmallVector<int64_t> flat;
  if (failed(getFlattenedAffineExpr(expr, map.getNumDims(), map.getNumSymbols(), &flat)))
    return std::nullopt;
  bool isDim = position < map.getNumDims();
  bool occurs =
      isDim ? expr.isFunctionOfDim(position) : expr.isFunctionOfSymbol(position - map.getNumDims());
  bool hasDivision = flat.size() > map.getNumInputs() + 1;
  if (occurs && hasDivision)
    return std::nullopt;
  return flat[position];
}

bool isAccess(Operation *op) { return isa<affine::AffineLoadOp, affine::AffineStoreOp>(op); }
} // namespace

std::optional<int64_t> strideOf(Operation *op, AffineForOp loop) {
  affine::MemRefAccess access(op);
  affine::AffineValueMap subscripts;
  access.getAccessMap(&subscripts);
  AffineMap map = subscripts.getAffineMap();
  ArrayRef<int64_t> shape = cast<MemRefType>(access.memref.getType()).getShape();
  int64_t stride = 0;
  for (auto [position, operand] : llvm::enumerate(subscripts.getOperands())) {
    if (operand != loop.getInductionVar())
      continue;
    int64_t weight = 1; // elements of the buffer per step of the subscript
    for (unsigned dim = map.getNumResults(); dim-- > 0;) {
      std::optional<int64_t> coefficient = coefficientOf(map.getResult(dim), position, map);
      if (!coefficient || (*coefficient != 0 && ShapedType::isDynamic(weight)))
        return std::nullopt;
      stride += *coefficient * weight;
      weight = ShapedType::isDynamic(weight) || ShapedType::isDynamic(shape[dim]) ? ShapedType::kDynamic
                                                                                 : weight * shape[dim];
    }
  }
  return stride * loop.getStepAsInt();
}

int contiguity(AffineForOp body, AffineForOp loop) {
  int score = 0;
  for (Operation &op : *body.getBody()) {
    if (!isAccess(&op))
      continue;
    std::optional<int64_t> stride = strideOf(&op, loop);
    if (!stride || *stride != 0)
      score += stride && std::abs(*stride) == 1 ? 1 : -1;
  }
  return score;
}

int reuse(AffineForOp loop) {
  int count = 0;
  loop.getBody()->walk([&](Operation *op) {
    auto innermost = dyn_cast<AffineForOp>(op->getParentOp());
    if (isAccess(op) && innermost && innermost != loop && childrenOf(innermost).empty())
      count += strideOf(op, loop) == 0 && strideOf(op, innermost) != 0;
  });
  return count;
}

bool holdsReduction(AffineForOp loop) {
  for (AffineForOp child : childrenOf(loop))
    for (auto store : child.getBody()->getOps<affine::AffineStoreOp>())
      if (childrenOf(child).empty() && strideOf(store, child) == 0)
        return true;
  return false;
}

SmallVector<AffineForOp> childrenOf(AffineForOp loop) {
  return llvm::to_vector(loop.getBody()->getOps<AffineForOp>());
}

} // namespace mlir::allo
