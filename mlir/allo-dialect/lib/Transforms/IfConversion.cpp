// Decides what of a branch runs whether or not its condition holds, and which branches become choices of values.
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::allo {
#define GEN_PASS_DEF_IFCONVERSION
#include "allo/Transforms/Passes.h.inc"

namespace {
using namespace mlir::affine;

/// The array of a load or store; null for other operations.
Value arrayOf(Operation *op) {
  if (auto load = dyn_cast<AffineLoadOp>(op))
    return load.getMemRef();
  if (auto store = dyn_cast<AffineStoreOp>(op))
    return store.getMemRef();
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return load.getMemRef();
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return store.getMemRef();
  return {};
}

bool isStore(Operation *op) { return isa<AffineStoreOp, memref::StoreOp>(op); }

bool isScalar(Value array) { return cast<MemRefType>(array.getType()).getRank() == 0; }

/// Arrays that are made or given are different ones; what looks at another array may be any.
bool isArrayOfItsOwn(Value array) {
  Operation *made = array.getDefiningOp();
  return !made || isa<memref::AllocOp, memref::GetGlobalOp>(made);
}

bool mayBeOne(Value first, Value second) {
  return first == second || !isArrayOfItsOwn(first) || !isArrayOfItsOwn(second);
}

/// Whether `op` may read (write) `array`.
bool mayTouch(Operation *op, Value array, bool writesOnly) {
  if (Value other = arrayOf(op))
    return (!writesOnly || isStore(op)) && mayBeOne(array, other);
  return !isMemoryEffectFree(op) && !isa<memref::AllocOp>(op);
}

bool isTouchedBefore(Operation *op, Value array, bool writesOnly) {
  for (Operation &before : *op->getBlock()) {
    if (&before == op)
      return false;
    if (mayTouch(&before, array, writesOnly))
      return true;
  }
  return false;
}

/// Whether an operation is a quotient or remainder that has no value, or traps, for some divisors. MLIR takes most of
/// these for operations that may always run.
bool mayTrap(Operation *op) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
           arith::CeilDivUIOp>(op))
    return false;
  APInt divisor;
  return !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) || divisor.isZero() || divisor.isAllOnes();
}

/// One `affine.if` or `scf.if`, of which as much as possible gets in front of it.
class Branch {
public:
  explicit Branch(Operation *op) : op(op), builder(op) {}

  /// Whether nothing is left of it.
  bool convert() {
    for (Region &region : op->getRegions())
      if (!region.empty())
        speculate(region.front());
    mergeStores();
    for (Region &region : op->getRegions())
      if (!region.empty())
        speculate(region.front()); // what stood behind a store
    return chooseResults();
  }

  unsigned speculated = 0, predicated = 0;

private:
  bool isOutside(Value value) const {
    return !op->isAncestor(value.getParentBlock()->getParentOp());
  }

  bool mayRunAlways(Operation &inner) const {
    if (inner.getNumRegions() != 0 || !llvm::all_of(inner.getOperands(), [&](Value v) { return isOutside(v); }))
      return false;
    if (Value array = arrayOf(&inner); array && !isStore(&inner))
      return (isScalar(array) || inner.hasAttr("allo.x_inside")) && !isTouchedBefore(&inner, array, true);
    return isMemoryEffectFree(&inner) && isSpeculatable(&inner) && !mayTrap(&inner);
  }

  void speculate(Block &block) {
    for (Operation &inner : llvm::make_early_inc_range(block.without_terminator()))
      if (mayRunAlways(inner)) {
        inner.moveBefore(op);
        ++speculated;
      }
  }

  Value condition() {
    if (known)
      return known;
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return known = branch.getCondition();
    auto branch = cast<AffineIfOp>(op);
    IntegerSet set = branch.getIntegerSet();
    Value zero = arith::ConstantIndexOp::create(builder, op->getLoc(), 0);
    for (unsigned row = 0; row < set.getNumConstraints(); ++row) {
      AffineMap map = AffineMap::get(set.getNumDims(), set.getNumSymbols(), set.getConstraint(row));
      Value form = AffineApplyOp::create(builder, op->getLoc(), map, branch.getOperands());
      auto predicate = set.isEq(row) ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge;
      Value holds = arith::CmpIOp::create(builder, op->getLoc(), predicate, form, zero);
      known = known ? Value(arith::AndIOp::create(builder, op->getLoc(), known, holds)) : holds;
    }
    if (!known)
      known = arith::ConstantIntOp::create(builder, op->getLoc(), 1, 1);
    return known;
  }

