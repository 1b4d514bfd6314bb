// Decides which quotients and remainders of loop variables in subscripts become counters that wrap.
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

#include <deque>

namespace mlir::allo {
#define GEN_PASS_DEF_STRENGTHREDUCEADDRESSES
#include "allo/Transforms/Passes.h.inc"

namespace {
using namespace mlir::affine;

/// The quotient and the remainder of `numerator`, a form over `operands` that grows by `delta` an iteration.
struct Counter {
  AffineMap numerator;
  SmallVector<Value> operands;
  int64_t divisor, delta;
  Value quotient, remainder; // variables
};

bool isUnrolled(AffineForOp loop) {
  auto unroll = loop->getAttrOfType<IntegerAttr>("allo.unroll");
  if ((unroll && unroll.getInt() != 1) || loop->hasAttr("allo.parallel") || loop->hasAttr("allo.spatial") ||
      loop->hasAttr("allo.dataflow"))
    return true;
  for (Operation *outer = loop->getParentOp(); outer; outer = outer->getParentOp())
    if (outer->hasAttr("allo.pipeline"))
      return true;
  return false;
}

/// An `affine.apply` whose result bounds a loop or is the operand of another map has to stay affine.
bool isUsedByAffine(AffineApplyOp op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    return isa<AffineForOp, AffineIfOp, AffineApplyOp, AffineLoadOp, AffineStoreOp, AffineMinOp, AffineMaxOp>(user);
  });
}

class Counters {
public:
  explicit Counters(AffineForOp loop) : loop(loop), builder(loop) {}

