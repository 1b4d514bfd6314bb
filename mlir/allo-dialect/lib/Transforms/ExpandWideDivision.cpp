// Decides how signed integers of 256 bits and more are divided: as unsigned ones, with the signs put right.
//
// X86 code generation of LLVM 22 aborts on `sdiv i256` and `srem i256` by a power of two (it writes the width as a shift
// amount of 8 bits). Only LLVM itself sees which divisors become constants, and it narrows wider divisions to 256 bits.
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::allo {
#define GEN_PASS_DEF_EXPANDWIDEDIVISION
#include "allo/Transforms/Passes.h.inc"

namespace {
constexpr unsigned affectedWidth = 256; // and what may be narrowed to it

bool isAffected(Type type) { return type.isInteger() && type.getIntOrFloatBitWidth() >= affectedWidth; }

struct Division {
  OpBuilder builder;
  Location loc;
  Value zero;

  explicit Division(Operation *op) : builder(op), loc(op->getLoc()) {
    zero = arith::ConstantIntOp::create(builder, loc, op->getResult(0).getType(), 0);
  }

  Value isNegative(Value value) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, value, zero);
  }

  Value negateIf(Value condition, Value value) {
    Value negated = arith::SubIOp::create(builder, loc, zero, value);
    return arith::SelectOp::create(builder, loc, condition, negated, value);
  }
};

/// The least integer is its own magnitude, read without a sign.
Value expand(Operation *op) {
  Division make(op);
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  Value dividendIsNegative = make.isNegative(dividend), divisorIsNegative = make.isNegative(divisor);
  Value numerator = make.negateIf(dividendIsNegative, dividend);
  Value denominator = make.negateIf(divisorIsNegative, divisor);
  if (isa<arith::RemSIOp>(op)) // the sign is that of the dividend
    return make.negateIf(dividendIsNegative,
                         arith::RemUIOp::create(make.builder, make.loc, numerator, denominator));
  Value differ = arith::XOrIOp::create(make.builder, make.loc, dividendIsNegative, divisorIsNegative);
  return make.negateIf(differ, arith::DivUIOp::create(make.builder, make.loc, numerator, denominator));
}

struct ExpandWideDivision : impl::ExpandWideDivisionBase<ExpandWideDivision> {
  using ExpandWideDivisionBase::ExpandWideDivisionBase;

  void runOnOperation() override {
    SmallVector<Operation *> divisions;
    getOperation().walk([&](Operation *op) {
      if (isa<arith::DivSIOp, arith::RemSIOp>(op) && isAffected(op->getResult(0).getType()))
        divisions.push_back(op);
    });
    for (Operation *op : divisions) {
      op->getResult(0).replaceAllUsesWith(expand(op));
      op->erase();
    }
  }
};
} // namespace
} // namespace mlir::allo
