// Which thread the work of an MLIR context is done in: the one that asks for it. A pool of threads of MLIR's own does not
// outlive fork(), and a child that hands it work waits for ever.
#include "allo-c/Allo.h"

#include "mlir/CAPI/IR.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/ThreadPool.h"

namespace {
/// Runs each task when it is handed over. To switch off multithreading instead would take the locks from the context,
/// which threads of Python need.
class CallingThread : public llvm::ThreadPoolInterface {
  void asyncEnqueue(llvm::unique_function<void()> task, llvm::ThreadPoolTaskGroup *) override { task(); }

public:
  void wait() override {}
  void wait(llvm::ThreadPoolTaskGroup &) override {}
  unsigned getMaxConcurrency() const override { return 1; }
};
} // namespace

void alloContextUseCallingThreads(MlirContext context) {
  static auto *thread = new CallingThread; // some contexts live to the end of the process
  unwrap(context)->disableMultithreading();
  unwrap(context)->setThreadPool(*thread);
}
