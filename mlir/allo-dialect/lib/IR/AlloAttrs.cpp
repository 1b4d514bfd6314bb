// Attributes: the partition of an array as the layout of a memref.
#include "allo/IR/AlloDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::allo;

#include "allo/IR/AlloEnums.cpp.inc"

static bool takesFactor(PartitionKind kind) {
  return kind == PartitionKind::Cyclic || kind == PartitionKind::Block;
}

static ParseResult parsePartitionDim(AsmParser &parser, PartitionDim &dim) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  auto kind = symbolizePartitionKind(keyword);
  if (!kind)
    return parser.emitError(loc) << "a dimension is partitioned as none, complete, cyclic or "
                                    "block, got '"
                                 << keyword << "'";
  dim.kind = *kind;
  OptionalParseResult factor = parser.parseOptionalInteger(dim.factor);
  if (factor.has_value() && failed(*factor))
    return failure();
  return success();
}

static ParseResult parsePartitionDims(AsmParser &parser, SmallVector<PartitionDim> &dims) {
  if (succeeded(parser.parseOptionalRSquare()))
    return parser.emitError(parser.getNameLoc(), "a partition says something about each dimension, "
                                                 "at least one");
  return parser.parseCommaSeparatedList(
      [&] { return parsePartitionDim(parser, dims.emplace_back()); });
}

static void printPartitionDims(AsmPrinter &printer, ArrayRef<PartitionDim> dims) {
  llvm::interleaveComma(dims, printer, [&](const PartitionDim &dim) {
    printer << stringifyPartitionKind(dim.kind);
    if (dim.factor)
      printer << ' ' << dim.factor;
  });
}

#define GET_ATTRDEF_CLASSES
#include "allo/IR/AlloAttrs.cpp.inc"

void AlloDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "allo/IR/AlloAttrs.cpp.inc"
      >();
}

LogicalResult PartitionAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                    ArrayRef<PartitionDim> dims) {
  if (dims.empty())
    return emitError() << "a partition says something about each dimension, at least one";
  for (auto [position, dim] : llvm::enumerate(dims)) {
    StringRef kind = stringifyPartitionKind(dim.kind);
    if (takesFactor(dim.kind) && dim.factor < 2)
      return emitError() << "dimension " << position << ": a " << kind
                         << " partition needs a number of banks of at least 2, got " << dim.factor;
    if (!takesFactor(dim.kind) && dim.factor != 0)
      return emitError() << "dimension " << position << ": '" << kind
                         << "' takes no number of banks, got " << dim.factor;
  }
  return success();
}

AffineMap PartitionAttr::getAffineMap() const {
  return AffineMap::getMultiDimIdentityMap(getDims().size(), getContext());
}

LogicalResult PartitionAttr::verifyLayout(ArrayRef<int64_t> shape,
                                          function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() == getDims().size())
    return success();
  return emitError() << "the partition " << *this << " is of " << getDims().size()
                     << " dimensions but the memref has " << shape.size()
                     << "; list one entry for each dimension";
}
