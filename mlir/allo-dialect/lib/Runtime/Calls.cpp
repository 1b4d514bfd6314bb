// Calls of kernels: how Ctrl-C and failed checks end them, with the process as it was.
//
// A signal handler leaves machine code where it stands, by a long jump: machine code holds no lock, so nothing is asked of
// its loops, which are as fast as ever. When the signal finds the thread in a library (`malloc`, `exp`, the streams), that is
// let finish; a timer signals again until the thread is back in the kernel. What it has allocated is lost then, but in debug builds.
#include "Calls.h"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ALLO_EXPORT extern "C" __attribute__((visibility("default")))

using namespace mlir::allo;

namespace {
constexpr long kRetry = 2'000'000; // nanoseconds between two attempts
constexpr int kValues = 4;         // those of `allo.assert`

struct Escape {
  sigjmp_buf target;
  Escape *outer;
};
thread_local Escape *volatile innermost = nullptr;
thread_local volatile bool stoppable = false;

/// Why the call of this thread was left by a check.
struct Failure {
  bool happened = false;
  int64_t site = 0;
  int64_t values[kValues] = {};
};
thread_local Failure failure;

/// The call that Ctrl-C and the end of its time stop; one at a time.
struct Call {
  pthread_t thread;
  bool isInterruptible;
  int64_t deadline; // nanoseconds of the monotonic clock; 0: none
  uintptr_t begin, end; // of the library with its code; both 0: code of the JIT, which is in no library
  struct sigaction before, beforeRetry;
  int timer;
  bool hasTimer;
};
Call call;
std::atomic<bool> isCalling{false};
std::atomic<bool> isStopped{false};
std::atomic<bool> isLate{false}; // it was stopped because its time was over

int64_t now() {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000L + time.tv_nsec;
}

/// Whether the thread is in the kernel itself. `_dl_find_object` takes no locks.
bool isInKernel(void *context) {
  const mcontext_t &registers = static_cast<ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
  auto place = static_cast<uintptr_t>(registers.gregs[REG_RIP]);
#elif defined(__aarch64__)
  auto place = static_cast<uintptr_t>(registers.pc);
#else
#error "where does this processor keep the address of the next instruction?"
#endif
  if (call.end)
    return place >= call.begin && place < call.end;
  dl_find_object found;
  return _dl_find_object(reinterpret_cast<void *>(place), &found) != 0;
}

void onSignal(int signal, siginfo_t *, void *context);

void install(int signal, struct sigaction *before) {
  struct sigaction action = {};
  action.sa_sigaction = onSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER; // a jump out of the handler leaves nothing blocked
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, before);
}

/// Signals to this thread after some nanoseconds, and then until the call has ended. By system calls: the functions of the
/// C library may allocate.
void startTimer(int64_t after) {
  if (!call.hasTimer) {
    install(kStopWorker, &call.beforeRetry);
    struct sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kStopWorker;
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    call.hasTimer = syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &call.timer) == 0;
  }
  struct itimerspec every = {{0, kRetry}, {after / 1'000'000'000L, after % 1'000'000'000L}};
  if (call.hasTimer)
    syscall(SYS_timer_settime, call.timer, 0, &every, nullptr);
}

void onSignal(int signal, siginfo_t *, void *context) {
  if (!stoppable) {
    if (signal == SIGINT) // the system has chosen another thread than that of the call
      pthread_kill(call.thread, SIGINT);
    return;
  }
  if (pthread_equal(pthread_self(), call.thread)) {
    if (signal == SIGINT) {
      if (!isStopped.exchange(true))
        startTimer(kRetry);
    } else if (!isStopped) {
      if (!call.deadline || now() < call.deadline)
        return; // it was meant for a call before
      isLate = true;
      isStopped = true;
    }
    signalWorkers();
  }
  if (innermost && isInKernel(context))
    leave();
}

