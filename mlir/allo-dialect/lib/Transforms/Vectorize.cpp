// Decides which short innermost loops become vector operations, so that their arrays can live in vector registers.
#include "NestCost.h"
#include "NestDependences.h"
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/Affine/Analysis/LoopAnalysis.h"
#include "mlir/Dialect/Affine/LoopUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::allo {
#define GEN_PASS_DEF_VECTORIZE
#include "allo/Transforms/Passes.h.inc"

namespace {
using affine::AffineForOp;

bool isLane(Type type) { return type.isIntOrFloat() && type.getIntOrFloatBitWidth() >= 8; }

/// Whether `op` reads or writes `memref[..., variable + ...]`: neighbours in the last dimension.
template <typename Access> bool isContiguous(Access op, AffineForOp loop) {
  AffineMap map = op.getAffineMap();
  MemRefType type = op.getMemRefType();
  if (!type.getLayout().isIdentity() || !isLane(type.getElementType()) || map.getNumResults() == 0)
    return false;
  for (auto [position, operand] : llvm::enumerate(op.getMapOperands()))
    for (AffineExpr outer : map.getResults().drop_back())
      if (operand == loop.getInductionVar() && position < map.getNumDims() && outer.isFunctionOfDim(position))
        return false;
  return strideOf(op, loop) == 1;
}

bool usesVariable(Operation *op, AffineForOp loop) {
  return llvm::is_contained(op->getOperands(), loop.getInductionVar());
}

/// Whether one operation of the body has a vector form in which each lane is one iteration of `loop`.
bool hasVectorForm(Operation *op, AffineForOp loop) {
  if (auto load = dyn_cast<affine::AffineLoadOp>(op))
    return isContiguous(load, loop) || (strideOf(op, loop) == 0 && isLane(load.getType()));
  if (auto store = dyn_cast<affine::AffineStoreOp>(op))
    return isContiguous(store, loop);
  return op->getNumRegions() == 0 && isPure(op) && !usesVariable(op, loop) && op->getNumResults() == 1 &&
         (OpTrait::hasElementwiseMappableTraits(op) || op->hasTrait<OpTrait::ConstantLike>()) &&
         isLane(op->getResult(0).getType());
}

bool isVectorizable(AffineForOp loop) {
  for (Operation &op : loop.getBody()->without_terminator())
    if (!hasVectorForm(&op, loop))
      return false;
  return loop.getNumIterOperands() == 0 && NestDependences(loop).isParallel(loop);
}

/// Builds the body of one block of `lanes` iterations.
class LaneBuilder {
public:
  LaneBuilder(AffineForOp loop, int64_t lanes, OpBuilder &builder, IRMapping scalars)
      : loop(loop), lanes(lanes), builder(builder), scalars(std::move(scalars)) {}

  void build() {
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (auto load = dyn_cast<affine::AffineLoadOp>(&op); load && isContiguous(load, loop))
        vectors.map(load.getResult(),
                    affine::AffineVectorLoadOp::create(builder, op.getLoc(), vectorOf(load.getType()),
                                                       load.getMemRef(), subscripts(load), load.getAffineMap()));
      else if (auto store = dyn_cast<affine::AffineStoreOp>(&op))
        affine::AffineVectorStoreOp::create(builder, op.getLoc(), lanesOf(store.getValueToStore()),
                                            store.getMemRef(), store.getAffineMap(), subscripts(store));
      else if (isa<affine::AffineLoadOp>(&op) || op.hasTrait<OpTrait::ConstantLike>())
        builder.clone(op, scalars);
      else
        buildElementwise(op);
    }
  }

private:
  VectorType vectorOf(Type element) { return VectorType::get(lanes, element); }

  /// The value in all lanes: its own vector, or one scalar broadcast.
  Value lanesOf(Value value) {
    if (Value known = vectors.lookupOrNull(value))
      return known;
    Value scalar = scalars.lookupOrDefault(value);
    Value spread = vector::BroadcastOp::create(builder, value.getLoc(), vectorOf(value.getType()), scalar);
    vectors.map(value, spread);
    return spread;
  }

  template <typename Access> SmallVector<Value> subscripts(Access access) {
    return llvm::map_to_vector(access.getMapOperands(), [&](Value value) { return scalars.lookupOrDefault(value); });
  }

  void buildElementwise(Operation &op) {
    bool varies = llvm::any_of(op.getOperands(), [&](Value value) { return vectors.contains(value); });
    if (!varies) { // the same in all lanes: stays scalar until it meets a vector
      builder.clone(op, scalars);
      return;
    }
    SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), [&](Value value) { return lanesOf(value); });
    Operation *made = builder.create(op.getLoc(), op.getName().getIdentifier(), operands,
                                     vectorOf(op.getResult(0).getType()), op.getAttrs());
    vectors.map(op.getResult(0), made->getResult(0));
  }

  AffineForOp loop;
  int64_t lanes;
  OpBuilder &builder;
  IRMapping scalars, vectors;
};

struct Vectorize : impl::VectorizeBase<Vectorize> {
  using VectorizeBase::VectorizeBase;

  void runOnOperation() override {
    SmallVector<std::pair<AffineForOp, int64_t>> chosen;
    getOperation().walk([&](AffineForOp loop) {
      if (int64_t lanes = lanesFor(loop); lanes > 1 && isVectorizable(loop))
        chosen.emplace_back(loop, lanes);
    });
    for (auto [loop, lanes] : chosen)
      rewrite(loop, lanes);
  }

private:
  /// Iterations that form one vector; 1 to leave the loop alone.
  int64_t lanesFor(AffineForOp loop) {
    std::optional<uint64_t> trips = affine::getConstantTripCount(loop);
    if (!trips || loop.getStepAsInt() != 1 || !childrenOf(loop).empty())
      return 1;
    auto unroll = loop->getAttrOfType<IntegerAttr>("allo.unroll");
    uint64_t factor = unroll ? unroll.getValue().getZExtValue() : 0;
    uint64_t lanes = factor == 0 ? *trips : std::min(factor, *trips);
    // A part of a longer loop has to fill a register: the back end makes shorter loops wide by itself.
    uint64_t least = lanes < *trips ? 8 : 4;
    bool fits = lanes >= least && lanes % 4 == 0 && *trips % lanes == 0 && lanes * widestLane(loop) <= maxBits;
    return fits ? static_cast<int64_t>(lanes) : 1;
  }

  static uint64_t widestLane(AffineForOp loop) {
    uint64_t bits = 8;
    for (Operation &op : *loop.getBody())
      for (Type type : op.getResultTypes())
        if (type.isIntOrFloat())
          bits = std::max<uint64_t>(bits, type.getIntOrFloatBitWidth());
    return bits;
  }

  static void rewrite(AffineForOp loop, int64_t lanes) {
    OpBuilder builder(loop);
    auto blocks = AffineForOp::create(builder, loop.getLoc(), loop.getLowerBoundOperands(), loop.getLowerBoundMap(),
                                      loop.getUpperBoundOperands(), loop.getUpperBoundMap(), lanes);
    blocks->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    blocks->removeAttr("allo.unroll");
    builder.setInsertionPointToStart(blocks.getBody());
    IRMapping scalars;
    scalars.map(loop.getInductionVar(), blocks.getInductionVar());
    LaneBuilder(loop, lanes, builder, scalars).build();
    loop.erase();
    (void)affine::promoteIfSingleIteration(blocks);
  }
};
} // namespace
} // namespace mlir::allo
