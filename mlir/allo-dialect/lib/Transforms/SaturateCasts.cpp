// Decides what a float becomes in an integer type that does not hold it: the nearest integer of the type, NaN 0.
//
// For `arith.fptosi` and `arith.fptoui` themselves such a value is poison, and machines differ.
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::allo {
#define GEN_PASS_DEF_SATURATECASTS
#include "allo/Transforms/Passes.h.inc"

namespace {
using arith::CmpFPredicate;

/// 2^exponent, or infinity beyond the range of the type.
APFloat powerOfTwo(FloatType type, int exponent) {
  return llvm::scalbn(APFloat::getOne(type.getFloatSemantics()), exponent, APFloat::rmNearestTiesToEven);
}

/// The whole range of a type of integers, as floats that are not in it or at its ends.
struct Range {
  APInt least, most;
  APFloat below; // what is at most this becomes the least
  APFloat above; // what is at least this becomes the most
};

Range rangeOf(FloatType source, unsigned width, bool isSigned) {
  APFloat zero = APFloat::getZero(source.getFloatSemantics());
  APFloat end = powerOfTwo(source, isSigned ? width - 1 : width);
  if (!isSigned)
    return {APInt::getMinValue(width), APInt::getMaxValue(width), zero, end};
  return {APInt::getSignedMinValue(width), APInt::getSignedMaxValue(width), neg(end), end};
}

class Saturation {
public:
  explicit Saturation(Operation *cast)
      : cast(cast), builder(cast), source(cast->getOperand(0)), result(cast->getResult(0)) {
    builder.setInsertionPointAfter(cast);
  }

  void add(bool isSigned) {
    auto from = mlir::cast<FloatType>(getElementTypeOrSelf(source.getType()));
    unsigned width = getElementTypeOrSelf(result.getType()).getIntOrFloatBitWidth();
    Range range = rangeOf(from, width, isSigned);
    Value low = compare(CmpFPredicate::OLE, real(range.below));
    Value value = select(low, integer(range.least), result);
    value = select(compare(CmpFPredicate::OGE, real(range.above)), integer(range.most), value);
    value = select(compare(CmpFPredicate::UNO, source), integer(APInt::getZero(width)), value);
    result.replaceUsesWithIf(value, [&](OpOperand &use) { return !made.contains(use.getOwner()); });
  }

private:
  Operation *cast;
  OpBuilder builder;
  Value source, result;
  llvm::SmallPtrSet<Operation *, 8> made;

  Value note(Value value) {
    made.insert(value.getDefiningOp());
    return value;
  }

  Value constant(Type type, Attribute element) {
    auto shaped = dyn_cast<ShapedType>(type);
    auto value = mlir::cast<TypedAttr>(shaped ? Attribute(DenseElementsAttr::get(shaped, element)) : element);
    return note(arith::ConstantOp::create(builder, cast->getLoc(), value));
  }

  Value real(const APFloat &value) {
    return constant(source.getType(), FloatAttr::get(getElementTypeOrSelf(source.getType()), value));
  }

  Value integer(const APInt &value) {
    return constant(result.getType(), IntegerAttr::get(getElementTypeOrSelf(result.getType()), value));
  }

  Value compare(CmpFPredicate predicate, Value other) {
    return note(arith::CmpFOp::create(builder, cast->getLoc(), predicate, source, other));
  }

  Value select(Value condition, Value first, Value second) {
    return note(arith::SelectOp::create(builder, cast->getLoc(), condition, first, second));
  }
};

struct SaturateCasts : impl::SaturateCastsBase<SaturateCasts> {
  using SaturateCastsBase::SaturateCastsBase;

  void runOnOperation() override {
    SmallVector<Operation *> casts;
    getOperation().walk([&](Operation *op) {
      if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
        casts.push_back(op);
    });
    for (Operation *op : casts)
      Saturation(op).add(isa<arith::FPToSIOp>(op));
  }
};
} // namespace
} // namespace mlir::allo
