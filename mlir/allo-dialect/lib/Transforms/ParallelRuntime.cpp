// Decides how a forked loop meets the run-time library: the layout of its context and its task function.
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::allo {
#define GEN_PASS_DEF_PARALLELRUNTIME
#include "allo/Transforms/Passes.h.inc"

namespace {
constexpr llvm::StringLiteral kRuntime = "allo_parallel_for";
constexpr llvm::StringLiteral kFork = "allo.x_fork";
constexpr llvm::StringLiteral kStep = "allo.x_step";

struct ParallelRuntime : impl::ParallelRuntimeBase<ParallelRuntime> {
  using ParallelRuntimeBase::ParallelRuntimeBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<LLVM::LLVMFuncOp> forks;
    for (auto func : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (func->hasAttr(kFork))
        forks.push_back(func);
    if (forks.empty())
      return;
    LLVM::LLVMFuncOp runtime = declareRuntime(symbols);
    for (LLVM::LLVMFuncOp fork : forks) {
      auto body = symbols.lookup<LLVM::LLVMFuncOp>(fork->getAttrOfType<FlatSymbolRefAttr>(kFork).getValue());
      if (!body || fork.getNumArguments() < 2) {
        fork.emitError("has no function with the body of its loop");
        return signalPassFailure();
      }
      body.setNoInline(true); // keeps what is known of its arguments (noalias)
      fillIn(fork, makeTask(fork, body, symbols), runtime);
    }
  }

private:
  LLVM::LLVMFuncOp declareRuntime(SymbolTable &symbols) {
    if (auto known = symbols.lookup<LLVM::LLVMFuncOp>(kRuntime))
      return known;
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    Type i64 = builder.getI64Type();
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()), {pointer, pointer, i64, i64, i64});
    auto runtime = LLVM::LLVMFuncOp::create(builder, getOperation().getLoc(), kRuntime, type);
    symbols.insert(runtime);
    return runtime;
  }

  static LLVM::LLVMStructType contextType(LLVM::LLVMFuncOp fork) {
    return LLVM::LLVMStructType::getLiteral(fork.getContext(), fork.getArgumentTypes().drop_front(2));
  }

  /// void task(ptr context, i64 lo, i64 hi): unpacks the context and runs the loop over [lo, hi).
  static LLVM::LLVMFuncOp makeTask(LLVM::LLVMFuncOp fork, LLVM::LLVMFuncOp body, SymbolTable &symbols) {
    MLIRContext *context = fork.getContext();
    Location loc = fork.getLoc();
    OpBuilder builder(fork);
    Type pointer = LLVM::LLVMPointerType::get(context);
    Type i64 = builder.getI64Type();
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer, i64, i64});
    auto task = LLVM::LLVMFuncOp::create(builder, loc, (body.getName() + "_task").str(), type,
                                         LLVM::Linkage::Internal);
    symbols.insert(task);
    Block *entry = task.addEntryBlock(builder);
    builder.setInsertionPointToStart(entry);
    SmallVector<Value> operands{entry->getArgument(1), entry->getArgument(2)};
    LLVM::LLVMStructType packed = contextType(fork);
    for (auto [index, field] : llvm::enumerate(packed.getBody())) {
      Value address = LLVM::GEPOp::create(builder, loc, pointer, packed, entry->getArgument(0),
                                          ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
      operands.push_back(LLVM::LoadOp::create(builder, loc, field, address));
    }
    LLVM::CallOp::create(builder, loc, body, operands);
    LLVM::ReturnOp::create(builder, loc, ValueRange{});
    return task;
  }

  static void fillIn(LLVM::LLVMFuncOp fork, LLVM::LLVMFuncOp task, LLVM::LLVMFuncOp runtime) {
    Location loc = fork.getLoc();
    auto step = fork->getAttrOfType<IntegerAttr>(kStep);
    fork->removeAttr(kFork);
    fork->removeAttr(kStep);
    fork.setLinkage(LLVM::Linkage::Internal);
    OpBuilder builder(fork.getContext());
    Block *entry = fork.addEntryBlock(builder);
    builder.setInsertionPointToStart(entry);
    Type pointer = LLVM::LLVMPointerType::get(fork.getContext());
    LLVM::LLVMStructType packed = contextType(fork);
    Value one = LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(1));
    Value context = LLVM::AllocaOp::create(builder, loc, pointer, packed, one);
    for (unsigned index = 0; index < packed.getBody().size(); ++index) {
      Value address = LLVM::GEPOp::create(builder, loc, pointer, packed, context,
                                          ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
      LLVM::StoreOp::create(builder, loc, entry->getArgument(index + 2), address);
    }
    Value function = LLVM::AddressOfOp::create(builder, loc, task);
    Value stride = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), step);
    LLVM::CallOp::create(builder, loc, runtime,
                         ValueRange{function, context, entry->getArgument(0), entry->getArgument(1), stride});
    LLVM::ReturnOp::create(builder, loc, ValueRange{});
  }
};
} // namespace
} // namespace mlir::allo
