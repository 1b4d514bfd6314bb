// Passes that leave the `allo` dialect.
#ifndef ALLO_CONVERSION_PASSES_H
#define ALLO_CONVERSION_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace mlir::allo {
#define GEN_PASS_DECL
#include "allo/Conversion/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "allo/Conversion/Passes.h.inc"
} // namespace mlir::allo

#endif
