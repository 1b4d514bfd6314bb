// Decides how a task of a dataflow region meets the run-time library: the layout of its arguments and its function.
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::allo {
#define GEN_PASS_DEF_TASKRUNTIME
#include "allo/Transforms/Passes.h.inc"

namespace {
constexpr llvm::StringLiteral kTaskRuntime = "allo_region_spawn";
constexpr llvm::StringLiteral kSpawn = "allo.x_spawn";
constexpr llvm::StringLiteral kTask = "allo.x_task"; // the number of the statement, which reports tell of

struct TaskRuntime : impl::TaskRuntimeBase<TaskRuntime> {
  using TaskRuntimeBase::TaskRuntimeBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<LLVM::LLVMFuncOp> spawns;
    for (auto func : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (func->hasAttr(kSpawn))
        spawns.push_back(func);
    if (spawns.empty())
      return;
    LLVM::LLVMFuncOp runtime = declareRuntime(symbols);
    for (LLVM::LLVMFuncOp spawn : spawns) {
      auto task = symbols.lookup<LLVM::LLVMFuncOp>(spawn->getAttrOfType<FlatSymbolRefAttr>(kSpawn).getValue());
      if (!task || spawn.getNumArguments() < 1) {
        spawn.emitError("has no function with the body of its task");
        return signalPassFailure();
      }
      task.setLinkage(LLVM::Linkage::Internal);
      fillIn(spawn, unpacking(spawn, task, symbols), runtime);
    }
  }

private:
  LLVM::LLVMFuncOp declareRuntime(SymbolTable &symbols) {
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    Type i64 = builder.getI64Type();
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()), {i64, pointer, pointer, i64, i64});
    auto runtime = LLVM::LLVMFuncOp::create(builder, getOperation().getLoc(), kTaskRuntime, type);
    symbols.insert(runtime);
    return runtime;
  }

  static LLVM::LLVMStructType packedType(LLVM::LLVMFuncOp spawn) {
    return LLVM::LLVMStructType::getLiteral(spawn.getContext(), spawn.getArgumentTypes().drop_front(1));
  }

  static Value field(OpBuilder &builder, Location loc, LLVM::LLVMStructType packed, Value memory, size_t index) {
    return LLVM::GEPOp::create(builder, loc, memory.getType(), packed, memory,
                               ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
  }

  /// The bytes of `packed` at `memory`, as the target lays it out: without a base that is known only when the program
  /// runs, they would be folded before the target is known, and less for an i64 behind an f32.
  static Value bytesOf(OpBuilder &builder, Location loc, LLVM::LLVMStructType packed, Value memory) {
    Type i64 = builder.getI64Type();
    Value end = LLVM::GEPOp::create(builder, loc, memory.getType(), packed, memory, ArrayRef<LLVM::GEPArg>{1});
    return LLVM::SubOp::create(builder, loc, LLVM::PtrToIntOp::create(builder, loc, i64, end),
                               LLVM::PtrToIntOp::create(builder, loc, i64, memory));
  }

  /// void (ptr arguments): calls the task with what lies there.
  static LLVM::LLVMFuncOp unpacking(LLVM::LLVMFuncOp spawn, LLVM::LLVMFuncOp task, SymbolTable &symbols) {
    MLIRContext *context = spawn.getContext();
    Location loc = spawn.getLoc();
    OpBuilder builder(spawn);
    Type pointer = LLVM::LLVMPointerType::get(context);
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer});
    auto made = LLVM::LLVMFuncOp::create(builder, loc, (task.getName() + "_task").str(), type,
                                         LLVM::Linkage::Internal);
    symbols.insert(made);
    Block *entry = made.addEntryBlock(builder);
    builder.setInsertionPointToStart(entry);
    SmallVector<Value> operands;
    LLVM::LLVMStructType packed = packedType(spawn);
    for (auto [index, type] : llvm::enumerate(packed.getBody()))
      operands.push_back(
          LLVM::LoadOp::create(builder, loc, type, field(builder, loc, packed, entry->getArgument(0), index)));
    LLVM::CallOp::create(builder, loc, task, operands);
    LLVM::ReturnOp::create(builder, loc, ValueRange{});
    return made;
  }

  static void fillIn(LLVM::LLVMFuncOp spawn, LLVM::LLVMFuncOp task, LLVM::LLVMFuncOp runtime) {
    Location loc = spawn.getLoc();
    auto number = spawn->getAttrOfType<IntegerAttr>(kTask);
    spawn->removeAttr(kSpawn);
    spawn->removeAttr(kTask);
    spawn.setLinkage(LLVM::Linkage::Internal);
    OpBuilder builder(spawn.getContext());
    Block *entry = spawn.addEntryBlock(builder);
    builder.setInsertionPointToStart(entry);
    Type pointer = LLVM::LLVMPointerType::get(spawn.getContext());
    LLVM::LLVMStructType packed = packedType(spawn);
    Value one = LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(1));
    Value memory = LLVM::AllocaOp::create(builder, loc, pointer, packed, one);
    for (size_t index = 0; index < packed.getBody().size(); ++index)
      LLVM::StoreOp::create(builder, loc, entry->getArgument(index + 1), field(builder, loc, packed, memory, index));
    Value function = LLVM::AddressOfOp::create(builder, loc, task);
    Value bytes = bytesOf(builder, loc, packed, memory);
    Value statement =
        LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(number ? number.getInt() : -1));
    LLVM::CallOp::create(builder, loc, runtime, ValueRange{entry->getArgument(0), function, memory, bytes, statement});
    LLVM::ReturnOp::create(builder, loc, ValueRange{});
  }
};
} // namespace
} // namespace mlir::allo
