// Where Python enters a simulation: null, or what went wrong: a message behind "!" or "?", or a report. The same for all
// kernels, so it is compiled once and linked to each.
#include "allo_sim/entry.h"

#include <exception>
#include <memory>
#include <string>

#include "allo_sim/errors.h"
#include "allo_sim/simulation.cpp"

namespace {
// Of this thread; here, since a call that is stopped leaves no trace on the stack.
thread_local std::unique_ptr<allo_sim::simulation> simulation;
thread_local std::string state;  // where the last call ended that has thrown something

/// What to tell of a call.
std::string told(void **memory) {
  try {
    allo_sim::call(memory);
  } catch (const allo_sim::hang &) {
  } catch (const allo_sim::stream_error &error) {
    return std::string("!") + error.what();
  } catch (const std::exception &error) {
    return std::string("?") + error.what();
  } catch (...) {
    return "?an exception that is no std::exception";
  }
  return simulation->report();
}
}  // namespace

#define ALLO_EXPORT extern "C" __attribute__((visibility("default")))

/// Calls the kernel; `shown` may be null.
ALLO_EXPORT const char *allo_csim(void **memory, allo_sim::progress *shown) {
  static thread_local std::string message;
  simulation = std::make_unique<allo_sim::simulation>(allo_sim::stack_bytes());
  simulation->show(shown);
  message = told(memory);
  state = std::move(simulation->state_when_left);
  simulation.reset();
  return message.empty() ? nullptr : message.c_str();
}

/// Where the last call ended, if it was stopped or has thrown something.
ALLO_EXPORT const char *allo_csim_state() {
  if (simulation != nullptr) {  // it was stopped
    state = simulation->state();
    simulation->abandon();
    simulation.reset();
  }
  return state.c_str();
}
