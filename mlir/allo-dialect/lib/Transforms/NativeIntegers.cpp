// Decides in which integers a CPU computes: those of odd widths up to 64 bits in the next width that it has.
//
// X86 code generation of LLVM 22 gets vectors of such integers wrong (<8 x i40>, with AVX-512). As each operation widens
// its operands and cuts its result, what is left for LLVM are pairs of shifts on native integers, which it removes where
// the bits above do not matter.
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::allo {
#define GEN_PASS_DEF_NATIVEINTEGERS
#include "allo/Transforms/Passes.h.inc"

namespace {
constexpr unsigned widest = 64;

/// The type that takes the place of `type`, also of vectors; null for one that may stay.
Type native(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  if (!integer || integer.getWidth() < 2 || integer.getWidth() > widest)
    return {};
  auto width = std::max<unsigned>(8, llvm::PowerOf2Ceil(integer.getWidth()));
  if (width == integer.getWidth())
    return {};
  Type element = IntegerType::get(type.getContext(), width);
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

bool isUnsigned(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  return llvm::is_contained({P::ult, P::ule, P::ugt, P::uge}, predicate);
}

struct Widening {
  OpBuilder builder;
  Location loc;
  Type wide;

  Value extended(Value value, bool isSigned) {
    if (isSigned)
      return arith::ExtSIOp::create(builder, loc, wide, value);
    return arith::ExtUIOp::create(builder, loc, wide, value);
  }

  /// `op` on wide operands, of which the bits above are the sign (or 0), and its result cut.
  void replace(Operation *op, bool leftIsSigned, bool rightIsSigned) {
    Value left = extended(op->getOperand(0), leftIsSigned), right = extended(op->getOperand(1), rightIsSigned);
    Operation *made = builder.create(loc, op->getName().getIdentifier(), {left, right}, {wide});
    Value cut = arith::TruncIOp::create(builder, loc, op->getResult(0).getType(), made->getResult(0));
    op->getResult(0).replaceAllUsesWith(cut);
    op->erase();
  }
};

void widen(Operation *op) {
  if (auto cast = dyn_cast<arith::SIToFPOp>(op); cast && native(cast.getIn().getType())) {
    Widening make{OpBuilder(op), op->getLoc(), native(cast.getIn().getType())};
    cast.getInMutable().assign(make.extended(cast.getIn(), true));
    return;
  }
  if (auto cast = dyn_cast<arith::UIToFPOp>(op); cast && native(cast.getIn().getType())) {
    Widening make{OpBuilder(op), op->getLoc(), native(cast.getIn().getType())};
    cast.getInMutable().assign(make.extended(cast.getIn(), false));
    return;
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op); compare && native(compare.getLhs().getType())) {
    Widening make{OpBuilder(op), op->getLoc(), native(compare.getLhs().getType())};
    bool isSigned = !isUnsigned(compare.getPredicate());
    compare.getLhsMutable().assign(make.extended(compare.getLhs(), isSigned));
    compare.getRhsMutable().assign(make.extended(compare.getRhs(), isSigned));
    return;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op); select && native(select.getType())) {
    Widening make{OpBuilder(op), op->getLoc(), native(select.getType())};
    Value first = make.extended(select.getTrueValue(), true), second = make.extended(select.getFalseValue(), true);
    Value made = arith::SelectOp::create(make.builder, make.loc, select.getCondition(), first, second);
    Value cut = arith::TruncIOp::create(make.builder, make.loc, select.getType(), made);
    select.replaceAllUsesWith(cut);
    select.erase();
    return;
  }
  bool ofBits = isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp,
                    arith::DivSIOp, arith::RemSIOp, arith::MinSIOp, arith::MaxSIOp>(op);
  bool ofNumbers = isa<arith::DivUIOp, arith::RemUIOp, arith::ShRUIOp, arith::MinUIOp, arith::MaxUIOp>(op);
  bool shifts = isa<arith::ShLIOp, arith::ShRSIOp>(op);
  if (!ofBits && !ofNumbers && !shifts)
    return;
  Type wide = native(op->getResult(0).getType());
  if (wide)
    Widening{OpBuilder(op), op->getLoc(), wide}.replace(op, !ofNumbers, ofBits);
}

struct NativeIntegers : impl::NativeIntegersBase<NativeIntegers> {
  using NativeIntegersBase::NativeIntegersBase;

  void runOnOperation() override {
    SmallVector<Operation *> found;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<arith::ArithDialect>(op->getDialect()))
        found.push_back(op);
    });
    for (Operation *op : found)
      widen(op);
  }
};
} // namespace
} // namespace mlir::allo
