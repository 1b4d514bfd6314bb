// Questions about the order of memory accesses in a nest of affine loops; the answers change nothing.
#ifndef ALLO_TRANSFORMS_NESTDEPENDENCES_H
#define ALLO_TRANSFORMS_NESTDEPENDENCES_H

#include "mlir/Dialect/Affine/Analysis/AffineAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"

namespace mlir::allo {

/// Whether an operation is in the else part of a condition: MLIR's domains take it to be under the condition itself.
bool isInElsePart(Operation *op);

/// The dependences that one loop carries: `source` in an iteration of the loop, `sink` in a later one.
struct CarriedDependence {
  Operation *source;
  Operation *sink;
  /// Distances for all loops around both, outermost first; an absent end of an interval is unbounded.
  SmallVector<affine::DependenceComponent, 2> distances;
};

/// The accesses of a nest, and the dependences between them. Buffers that are different values do not overlap.
class NestDependences {
public:
  explicit NestDependences(affine::AffineForOp nest);

  /// Whether the body of `loop` may be cut before the operation `cut`, each part getting a loop of its own.
  bool canDistribute(affine::AffineForOp loop, Operation *cut);

  /// Whether `band` (directly nested, outermost first) may run in the order `order` (new position -> old position),
  /// as far as the accesses in its innermost loop are concerned.
  bool canPermute(ArrayRef<affine::AffineForOp> band, ArrayRef<unsigned> order);

  /// Whether `factor` consecutive iterations of `loop` may be jammed, statement by statement, in its inner loops.
  bool canJam(affine::AffineForOp loop, unsigned factor);

  /// Whether the iterations of `loop` may run in any order.
  bool isParallel(affine::AffineForOp loop);

private:
  /// Dependences carried by `loop` among the accesses in `within`, a loop in it or itself; false if they cannot be
  /// told.
  bool collect(affine::AffineForOp loop, affine::AffineForOp within, SmallVectorImpl<CarriedDependence> &found);

  /// Operations, not MemRefAccess values: those keep the subscripts of the time they were made.
  SmallVector<Operation *> accesses;
};

} // namespace mlir::allo

#endif // ALLO_TRANSFORMS_NESTDEPENDENCES_H
