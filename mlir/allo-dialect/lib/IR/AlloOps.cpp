// The generated part of all operations.
#include "allo/IR/AlloDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::allo;

void AlloDialect::registerOperations() {
  addOperations<
#define GET_OP_LIST
#include "allo/IR/AlloOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "allo/IR/AlloOps.cpp.inc"
