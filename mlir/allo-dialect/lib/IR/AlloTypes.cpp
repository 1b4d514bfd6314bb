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
                                unsigned frac, FixedRounding, FixedOverflow) {
  return verifyFixed(emitError, width, frac);
}

LogicalResult UFixedType::verify(function_ref<InFlightDiagnostic()> emitError, unsigned width,
                                 unsigned frac, FixedRounding, FixedOverflow) {
  return verifyFixed(emitError, width, frac);
}

/// One word of `, rnd, sat`: the name of a rounding, once and first, or of an overflow.
static ParseResult parseFixedMode(AsmParser &parser, FixedFormat &format, bool &mayRound) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  if (auto rounding = symbolizeFixedRounding(keyword); rounding && mayRound) {
    mayRound = false;
    format.rounding = *rounding;
    return success();
  }
  auto overflow = symbolizeFixedOverflow(keyword);
  if (!overflow)
    return parser.emitError(loc) << "expected a rounding (trn, trn_zero, rnd, rnd_zero, rnd_min_inf, "
                                    "rnd_inf, rnd_conv), then an overflow (wrap, sat, sat_zero, "
                                    "sat_sym), got '"
                                 << keyword << "'";
  format.overflow = *overflow;
  return parser.parseGreater();
}

template <typename FixedPointType> static Type parseFixed(AsmParser &parser) {
  FixedFormat format;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseInteger(format.width) || parser.parseComma() ||
      parser.parseInteger(format.frac))
    return {};
  bool mayRound = true;
  while (failed(parser.parseOptionalGreater())) {
    bool wasRounding = mayRound;
    if (parser.parseComma() || parseFixedMode(parser, format, mayRound))
      return {};
    if (mayRound == wasRounding) // the overflow comes last
      break;
  }
  return parser.getChecked<FixedPointType>(loc, parser.getContext(), format.width, format.frac,
                                           format.rounding, format.overflow);
}

template <typename FixedPointType> static void printFixed(FixedPointType type, AsmPrinter &printer) {
  printer << '<' << type.getWidth() << ", " << type.getFrac();
  if (type.getRounding() != FixedRounding::trn)
    printer << ", " << stringifyFixedRounding(type.getRounding());
  if (type.getOverflow() != FixedOverflow::wrap)
    printer << ", " << stringifyFixedOverflow(type.getOverflow());
  printer << '>';
}

Type FixedType::parse(AsmParser &parser) { return parseFixed<FixedType>(parser); }
Type UFixedType::parse(AsmParser &parser) { return parseFixed<UFixedType>(parser); }
void FixedType::print(AsmPrinter &printer) const { printFixed(*this, printer); }
void UFixedType::print(AsmPrinter &printer) const { printFixed(*this, printer); }

std::optional<FixedFormat> allo::getFixedFormat(Type type) {
  if (auto fixed = dyn_cast<FixedType>(type))
    return FixedFormat{true, fixed.getWidth(), fixed.getFrac(), fixed.getRounding(),
                       fixed.getOverflow()};
  if (auto fixed = dyn_cast<UFixedType>(type))
    return FixedFormat{false, fixed.getWidth(), fixed.getFrac(), fixed.getRounding(),
                       fixed.getOverflow()};
  return std::nullopt;
}

std::optional<FixedFormat> allo::getNumberFormat(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isSigned = integer.isSigned() || (integer.isSignless() && integer.getWidth() > 1);
    return FixedFormat{isSigned, integer.getWidth()};
  }
  return getFixedFormat(type);
}

Type allo::getFixedType(MLIRContext *context, std::optional<Location> loc,
                        const FixedFormat &format) {
  auto emit = [&] { return emitError(loc.value_or(UnknownLoc::get(context))); };
  if (format.isSigned)
    return FixedType::getChecked(emit, context, format.width, format.frac, format.rounding,
                                 format.overflow);
  return UFixedType::getChecked(emit, context, format.width, format.frac, format.rounding,
                                format.overflow);
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
