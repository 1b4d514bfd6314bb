// Calls the kernel with the memory of NumPy arrays: each argument, then each result.
#include "kernel.cpp"

#include <cstddef>
#include <exception>
@FUNCTIONS@
extern "C" __attribute__((visibility("default"))) const char *@ENTRY@([[maybe_unused]] void **memory) {
  static char message[1024];
  try {
@BODY@
  } catch (const std::exception &error) {
    std::strncpy(message, error.what(), sizeof message - 1);
    return message;
  }
  return nullptr;
}
