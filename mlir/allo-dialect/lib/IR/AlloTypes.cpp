// Types: which parameters are allowed, how structs are written, and how wide a value is.
#include "allo/IR/AlloDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::allo;

#define GET_TYPEDEF_CLASSES
#include "allo/IR/AlloTypes.cpp.inc"

void AlloDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "allo/IR/AlloTypes.cpp.inc"
      >();
}

//===-- fixed point ------------------------------------------------------===//

static LogicalResult verifyFixed(function_ref<InFlightDiagnostic()> emitError, unsigned width,
                                 unsigned frac) {
  if (width < 1 || width > kMaxFixedWidth)
    return emitError() << "a fixed-point number has 1 to " << kMaxFixedWidth << " bits, got "
                       << width;
  if (frac > width)
    return emitError() << "a fixed-point number of " << width << " bits has 0 to " << width
                       << " fractional bits, got " << frac;
  return success();
}

LogicalResult FixedType::verify(function_ref<InFlightDiagnostic()> emitError, unsigned width,
                                unsigned frac) {
  return verifyFixed(emitError, width, frac);
}

LogicalResult UFixedType::verify(function_ref<InFlightDiagnostic()> emitError, unsigned width,
                                 unsigned frac) {
  return verifyFixed(emitError, width, frac);
}

std::optional<FixedFormat> allo::getFixedFormat(Type type) {
  if (auto fixed = dyn_cast<FixedType>(type))
    return FixedFormat{true, fixed.getWidth(), fixed.getFrac()};
  if (auto fixed = dyn_cast<UFixedType>(type))
    return FixedFormat{false, fixed.getWidth(), fixed.getFrac()};
  return std::nullopt;
}

std::optional<FixedFormat> allo::getNumberFormat(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isSigned = integer.isSigned() || (integer.isSignless() && integer.getWidth() > 1);
    return FixedFormat{isSigned, integer.getWidth(), 0};
  }
  return getFixedFormat(type);
}

Type allo::getFixedType(MLIRContext *context, std::optional<Location> loc,
                        const FixedFormat &format) {
  auto emit = [&] { return emitError(loc.value_or(UnknownLoc::get(context))); };
  if (format.isSigned)
    return FixedType::getChecked(emit, context, format.width, format.frac);
  return UFixedType::getChecked(emit, context, format.width, format.frac);
}

//===-- structs ----------------------------------------------------------===//

LogicalResult StructType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<StringAttr> names, ArrayRef<Type> types) {
  if (names.size() != types.size())
    return emitError() << "a struct has one type for each name, got " << names.size()
                       << " names and " << types.size() << " types";
  if (names.empty())
    return emitError() << "a struct has at least one field";
  llvm::StringSet<> seen;
  for (auto [name, type] : llvm::zip(names, types)) {
    if (name.empty())
      return emitError() << "a field of a struct needs a name";
    if (!seen.insert(name).second)
      return emitError() << "two fields of the struct are named '" << name.getValue()
                         << "'; rename one";
    if (!getPackedWidth(type))
      return emitError() << "field '" << name.getValue()
                         << "' of a struct must be an integer, a float, a fixed-point number or "
                            "a struct, got "
                         << type;
  }
  return success();
}

std::optional<unsigned> StructType::getFieldIndex(StringRef name) const {
  for (auto [index, field] : llvm::enumerate(getNames()))
    if (field.getValue() == name)
      return index;
  return std::nullopt;
}

Type StructType::parse(AsmParser &parser) {
  SmallVector<StringAttr> names;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  auto parseField = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name) || parser.parseColon() ||
        parser.parseType(types.emplace_back()))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseField) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<StructType>(loc, parser.getContext(), names, types);
}

void StructType::print(AsmPrinter &printer) const {
  printer << "<{";
  llvm::interleaveComma(llvm::zip(getNames(), getTypes()), printer, [&](auto field) {
    printer.printKeywordOrString(std::get<0>(field).getValue());
    printer << ": " << std::get<1>(field);
  });
  printer << "}>";
}

//===-- streams ----------------------------------------------------------===//

static bool isBlockType(Type type) {
  if (!isa<VectorType, RankedTensorType>(type))
    return false;
  auto shaped = cast<ShapedType>(type);
  return shaped.hasStaticShape() && isScalarType(shaped.getElementType());
}

LogicalResult StreamType::verify(function_ref<InFlightDiagnostic()> emitError, Type elementType,
                                 unsigned depth) {
  if (depth < 1)
    return emitError() << "the depth of a stream must be at least 1, got " << depth;
  if (!isScalarType(elementType) && !isBlockType(elementType))
    return emitError() << "the element of a stream must be a scalar, a struct, or a tensor or "
                          "vector of static shape, got "
                       << elementType;
  return success();
}

//===-- questions about any type -----------------------------------------===//

std::optional<unsigned> allo::getPackedWidth(Type type) {
  if (type.isIntOrFloat())
    return type.getIntOrFloatBitWidth();
  if (auto format = getFixedFormat(type))
    return format->width;
  auto record = dyn_cast<StructType>(type);
  if (!record)
    return std::nullopt;
  unsigned width = 0;
  for (Type field : record.getTypes())
    width += *getPackedWidth(field);
  return width;
}

bool allo::isScalarType(Type type) { return type.isIndex() || getPackedWidth(type).has_value(); }
