// Decides which instructions of this machine the back end may use, and which it had better not.
#include "allo/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace mlir::allo {
#define GEN_PASS_DEF_HOSTFEATURES
#include "allo/Transforms/Passes.h.inc"

namespace {
/// Conversions to bfloat16 that take subnormal numbers for zero, where our run-time library rounds them.
bool flushesSubnormals(StringRef feature) { return feature == "avx512bf16" || feature == "avxneconvert"; }

/// What this machine has, in the order of the alphabet, as the back end finds it out for code without this attribute.
std::vector<std::string> hostFeatures() {
  std::vector<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.push_back((feature.second && !flushesSubnormals(feature.first()) ? "+" : "-") + feature.first().str());
  llvm::sort(features);
  return features;
}

struct HostFeatures : impl::HostFeaturesBase<HostFeatures> {
  using HostFeaturesBase::HostFeaturesBase;

  void runOnOperation() override {
    std::vector<std::string> features = hostFeatures();
    if (features.empty() || !llvm::Triple(llvm::sys::getProcessTriple()).isX86())
      return;
    features.push_back("+prefer-no-gather");
    SmallVector<StringRef> names(features.begin(), features.end());
    auto attribute = LLVM::TargetFeaturesAttr::get(&getContext(), names);
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal())
        function.setTargetFeaturesAttr(attribute);
  }
};
} // namespace
} // namespace mlir::allo
