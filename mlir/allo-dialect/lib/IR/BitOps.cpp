// Operations on bits: which widths fit together, what folds.
#include "allo/IR/AlloDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::allo;

static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)) || !constant.isSignedIntN(64))
    return std::nullopt;
  return constant.getSExtValue();
}

//===-- casts ------------------------------------------------------------===//

LogicalResult SignCastOp::verify() {
  auto source = cast<IntegerType>(getSource().getType()), target = cast<IntegerType>(getType());
  if (source.getWidth() == target.getWidth())
    return success();
  return emitOpError("changes the signedness only, not the width, got ")
         << source << " and " << target << "; extend or truncate with arith";
}

OpFoldResult SignCastOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  auto inner = getSource().getDefiningOp<SignCastOp>();
  if (!inner)
    return {};
  if (inner.getSource().getType() == getType())
    return inner.getSource();
  getSourceMutable().assign(inner.getSource());
  return getResult();
}

LogicalResult BitcastOp::verify() {
  unsigned source = *getPackedWidth(getSource().getType()), target = *getPackedWidth(getType());
  if (source == target)
    return success();
  return emitOpError("needs two types of one width, got ")
         << getSource().getType() << " of " << source << " bits and " << getType() << " of "
         << target;
}

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  auto inner = getSource().getDefiningOp<BitcastOp>();
  if (!inner)
    return {};
  if (inner.getSource().getType() == getType())
    return inner.getSource();
  getSourceMutable().assign(inner.getSource());
  return getResult();
}

LogicalResult ElementCastOp::verify() {
  auto source = cast<MemRefType>(getSource().getType()), target = cast<MemRefType>(getType());
  if (source.getShape() != target.getShape() || source.getLayout() != target.getLayout() ||
      source.getMemorySpace() != target.getMemorySpace())
    return emitOpError("changes the element type only, got ") << source << " and " << target;
  auto from = getPackedWidth(source.getElementType()), to = getPackedWidth(target.getElementType());
  if (!from || !to || *from != *to)
    return emitOpError("needs two element types of one width, got ")
           << source.getElementType() << " and " << target.getElementType();
  if (source != target && (isa<FloatType>(source.getElementType()) || isa<FloatType>(target.getElementType())))
    return emitOpError("does not see floats as other elements, got ")
           << source.getElementType() << " and " << target.getElementType()
           << "; use allo.bitcast on each element";
  return success();
}

Value ElementCastOp::getViewSource() { return getSource(); }

//===-- single bits ------------------------------------------------------===//

static LogicalResult verifyBitIndex(Operation *op, Value number, Value index) {
  int64_t width = number.getType().getIntOrFloatBitWidth();
  auto constant = constantOf(index);
  if (!constant || (*constant >= 0 && *constant < width))
    return success();
  return op->emitOpError("bit ") << *constant << " is outside of " << number.getType()
                                 << ", whose bits are 0 to " << width - 1;
}

LogicalResult GetBitOp::verify() { return verifyBitIndex(*this, getNum(), getIndex()); }
LogicalResult SetBitOp::verify() { return verifyBitIndex(*this, getNum(), getIndex()); }

OpFoldResult GetBitOp::fold(FoldAdaptor adaptor) {
  auto number = dyn_cast_or_null<IntegerAttr>(adaptor.getNum());
  auto index = dyn_cast_or_null<IntegerAttr>(adaptor.getIndex());
  if (!number || !index || index.getValue().uge(number.getValue().getBitWidth()))
    return {};
  return BoolAttr::get(getContext(), number.getValue()[index.getValue().getZExtValue()]);
}

//===-- slices -----------------------------------------------------------===//

static LogicalResult verifySlice(Operation *op, Value number, Value hi, Value lo, Type part) {
  int64_t width = number.getType().getIntOrFloatBitWidth();
  if (part.getIntOrFloatBitWidth() > width)
    return op->emitOpError("a slice of ")
           << number.getType() << " has at most " << width << " bits, got " << part;
  auto end = constantOf(hi), start = constantOf(lo);
  if (!end || !start)
    return success();
  if (*start < 0 || *start >= *end || *end > width)
    return op->emitOpError("the slice [")
           << *start << ":" << *end << "] is empty or outside of " << number.getType()
           << "; it needs 0 <= lo < hi <= " << width;
  return success();
}

LogicalResult GetSliceOp::verify() {
  return verifySlice(*this, getNum(), getHi(), getLo(), getType());
}

LogicalResult SetSliceOp::verify() {
  return verifySlice(*this, getNum(), getHi(), getLo(), getValue().getType());
}
