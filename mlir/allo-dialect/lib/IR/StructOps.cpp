// Structs: the type of a field, and reading back what a struct was made of.
#include "allo/IR/AlloDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::allo;

LogicalResult StructGetOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto type = dyn_cast<StructType>(adaptor.getSource().getType());
  if (!type)
    return emitOptionalError(loc, "allo.struct_get takes a struct, got ",
                             adaptor.getSource().getType());
  auto index = type.getFieldIndex(adaptor.getField());
  if (!index) {
    std::string names;
    llvm::raw_string_ostream stream(names);
    llvm::interleaveComma(type.getNames(), stream,
                          [&](StringAttr name) { stream << "'" << name.getValue() << "'"; });
    return emitOptionalError(loc, "no field '", adaptor.getField(), "' in ", type,
                             "; its fields are ", names);
  }
  results.push_back(type.getTypes()[*index]);
  return success();
}

OpFoldResult StructGetOp::fold(FoldAdaptor) {
  auto made = getSource().getDefiningOp<StructConstructOp>();
  if (!made)
    return {};
  return made.getFields()[*made.getType().getFieldIndex(getField())];
}
