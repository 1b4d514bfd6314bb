// Conversion between fixed-point and floating-point numbers.
#ifndef ALLO_CONVERSION_FLOATCONVERSION_H
#define ALLO_CONVERSION_FLOATCONVERSION_H

#include "ArithEmitter.h"
#include "allo/IR/AlloDialect.h"

namespace mlir::allo {

/// The mantissa of a float in a fixed-point format, exact for all floats.
Value floatToFixed(ArithEmitter &emit, Value source, const FixedFormat &target);
Value fixedToFloat(ArithEmitter &emit, Value mantissa, const FixedFormat &source, FloatType target);

} // namespace mlir::allo

#endif
