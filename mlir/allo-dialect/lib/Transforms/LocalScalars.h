// Local scalars of a loop body: the variables that would tie all iterations of a nest together.
#ifndef ALLO_TRANSFORMS_LOCALSCALARS_H
#define ALLO_TRANSFORMS_LOCALSCALARS_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::allo {

/// Whether `scalar` is a variable of one loop body that `removeLocalScalar` can remove.
bool isRemovableScalar(memref::AllocOp scalar);

/// Replaces a scalar that is used in one block only by the values stored to it, and any other by an array before
/// `nest` with an element for each iteration of the loop around the scalar.
void removeLocalScalar(memref::AllocOp scalar, affine::AffineForOp nest);

} // namespace mlir::allo

#endif // ALLO_TRANSFORMS_LOCALSCALARS_H
