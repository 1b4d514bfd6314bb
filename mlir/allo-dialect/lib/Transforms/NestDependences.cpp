// Decides which reorderings of a nest keep every read and write of an element in the order of the program.
#include "NestDependences.h"

namespace mlir::allo {

using affine::AffineForOp;
using affine::DependenceComponent;

bool isInElsePart(Operation *op) {
  for (Operation *up = op; up; up = up->getParentOp())
    if (auto branch = dyn_cast_or_null<affine::AffineIfOp>(up->getParentOp()))
      if (up->getParentRegion() == &branch.getElseRegion())
        return true;
  return false;
}

namespace {
unsigned depthOf(AffineForOp loop) {
  unsigned depth = 1; // dependence analysis counts loops from one
  for (Operation *up = loop->getParentOp(); up; up = up->getParentOp())
    depth += isa<AffineForOp>(up);
  return depth;
}

bool isNonNegative(const DependenceComponent &distance) { return distance.lb && *distance.lb >= 0; }

/// Whether the distances, read in the given order, keep the source before the sink or in the same iteration.
template <typename Range> bool keepsOrder(const Range &distances) {
  for (const DependenceComponent &distance : distances) {
    if (!isNonNegative(distance))
      return false;
    if (*distance.lb > 0)
      return true;
    // From 0 upwards: what follows counts only where this one is zero, but ask the same of it.
  }
  return true;
}

/// The two operations of one block that hold `first` and `second`.
std::pair<Operation *, Operation *> inCommonBlock(Operation *first, Operation *second) {
  for (Operation *up = first; up; up = up->getParentOp())
    if (Operation *other = up->getBlock()->findAncestorOpInBlock(*second))
      return {up, other};
  return {nullptr, nullptr};
}

/// Whether the two operations of one block lie in one run of statements without loops.
bool inOneRun(Operation *first, Operation *second) {
  if (second->isBeforeInBlock(first))
    std::swap(first, second);
  for (Operation *op = first; op != second; op = op->getNextNode())
    if (op->getNumRegions() != 0)
      return false;
  return second->getNumRegions() == 0;
}
} // namespace

NestDependences::NestDependences(AffineForOp nest) {
  nest.walk([&](Operation *op) {
    if (isa<affine::AffineReadOpInterface, affine::AffineWriteOpInterface>(op))
      accesses.push_back(op);
  });
}

bool NestDependences::collect(AffineForOp loop, AffineForOp within, SmallVectorImpl<CarriedDependence> &found) {
  unsigned depth = depthOf(loop);
  SmallVector<affine::MemRefAccess> inside;
  for (Operation *op : accesses)
    if (within->isProperAncestor(op))
      inside.emplace_back(op);
  for (affine::MemRefAccess &source : inside) {
    for (affine::MemRefAccess &sink : inside) {
      if (source.memref != sink.memref || !(source.isStore() || sink.isStore()))
        continue;
      if (isInElsePart(source.opInst) || isInElsePart(sink.opInst))
        return false;
      CarriedDependence carried{source.opInst, sink.opInst, {}};
      affine::DependenceResult result =
          affine::checkMemrefAccessDependence(source, sink, depth, nullptr, &carried.distances);
      if (result.value == affine::DependenceResult::Failure)
        return false;
      if (affine::hasDependence(result))
        found.push_back(std::move(carried));
    }
  }
  return true;
}

bool NestDependences::canDistribute(AffineForOp loop, Operation *cut) {
  SmallVector<CarriedDependence> carried;
  if (!collect(loop, loop, carried))
    return false;
  Block *body = loop.getBody();
  return llvm::none_of(carried, [&](const CarriedDependence &dependence) {
    Operation *source = body->findAncestorOpInBlock(*dependence.source);
    Operation *sink = body->findAncestorOpInBlock(*dependence.sink);
    return !source->isBeforeInBlock(cut) && sink->isBeforeInBlock(cut);
  });
}

bool NestDependences::canPermute(ArrayRef<AffineForOp> band, ArrayRef<unsigned> order) {
  unsigned first = depthOf(band.front()) - 1;
  for (AffineForOp loop : band) {
    SmallVector<CarriedDependence> carried;
    if (!collect(loop, band.back(), carried))
      return false;
    for (const CarriedDependence &dependence : carried) {
      SmallVector<DependenceComponent> permuted;
      for (unsigned position : order)
        permuted.push_back(dependence.distances[first + position]);
      if (!keepsOrder(permuted))
        return false;
    }
  }
  return true;
}

bool NestDependences::canJam(AffineForOp loop, unsigned factor) {
  SmallVector<CarriedDependence> carried;
  if (!collect(loop, loop, carried))
    return false;
  unsigned depth = depthOf(loop);
  for (const CarriedDependence &dependence : carried) {
    const DependenceComponent &own = dependence.distances[depth - 1];
    if (own.lb && *own.lb >= static_cast<int64_t>(factor) * loop.getStepAsInt())
      continue; // never within one group of iterations
    // Inner loops may be jammed as well, so no distance may count on one further out to keep the order.
    if (!llvm::all_of(llvm::drop_begin(dependence.distances, depth), isNonNegative))
      return false;
    // Runs of statements keep their order, and so do the copies of one run.
    auto [source, sink] = inCommonBlock(dependence.source, dependence.sink);
    if (!inOneRun(source, sink) && !source->isBeforeInBlock(sink))
      return false;
  }
  return true;
}

bool NestDependences::isParallel(AffineForOp loop) {
  SmallVector<CarriedDependence> carried;
  return collect(loop, loop, carried) && carried.empty();
}

} // namespace mlir::allo
