// Decides which instructions of this machine the back end may use, and which it had better not.
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace mlir::allo {
#define GEN_PASS_DEF_HOSTFEATURES
#include "allo/Transforms/Passes.h.inc"

namespace {
/// Conversions to bfloat16 that take subnormal numbers for zero, where our run-time library rounds them.
bool flushesSubnormals(StringRef feature) { return feature == "avx512bf16" || feature == "avxneconvert"; }

/// Permutations of bytes: LLVM 22 legalises some of 64 bytes for ever (seen where three nests over uint8[8, 8] meet).
bool hangsCompiler(StringRef feature) { return feature == "avx512vbmi"; }

/// Masks of lanes: where lanes are integers wider than registers, LLVM 22 takes some of the third from the wrong side
/// of a `select` by a mask (seen with AVX-512 VL and DQ and vectors of four).
bool hasMasks(StringRef feature) { return feature.starts_with("avx512") || feature.starts_with("avx10"); }

/// Whether a module, whose functions may be inlined into each other, computes with integers wider than registers, which
/// the vectoriser may put into lanes.
bool isWide(ModuleOp module) {
  auto found = module.walk([](Operation *op) {
    bool wide = llvm::any_of(op->getResultTypes(), [](Type type) {
      auto integer = dyn_cast<IntegerType>(type);
      return integer && integer.getWidth() > 64;
    });
    return wide ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// What this machine has, without what is `leftOut`, in the order of the alphabet, as the back end finds it out for
/// code without this attribute.
LLVM::TargetFeaturesAttr hostFeatures(MLIRContext *context, function_ref<bool(StringRef)> leftOut) {
  std::vector<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.push_back((feature.second && !leftOut(feature.first()) ? "+" : "-") + feature.first().str());
  if (features.empty())
    return {};
  llvm::sort(features);
  features.push_back("+prefer-no-gather");
  SmallVector<StringRef> names(features.begin(), features.end());
  return LLVM::TargetFeaturesAttr::get(context, names);
}

/// Let LLVM leave statements beside each other as they are: its vectoriser of these (22.1) uses some values before they
/// are made, which ends the process (seen where sums over k stand behind `x[i, j] = a[j, i] - a[7 - i, j]`). That of
/// loops stays.
void leaveStatementsApart() {
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find("vectorize-slp");
  if (found != options.end() && found->second->getNumOccurrences() == 0)
    found->second->addOccurrence(0, "vectorize-slp", "false");
}

struct HostFeatures : impl::HostFeaturesBase<HostFeatures> {
  using HostFeaturesBase::HostFeaturesBase;

  void runOnOperation() override {
    leaveStatementsApart();
    bool wide = isWide(getOperation());
    auto features = hostFeatures(&getContext(), [&](StringRef name) {
      return flushesSubnormals(name) || hangsCompiler(name) || (wide && hasMasks(name));
    });
    if (!features || !llvm::Triple(llvm::sys::getProcessTriple()).isX86())
      return;
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal())
        function.setTargetFeaturesAttr(features);
  }
};
} // namespace
} // namespace mlir::allo
