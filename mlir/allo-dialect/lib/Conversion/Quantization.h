// What becomes of numbers that a fixed-point format does not hold: rounding on the right, overflow on the left.
#ifndef ALLO_CONVERSION_QUANTIZATION_H
#define ALLO_CONVERSION_QUANTIZATION_H

#include "ArithEmitter.h"
#include "allo/IR/AlloDialect.h"

namespace mlir::allo {

/// value / 2^amount, rounded to an integer; `value` is signed, and has two bits more than the number and `amount` need.
Value roundDigits(ArithEmitter &emit, Value value, unsigned amount, FixedRounding rounding);
/// The same for a number that is known at run time only, less than the width; where it was limited to the width less
/// one, `value` has two bits more than the number needs.
Value roundDigits(ArithEmitter &emit, Value value, Value amount, FixedRounding rounding);

/// What a number above (below) the range of a format that does not wrap becomes, in `width` bits.
APInt valueAbove(const FixedFormat &format, unsigned width);
APInt valueBelow(const FixedFormat &format, unsigned width);
/// A signed mantissa, wider than the format, by the overflow of the format; unchanged if that wraps.
Value limit(ArithEmitter &emit, Value value, const FixedFormat &format);

} // namespace mlir::allo

#endif
