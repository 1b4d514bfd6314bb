// What `allo.assert` may say.
#include "allo/IR/AlloDialect.h"

using namespace mlir;
using namespace mlir::allo;

LogicalResult AssertOp::verify() {
  if (getValues().size() > kMostAssertedValues)
    return emitOpError("shows at most ") << kMostAssertedValues << " values";
  return success();
}
