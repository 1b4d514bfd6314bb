// Decides the loop structure of unscheduled affine nests: which loop is innermost, and which are jammed.
#include "LocalScalars.h"
#include "NestCost.h"
#include "NestDependences.h"
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/Affine/Analysis/AffineStructures.h"
#include "mlir/Dialect/Affine/Analysis/LoopAnalysis.h"
#include "mlir/Dialect/Affine/Analysis/Utils.h"
#include "mlir/Dialect/Affine/IR/AffineValueMap.h"
#include "mlir/Dialect/Affine/LoopUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::allo {
#define GEN_PASS_DEF_CPULOCALITY
#include "allo/Transforms/Passes.h.inc"

namespace {
using affine::AffineForOp;

/// Jamming multiplies the code: no body gets more operations than this.
constexpr unsigned kMaxJammedOps = 192;
/// An innermost loop shorter than this is unrolled by the back end anyway.
constexpr uint64_t kShortLoop = 16;

constexpr StringLiteral kScheduled = "allo.scheduled";

bool isScheduled(AffineForOp loop) {
  return loop->hasAttr(kScheduled) || loop->hasAttr("allo.unroll") || loop->hasAttr("allo.parallel") ||
         loop->hasAttr("allo.pipeline");
}

bool anyScheduled(AffineForOp nest) {
  return nest.walk([](AffineForOp loop) { return isScheduled(loop) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// Whether `buffer` is a whole array in row-major order, not a view of another.
bool isWholeBuffer(Value buffer) {
  if (!cast<MemRefType>(buffer.getType()).getLayout().isIdentity())
    return false;
  if (auto arg = dyn_cast<BlockArgument>(buffer))
    return isa<func::FuncOp>(arg.getOwner()->getParentOp());
  return isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(buffer.getDefiningOp());
}

/// Whether all of the nest is unscheduled loops, affine accesses of whole buffers, pure scalar operations and local
/// scalars.
bool isEligible(AffineForOp nest) {
  auto visit = [](Operation *op) {
    if (auto loop = dyn_cast<AffineForOp>(op))
      return loop.getNumIterOperands() == 0 && !isScheduled(loop);
    if (auto load = dyn_cast<affine::AffineLoadOp>(op))
      return isWholeBuffer(load.getMemRef());
    if (auto store = dyn_cast<affine::AffineStoreOp>(op))
      return isWholeBuffer(store.getMemRef());
    if (auto scalar = dyn_cast<memref::AllocOp>(op))
      return isRemovableScalar(scalar);
    return isa<affine::AffineYieldOp>(op) || (op->getNumRegions() == 0 && isPure(op));
  };
  return !nest.walk([&](Operation *op) { return visit(op) ? WalkResult::advance() : WalkResult::interrupt(); })
              .wasInterrupted();
}

/// The perfectly nested loops from `loop` inwards.
SmallVector<AffineForOp> bandFrom(AffineForOp loop) {
  SmallVector<AffineForOp> band;
  affine::getPerfectlyNestedLoops(band, loop);
  return band;
}

/// `loop` and all loops in it.
SmallVector<AffineForOp> nestFrom(AffineForOp loop) {
  SmallVector<AffineForOp> nest;
  loop->walk<WalkOrder::PreOrder>([&](AffineForOp inner) { nest.push_back(inner); });
  return nest;
}

/// Whether `loop` has no bounds of several expressions, and its lower bound never exceeds its upper one: where it did,
/// the clean-up loop of unrolling would start too early.
bool neverCountsBackwards(AffineForOp loop) {
  AffineMap lowerMap = loop.getLowerBoundMap(), upperMap = loop.getUpperBoundMap();
  if (isInElsePart(loop))
    return false;
  SmallVector<Operation *> outer;
  affine::getEnclosingAffineOps(*loop, &outer);
  affine::FlatAffineValueConstraints domain;
  if (lowerMap.getNumResults() != 1 || upperMap.getNumResults() != 1 || failed(affine::getIndexSet(outer, &domain)))
    return false;
  affine::AffineValueMap lower(lowerMap, loop.getLowerBoundOperands()), trips;
  affine::AffineValueMap::difference({upperMap, loop.getUpperBoundOperands()}, lower, &trips);
  for (Value operand : trips.getOperands())
    if (!domain.containsVar(operand))
      return false;
  unsigned length = domain.appendDimVar(1);
  if (failed(domain.addBound(presburger::BoundType::EQ, length, trips.getAffineMap(), trips.getOperands())))
    return false;
  domain.addBound(presburger::BoundType::UB, length, -1);
  return domain.isEmpty();
}

/// The order of `count` loops that moves the one at `position` innermost (new position -> old position).
SmallVector<unsigned> orderWithInnermost(unsigned position, unsigned count) {
  SmallVector<unsigned> order;
  for (unsigned old = 0; old < count; ++old)
    if (old != position)
      order.push_back(old);
  order.push_back(position);
  return order;
}

/// Whether no loop of `band` after `position` has bounds that depend on the loop at `position`.
bool isRectangular(ArrayRef<AffineForOp> band, unsigned position) {
  Value variable = AffineForOp(band[position]).getInductionVar();
  return llvm::none_of(band.drop_front(position + 1),
                       [&](AffineForOp loop) { return llvm::is_contained(loop.getControlOperands(), variable); });
}

/// Pure operations of the body before `cut` whose values are used from `cut` on; none if such a value is not pure.
std::optional<llvm::SetVector<Operation *>> valuesAcross(Operation *cut) {
  llvm::SetVector<Operation *> needed;
  SmallVector<Operation *> pending;
  Block *body = cut->getBlock();
  auto need = [&](Operation *user) {
    for (Value operand : user->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (def && def->getBlock() == body && def->isBeforeInBlock(cut) && needed.insert(def))
        pending.push_back(def);
    }
  };
  for (Operation *op = cut; op; op = op->getNextNode())
    op->walk(need);
  while (!pending.empty())
    need(pending.pop_back_val());
  if (!llvm::all_of(needed, [](Operation *op) { return op->getNumRegions() == 0 && isPure(op); }))
    return std::nullopt;
  llvm::SetVector<Operation *> ordered;
  for (Operation &op : *body)
    if (needed.contains(&op))
      ordered.insert(&op);
  return ordered;
}

/// Moves the body of `loop` from `cut` on into a new loop after it.
AffineForOp splitBefore(AffineForOp loop, Operation *cut) {
  llvm::SetVector<Operation *> shared = *valuesAcross(cut);
  OpBuilder builder(loop->getContext());
  builder.setInsertionPointAfter(loop);
  auto second = AffineForOp::create(builder, loop.getLoc(), loop.getLowerBoundOperands(), loop.getLowerBoundMap(),
                                    loop.getUpperBoundOperands(), loop.getUpperBoundMap(), loop.getStepAsInt());
  second->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *from = loop.getBody(), *to = second.getBody();
  to->getOperations().splice(to->begin(), from->getOperations(), cut->getIterator(), std::prev(from->end()));
  IRMapping map;
  map.map(loop.getInductionVar(), second.getInductionVar());
  builder.setInsertionPointToStart(to);
  for (Operation *op : shared)
    builder.clone(*op, map);
  second->walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      operand.set(map.lookupOrDefault(operand.get()));
  });
  return second;
}

/// Loops on the longest way inwards, this one included.
unsigned heightOf(AffineForOp loop) {
  unsigned height = 0;
  for (AffineForOp child : childrenOf(loop))
    height = std::max(height, heightOf(child));
  return height + 1;
}

/// Largest divisor of `trips` from 2 to `limit`; `limit` itself when there is none.
unsigned jamFactor(uint64_t trips, unsigned limit) {
  for (unsigned factor = limit; factor >= 2; --factor)
    if (trips % factor == 0)
      return factor;
  return limit;
}

/// Rewrites one eligible nest.
class NestRewriter {
public:
  NestRewriter(AffineForOp nest, unsigned jam, unsigned outerJam)
      : dependences(nest), jamLimit(jam), outerJamLimit(outerJam), roots{nest} {}

  void run() {
    distribute(roots.front());
    for (AffineForOp root : roots)
      interchange(root);
    // Jamming copies statements, so it comes after all questions about them.
    SmallVector<std::pair<AffineForOp, unsigned>> jams;
    for (AffineForOp root : roots)
      root.walk([&](AffineForOp loop) {
        if (unsigned factor = chooseJam(loop); factor > 1)
          jams.emplace_back(loop, factor);
      });
    for (auto [loop, factor] : jams)
      (void)affine::loopUnrollJamByFactor(loop, factor);
  }

private:
  /// Gives a loop to a statement of an imperfect nest when that lets the loop become the innermost of another one.
  void distribute(AffineForOp loop) {
    for (AffineForOp child : childrenOf(loop))
      distribute(child);
    if (bandFrom(loop).size() > 1)
      return;
    for (AffineForOp child : childrenOf(loop))
      if (wantsInnermost(loop, child))
        if (AffineForOp rest = isolate(loop, child))
          return distribute(rest);
  }

  /// Whether `loop` should, and may, be moved inside of `child`, were they alone.
  bool wantsInnermost(AffineForOp loop, AffineForOp child) {
    SmallVector<AffineForOp> band{loop};
    llvm::append_range(band, bandFrom(child));
    AffineForOp innermost = band.back();
    return childrenOf(innermost).empty() && isRectangular(band, 0) &&
           contiguity(innermost, loop) > contiguity(innermost, innermost) &&
           dependences.canPermute(band, orderWithInnermost(0, band.size()));
  }

  /// Cuts the body of `loop` before and after `child`. Returns the loop over what follows; null if there is none or
  /// the cuts are not legal.
  AffineForOp isolate(AffineForOp loop, AffineForOp child) {
    Operation *next = child->getNextNode();
    bool isFirst = llvm::all_of(llvm::make_range(loop.getBody()->begin(), child->getIterator()),
                                [](Operation &op) { return isPure(&op); });
    bool isLast = next == loop.getBody()->getTerminator();
    if ((!isFirst && !(dependences.canDistribute(loop, child) && valuesAcross(child))) ||
        (!isLast && !(dependences.canDistribute(loop, next) && valuesAcross(next))))
      return {};
    AffineForOp rest;
    if (!isLast)
      note(loop, rest = splitBefore(loop, next));
    if (!isFirst)
      note(loop, splitBefore(loop, child));
    return rest;
  }

  /// A part of a root is a root.
  void note(AffineForOp loop, AffineForOp part) {
    if (llvm::is_contained(roots, loop))
      roots.push_back(part);
  }

  /// Moves the loop with the most contiguous accesses innermost; on a tie the order stays.
  void interchange(AffineForOp root) {
    SmallVector<AffineForOp> band = bandFrom(root);
    AffineForOp innermost = band.back();
    SmallVector<AffineForOp> children = childrenOf(innermost);
    for (AffineForOp child : children)
      interchange(child);
    if (!children.empty())
      return;
    unsigned best = band.size() - 1;
    for (unsigned position = band.size() - 1; position-- > 0;)
      if (contiguity(innermost, band[position]) > contiguity(innermost, band[best]) && isRectangular(band, position) &&
          dependences.canPermute(band, orderWithInnermost(position, band.size())))
        best = position;
    if (best == band.size() - 1)
      return;
    SmallVector<unsigned> newPosition(band.size());
    for (auto [now, old] : llvm::enumerate(orderWithInnermost(best, band.size())))
      newPosition[old] = now;
    unsigned outermost = affine::permuteLoops(band, newPosition);
    if (auto known = llvm::find(roots, root); known != roots.end())
      *known = band[outermost];
  }

  /// How many iterations of `loop` to run together in its innermost loops; 1 for none. Inner loops are asked first.
  unsigned chooseJam(AffineForOp loop) {
    unsigned height = heightOf(loop) - 1;
    unsigned limit = height == 1 ? jamLimit : height == 2 ? outerJamLimit : 1;
    std::optional<uint64_t> trips = affine::getConstantTripCount(loop);
    bool gains = reuse(loop) > 0 || (height == 1 && holdsReduction(loop));
    if (limit < 2 || !gains || (trips && *trips < 2 * limit) || !isRectangular(nestFrom(loop), 0) ||
        (!trips && !neverCountsBackwards(loop)))
      return 1;
    unsigned ops = 0;
    for (AffineForOp child : childrenOf(loop)) {
      std::optional<uint64_t> length = affine::getConstantTripCount(child);
      if (length && *length < kShortLoop)
        return 1;
      ops += bodyOps(child);
    }
    unsigned most = std::min(limit, kMaxJammedOps / std::max(1u, ops));
    unsigned factor = trips ? jamFactor(*trips, most) : most; // those of a triangle have a clean-up loop
    if (factor < 2 || !dependences.canJam(loop, factor))
      return 1;
    jammed[loop] = factor;
    return factor;
  }

  /// Operations in a loop and the loops in it, with the copies decided upon so far.
  unsigned bodyOps(AffineForOp loop) {
    unsigned ops = 0;
    for (Operation &op : *loop.getBody()) {
      auto inner = dyn_cast<AffineForOp>(&op);
      ops += inner ? bodyOps(inner) : 1;
    }
    return ops * std::max(1u, jammed.lookup(loop));
  }

  NestDependences dependences;
  unsigned jamLimit, outerJamLimit;
  SmallVector<AffineForOp> roots;
  llvm::DenseMap<Operation *, unsigned> jammed;
};

struct CpuLocality : impl::CpuLocalityBase<CpuLocality> {
  using CpuLocalityBase::CpuLocalityBase;

  void runOnOperation() override {
    SmallVector<AffineForOp> nests;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->hasAttr(kScheduled)) // also loops of `scf`, whatever is inside of them
        return WalkResult::skip();
      auto loop = dyn_cast<AffineForOp>(op);
      if (!loop)
        return WalkResult::advance();
      if (isEligible(loop)) {
        nests.push_back(loop);
        return WalkResult::skip();
      }
      return anyScheduled(loop) ? WalkResult::skip() : WalkResult::advance();
    });
    for (AffineForOp nest : nests) {
      SmallVector<memref::AllocOp> scalars;
      nest.walk([&](memref::AllocOp scalar) { scalars.push_back(scalar); });
      for (memref::AllocOp scalar : scalars)
        removeLocalScalar(scalar, nest);
      NestRewriter(nest, jam, outerJam).run();
    }
  }
};
} // namespace
} // namespace mlir::allo
