// The `allo` dialect: its types, attributes, operations, and what other code may ask of its types.
#ifndef ALLO_IR_ALLODIALECT_H
#define ALLO_IR_ALLODIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "allo/IR/AlloDialect.h.inc"
#include "allo/IR/AlloEnums.h.inc"

namespace mlir::allo {

/// How one dimension of an array lies in banks; `factor` is 0 where the kind takes none.
struct PartitionDim {
  PartitionKind kind = PartitionKind::None;
  unsigned factor = 0;

  bool operator==(const PartitionDim &other) const {
    return kind == other.kind && factor == other.factor;
  }
};
inline llvm::hash_code hash_value(const PartitionDim &dim) {
  return llvm::hash_combine(dim.kind, dim.factor);
}

/// An integer of `width` bits, divided by 2^frac.
struct FixedFormat {
  bool isSigned = true;
  unsigned width = 0;
  unsigned frac = 0;
  /// What a conversion to the format does.
  FixedRounding rounding = FixedRounding::trn;
  FixedOverflow overflow = FixedOverflow::wrap;
};

/// The format of `!allo.fixed` and `!allo.ufixed`.
std::optional<FixedFormat> getFixedFormat(Type type);
/// The same, and of integers too: `iN`, `siN` signed, `uiN`, `i1` unsigned.
std::optional<FixedFormat> getNumberFormat(Type type);
/// The fixed-point type of a format; null, with the reason reported at `loc`, if there is none.
Type getFixedType(MLIRContext *context, std::optional<Location> loc, const FixedFormat &format);
/// How many bits a value of the type has: integers, floats, fixed-point numbers, structs of these.
std::optional<unsigned> getPackedWidth(Type type);
/// Integer, index, float, fixed-point number or struct.
bool isScalarType(Type type);

constexpr unsigned kMaxFixedWidth = 1024;
/// Values that the text of an `allo.assert` may show.
constexpr unsigned kMostAssertedValues = 4;

} // namespace mlir::allo

#define GET_ATTRDEF_CLASSES
#include "allo/IR/AlloAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "allo/IR/AlloTypes.h.inc"

#define GET_OP_CLASSES
#include "allo/IR/AlloOps.h.inc"

#endif
