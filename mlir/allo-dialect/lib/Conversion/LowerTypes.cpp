// `allo-lower-types` and `allo-lower-numbers`: they retype every value in place, then rewrite the operations at which
// that shows.
#include "TypeLowering.h"
#include "allo/Conversion/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::allo {
#define GEN_PASS_DEF_LOWERNUMBERS
#define GEN_PASS_DEF_LOWERTYPES
#include "allo/Conversion/Passes.h.inc"
} // namespace mlir::allo

using namespace mlir;
using namespace mlir::allo;

//===-- between values and containers ------------------------------------===//

/// Makes a retyped result or argument hold the container; its uses see the value, cut out at `point`.
static void holdContainer(TypeLowering &types, Value value, Type original, OpBuilder &point) {
  if (!types.isWidened(original))
    return;
  Type logical = value.getType();
  value.setType(types.ofContainer(original));
  auto cut = arith::TruncIOp::create(point, value.getLoc(), logical, value);
  value.replaceAllUsesExcept(cut, cut);
}

/// Extends a retyped operand to its container.
static void extendOperand(TypeLowering &types, OpOperand &operand, Type original) {
  if (!types.isWidened(original))
    return;
  OpBuilder builder(operand.getOwner());
  Location loc = operand.getOwner()->getLoc();
  Type container = types.ofContainer(original);
  Value value = operand.get();
  operand.set(isSignExtended(original)
                  ? arith::ExtSIOp::create(builder, loc, container, value).getResult()
                  : arith::ExtUIOp::create(builder, loc, container, value).getResult());
}

static void extendOperands(TypeLowering &types, const TypedOp &typed) {
  for (auto [operand, original] : llvm::zip(typed.op->getOpOperands(), typed.operands))
    extendOperand(types, operand, original);
}

static void holdResults(TypeLowering &types, const TypedOp &typed) {
  OpBuilder after(typed.op->getContext());
  after.setInsertionPointAfter(typed.op);
  for (auto [result, original] : llvm::zip(typed.op->getResults(), typed.results))
    holdContainer(types, result, original, after);
}

//===-- symbols ----------------------------------------------------------===//

static void lowerFunction(TypeLowering &types, func::FuncOp op) {
  FunctionType type = op.getFunctionType();
  op.setFunctionType(cast<FunctionType>(types.ofValue(type)));
  if (op.isExternal())
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&op.getBody().front());
  for (auto [argument, original] : llvm::zip(op.getArguments(), type.getInputs()))
    holdContainer(types, argument, original, builder);
}

static LogicalResult lowerGlobal(TypeLowering &types, memref::GlobalOp op) {
  Type element = op.getType().getElementType();
  auto type = cast<MemRefType>(types.ofValue(op.getType()));
  op.setType(type);
  Attribute initial = op.getInitialValueAttr();
  Type container = type.getElementType();
  if (!initial || isa<UnitAttr>(initial) || container == element)
    return success();
  if (auto dense = dyn_cast<DenseIntElementsAttr>(initial)) {
    unsigned width = container.getIntOrFloatBitWidth();
    bool isSigned = isSignExtended(element);
    op.setInitialValueAttr(dense.mapValues(container, [&](const APInt &value) {
      return isSigned ? value.sext(width) : value.zext(width);
    }));
    return success();
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(initial);
  if (resource && !types.isWidened(element)) {
    auto tensor = RankedTensorType::get(type.getShape(), container);
    op.setInitialValueAttr(DenseResourceElementsAttr::get(tensor, resource.getRawHandle()));
    return success();
  }
  return op.emitError("the initial value of a constant array of ")
         << element << " must be dense integers";
}

//===-- the pass ---------------------------------------------------------===//

namespace {
bool isStreamArray(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && isa<StreamType>(memref.getElementType());
}

struct LowerTypes : allo::impl::LowerTypesBase<LowerTypes> {
  void runOnOperation() override;

private:
  LogicalResult collect(Operation *op);
  LogicalResult checkSupported(Operation *op);
  LogicalResult rewrite(const TypedOp &typed);

  TypeLowering types;
  SmallVector<TypedOp> work;
};
} // namespace

LogicalResult LowerTypes::checkSupported(Operation *op) {
  if (auto reason = whyStreamIsNotLowered(op))
    return op->emitError(*reason);
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect != "linalg" && dialect != "vector" &&
      !isa<memref::AtomicRMWOp, memref::GenericAtomicRMWOp, affine::AffineVectorLoadOp,
           affine::AffineVectorStoreOp>(op))
    return success();
  for (Type type : op->getOperandTypes())
    if (auto memref = dyn_cast<MemRefType>(type))
      if (types.isWidened(memref.getElementType()))
        return op->emitError("must become loops before allo-lower-types, for the sake of ")
               << type << ", whose elements have other containers than values";
  return success();
}