  /// How many there are after all that is possible has been made a counter.
  unsigned run() {
    if (isUnrolled(loop) || loop.getLowerBoundMap().getNumResults() != 1)
      return 0;
    SmallVector<Operation *> accesses;
    loop.getBody()->walk([&](Operation *op) {
      auto apply = dyn_cast<AffineApplyOp>(op);
      if (isa<AffineLoadOp, AffineStoreOp>(op) || (apply && !isUsedByAffine(apply)))
        accesses.push_back(op);
    });
    for (Operation *op : accesses)
      rewrite(op);
    for (Counter &counter : counters)
      count(counter);
    return counters.size();
  }

private:
  /// `expr` with its quotients and remainders by constants as further symbols, whose values go to `found`.
  AffineExpr replaced(AffineExpr expr, unsigned dims, ValueRange operands, SmallVectorImpl<Value> &found) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return expr;
    bool isQuotient = expr.getKind() == AffineExprKind::FloorDiv;
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if ((isQuotient || expr.getKind() == AffineExprKind::Mod) && divisor && divisor.getValue() > 0)
      if (Counter *counter = counterOf(binary.getLHS(), dims, operands, divisor.getValue())) {
        OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
        Value variable = isQuotient ? counter->quotient : counter->remainder;
        Value &loaded = values[variable];
        if (!loaded)
          loaded = memref::LoadOp::create(inside, loop.getLoc(), variable, ValueRange{});
        found.push_back(loaded);
        return getAffineSymbolExpr(operands.size() - dims + found.size() - 1, expr.getContext());
      }
    AffineExpr left = replaced(binary.getLHS(), dims, operands, found);
    AffineExpr right = replaced(binary.getRHS(), dims, operands, found);
    return getAffineBinaryOpExpr(expr.getKind(), left, right);
  }

  Counter *counterOf(AffineExpr numerator, unsigned dims, ValueRange operands, int64_t divisor) {
    AffineMap map = AffineMap::get(dims, operands.size() - dims, numerator);
    SmallVector<Value> used(operands);
    canonicalizeMapAndOperands(&map, &used);
    bool moves = false;
    for (Value value : used) {
      moves |= value == loop.getInductionVar();
      if (value != loop.getInductionVar() && !loop.isDefinedOutsideOfLoop(value))
        return nullptr;
    }
    std::optional<int64_t> delta = moves ? growth(map, used) : std::nullopt;
    if (!delta)
      return nullptr;
    for (Counter &known : counters)
      if (known.numerator == map && known.operands == used && known.divisor == divisor)
        return &known;
    counters.push_back(made(map, used, divisor, *delta));
    return &counters.back();
  }

  /// By how much a form grows from an iteration to the next one, if that is the same for all.
  std::optional<int64_t> growth(AffineMap map, ArrayRef<Value> operands) {
    MLIRContext *context = map.getContext();
    SmallVector<AffineExpr> dims, symbols;
    for (unsigned k = 0; k < operands.size(); ++k) {
      bool isDim = k < map.getNumDims();
      AffineExpr expr = isDim ? getAffineDimExpr(k, context) : getAffineSymbolExpr(k - map.getNumDims(), context);
      if (operands[k] == loop.getInductionVar())
        expr = expr + loop.getStepAsInt();
      (isDim ? dims : symbols).push_back(expr);
    }
    AffineExpr later = map.getResult(0).replaceDimsAndSymbols(dims, symbols);
    AffineExpr difference = simplifyAffineExpr(later - map.getResult(0), map.getNumDims(), map.getNumSymbols());
    if (auto constant = dyn_cast<AffineConstantExpr>(difference))
      return constant.getValue();
    return std::nullopt;
  }

  Counter made(AffineMap map, ArrayRef<Value> operands, int64_t divisor, int64_t delta) {
    Location loc = loop.getLoc();
    Value first = AffineApplyOp::create(builder, loc, loop.getLowerBoundMap(), loop.getLowerBoundOperands());
    SmallVector<Value> before(operands);
    for (Value &value : before)
      if (value == loop.getInductionVar())
        value = first;
    auto start = [&](AffineExpr expr, StringRef name) {
      Value value = AffineApplyOp::create(builder, loc, AffineMap::get(map.getNumDims(), map.getNumSymbols(), expr),
                                          before);
      auto variable = memref::AllocOp::create(builder, loc, MemRefType::get({}, builder.getIndexType()));
      auto owner = loop->getAttrOfType<StringAttr>("allo.name");
      std::string number = std::to_string(counters.size());
      variable->setAttr("allo.name",
                        builder.getStringAttr((owner ? owner.getValue() : "loop") + "_" + name + "_" + number));
      memref::StoreOp::create(builder, loc, value, variable, ValueRange{});
      return variable.getResult();
    };
    Value quotient = start(map.getResult(0).floorDiv(divisor), "quotient");
    Value remainder = start(map.getResult(0) % divisor, "remainder");
    return {map, SmallVector<Value>(operands), divisor, delta, quotient, remainder};
  }

  /// The steps of a counter at the end of each iteration.
  void count(const Counter &counter) {
    OpBuilder end(loop.getBody()->getTerminator());
    Location loc = loop.getLoc();
    auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(end, loc, value); };
    int64_t carry = llvm::divideFloorSigned(counter.delta, counter.divisor);
    auto grown = [&](Value variable, int64_t by) -> Value {
      Value now = memref::LoadOp::create(end, loc, variable, ValueRange{});
      return by == 0 ? now : arith::AddIOp::create(end, loc, now, constant(by)).getResult();
    };
    Value divisor = constant(counter.divisor);
    Value remainder = grown(counter.remainder, counter.delta - carry * counter.divisor);
    Value quotient = grown(counter.quotient, carry);
    Value wraps = arith::CmpIOp::create(end, loc, arith::CmpIPredicate::sge, remainder, divisor);
    Value wrapped = arith::SubIOp::create(end, loc, remainder, divisor);
    Value next = arith::AddIOp::create(end, loc, quotient, constant(1));
    Value first = arith::SelectOp::create(end, loc, wraps, wrapped, remainder);
    Value second = arith::SelectOp::create(end, loc, wraps, next, quotient);
    memref::StoreOp::create(end, loc, first, counter.remainder, ValueRange{});
    memref::StoreOp::create(end, loc, second, counter.quotient, ValueRange{});
  }

  void rewrite(Operation *op) {
    AffineMap map = cast<AffineMapAttr>(op->getAttr("map")).getValue();
    unsigned first = isa<AffineStoreOp>(op) ? 2 : isa<AffineLoadOp>(op) ? 1 : 0;
    SmallVector<Value> operands(op->getOperands().drop_front(first)), found;
    SmallVector<AffineExpr> results;
    for (AffineExpr expr : map.getResults())
      results.push_back(replaced(expr, map.getNumDims(), operands, found));
    if (found.empty())
      return;
    OpBuilder here(op);
    ArrayRef<Value> all(operands);
    SmallVector<Value> dims(all.take_front(map.getNumDims()));
    SmallVector<Value> symbols(all.drop_front(map.getNumDims()));
    symbols.append(found);
    SmallVector<Value> indices;
    for (AffineExpr expr : results)
      indices.push_back(expandAffineExpr(here, op->getLoc(), expr, dims, symbols));
    if (auto load = dyn_cast<AffineLoadOp>(op))
      load.replaceAllUsesWith(memref::LoadOp::create(here, op->getLoc(), load.getMemRef(), indices).getResult());
    else if (auto store = dyn_cast<AffineStoreOp>(op))
      memref::StoreOp::create(here, op->getLoc(), store.getValueToStore(), store.getMemRef(), indices);
    else
      op->getResult(0).replaceAllUsesWith(indices.front());
    op->erase();
  }

  AffineForOp loop;
  OpBuilder builder;
  std::deque<Counter> counters; // whose addresses stay
  DenseMap<Value, Value> values;
};

struct StrengthReduceAddresses : impl::StrengthReduceAddressesBase<StrengthReduceAddresses> {
  using StrengthReduceAddressesBase::StrengthReduceAddressesBase;

  void runOnOperation() override {
    SmallVector<AffineForOp> loops; // inner ones first
    getOperation().walk([&](AffineForOp loop) { loops.push_back(loop); });
    for (AffineForOp loop : loops)
      if (unsigned number = Counters(loop).run())
        emitRemark(loop.getLoc()) << "done: " << number << " quotients and remainders of subscripts became counters";
  }
};
} // namespace
} // namespace mlir::allo
