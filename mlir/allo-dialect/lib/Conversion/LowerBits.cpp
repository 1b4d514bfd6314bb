// Operations on bits and structs as shifts and masks.
#include "ArithEmitter.h"
#include "TypeLowering.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::allo;

static bool replace(Operation *op, Value value) {
  if (!value)
    return false;
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
  return true;
}

/// An index as a shift amount of the width.
static Value amountOf(ArithEmitter &emit, Value index, unsigned width) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return emit.constant(constant.zextOrTrunc(width));
  return emit.cast<arith::IndexCastUIOp>(emit.integer(width), index);
}

static Value invert(ArithEmitter &emit, Value value) {
  return emit.apply<arith::XOrIOp>(value, emit.constant(ArithEmitter::widthOf(value), -1));
}

//===-- bits -------------------------------------------------------------===//

static Value lowerGetBit(ArithEmitter &emit, GetBitOp op) {
  unsigned width = ArithEmitter::widthOf(op.getNum());
  Value amount = amountOf(emit, op.getIndex(), width);
  return emit.resize(emit.apply<arith::ShRUIOp>(op.getNum(), amount), 1, false);
}

static Value lowerSetBit(ArithEmitter &emit, SetBitOp op) {
  unsigned width = ArithEmitter::widthOf(op.getNum());
  Value amount = amountOf(emit, op.getIndex(), width);
  Value mask = emit.apply<arith::ShLIOp>(emit.constant(width, 1), amount);
  Value bit = emit.apply<arith::ShLIOp>(emit.resize(op.getBit(), width, false), amount);
  Value others = emit.apply<arith::AndIOp>(op.getNum(), invert(emit, mask));
  return emit.apply<arith::OrIOp>(others, bit);
}

/// Ones in the low hi - lo bits.
static Value lowMask(ArithEmitter &emit, Value hi, Value lo, unsigned width) {
  APInt end, start;
  if (matchPattern(hi, m_ConstantInt(&end)) && matchPattern(lo, m_ConstantInt(&start)))
    return emit.constant(APInt::getLowBitsSet(width, (end - start).getZExtValue()));
  Value size = emit.apply<arith::SubIOp>(hi, lo);
  Value all = arith::ConstantIndexOp::create(emit.builder, emit.loc, width);
  Value unused = amountOf(emit, emit.apply<arith::SubIOp>(all, size), width);
  return emit.apply<arith::ShRUIOp>(emit.constant(width, -1), unused);
}

static Value lowerGetSlice(ArithEmitter &emit, GetSliceOp op, unsigned resultWidth) {
  unsigned width = ArithEmitter::widthOf(op.getNum());
  Value shifted =
      emit.apply<arith::ShRUIOp>(op.getNum(), amountOf(emit, op.getLo(), width));
  Value mask = lowMask(emit, op.getHi(), op.getLo(), width);
  return emit.resize(emit.apply<arith::AndIOp>(shifted, mask), resultWidth, false);
}

static Value lowerSetSlice(ArithEmitter &emit, SetSliceOp op) {
  unsigned width = ArithEmitter::widthOf(op.getNum());
  Value lo = amountOf(emit, op.getLo(), width);
  Value mask = lowMask(emit, op.getHi(), op.getLo(), width);
  Value part = emit.apply<arith::AndIOp>(emit.resize(op.getValue(), width, false), mask);
  Value others = emit.apply<arith::AndIOp>(
      op.getNum(), invert(emit, emit.apply<arith::ShLIOp>(mask, lo)));
  return emit.apply<arith::OrIOp>(others, emit.apply<arith::ShLIOp>(part, lo));
}

/// Swaps neighbours of 1, 2, 4, ... bits.
static Value lowerReverse(ArithEmitter &emit, ReverseBitsOp op) {
  unsigned width = ArithEmitter::widthOf(op.getNum());
  unsigned padded = llvm::PowerOf2Ceil(width);
  Value value = emit.resize(op.getNum(), padded, false);
  for (unsigned group = 1; group < padded; group *= 2) {
    APInt low = APInt::getSplat(padded, APInt::getLowBitsSet(2 * group, group));
    Value mask = emit.constant(low);
    Value up = emit.shiftLeft(emit.apply<arith::AndIOp>(value, mask), group);
    Value down = emit.apply<arith::AndIOp>(emit.shiftRight(value, group, false), mask);
    value = emit.apply<arith::OrIOp>(up, down);
  }
  return emit.resize(emit.shiftRight(value, padded - width, false), width, false);
}

static Value asType(ArithEmitter &emit, Value value, Type type) {
  return value.getType() == type ? value : emit.cast<arith::BitcastOp>(type, value);
}

bool allo::lowerBitOp(const TypedOp &typed) {
  ArithEmitter emit(typed.op);
  Type lowered = typed.op->getNumResults() ? typed.op->getResult(0).getType() : Type();
  Value value =
      llvm::TypeSwitch<Operation *, Value>(typed.op)
          .Case<SignCastOp, ElementCastOp>([&](auto op) { return op.getSource(); })
          .Case([&](BitcastOp op) { return asType(emit, op.getSource(), lowered); })
          .Case([&](GetBitOp op) { return lowerGetBit(emit, op); })
          .Case([&](SetBitOp op) { return lowerSetBit(emit, op); })
          .Case([&](GetSliceOp op) {
            return lowerGetSlice(emit, op, lowered.getIntOrFloatBitWidth());
          })
          .Case([&](SetSliceOp op) { return lowerSetSlice(emit, op); })
          .Case([&](ReverseBitsOp op) { return lowerReverse(emit, op); })
          .Default(Value());
  return replace(typed.op, value);
}

//===-- structs ----------------------------------------------------------===//

static Value packFields(ArithEmitter &emit, StructConstructOp op, unsigned width) {
  Value packed;
  unsigned offset = 0;
  for (Value field : op.getFields()) {
    unsigned bits = ArithEmitter::widthOf(field);
    Value part = emit.resize(asType(emit, field, emit.integer(bits)), width, false);
    part = emit.shiftLeft(part, offset);
    packed = packed ? emit.apply<arith::OrIOp>(packed, part) : part;
    offset += bits;
  }
  return packed;
}

static Value extractField(ArithEmitter &emit, StructGetOp op, StructType type, Type lowered) {
  unsigned offset = 0;
  for (Type field : type.getTypes().take_front(*type.getFieldIndex(op.getField())))
    offset += *getPackedWidth(field);
  Value source = op->getOperand(0); // an integer by now, not what getSource() promises
  Value part = emit.shiftRight(source, offset, false);
  part = emit.resize(part, lowered.getIntOrFloatBitWidth(), false);
  return asType(emit, part, lowered);
}

bool allo::lowerStructOp(const TypedOp &typed) {
  ArithEmitter emit(typed.op);
  if (auto op = dyn_cast<StructConstructOp>(typed.op))
    return replace(op, packFields(emit, op, *getPackedWidth(typed.results[0])));
  if (auto op = dyn_cast<StructGetOp>(typed.op)) {
    auto type = cast<StructType>(typed.operands[0]);
    return replace(op, extractField(emit, op, type, op.getResult().getType()));
  }
  return false;
}
