// Floats are taken apart into sign, exponent and mantissa, so that no step rounds or overflows.
#include "FloatConversion.h"
#include "Quantization.h"
#include "TypeLowering.h"

using namespace mlir;
using namespace mlir::allo;
using IntPredicate = arith::CmpIPredicate;

namespace {
/// A float as mantissa * 2^exponent, with an integral mantissa.
struct Parts {
  Value mantissa; // signed, of the width asked for
  Value exponent; // i32
  Value isFinite;
};
} // namespace

static Parts takeApart(ArithEmitter &emit, Value source, unsigned width) {
  auto type = cast<FloatType>(source.getType());
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  unsigned bits = type.getWidth();
  unsigned digits = llvm::APFloat::semanticsPrecision(semantics) - 1; // without the hidden one
  int bias = 1 - llvm::APFloat::semanticsMinExponent(semantics);
  APInt exponentMask = APInt::getLowBitsSet(bits, bits - 1 - digits);

  Value zero = emit.constant(bits, 0);
  Value raw = emit.cast<arith::BitcastOp>(emit.integer(bits), source);
  Value field = emit.apply<arith::AndIOp>(emit.shiftRight(raw, digits, false),
                                          emit.constant(exponentMask));
  Value fraction =
      emit.apply<arith::AndIOp>(raw, emit.constant(APInt::getLowBitsSet(bits, digits)));
  Value isSubnormal = emit.compare(IntPredicate::eq, field, zero);
  Value hidden = emit.constant(APInt::getOneBitSet(bits, digits));
  Value magnitude =
      emit.select(isSubnormal, fraction, emit.apply<arith::OrIOp>(fraction, hidden));
  magnitude = emit.resize(magnitude, width, false);
  Value isNegative = emit.compare(IntPredicate::slt, raw, zero);
  Value negated = emit.apply<arith::SubIOp>(emit.constant(width, 0), magnitude);
  Value exponent =
      emit.resize(emit.select(isSubnormal, emit.constant(bits, 1), field), 32, false);
  return {emit.select(isNegative, negated, magnitude),
          emit.apply<arith::AddIOp>(exponent, emit.constant(32, -bias - int(digits))),
          emit.compare(IntPredicate::ne, field, emit.constant(exponentMask))};
}

/// value * 2^exponent, rounded to an integer; its low bits if it is too wide.
static Value scaleByPowerOfTwo(ArithEmitter &emit, Value value, Value exponent,
                               FixedRounding rounding) {
  unsigned width = ArithEmitter::widthOf(value);
  Value zero32 = emit.constant(32, 0), last = emit.constant(32, width - 1);
  // Amounts are limited, so that the shift that is not taken is defined too.
  auto amount = [&](Value wanted) {
    return emit.resize(emit.apply<arith::MinUIOp>(wanted, last), width, false);
  };
  Value left = emit.apply<arith::ShLIOp>(value, amount(exponent));
  Value isGone = emit.compare(IntPredicate::sgt, exponent, last);
  left = emit.select(isGone, emit.constant(width, 0), left);

  Value right =
      roundDigits(emit, value, amount(emit.apply<arith::SubIOp>(zero32, exponent)), rounding);
  return emit.select(emit.compare(IntPredicate::slt, exponent, zero32), right, left);
}

/// 2^exponent in the type; infinity beyond its range.
static Value powerOfTwo(ArithEmitter &emit, FloatType type, int exponent, bool isNegative = false) {
  APFloat value = llvm::scalbn(APFloat::getOne(type.getFloatSemantics(), isNegative), exponent,
                               APFloat::rmNearestTiesToEven);
  return emit.real(type, value);
}

Value allo::floatToFixed(ArithEmitter &emit, Value source, const FixedFormat &target) {
  auto type = cast<FloatType>(source.getType());
  unsigned digits = llvm::APFloat::semanticsPrecision(type.getFloatSemantics());
  unsigned width = containerWidth(std::max(target.width, digits) + 2);
  Parts parts = takeApart(emit, source, width);
  Value exponent =
      emit.apply<arith::AddIOp>(parts.exponent, emit.constant(32, target.frac));
  Value value = scaleByPowerOfTwo(emit, parts.mantissa, exponent, target.rounding);
  value = limit(emit, value, target);
  value = emit.select(parts.isFinite, value, emit.constant(width, 0));
  if (target.overflow != FixedOverflow::wrap) {
    // Far out of range the shift has lost the number; what is not so far, it holds with two bits to spare.
    int top = int(target.width) - int(target.frac) + (target.isSigned ? 0 : 1);
    Value over = emit.compare(arith::CmpFPredicate::OGE, source, powerOfTwo(emit, type, top));
    value = emit.select(over, emit.constant(valueAbove(target, width)), value);
    Value under = emit.compare(arith::CmpFPredicate::OLE, source,
                               powerOfTwo(emit, type, top, /*isNegative=*/true));
    value = emit.select(under, emit.constant(valueBelow(target, width)), value);
  }
  return emit.resize(value, target.width, true);
}

Value allo::fixedToFloat(ArithEmitter &emit, Value mantissa, const FixedFormat &source,
                         FloatType target) {
  // A type that holds the number exactly, so that only the last step rounds (for up to 53 bits).
  bool isSmall = source.width <= 24 && source.frac <= 100 && target.getWidth() <= 32;
  FloatType exact = isSmall ? FloatType(emit.builder.getF32Type()) : emit.builder.getF64Type();
  Value value = source.isSigned ? emit.cast<arith::SIToFPOp>(exact, mantissa)
                                : emit.cast<arith::UIToFPOp>(exact, mantissa);
  if (source.frac)
    value = emit.apply<arith::MulFOp>(value, powerOfTwo(emit, exact, -int(source.frac)));
  if (exact == target)
    return value;
  // With a rounding mode, since MLIR otherwise joins two conversions to one that rounds differently.
  auto nearest = arith::RoundingModeAttr::get(emit.builder.getContext(),
                                              arith::RoundingMode::to_nearest_even);
  return arith::TruncFOp::create(emit.builder, emit.loc, target, value, nearest,
                                 arith::FastMathFlagsAttr());
}
