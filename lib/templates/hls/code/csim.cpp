// Calls the kernel with the memory of NumPy arrays: each argument, then each result.
#include "kernel.h"

#include <cstddef>
#include <exception>
#include <string>
#include <vector>

@FUNCTIONS@
extern "C" __attribute__((visibility("default"))) const char *@ENTRY@([[maybe_unused]] void **memory) {
  static std::string message;
  try {
@BODY@
  } catch (const std::exception &error) {
    message = error.what();
    return message.c_str();
  }
  return nullptr;
}
