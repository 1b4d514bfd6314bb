// How a kernel that runs is left before its end: because of Ctrl-C, or because a check failed.
#pragma once

#include <csignal>

namespace mlir::allo {
/// Calls code(argument); false if it was left before its end. What was on its stack is then gone without destructors, so
/// who calls back machine code and has something to put in order calls it by this, and goes on with `leave`.
bool runUntilLeft(void (*code)(void *), void *argument);
/// Leaves the innermost `runUntilLeft` of this thread.
[[noreturn]] void leave();

/// What the innermost `runUntilLeft` of this thread is known by.
void *whereLeavingLeads();
/// Goes on at `leave` on the stack of the thread itself, if a process of a dataflow region runs on another one that the
/// innermost `runUntilLeft` is not on.
void leaveFiber();

/// Lets the check that has failed on this thread be as if it had not: another call will tell of it.
void forgetFailure();

/// Frees what the call of this thread has allocated in a debug build, after it was left.
void freeAllocated();

/// Whether this thread runs the call that Ctrl-C stops.
bool isStoppable();
/// Whether that call is to end: its time is over, or Ctrl-C was pressed.
bool isBeingStopped();
/// While alive, this thread works for the call that Ctrl-C stops, if `wanted`.
class Stoppable {
public:
  explicit Stoppable(bool wanted);
  ~Stoppable();

private:
  bool before;
};
/// The signal by which threads that work for a call are stopped. Nobody waits for it, and by default it does nothing: one
/// that comes late does no harm.
constexpr int kStopWorker = SIGURG;
/// Sends it to all threads of the pool; called by signal handlers.
void signalWorkers();
} // namespace mlir::allo
