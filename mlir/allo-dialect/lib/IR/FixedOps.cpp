// Fixed-point operations: the types of their results, what is refused, what folds.
#include "allo/IR/AlloDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::allo;

//===-- product and quotient ---------------------------------------------===//

static LogicalResult inferFixed(MLIRContext *context, std::optional<Location> loc,
                                const FixedFormat &format, SmallVectorImpl<Type> &results) {
  Type type = getFixedType(context, loc, format);
  if (!type)
    return failure();
  results.push_back(type);
  return success();
}

LogicalResult FixedMulOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                           Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto lhs = getFixedFormat(adaptor.getLhs().getType());
  auto rhs = getFixedFormat(adaptor.getRhs().getType());
  if (!lhs || !rhs)
    return emitOptionalError(loc, "allo.fixed_mul takes two fixed-point numbers");
  return inferFixed(
      context, loc,
      {lhs->isSigned || rhs->isSigned, lhs->width + rhs->width, lhs->frac + rhs->frac}, results);
}

LogicalResult FixedDivOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                           Adaptor adaptor, SmallVectorImpl<Type> &results) {
  auto lhs = getFixedFormat(adaptor.getLhs().getType());
  auto rhs = getFixedFormat(adaptor.getRhs().getType());
  if (!lhs || !rhs)
    return emitOptionalError(loc, "allo.fixed_div takes two fixed-point numbers");
  unsigned width = lhs->width + rhs->frac + (rhs->isSigned ? 1 : 0);
  return inferFixed(context, loc, {lhs->isSigned || rhs->isSigned, width, lhs->frac}, results);
}

//===-- negation ---------------------------------------------------------===//

LogicalResult FixedNegOp::verify() {
  if (isa<FixedType>(getOperand().getType()))
    return success();
  return emitOpError("needs a signed number, got ")
         << getOperand().getType() << "; convert it with allo.fixed_cast";
}

OpFoldResult FixedNegOp::fold(FoldAdaptor) {
  if (auto inner = getOperand().getDefiningOp<FixedNegOp>())
    return inner.getOperand();
  return {};
}

//===-- constants --------------------------------------------------------===//

LogicalResult FixedConstantOp::verify() {
  unsigned width = getFixedFormat(getType())->width;
  if (getMantissaAttr().getType().isSignlessInteger(width))
    return success();
  return emitOpError("mantissa must be of type i")
         << width << ", as wide as " << getType() << ", got " << getMantissaAttr().getType();
}

OpFoldResult FixedConstantOp::fold(FoldAdaptor) { return getMantissaAttr(); }

ParseResult FixedConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  APInt mantissa;
  Type type;
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult number = parser.parseOptionalInteger(mantissa);
  if (!number.has_value())
    return parser.emitError(loc, "expected the mantissa, an integer");
  if (*number || parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      parser.parseType(type))
    return failure();
  auto format = getFixedFormat(type);
  if (!format)
    return parser.emitError(loc, "expected a fixed-point type, got ") << type;
  bool isNegative = mantissa.isNegative();
  bool fits = format->isSigned ? mantissa.isSignedIntN(format->width)
                               : !isNegative && mantissa.isIntN(format->width);
  if (!fits)
    return parser.emitError(loc, "the mantissa does not fit in ") << type;
  APInt bits = mantissa.sextOrTrunc(format->width);
  auto bitsType = IntegerType::get(parser.getContext(), format->width);
  result.addAttribute(getMantissaAttrName(result.name), IntegerAttr::get(bitsType, bits));
  result.addTypes(type);
  return success();
}

void FixedConstantOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  getMantissa().print(printer.getStream(), isa<FixedType>(getType()));
  printer.printOptionalAttrDict((*this)->getAttrs(), {getMantissaAttrName()});
  printer << " : " << getType();
}

//===-- conversion -------------------------------------------------------===//

LogicalResult FixedCastOp::verify() {
  Type source = getSource().getType(), target = getType();
  if (!getFixedFormat(source) && !getFixedFormat(target))
    return emitOpError("converts from or to a fixed-point number, got ")
           << source << " and " << target << "; use the casts of arith";
  for (Type type : {source, target})
    if (isa<StructType>(type))
      return emitOpError("does not convert structs, got ") << type << "; use allo.bitcast";
  return success();
}

OpFoldResult FixedCastOp::fold(FoldAdaptor) {
  return getSource().getType() == getType() ? OpFoldResult(getSource()) : OpFoldResult();
}
