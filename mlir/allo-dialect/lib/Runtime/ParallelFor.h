// What other parts of the run-time library may ask of parallel loops.
#ifndef ALLO_RUNTIME_PARALLELFOR_H
#define ALLO_RUNTIME_PARALLELFOR_H

#include <cstdint>

namespace mlir::allo {
/// Whether this thread runs a part of a parallel loop.
bool isInsideParallelJob();
} // namespace mlir::allo

/// Runs task(context, a, b) for intervals [a, b) that cover lo, lo + step, ... < hi once each, on the threads of a pool.
extern "C" void allo_parallel_for(void (*task)(void *context, int64_t lo, int64_t hi), void *context, int64_t lo, int64_t hi,
                                  int64_t step);

#endif
