// Streams as handles of the run-time library: creation, the end of their life, and how one element travels.
#include "TypeLowering.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::allo;

namespace {
/// Emits calls of the run-time library before or after one operation. Pointers travel as i64.
struct StreamEmitter {
  explicit StreamEmitter(Operation *op) : builder(op), loc(op->getLoc()), op(op) {}

  Value constant(int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
  }

  Value addressOf(Value memref) {
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  }

  /// The address of a constant text that ends in a zero byte.
  Value textAddress(StringRef text) {
    ModuleOp module = op->getParentOfType<ModuleOp>();
    auto type = MemRefType::get({static_cast<int64_t>(text.size()) + 1}, builder.getI8Type());
    std::string symbol = ("allo_stream_name." + text).str();
    if (!module.lookupSymbol(symbol)) {
      SmallVector<char> bytes(text.begin(), text.end());
      bytes.push_back(0);
      auto tensor = RankedTensorType::get(type.getShape(), type.getElementType());
      auto value = DenseElementsAttr::get(tensor, ArrayRef<char>(bytes));
      OpBuilder global = OpBuilder::atBlockBegin(module.getBody());
      memref::GlobalOp::create(global, loc, symbol, builder.getStringAttr("private"), type, value,
                               /*constant=*/true, /*alignment=*/IntegerAttr());
    }
    return addressOf(memref::GetGlobalOp::create(builder, loc, type, symbol));
  }

  func::CallOp call(StringRef name, TypeRange results, ValueRange operands) {
    ModuleOp module = op->getParentOfType<ModuleOp>();
    if (!module.lookupSymbol(name)) {
      OpBuilder declaration = OpBuilder::atBlockBegin(module.getBody());
      auto type = builder.getFunctionType(operands.getTypes(), results);
      func::FuncOp::create(declaration, loc, name, type).setPrivate();
    }
    return func::CallOp::create(builder, loc, name, results, operands);
  }

  /// A variable in which an element travels, at the head of the function or of the body of the parallel loop.
  Value slot(Type container) {
    Block *scope = nullptr;
    for (Operation *up = op->getParentOp(); up && !isa<ModuleOp>(up); up = up->getParentOp()) {
      if (isa<func::FuncOp>(up) || up->hasAttr("allo.parallel")) {
        scope = &up->getRegion(0).front();
        break;
      }
    }
    auto type = MemRefType::get({}, container);
    for (Operation &known : *scope) {
      if (auto alloc = dyn_cast<memref::AllocOp>(known); alloc && alloc->hasAttr(kSlot)) {
        if (alloc.getType() == type)
          return alloc;
        continue;
      }
      break; // slots stand at the head
    }
    OpBuilder head = OpBuilder::atBlockBegin(scope);
    auto alloc = memref::AllocOp::create(head, loc, type);
    alloc->setAttr(kSlot, head.getUnitAttr());
    return alloc;
  }

  /// From here on, emits at the end of the block of the operation.
  void moveToEndOfBlock() { builder.setInsertionPoint(op->getBlock()->getTerminator()); }

