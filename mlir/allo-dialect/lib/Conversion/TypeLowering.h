// How each type is represented after `allo-lower-types`, and what its rewriting needs to know of an operation.
#ifndef ALLO_CONVERSION_TYPELOWERING_H
#define ALLO_CONVERSION_TYPELOWERING_H

#include "allo/IR/AlloDialect.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <string>

namespace mlir::allo {

/// The width of the container of `bits` bits: the next of 8, 16, 32, 64, 128, ...
unsigned containerWidth(unsigned bits);

/// Whether a scalar of this (original) type is sign-extended into its container.
bool isSignExtended(Type original);

/// What lowered types are for.
enum class TypesFor {
  Memory,   ///< of a processor: containers of 8, 16, 32, ... bits, streams of the run-time library
  Hardware, ///< the widths and the banks that the kernel has
};

/// Maps original types to lowered ones.
class TypeLowering {
public:
  explicit TypeLowering(TypesFor use = TypesFor::Memory) : use(use) {}

  /// As an SSA value: signless integers of the logical width; memrefs of containers, without partition.
  Type ofValue(Type original);
  /// In memory and in signatures: integers as wide as their container.
  Type ofContainer(Type original);
  /// A scalar that is wider in its container than as a value.
  bool isWidened(Type scalar) { return ofValue(scalar) != ofContainer(scalar); }

private:
  Type computeValue(Type original);
  TypesFor use;
  llvm::DenseMap<Type, Type> values;
};

/// An operation to be rewritten, with the types it had before the values of the module were retyped.
struct TypedOp {
  explicit TypedOp(Operation *op)
      : op(op), operands(op->getOperandTypes()), results(op->getResultTypes()) {}

  Operation *op;
  SmallVector<Type, 3> operands;
  SmallVector<Type, 1> results;
};

/// Rewrite an operation of the dialect, whose values are retyped already, to `arith`; false if it is not of the kind.
bool lowerFixedOp(const TypedOp &typed);
bool lowerBitOp(const TypedOp &typed);
bool lowerStructOp(const TypedOp &typed);
bool lowerStreamOp(TypeLowering &types, const TypedOp &typed);

/// Gives each element of an allocated array of streams its FIFO.
void lowerStreamArray(TypeLowering &types, const TypedOp &typed);

/// The reason if a stream that the operation uses has no lowering.
std::optional<std::string> whyStreamIsNotLowered(Operation *op);

} // namespace mlir::allo

#endif
