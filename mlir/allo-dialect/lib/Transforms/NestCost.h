// How well a nest of affine loops uses the caches and registers of a CPU, by counting strides.
#ifndef ALLO_TRANSFORMS_NESTCOST_H
#define ALLO_TRANSFORMS_NESTCOST_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"

namespace mlir::allo {

/// Elements between the accesses of two successive iterations of `loop`; none when it is not a constant.
std::optional<int64_t> strideOf(Operation *access, affine::AffineForOp loop);

/// Accesses directly in `body` that are contiguous, minus those that are strided, were `loop` the innermost.
int contiguity(affine::AffineForOp body, affine::AffineForOp loop);

/// Accesses in innermost loops within `loop` that touch the same element in all iterations of `loop`, but not of the
/// innermost loop: what stays in a register when iterations of `loop` are jammed.
int reuse(affine::AffineForOp loop);

/// Whether an innermost loop directly in `loop` accumulates into one element: a chain that jamming hides.
bool holdsReduction(affine::AffineForOp loop);

/// The loops directly in the body of `loop`.
SmallVector<affine::AffineForOp> childrenOf(affine::AffineForOp loop);

} // namespace mlir::allo

#endif // ALLO_TRANSFORMS_NESTCOST_H