  static constexpr StringLiteral kSlot = "allo.x_stream_slot";
  OpBuilder builder;
  Location loc;
  Operation *op;
};

/// Of a stream that may have elements in it when it ends.
constexpr StringLiteral kKeeps = "allo.x_keeps";

int64_t bytesOf(Type container) {
  return container.isIndex() ? 8 : llvm::divideCeil(container.getIntOrFloatBitWidth(), 8);
}

/// What reports of the run-time library call it: what the caller of the kernel has chosen, else its name.
StringRef nameOf(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>("allo.x_stream");
  if (!name)
    name = op->getAttrOfType<StringAttr>("allo.name");
  return name ? name.getValue() : "stream";
}

/// The number by which reports tell of a put or get; 0 if the caller of the kernel has given none.
int64_t siteOf(Operation *op) {
  auto site = op->getAttrOfType<IntegerAttr>("allo.x_end");
  return site ? site.getInt() : 0;
}

/// How many elements a FIFO holds; 0 for any number.
int64_t depthOf(Operation *op, StreamType type) {
  auto depth = static_cast<int64_t>(type.getDepth());
  auto room = op->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>("allo.x_room");
  if (!room)
    return depth;
  return room.getInt() ? std::max(depth, room.getInt()) : 0;
}

/// Whether the stream is given away by its block, so that its life does not end with it.
bool escapes(Value stream) {
  return llvm::any_of(stream.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto store = dyn_cast<memref::StoreOp>(user))
      return store.getValueToStore() == stream;
    if (auto store = dyn_cast<affine::AffineStoreOp>(user))
      return store.getValueToStore() == stream;
    return user->hasTrait<OpTrait::IsTerminator>();
  });
}
} // namespace

std::optional<std::string> allo::whyStreamIsNotLowered(Operation *op) {
  auto isBlock = [](Type type) {
    if (auto shaped = dyn_cast<MemRefType>(type))
      type = shaped.getElementType();
    auto stream = dyn_cast<StreamType>(type);
    return stream && isa<ShapedType>(stream.getElementType());
  };
  if (llvm::any_of(op->getResultTypes(), isBlock) || llvm::any_of(op->getOperandTypes(), isBlock))
    return "streams of blocks are not supported by this lowering; put and get their elements one by one";
  for (Type type : op->getResultTypes())
    if (auto array = dyn_cast<MemRefType>(type))
      if (isa<StreamType>(array.getElementType()) && !array.hasStaticShape())
        return "an array of streams needs constant extents";
  return std::nullopt;
}

void allo::lowerStreamArray(TypeLowering &types, const TypedOp &typed) {
  auto original = cast<MemRefType>(typed.results[0]);
  auto stream = cast<StreamType>(original.getElementType());
  StreamEmitter emit(typed.op);
  emit.builder.setInsertionPointAfter(typed.op);
  Value handles = emit.addressOf(typed.op->getResult(0));
  Value count = emit.constant(original.getNumElements());
  Value bytes = emit.constant(bytesOf(types.ofContainer(stream.getElementType())));
  Value depth = emit.constant(depthOf(typed.op, stream));
  emit.call("allo_streams_new", {}, {handles, count, bytes, depth, emit.textAddress(nameOf(typed.op))});
  bool keeps = typed.op->hasAttr(kKeeps);
  for (StringRef ofStreams : {StringRef("allo.block"), StringRef("allo.packed"), StringRef(kKeeps)})
    typed.op->removeAttr(ofStreams);
  if (escapes(typed.op->getResult(0)))
    return;
  emit.moveToEndOfBlock();
  emit.call(keeps ? "allo_streams_drop" : "allo_streams_delete", {}, {emit.addressOf(typed.op->getResult(0)), count});
}

static void lowerCreate(TypeLowering &types, StreamCreateOp op, StreamType type) {
  StreamEmitter emit(op);
  Value bytes = emit.constant(bytesOf(types.ofContainer(type.getElementType())));
  Value depth = emit.constant(depthOf(op, type));
  Value name = emit.textAddress(nameOf(op));
  Value made = emit.call("allo_stream_new", emit.builder.getI64Type(), {bytes, depth, name}).getResult(0);
  if (!escapes(op->getResult(0))) {
    emit.moveToEndOfBlock();
    emit.call(op->hasAttr(kKeeps) ? "allo_stream_drop" : "allo_stream_delete", {}, made);
  }
  op->getResult(0).replaceAllUsesWith(made);
  op.erase();
}

