// Calls the kernel with the memory of NumPy arrays: each argument, then each result.
#include "kernel.cpp"

#include "call.h"

#include <allo_sim/errors.h>
#include <allo_sim/simulation.h>

#include <exception>
#include <string>

extern "C" __attribute__((visibility("default"))) const char *@ENTRY@(void **memory) {
  static std::string message;
  allo_sim::simulation simulation(@STACK@);
  try {
    call_kernel(memory);
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