/// From here on, Ctrl-C, if that is wanted, and the end of its time, if it has any, stop the call of this thread; false if
/// they already stop another.
bool begin(void *code, bool isInterruptible, int64_t nanoseconds) {
  if (isCalling.exchange(true))
    return false;
  call.thread = pthread_self();
  call.isInterruptible = isInterruptible;
  call.hasTimer = false;
  call.deadline = nanoseconds ? now() + nanoseconds : 0;
  dl_find_object found;
  bool isLibrary = _dl_find_object(code, &found) == 0;
  call.begin = isLibrary ? reinterpret_cast<uintptr_t>(found.dlfo_map_start) : 0;
  call.end = isLibrary ? reinterpret_cast<uintptr_t>(found.dlfo_map_end) : 0;
  isStopped = false;
  isLate = false;
  if (isInterruptible)
    install(SIGINT, &call.before);
  if (nanoseconds)
    startTimer(nanoseconds);
  return true;
}

enum Outcome { kDone = 0, kStopped = 1, kFailed = 2, kLate = 3, kBusy = 4 };

/// Whether the call was to be stopped, and why.
Outcome end() {
  if (call.isInterruptible)
    sigaction(SIGINT, &call.before, nullptr);
  if (call.hasTimer) {
    syscall(SYS_timer_delete, call.timer);
    sigaction(kStopWorker, &call.beforeRetry, nullptr);
  }
  Outcome result = isLate ? kLate : isStopped ? kStopped : kDone;
  isCalling = false;
  return result;
}

/// A call of `function` on its way through `runUntilLeft`.
struct Request {
  void *(*function)(void *, void *);
  void *first, *second, *result;
};
} // namespace

bool mlir::allo::runUntilLeft(void (*code)(void *), void *argument) {
  Escape here;
  here.outer = innermost;
  if (sigsetjmp(here.target, 0) != 0) {
    innermost = here.outer;
    return false;
  }
  innermost = &here;
  if (!(stoppable && isStopped))
    code(argument);
  innermost = here.outer;
  return true;
}

void mlir::allo::leave() {
  leaveFiber();
  siglongjmp(innermost->target, 1);
}

void mlir::allo::forgetFailure() { ::failure.happened = false; }

void *mlir::allo::whereLeavingLeads() { return innermost; }

bool mlir::allo::isStoppable() { return stoppable; }

bool mlir::allo::isBeingStopped() { return stoppable && isStopped; }

mlir::allo::Stoppable::Stoppable(bool wanted) : before(stoppable) { stoppable = wanted; }
mlir::allo::Stoppable::~Stoppable() { stoppable = before; }

/// What a check in the machine code calls when it fails.
ALLO_EXPORT void allo_check_failed(int64_t site, int64_t a, int64_t b, int64_t c, int64_t d) {
  failure = {true, site, {a, b, c, d}};
  leave();
}

/// Calls function(first, second); `code` is an address in the kernel. `told` gets the result, or the number of the check
/// that failed and its values. It may take so many nanoseconds, any number if that is 0; nothing is called if another
/// call that can be stopped runs.
ALLO_EXPORT int allo_call(void *(*function)(void *, void *), void *first, void *second, void *code, int canStop,
                          int64_t nanoseconds, int64_t *told) {
  Request request{function, first, second, nullptr};
  failure.happened = false;
  bool stops = (canStop || nanoseconds) && begin(code, canStop, nanoseconds);
  if (nanoseconds && !stops)
    return kBusy;
  bool isWhole;
  {
    Stoppable here(stops);
    isWhole = runUntilLeft(
        [](void *argument) {
          auto *request = static_cast<Request *>(argument);
          request->result = request->function(request->first, request->second);
        },
        &request);
    if (!isWhole)
      freeAllocated();
  }
  Outcome outcome = stops ? end() : kDone;
  if (outcome == kStopped || (outcome == kLate && !isWhole))
    return outcome;
  if (failure.happened) {
    told[0] = failure.site;
    for (int index = 0; index < kValues; ++index)
      told[index + 1] = failure.values[index];
    return kFailed;
  }
  told[0] = reinterpret_cast<int64_t>(request.result);
  return kDone;
}
