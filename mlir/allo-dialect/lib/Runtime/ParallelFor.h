// What other parts of the run-time library may ask of parallel loops.
#ifndef ALLO_RUNTIME_PARALLELFOR_H
#define ALLO_RUNTIME_PARALLELFOR_H

namespace mlir::allo {
/// Whether this thread runs a part of a parallel loop.
bool isInsideParallelJob();
} // namespace mlir::allo

#endif
