// Fixed-point operations as integer arithmetic.
#include "ArithEmitter.h"
#include "FloatConversion.h"
#include "Quantization.h"
#include "TypeLowering.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::allo;

//===-- arithmetic -------------------------------------------------------===//

static Value lowerMul(ArithEmitter &emit, FixedMulOp op, const FixedFormat &lhs,
                      const FixedFormat &rhs) {
  unsigned width = lhs.width + rhs.width;
  return emit.apply<arith::MulIOp>(emit.resize(op.getLhs(), width, lhs.isSigned),
                                   emit.resize(op.getRhs(), width, rhs.isSigned));
}

static Value lowerDiv(ArithEmitter &emit, FixedDivOp op, const FixedFormat &lhs,
                      const FixedFormat &rhs) {
  unsigned resultWidth = ArithEmitter::widthOf(op.getResult());
  // One bit more than either needs, so that both fit as signed numbers.
  unsigned width = containerWidth(std::max(resultWidth, rhs.width) + 1);
  Value dividend = emit.shiftLeft(emit.resize(op.getLhs(), width, lhs.isSigned), rhs.frac);
  Value divisor = emit.resize(op.getRhs(), width, rhs.isSigned);
  if (!lhs.isSigned && !rhs.isSigned)
    return emit.resize(emit.apply<arith::DivUIOp>(dividend, divisor), resultWidth, false);
  // divsi rounds toward zero: one less where the remainder and the divisor differ in sign.
  Value quotient = emit.apply<arith::DivSIOp>(dividend, divisor);
  Value remainder =
      emit.apply<arith::SubIOp>(dividend, emit.apply<arith::MulIOp>(quotient, divisor));
  Value zero = emit.constant(width, 0);
  Value isInexact = emit.compare(arith::CmpIPredicate::ne, remainder, zero);
  Value isNegative = emit.compare(arith::CmpIPredicate::slt,
                                  emit.apply<arith::XOrIOp>(remainder, divisor), zero);
  Value one = emit.resize(emit.apply<arith::AndIOp>(isInexact, isNegative), width, false);
  return emit.resize(emit.apply<arith::SubIOp>(quotient, one), resultWidth, true);
}

static Value lowerCmp(ArithEmitter &emit, FixedCmpOp op, bool isSigned) {
  using P = arith::CmpIPredicate;
  auto predicate = [&] {
    switch (op.getPredicate()) {
    case FixedPredicate::eq: return P::eq;
    case FixedPredicate::ne: return P::ne;
    case FixedPredicate::lt: return isSigned ? P::slt : P::ult;
    case FixedPredicate::le: return isSigned ? P::sle : P::ule;
    case FixedPredicate::gt: return isSigned ? P::sgt : P::ugt;
    case FixedPredicate::ge: return isSigned ? P::sge : P::uge;
    }
    llvm_unreachable("all predicates are handled");
  }();
  return emit.compare(predicate, op.getLhs(), op.getRhs());
}

//===-- conversion between integers --------------------------------------===//

/// Drops `amount` digits on the right, toward minus infinity.
static Value dropDigits(ArithEmitter &emit, Value value, unsigned amount, bool isSigned) {
  unsigned width = ArithEmitter::widthOf(value);
  if (amount >= width && !isSigned)
    return emit.constant(width, 0);
  return emit.shiftRight(value, std::min(amount, width - 1), isSigned);
}

static Value castNumber(ArithEmitter &emit, Value value, const FixedFormat &source,
                        const FixedFormat &target) {
  unsigned up = target.frac > source.frac ? target.frac - source.frac : 0;
  unsigned down = source.frac > target.frac ? source.frac - target.frac : 0;
  bool isRounded = down && target.rounding != FixedRounding::trn;
  // Saturation needs the exact number, with room for its sign; wrapping the low bits only.
  unsigned width = std::max(source.width, target.width);
  if (target.overflow != FixedOverflow::wrap)
    width = std::max(source.width + up, target.width) + 1;
  if (isRounded) // room for the sign and a carry, and for the half of the last digit
    width = std::max({width, source.width + 2, down + 2});
  value = emit.resize(value, width, source.isSigned);
  value = up < width ? emit.shiftLeft(value, up) : emit.constant(width, 0);
  value = isRounded ? roundDigits(emit, value, down, target.rounding)
                    : dropDigits(emit, value, down, source.isSigned);
  value = limit(emit, value, target);
  return emit.resize(value, target.width, source.isSigned);
}

static Value lowerCast(ArithEmitter &emit, FixedCastOp op, Type source, Type target) {
  Value value = op.getSource();
  if (isa<FloatType>(source))
    return floatToFixed(emit, value, *getFixedFormat(target));
  if (isa<FloatType>(target))
    return fixedToFloat(emit, value, *getFixedFormat(source), cast<FloatType>(target));
  FixedFormat asIndex{/*isSigned=*/true, /*width=*/64, /*frac=*/0};
  if (source.isIndex())
    value = emit.cast<arith::IndexCastOp>(emit.integer(64), value);
  value = castNumber(emit, value, source.isIndex() ? asIndex : *getNumberFormat(source),
                     target.isIndex() ? asIndex : *getNumberFormat(target));
  if (target.isIndex())
    value = emit.cast<arith::IndexCastOp>(emit.builder.getIndexType(), value);
  return value;
}

//===-- the operations ---------------------------------------------------===//

bool allo::lowerFixedOp(const TypedOp &typed) {
  ArithEmitter emit(typed.op);
  auto format = [&](unsigned operand) { return *getFixedFormat(typed.operands[operand]); };
  Value value =
      llvm::TypeSwitch<Operation *, Value>(typed.op)
          .Case([&](FixedAddOp op) { return emit.apply<arith::AddIOp>(op.getLhs(), op.getRhs()); })
          .Case([&](FixedSubOp op) { return emit.apply<arith::SubIOp>(op.getLhs(), op.getRhs()); })
          .Case([&](FixedMulOp op) { return lowerMul(emit, op, format(0), format(1)); })
          .Case([&](FixedDivOp op) { return lowerDiv(emit, op, format(0), format(1)); })
          .Case([&](FixedNegOp op) {
            return emit.apply<arith::SubIOp>(emit.constant(format(0).width, 0), op.getOperand());
          })
          .Case([&](FixedCmpOp op) { return lowerCmp(emit, op, format(0).isSigned); })
          .Case([&](FixedConstantOp op) { return emit.constant(op.getMantissa()); })
          .Case([&](FixedCastOp op) {
            return lowerCast(emit, op, typed.operands[0], typed.results[0]);
          })
          .Default(Value());
  if (!value)
    return false;
  typed.op->getResult(0).replaceAllUsesWith(value);
  typed.op->erase();
  return true;
}