/// The address of a variable that holds the value, as the run-time library takes it.
static Value passed(StreamEmitter &emit, TypeLowering &types, Value value, Type element) {
  Type container = types.ofContainer(element);
  if (types.isWidened(element))
    value = isSignExtended(element)
                ? arith::ExtSIOp::create(emit.builder, emit.loc, container, value).getResult()
                : arith::ExtUIOp::create(emit.builder, emit.loc, container, value).getResult();
  Value slot = emit.slot(container);
  memref::StoreOp::create(emit.builder, emit.loc, value, slot, ValueRange{});
  return emit.addressOf(slot);
}

/// Calls a function that writes an element to a variable, which replaces `value`; what the function answers.
static Value lowerTaking(StreamEmitter &emit, TypeLowering &types, StringRef function, TypeRange answer, Value value,
                         Type element) {
  Value slot = emit.slot(types.ofContainer(element));
  auto call = emit.call(function, answer, {emit.op->getOperand(0), emit.addressOf(slot), emit.constant(siteOf(emit.op))});
  Value taken = memref::LoadOp::create(emit.builder, emit.loc, slot, ValueRange{});
  if (types.isWidened(element))
    taken = arith::TruncIOp::create(emit.builder, emit.loc, types.ofValue(element), taken);
  value.replaceAllUsesWith(taken);
  return answer.empty() ? Value() : call.getResult(0);
}

/// Lets the flag `result` be whether a function answered something else than 0.
static void answered(StreamEmitter &emit, Value answer, Value result) {
  Value zero = emit.constant(0);
  result.replaceAllUsesWith(
      arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::ne, answer, zero));
}

static void lowerPut(TypeLowering &types, Operation *op, Type element) {
  StreamEmitter emit(op);
  Value value = passed(emit, types, op->getOperand(1), element);
  Value site = emit.constant(siteOf(op));
  if (isa<StreamPutOp>(op)) {
    emit.call("allo_stream_put", {}, {op->getOperand(0), value, site});
  } else {
    auto call = emit.call("allo_stream_try_put", emit.builder.getI64Type(), {op->getOperand(0), value, site});
    answered(emit, call.getResult(0), op->getResult(0));
  }
  op->erase();
}

static void lowerGet(TypeLowering &types, Operation *op, Type element) {
  StreamEmitter emit(op);
  StringRef function = isa<StreamPeekOp>(op) ? "allo_stream_peek" : "allo_stream_get";
  lowerTaking(emit, types, function, {}, op->getResult(0), element);
  op->erase();
}

static void lowerTryGet(TypeLowering &types, StreamTryGetOp op, Type element) {
  StreamEmitter emit(op);
  Type flag = emit.builder.getI64Type();
  Value answer = lowerTaking(emit, types, "allo_stream_try_get", flag, op.getValue(), element);
  answered(emit, answer, op.getDone());
  op.erase();
}

static void lowerQuery(Operation *op, StringRef function) {
  StreamEmitter emit(op);
  Value answer = emit.call(function, emit.builder.getI64Type(), op->getOperand(0)).getResult(0);
  answered(emit, answer, op->getResult(0));
  op->erase();
}

bool allo::lowerStreamOp(TypeLowering &types, const TypedOp &typed) {
  auto element = [](Type stream) { return cast<StreamType>(stream).getElementType(); };
  if (auto op = dyn_cast<StreamCreateOp>(typed.op))
    return lowerCreate(types, op, cast<StreamType>(typed.results[0])), true;
  if (isa<StreamPutOp, StreamTryPutOp>(typed.op))
    return lowerPut(types, typed.op, element(typed.operands[0])), true;
  if (isa<StreamGetOp, StreamPeekOp>(typed.op))
    return lowerGet(types, typed.op, element(typed.operands[0])), true;
  if (auto op = dyn_cast<StreamTryGetOp>(typed.op))
    return lowerTryGet(types, op, element(typed.operands[0])), true;
  if (isa<StreamEmptyOp>(typed.op))
    return lowerQuery(typed.op, "allo_stream_empty"), true;
  if (isa<StreamFullOp>(typed.op))
    return lowerQuery(typed.op, "allo_stream_full"), true;
  return false;
}
