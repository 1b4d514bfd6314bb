// Decides which of several bounds of an affine loop are redundant, before MLIR's folding decides it.
//
// MLIR 22 drops a bound if another one is never above it (below it, for lower bounds). Two bounds that are always
// equal drop each other, and the loop is left without a bound: an assertion that ends the process.
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

namespace mlir::allo {
#define GEN_PASS_DEF_SIMPLIFYBOUNDS
#include "allo/Transforms/Passes.h.inc"

namespace {
using namespace mlir::affine;
using Bound = std::optional<int64_t>;

/// The least and the greatest value of an operand: known of variables of loops with constant bounds, and of constants.
std::pair<Bound, Bound> rangeOf(Value operand) {
  if (AffineForOp loop = getForInductionVarOwner(operand); loop && loop.hasConstantBounds()) {
    int64_t lower = loop.getConstantLowerBound(), upper = loop.getConstantUpperBound(), step = loop.getStepAsInt();
    if (upper > lower)
      return {lower, lower + (upper - lower - 1) / step * step};
  }
  APInt value;
  if (matchPattern(operand, m_ConstantInt(&value)))
    return {value.getSExtValue(), value.getSExtValue()};
  return {};
}

/// The bounds that decide; one of constant value becomes a constant.
AffineMap simplified(AffineMap map, ValueRange operands, bool isUpper) {
  SmallVector<Bound> lows, highs;
  for (Value operand : operands) {
    auto [low, high] = rangeOf(operand);
    lows.push_back(low), highs.push_back(high);
  }
  auto bound = [&](AffineExpr expr, bool greatest) {
    return getBoundForAffineExpr(expr, map.getNumDims(), map.getNumSymbols(), lows, highs, greatest);
  };
  SmallVector<AffineExpr> exprs(map.getResults());
  SmallVector<std::pair<Bound, Bound>> ranges;
  for (AffineExpr &expr : exprs) {
    ranges.emplace_back(bound(expr, false), bound(expr, true));
    auto [low, high] = ranges.back();
    if (low && high && *low == *high)
      expr = getAffineConstantExpr(*low, map.getContext());
  }
  auto redundant = [&](unsigned one, unsigned other) { // whether bound `other` makes bound `one` superfluous
    if (isUpper)
      return ranges[one].first && ranges[other].second && *ranges[one].first >= *ranges[other].second;
    return ranges[one].second && ranges[other].first && *ranges[one].second <= *ranges[other].first;
  };
  SmallVector<AffineExpr> kept;
  for (unsigned one = 0; one < exprs.size(); ++one) {
    bool dropped = false;
    for (unsigned other = 0; other < exprs.size() && !dropped; ++other)
      dropped = one != other && redundant(one, other) && !(redundant(other, one) && one < other);
    if (!dropped)
      kept.push_back(exprs[one]);
  }
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), kept, map.getContext());
}

struct SimplifyBounds : impl::SimplifyBoundsBase<SimplifyBounds> {
  using SimplifyBoundsBase::SimplifyBoundsBase;

  void runOnOperation() override {
    // Outer loops first: what becomes constant there decides about the loops inside.
    getOperation().walk<WalkOrder::PreOrder>([](AffineForOp loop) {
      if (AffineMap map = loop.getLowerBoundMap(); map.getNumResults() > 1)
        loop.setLowerBound(loop.getLowerBoundOperands(), simplified(map, loop.getLowerBoundOperands(), false));
      if (AffineMap map = loop.getUpperBoundMap(); map.getNumResults() > 1)
        loop.setUpperBound(loop.getUpperBoundOperands(), simplified(map, loop.getUpperBoundOperands(), true));
      // In a loop that never runs the ranges contradict each other.
      if (loop.hasConstantBounds() && loop.getConstantUpperBound() <= loop.getConstantLowerBound() &&
          loop.getNumResults() == 0) {
        loop.erase();
        return WalkResult::skip();
      }
      return WalkResult::advance();
    });
  }
};
} // namespace
} // namespace mlir::allo
