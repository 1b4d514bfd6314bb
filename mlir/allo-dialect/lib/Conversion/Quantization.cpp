// Rounding and overflow of fixed-point formats, on integers.
#include "Quantization.h"

using namespace mlir;
using namespace mlir::allo;
using P = arith::CmpIPredicate;

//===-- rounding ---------------------------------------------------------===//

static Value isNegative(ArithEmitter &emit, Value value) {
  return emit.compare(P::slt, value, emit.constant(ArithEmitter::widthOf(value), 0));
}

Value allo::roundDigits(ArithEmitter &emit, Value value, unsigned amount, FixedRounding rounding) {
  if (amount == 0)
    return value;
  // A bias makes the shift, which drops digits toward minus infinity, do each of the others.
  unsigned width = ArithEmitter::widthOf(value);
  Value half = emit.constant(APInt::getOneBitSet(width, amount - 1));
  Value belowHalf = emit.constant(APInt::getLowBitsSet(width, amount - 1));
  Value zero = emit.constant(width, 0);
  Value bias;
  switch (rounding) {
  case FixedRounding::trn: return emit.shiftRight(value, amount, /*isSigned=*/true);
  case FixedRounding::rnd: bias = half; break;
  case FixedRounding::rnd_min_inf: bias = belowHalf; break;
  case FixedRounding::trn_zero:
    bias = emit.select(isNegative(emit, value), emit.constant(APInt::getLowBitsSet(width, amount)),
                       zero);
    break;
  case FixedRounding::rnd_zero: bias = emit.select(isNegative(emit, value), half, belowHalf); break;
  case FixedRounding::rnd_inf: bias = emit.select(isNegative(emit, value), belowHalf, half); break;
  case FixedRounding::rnd_conv: {
    Value last = emit.apply<arith::AndIOp>(emit.shiftRight(value, amount, /*isSigned=*/true),
                                           emit.constant(width, 1));
    bias = emit.apply<arith::AddIOp>(belowHalf, last);
    break;
  }
  }
  return emit.shiftRight(emit.apply<arith::AddIOp>(value, bias), amount, /*isSigned=*/true);
}

/// Whether the rounded number is one more than `down`, the number without its digits on the right.
static Value roundsUp(ArithEmitter &emit, Value value, Value down, Value amount,
                      FixedRounding rounding) {
  unsigned width = ArithEmitter::widthOf(value);
  Value zero = emit.constant(width, 0), one = emit.constant(width, 1);
  Value rest =
      emit.apply<arith::SubIOp>(value, emit.apply<arith::ShLIOp>(down, amount)); // of 2^amount
  Value half = emit.shiftRight(emit.apply<arith::ShLIOp>(one, amount), 1, /*isSigned=*/false);
  Value isInexact = emit.compare(P::ne, rest, zero);
  auto both = [&](Value first, Value second) { return emit.apply<arith::AndIOp>(first, second); };
  if (rounding == FixedRounding::trn_zero)
    return both(isInexact, isNegative(emit, value));
  Value isMore = emit.compare(P::ugt, rest, half);
  Value isHalf = both(isInexact, emit.compare(P::eq, rest, half));
  auto halfIf = [&](Value condition) {
    return emit.apply<arith::OrIOp>(isMore, both(isHalf, condition));
  };
  switch (rounding) {
  case FixedRounding::rnd: return emit.apply<arith::OrIOp>(isMore, isHalf);
  case FixedRounding::rnd_zero: return halfIf(isNegative(emit, value));
  case FixedRounding::rnd_inf: return halfIf(emit.compare(P::sge, value, zero));
  case FixedRounding::rnd_conv:
    return halfIf(emit.compare(P::ne, emit.apply<arith::AndIOp>(down, one), zero));
  default: return isMore; // rnd_min_inf
  }
}

Value allo::roundDigits(ArithEmitter &emit, Value value, Value amount, FixedRounding rounding) {
  Value down = emit.apply<arith::ShRSIOp>(value, amount);
  if (rounding == FixedRounding::trn)
    return down;
  Value more = roundsUp(emit, value, down, amount, rounding);
  return emit.apply<arith::AddIOp>(down,
                                   emit.resize(more, ArithEmitter::widthOf(value), /*isSigned=*/false));
}

//===-- overflow ---------------------------------------------------------===//

static APInt greatest(const FixedFormat &format, unsigned width) {
  return format.isSigned ? APInt::getSignedMaxValue(format.width).sext(width)
                         : APInt::getMaxValue(format.width).zext(width);
}

static APInt least(const FixedFormat &format, unsigned width) {
  if (!format.isSigned)
    return APInt(width, 0);
  if (format.overflow == FixedOverflow::sat_sym)
    return -greatest(format, width);
  return APInt::getSignedMinValue(format.width).sext(width);
}

APInt allo::valueAbove(const FixedFormat &format, unsigned width) {
  return format.overflow == FixedOverflow::sat_zero ? APInt(width, 0) : greatest(format, width);
}

APInt allo::valueBelow(const FixedFormat &format, unsigned width) {
  return format.overflow == FixedOverflow::sat_zero ? APInt(width, 0) : least(format, width);
}

Value allo::limit(ArithEmitter &emit, Value value, const FixedFormat &format) {
  if (format.overflow == FixedOverflow::wrap)
    return value;
  unsigned width = ArithEmitter::widthOf(value);
  Value top = emit.constant(greatest(format, width)), bottom = emit.constant(least(format, width));
  Value limited = emit.apply<arith::MaxSIOp>(emit.apply<arith::MinSIOp>(value, top), bottom);
  if (format.overflow != FixedOverflow::sat_zero)
    return limited;
  return emit.select(emit.compare(P::eq, value, limited), value, emit.constant(width, 0));
}
