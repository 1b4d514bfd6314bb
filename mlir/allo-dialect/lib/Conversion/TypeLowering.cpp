// The lowered form of each type.
#include "TypeLowering.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::allo;

unsigned allo::containerWidth(unsigned bits) {
  return std::max<unsigned>(8, llvm::PowerOf2Ceil(bits));
}

bool allo::isSignExtended(Type original) {
  auto format = getNumberFormat(original);
  return format && format->isSigned;
}

Type TypeLowering::ofValue(Type original) {
  if (original.isIndex() || original.isSignlessInteger() || isa<FloatType>(original))
    return original;
  auto [entry, isNew] = values.try_emplace(original);
  if (!isNew)
    return entry->second;
  Type lowered = computeValue(original); // may add other entries
  return values[original] = lowered;
}

Type TypeLowering::ofContainer(Type original) {
  Type value = ofValue(original);
  auto integer = dyn_cast<IntegerType>(value);
  if (!integer || use == TypesFor::Hardware)
    return value;
  unsigned width = containerWidth(integer.getWidth());
  return width == integer.getWidth() ? value : IntegerType::get(original.getContext(), width);
}

Type TypeLowering::computeValue(Type original) {
  MLIRContext *context = original.getContext();
  auto containers = [&](TypeRange types) {
    return llvm::map_to_vector(types, [&](Type type) { return ofContainer(type); });
  };
  return llvm::TypeSwitch<Type, Type>(original)
      .Case<IntegerType, FixedType, UFixedType, StructType>(
          [&](Type type) { return IntegerType::get(context, *getPackedWidth(type)); })
      .Case([&](StreamType type) -> Type {
        if (use == TypesFor::Hardware)
          return StreamType::get(context, ofValue(type.getElementType()), type.getDepth());
        return IntegerType::get(context, 64); // a handle of the run-time library
      })
      .Case([&](MemRefType type) {
        bool isPartitioned = use == TypesFor::Memory && isa<PartitionAttr>(type.getLayout());
        auto layout = isPartitioned ? MemRefLayoutAttrInterface() : type.getLayout();
        return MemRefType::get(type.getShape(), ofContainer(type.getElementType()), layout,
                               type.getMemorySpace());
      })
      .Case([&](UnrankedMemRefType type) {
        return UnrankedMemRefType::get(ofContainer(type.getElementType()), type.getMemorySpace());
      })
      .Case<VectorType, RankedTensorType>(
          [&](auto type) -> Type { return type.clone(ofValue(type.getElementType())); })
      .Case([&](FunctionType type) {
        return FunctionType::get(context, containers(type.getInputs()),
                                 containers(type.getResults()));
      })
      .Default(original);
}
