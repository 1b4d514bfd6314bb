// Fixed-point operations as integer arithmetic.
#include "ArithEmitter.h"
#include "FloatConversion.h"
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

namespace {
struct CastMode {
  bool isRounded;
  bool isSaturated;
};
} // namespace

/// Drops `amount` digits on the right.
static Value dropDigits(ArithEmitter &emit, Value value, unsigned amount, bool isSigned,
                        bool isRounded) {
  unsigned width = ArithEmitter::widthOf(value);
  if (amount == 0)
    return value;
  if (isRounded && amount >= width) // less than a half, or just minus a half
    return emit.constant(width, 0);
  if (isRounded)
    value = emit.apply<arith::AddIOp>(value, emit.constant(APInt::getOneBitSet(width, amount - 1)));
  if (amount >= width && !isSigned)
    return emit.constant(width, 0);
  return emit.shiftRight(value, std::min(amount, width - 1), isSigned);
}

static Value castNumber(ArithEmitter &emit, Value value, const FixedFormat &source,
                        const FixedFormat &target, CastMode mode) {
  unsigned up = target.frac > source.frac ? target.frac - source.frac : 0;
  unsigned down = source.frac > target.frac ? source.frac - target.frac : 0;
  // Saturation needs the exact number, with room for its sign; wrapping the low bits only.
  unsigned carry = mode.isRounded && down ? 1 : 0;
  unsigned width = mode.isSaturated ? std::max(source.width + up + carry, target.width) + 1
                                    : std::max(source.width + carry, target.width);
  value = emit.resize(value, width, source.isSigned);
  value = up < width ? emit.shiftLeft(value, up) : emit.constant(width, 0);
  value = dropDigits(emit, value, down, source.isSigned, mode.isRounded);
  if (mode.isSaturated)
    value = saturate(emit, value, target);
  return emit.resize(value, target.width, source.isSigned);
}

static Value lowerCast(ArithEmitter &emit, FixedCastOp op, Type source, Type target) {
  CastMode mode{op.getRounding() == "round", op.getOverflow() == "saturate"};
  Value value = op.getSource();
  if (isa<FloatType>(source))
    return floatToFixed(emit, value, *getFixedFormat(target), mode.isRounded, mode.isSaturated);
  if (isa<FloatType>(target))
    return fixedToFloat(emit, value, *getFixedFormat(source), cast<FloatType>(target));
  FixedFormat asIndex{/*isSigned=*/true, /*width=*/64, /*frac=*/0};
  if (source.isIndex())
    value = emit.cast<arith::IndexCastOp>(emit.integer(64), value);
  value = castNumber(emit, value, source.isIndex() ? asIndex : *getNumberFormat(source),
                     target.isIndex() ? asIndex : *getNumberFormat(target), mode);
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
