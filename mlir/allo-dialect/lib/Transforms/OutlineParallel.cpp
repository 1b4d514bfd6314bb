// Decides what a parallel loop becomes: a function over an interval of its iterations and a call that forks it.
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::allo {
#define GEN_PASS_DEF_OUTLINEPARALLEL
#include "allo/Transforms/Passes.h.inc"

namespace {
constexpr llvm::StringLiteral kParallel = "allo.parallel";
constexpr llvm::StringLiteral kNoAlias = "llvm.noalias";

bool isCheapConstant(Operation *op) {
  return op && (op->hasTrait<OpTrait::ConstantLike>() || isa<memref::GetGlobalOp>(op));
}

/// Whether no other value of the function reaches the memory of `buffer`; arguments that differ do not overlap.
bool isDistinctBuffer(Value buffer) {
  if (auto arg = dyn_cast<BlockArgument>(buffer))
    return isa<func::FuncOp>(arg.getOwner()->getParentOp());
  return isa<memref::AllocOp, memref::AllocaOp>(buffer.getDefiningOp());
}

/// What the outlined function is made of.
struct Outline {
  affine::AffineForOp loop;
  SmallVector<Value> captures;        // become arguments after (lo, hi)
  SmallVector<Operation *> constants; // are cloned
};

Outline analyze(affine::AffineForOp loop) {
  Outline outline{loop, {}, {}};
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(loop.getRegion(), used);
  for (Value value : used) {
    Operation *def = value.getDefiningOp();
    if (isCheapConstant(def))
      outline.constants.push_back(def);
    else
      outline.captures.push_back(value);
  }
  return outline;
}

/// The bound of a loop as a value computed before it.
Value boundBefore(affine::AffineForOp loop, bool lower) {
  OpBuilder builder(loop);
  AffineMap map = lower ? loop.getLowerBoundMap() : loop.getUpperBoundMap();
  ValueRange operands = lower ? loop.getLowerBoundOperands() : loop.getUpperBoundOperands();
  if (map.getNumResults() == 1)
    return builder.createOrFold<affine::AffineApplyOp>(loop.getLoc(), map, operands);
  if (lower)
    return builder.createOrFold<affine::AffineMaxOp>(loop.getLoc(), map, operands);
  return builder.createOrFold<affine::AffineMinOp>(loop.getLoc(), map, operands);
}

func::FuncOp makeTask(const Outline &outline, StringRef name, FunctionType type, OpBuilder &builder) {
  affine::AffineForOp loop = outline.loop;
  MLIRContext *context = builder.getContext();
  auto task = func::FuncOp::create(builder, loop.getLoc(), name, type);
  task.setPrivate();
  task->setAttr("llvm.linkage", LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  Block *entry = task.addEntryBlock();
  OpBuilder body = OpBuilder::atBlockEnd(entry);
  IRMapping map;
  for (auto [index, value] : llvm::enumerate(outline.captures)) {
    map.map(value, entry->getArgument(index + 2));
    if (isa<BaseMemRefType>(value.getType()) && isDistinctBuffer(value))
      task.setArgAttr(index + 2, kNoAlias, builder.getUnitAttr());
  }
  for (Operation *constant : outline.constants)
    body.clone(*constant, map);
  AffineMap same = AffineMap::get(0, 1, builder.getAffineSymbolExpr(0));
  auto copy = affine::AffineForOp::create(body, loop.getLoc(), entry->getArgument(0), same, entry->getArgument(1),
                                          same, loop.getStepAsInt());
  copy->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  copy->removeAttr(kParallel);
  map.map(loop.getInductionVar(), copy.getInductionVar());
  OpBuilder inner = OpBuilder::atBlockBegin(copy.getBody());
  for (Operation &op : loop.getBody()->without_terminator())
    inner.clone(op, map);
  copy->walk([](Operation *op) { op->removeAttr(kParallel); }); // nested ones run in sequence
  func::ReturnOp::create(body, loop.getLoc());
  return task;
}

struct OutlineParallel : impl::OutlineParallelBase<OutlineParallel> {
  using OutlineParallelBase::OutlineParallelBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto func : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      unsigned count = 0;
      func.walk<WalkOrder::PreOrder>([&](affine::AffineForOp loop) {
        if (!loop->hasAttr(kParallel) || loop.getNumIterOperands() != 0)
          return WalkResult::advance();
        outlineLoop(loop, func, (func.getName() + "_par" + Twine(count++)).str(), symbols);
        return WalkResult::skip();
      });
    }
  }

private:
  static void outlineLoop(affine::AffineForOp loop, func::FuncOp func, const std::string &name,
                          SymbolTable &symbols) {
    Outline outline = analyze(loop);
    OpBuilder builder(loop);
    SmallVector<Value> operands{boundBefore(loop, true), boundBefore(loop, false)};
    llvm::append_range(operands, outline.captures);
    FunctionType type = builder.getFunctionType(ValueRange(operands).getTypes(), {});

    OpBuilder top(func);
    func::FuncOp task = makeTask(outline, name, type, top);
    symbols.insert(task);
    auto fork = func::FuncOp::create(top, loop.getLoc(), task.getName().str() + "_fork", type);
    fork.setPrivate();
    symbols.insert(fork);
    fork->setAttr("allo.x_fork", FlatSymbolRefAttr::get(task));
    fork->setAttr("allo.x_step", builder.getI64IntegerAttr(loop.getStepAsInt()));

    func::CallOp::create(builder, loop.getLoc(), fork, operands);
    loop.erase();
  }
};
} // namespace
} // namespace mlir::allo
