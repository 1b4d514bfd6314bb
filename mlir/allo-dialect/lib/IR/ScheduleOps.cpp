// The text of steps: `%split:2 = allo.step "split"(%i) {factor = 4 : i32}`.
#include "allo/IR/AlloDialect.h"

using namespace mlir;
using namespace mlir::allo;

ParseResult StepOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr primitive;
  SmallVector<OpAsmParser::UnresolvedOperand> handles;
  NamedAttrList values;
  Type handle = HandleType::get(parser.getContext());
  if (parser.parseAttribute(primitive, "primitive", result.attributes) ||
      parser.parseOperandList(handles, OpAsmParser::Delimiter::Paren) || parser.parseOptionalAttrDict(values) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.resolveOperands(handles, handle, result.operands))
    return failure();
  result.addAttribute("values", values.getDictionary(parser.getContext()));
  result.addTypes(SmallVector<Type>(parser.getNumResults(), handle));
  return success();
}

void StepOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getPrimitiveAttr() << '(' << getHandles() << ')';
  printer.printOptionalAttrDict(getValues().getValue());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"primitive", "values"});
}

void StepOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getNumResults())
    setName(getResult(0), getPrimitive());
}
