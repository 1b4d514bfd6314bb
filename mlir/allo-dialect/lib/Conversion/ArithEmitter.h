// Emits integer arithmetic on values of any width, in front of one operation.
#ifndef ALLO_CONVERSION_ARITHEMITTER_H
#define ALLO_CONVERSION_ARITHEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace mlir::allo {

class ArithEmitter {
public:
  explicit ArithEmitter(Operation *op) : builder(op), loc(op->getLoc()) {}

  Type integer(unsigned width) { return builder.getIntegerType(width); }
  static unsigned widthOf(Value value) { return value.getType().getIntOrFloatBitWidth(); }

  Value constant(const APInt &value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(integer(value.getBitWidth()), value));
  }
  Value constant(unsigned width, int64_t value) {
    return constant(APInt(width, value, /*isSigned=*/true, /*implicitTrunc=*/true));
  }
  Value real(Type type, const APFloat &value) {
    return arith::ConstantOp::create(builder, loc, FloatAttr::get(type, value));
  }

  /// `OpTy` on operands and a result of one type.
  template <typename OpTy> Value apply(Value lhs, Value rhs) {
    return OpTy::create(builder, loc, lhs, rhs);
  }
  template <typename OpTy> Value cast(Type type, Value value) {
    return OpTy::create(builder, loc, type, value);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  }
  Value compare(arith::CmpFPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpFOp::create(builder, loc, predicate, lhs, rhs);
  }

  /// The integer in `width` bits: extended, or its low bits.
  Value resize(Value value, unsigned width, bool isSigned) {
    if (width < widthOf(value))
      return cast<arith::TruncIOp>(integer(width), value);
    if (width == widthOf(value))
      return value;
    return isSigned ? cast<arith::ExtSIOp>(integer(width), value)
                    : cast<arith::ExtUIOp>(integer(width), value);
  }
  /// Shifts by a constant below the width.
  Value shiftLeft(Value value, unsigned amount) {
    return amount ? apply<arith::ShLIOp>(value, constant(widthOf(value), amount)) : value;
  }
  Value shiftRight(Value value, unsigned amount, bool isSigned) {
    if (!amount)
      return value;
    Value by = constant(widthOf(value), amount);
    return isSigned ? apply<arith::ShRSIOp>(value, by) : apply<arith::ShRUIOp>(value, by);
  }

  OpBuilder builder;
  Location loc;
};

} // namespace mlir::allo

#endif
