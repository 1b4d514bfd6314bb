// Decides where each allocated buffer lives: on the stack or the heap, and in which block it begins and ends.
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::allo {
#define GEN_PASS_DEF_PLACEBUFFERS
#include "allo/Transforms/Passes.h.inc"

namespace {
constexpr uint64_t kCacheLine = 64;

/// Size of a buffer of static shape and scalar elements; none for any other type.
std::optional<uint64_t> bytesOf(MemRefType type) {
  if (!type.hasStaticShape())
    return std::nullopt;
  Type element = type.getElementType();
  uint64_t bits = element.isIndex() ? 64 : element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (bits == 0)
    return std::nullopt;
  return static_cast<uint64_t>(type.getNumElements()) * llvm::PowerOf2Ceil(llvm::divideCeil(bits, 8));
}

/// Whether the buffer, or a view of it, outlives its block or is already freed by someone.
bool escapes(Value buffer) {
  SmallVector<Value> aliases{buffer};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!aliases.empty()) {
    for (OpOperand &use : aliases.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (user->hasTrait<OpTrait::IsTerminator>() || isa<memref::DeallocOp, memref::ReallocOp>(user))
        return true;
      if (auto store = dyn_cast<memref::StoreOp>(user); store && store.getValueToStore() == use.get())
        return true;
      if (auto store = dyn_cast<affine::AffineStoreOp>(user); store && store.getValueToStore() == use.get())
        return true;
      // A view, a selection, or whatever a call that was given the buffer returns.
      if (!seen.insert(user).second)
        continue;
      for (Value result : user->getResults())
        if (isa<BaseMemRefType>(result.getType()))
          aliases.push_back(result);
    }
  }
  return false;
}

/// The block in which a buffer lives: the body of the outermost parallel loop around it, else the function.
Block *scopeOf(memref::AllocOp alloc, func::FuncOp func) {
  Block *scope = &func.getBody().front();
  for (Operation *up = alloc->getParentOp(); up != func; up = up->getParentOp())
    if (up->hasAttr("allo.parallel"))
      scope = cast<affine::AffineForOp>(up).getBody();
  return scope;
}

struct PlaceBuffers : impl::PlaceBuffersBase<PlaceBuffers> {
  using PlaceBuffersBase::PlaceBuffersBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal() || !func.getBody().hasOneBlock())
      return;
    SmallVector<memref::AllocOp> allocs;
    func.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
    llvm::DenseMap<Block *, uint64_t> frameBytes;
    for (memref::AllocOp alloc : allocs) {
      if (escapes(alloc))
        continue;
      std::optional<uint64_t> bytes = bytesOf(alloc.getType());
      if (!bytes) {
        freeAtEnd(alloc);
        continue;
      }
      Block *scope = scopeOf(alloc, func);
      uint64_t &frame = frameBytes[scope];
      if (*bytes <= maxStackBytes && frame + *bytes <= maxFrameBytes) {
        frame += *bytes;
        placeOnStack(alloc, scope);
      } else {
        placeOnHeap(alloc, scope);
      }
    }
  }

private:
  static void placeOnStack(memref::AllocOp alloc, Block *scope) {
    OpBuilder builder(scope, scope->begin());
    auto slot = memref::AllocaOp::create(builder, alloc.getLoc(), alloc.getType());
    slot->setDiscardableAttrs(alloc->getDiscardableAttrDictionary());
    if (alloc.getType().getRank() > 0)
      slot.setAlignment(std::max<uint64_t>(kCacheLine, alloc.getAlignment().value_or(0)));
    alloc.replaceAllUsesWith(slot.getResult());
    alloc.erase();
  }

  static void placeOnHeap(memref::AllocOp alloc, Block *scope) {
    alloc->moveBefore(scope, scope->begin());
    freeAtEnd(alloc);
  }

  static void freeAtEnd(memref::AllocOp alloc) {
    alloc.setAlignment(std::max<uint64_t>(kCacheLine, alloc.getAlignment().value_or(0)));
    OpBuilder builder(alloc->getBlock()->getTerminator());
    memref::DeallocOp::create(builder, alloc.getLoc(), alloc);
  }
};
} // namespace
} // namespace mlir::allo
