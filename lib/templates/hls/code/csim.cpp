// Calls the kernel with the memory of NumPy arrays: each argument, then each result.
#include "kernel.cpp"

#include "call.h"

#include <cstring>
#include <exception>

extern "C" __attribute__((visibility("default"))) const char *@ENTRY@(void **memory) {
  static char message[1024];
  try {
    call_kernel(memory);
  } catch (const std::exception &error) {
    std::strncpy(message, error.what(), sizeof message - 1);
    return message;
  }
  return nullptr;
}
