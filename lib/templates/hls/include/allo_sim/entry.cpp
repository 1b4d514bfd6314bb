// Where Python enters a simulation: null, or what went wrong: a message behind "!" or "?", or a report. The same for all
// kernels, so it is compiled once and linked to each.
#include "allo_sim/entry.h"

#include <exception>
#include <string>

#include "allo_sim/errors.h"
#include "allo_sim/simulation.h"

extern "C" __attribute__((visibility("default"))) const char *allo_csim(void **memory) {
  static std::string message;
  allo_sim::simulation simulation(allo_sim::stack_bytes());
  try {
    allo_sim::call(memory);
  } catch (const allo_sim::hang &) {
  } catch (const allo_sim::stream_error &error) {
    message = std::string("!") + error.what();
    return message.c_str();
  } catch (const std::exception &error) {
    message = std::string("?") + error.what();
    return message.c_str();
  } catch (...) {
    return "?an exception that is no std::exception";
  }
  message = simulation.report();
  return message.empty() ? nullptr : message.c_str();
}