/// Remembers the operation, with its types, if retyping its values is not enough.
LogicalResult LowerTypes::collect(Operation *op) {
  if (failed(checkSupported(op)))
    return failure();
  bool isAccess = isa<memref::LoadOp, memref::StoreOp, affine::AffineLoadOp, affine::AffineStoreOp>(op);
  auto isWidened = [&](Type type) { return types.isWidened(type); };
  if (isAccess || isa<func::CallOp, func::CallIndirectOp, func::ReturnOp>(op)) {
    if (llvm::any_of(op->getOperandTypes(), isWidened) ||
        llvm::any_of(op->getResultTypes(), isWidened))
      work.emplace_back(op);
  } else if (isa<func::FuncOp, memref::GlobalOp>(op) ||
             (isa<AlloDialect>(op->getDialect()) && !isa<ElementaryOp>(op)) ||
             (isa<memref::AllocOp>(op) && isStreamArray(op->getResult(0).getType()))) {
    work.emplace_back(op);
  }
  return success();
}

static void retype(TypeLowering &types, Operation *op) {
  auto setLowered = [&](Value value) {
    Type lowered = types.ofValue(value.getType());
    if (lowered == value.getType())
      return;
    value.setType(lowered);
    op->removeDiscardableAttr("allo.itensor"); // of elements of the other type
  };
  llvm::for_each(op->getResults(), setLowered);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::for_each(block.getArguments(), setLowered);
}

LogicalResult LowerTypes::rewrite(const TypedOp &typed) {
  if (auto function = dyn_cast<func::FuncOp>(typed.op))
    return lowerFunction(types, function), success();
  if (auto global = dyn_cast<memref::GlobalOp>(typed.op))
    return lowerGlobal(types, global);
  if (isa<memref::AllocOp>(typed.op))
    return lowerStreamArray(types, typed), success();
  if (isa<AlloDialect>(typed.op->getDialect())) {
    if (lowerFixedOp(typed) || lowerBitOp(typed) || lowerStructOp(typed) || lowerStreamOp(types, typed))
      return success();
    return typed.op->emitError("is not supported by allo-lower-types");
  }
  // An access, a call or a return: scalars travel in their containers.
  extendOperands(types, typed);
  holdResults(types, typed);
  return success();
}

void LowerTypes::runOnOperation() {
  types = TypeLowering();
  work.clear();
  ModuleOp module = getOperation();
  WalkResult collected = module.walk([&](Operation *op) { return WalkResult(collect(op)); });
  if (collected.wasInterrupted())
    return signalPassFailure();
  module.walk([&](Operation *op) { retype(types, op); });
  for (const TypedOp &typed : work)
    if (failed(rewrite(typed)))
      return signalPassFailure();
}

//===-- for hardware -----------------------------------------------------===//

namespace {
struct LowerNumbers : allo::impl::LowerNumbersBase<LowerNumbers> {
  void runOnOperation() override {
    TypeLowering types(TypesFor::Hardware);
    SmallVector<TypedOp> work;
    getOperation().walk([&](Operation *op) {
      if (isa<func::FuncOp, memref::GlobalOp>(op) || isa<AlloDialect>(op->getDialect()))
        work.emplace_back(op);
    });
    getOperation().walk([&](Operation *op) { retype(types, op); });
    for (const TypedOp &typed : work)
      if (failed(rewrite(types, typed)))
        return signalPassFailure();
  }

private:
  static LogicalResult rewrite(TypeLowering &types, const TypedOp &typed) {
    if (auto function = dyn_cast<func::FuncOp>(typed.op))
      return lowerFunction(types, function), success();
    if (auto global = dyn_cast<memref::GlobalOp>(typed.op))
      return lowerGlobal(types, global);
    if (isa<SignCastOp, ElementCastOp, BitcastOp>(typed.op))
      return lowerBitOp(typed), success();
    lowerFixedOp(typed) || lowerStructOp(typed);
    return success(); // what is on single bits, or on streams, takes any type
  }
};
} // namespace
