// Decides which affine operations become memref, scf and arith operations: those with operands that are no dimensions.
//
// A subscript or bound that is affine in an argument of a function is no longer so where a call passes a value
// computed from data; inlining leaves such operations, and this pass makes the function valid again.
#include "allo/Transforms/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::allo {
#define GEN_PASS_DEF_LEAVEAFFINE
#include "allo/Transforms/Passes.h.inc"

namespace {
using namespace mlir::affine;

bool areValid(ValueRange operands, unsigned dimensions) {
  for (auto [position, operand] : llvm::enumerate(operands))
    if (position < dimensions ? !isValidDim(operand) : !isValidSymbol(operand))
      return false;
  return true;
}

bool isValid(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<AffineLoadOp, AffineStoreOp>(
          [](auto access) { return areValid(access.getMapOperands(), access.getAffineMap().getNumDims()); })
      .Case([](AffineApplyOp apply) { return areValid(apply.getOperands(), apply.getAffineMap().getNumDims()); })
      .Case([](AffineIfOp branch) { return areValid(branch.getOperands(), branch.getIntegerSet().getNumDims()); })
      .Case([](AffineForOp loop) {
        return areValid(loop.getLowerBoundOperands(), loop.getLowerBoundMap().getNumDims()) &&
               areValid(loop.getUpperBoundOperands(), loop.getUpperBoundMap().getNumDims());
      })
      .Default(true);
}

struct Conversion {
  OpBuilder builder;
  Location where;

  explicit Conversion(Operation *op) : builder(op), where(op->getLoc()) {}

  SmallVector<Value> expanded(AffineMap map, ValueRange operands) {
    return *expandAffineMap(builder, where, map, operands); // fails only for expressions that are not affine
  }

  Value holds(IntegerSet set, ValueRange operands) {
    Value zero = arith::ConstantIndexOp::create(builder, where, 0), all;
    ValueRange dims = operands.take_front(set.getNumDims()), symbols = operands.drop_front(set.getNumDims());
    for (auto [position, expr] : llvm::enumerate(set.getConstraints())) {
      Value value = expandAffineExpr(builder, where, expr, dims, symbols);
      auto predicate = set.isEq(position) ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge;
      Value one = arith::CmpIOp::create(builder, where, predicate, value, zero);
      all = all ? arith::AndIOp::create(builder, where, all, one).getResult() : one;
    }
    return all ? all : arith::ConstantIntOp::create(builder, where, true, 1).getResult();
  }

  /// `op` has the bodies of `old`, and yields as scf does.
  void moveBodies(Operation *old, Operation *op) {
    for (auto [from, to] : llvm::zip(old->getRegions(), op->getRegions()))
      to.takeBody(from);
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        Operation *yield = block.getTerminator();
        OpBuilder inside(yield);
        scf::YieldOp::create(inside, yield->getLoc(), yield->getOperands());
        yield->erase();
      }
    op->setDiscardableAttrs(old->getDiscardableAttrDictionary());
  }

  Operation *convert(Operation *op) {
    return llvm::TypeSwitch<Operation *, Operation *>(op)
        .Case([&](AffineLoadOp load) {
          auto indices = expanded(load.getAffineMap(), load.getMapOperands());
          return memref::LoadOp::create(builder, where, load.getMemRef(), indices).getOperation();
        })
        .Case([&](AffineStoreOp store) {
          auto indices = expanded(store.getAffineMap(), store.getMapOperands());
          return memref::StoreOp::create(builder, where, store.getValueToStore(), store.getMemRef(), indices)
              .getOperation();
        })
        .Case([&](AffineApplyOp apply) {
          return expanded(apply.getAffineMap(), apply.getOperands()).front().getDefiningOp();
        })
        .Case([&](AffineIfOp branch) {
          Value condition = holds(branch.getIntegerSet(), branch.getOperands());
          auto made = scf::IfOp::create(builder, where, branch.getResultTypes(), condition, branch.hasElse());
          moveBodies(branch, made);
          return made.getOperation();
        })
        .Case([&](AffineForOp loop) {
          Value step = arith::ConstantIndexOp::create(builder, where, loop.getStepAsInt());
          auto made = scf::ForOp::create(builder, where, lowerAffineLowerBound(loop, builder),
                                         lowerAffineUpperBound(loop, builder), step, loop.getInits());
          moveBodies(loop, made);
          return made.getOperation();
        })
        .Default(nullptr);
  }
};

struct LeaveAffine : impl::LeaveAffineBase<LeaveAffine> {
  using LeaveAffineBase::LeaveAffineBase;

  void runOnOperation() override { visit(getOperation().getBody()); }

private:
  /// From the outside in: the variable of a converted loop is no dimension any more.
  void visit(Region &region) {
    for (Block &block : region)
      for (Operation &op : llvm::make_early_inc_range(block)) {
        Operation *current = &op;
        if (!isValid(current)) {
          current = Conversion(current).convert(current);
          if (current)
            op.replaceAllUsesWith(current->getResults());
          else if (auto apply = dyn_cast<AffineApplyOp>(op)) // its value is an argument
            apply.replaceAllUsesWith(apply.getOperand(0));
          op.erase();
        }
        if (current)
          for (Region &inner : current->getRegions())
            visit(inner);
      }
  }
};
} // namespace
} // namespace mlir::allo