  /// A store whose value is there already, and in front of which nothing of its branch uses the array.
  bool mayMove(Operation &inner) const {
    return isStore(&inner) && llvm::all_of(inner.getOperands(), [&](Value v) { return isOutside(v); }) &&
           !isTouchedBefore(&inner, arrayOf(&inner), false);
  }

  static bool haveOnePlace(Operation &first, Operation &second) {
    if (first.getName() != second.getName() || first.getAttr("map") != second.getAttr("map"))
      return false;
    return llvm::equal(first.getOperands().drop_front(), second.getOperands().drop_front());
  }

  void mergeStores() {
    Region &thenRegion = op->getRegion(0), &elseRegion = op->getRegion(1);
    for (Operation &store : llvm::make_early_inc_range(thenRegion.front().without_terminator())) {
      if (!mayMove(store))
        continue;
      Operation *other = nullptr;
      if (!elseRegion.empty())
        for (Operation &candidate : elseRegion.front().without_terminator())
          if (mayMove(candidate) && haveOnePlace(store, candidate)) {
            other = &candidate;
            break;
          }
      if (other)
        replace(store, store.getOperand(0), other->getOperand(0)), other->erase();
      else if (isVariable(arrayOf(&store)))
        replace(store, store.getOperand(0), {});
    }
    if (elseRegion.empty())
      return;
    for (Operation &store : llvm::make_early_inc_range(elseRegion.front().without_terminator()))
      if (mayMove(store) && isVariable(arrayOf(&store)))
        replace(store, {}, store.getOperand(0));
  }

  static bool isVariable(Value array) { return isScalar(array) && array.getDefiningOp<memref::AllocOp>(); }

  /// The store in front of the condition, with the value that it decides; a null value: what is there stays.
  void replace(Operation &store, Value ifTrue, Value ifFalse) {
    Value holds = condition();
    Location loc = store.getLoc();
    if (!ifTrue || !ifFalse) {
      Value &left = ifTrue ? ifFalse : ifTrue;
      left = AffineLoadOp::create(builder, loc, arrayOf(&store), AffineMap::get(op->getContext()), ValueRange{});
    }
    store.setOperand(0, arith::SelectOp::create(builder, loc, holds, ifTrue, ifFalse));
    store.moveBefore(op);
    ++predicated;
  }

  bool chooseResults() {
    for (Region &region : op->getRegions())
      if (!region.empty() && !region.front().without_terminator().empty())
        return false;
    if (op->getNumResults() != 0) {
      Operation *yields[] = {op->getRegion(0).front().getTerminator(), op->getRegion(1).front().getTerminator()};
      if (llvm::any_of(op->getResultTypes(), [](Type type) { return isa<BaseMemRefType>(type); }))
        return false;
      for (OpResult result : op->getResults()) {
        unsigned k = result.getResultNumber();
        result.replaceAllUsesWith(arith::SelectOp::create(builder, op->getLoc(), condition(), yields[0]->getOperand(k),
                                                          yields[1]->getOperand(k)));
      }
    }
    op->erase();
    return true;
  }

  Operation *op;
  OpBuilder builder;
  Value known;
};

struct IfConversion : impl::IfConversionBase<IfConversion> {
  using IfConversionBase::IfConversionBase;

  void runOnOperation() override {
    SmallVector<Operation *> branches; // inner ones first
    getOperation().walk([&](Operation *op) {
      if (isa<AffineIfOp, scf::IfOp>(op))
        branches.push_back(op);
    });
    for (Operation *op : branches) {
      Location loc = op->getLoc();
      Branch branch(op);
      bool gone = branch.convert();
      if (gone)
        emitRemark(loc) << "done: the condition chooses values, " << branch.speculated << " operations run always";
      else if (branch.speculated + branch.predicated)
        emitRemark(loc) << "done: " << branch.speculated << " operations run always, " << branch.predicated
                        << " stores choose what they write; what else is in the branch stays guarded";
      else
        emitRemark(loc) << "left: nothing in the branch may run if the condition does not hold";
    }
  }
};
} // namespace
} // namespace mlir::allo
