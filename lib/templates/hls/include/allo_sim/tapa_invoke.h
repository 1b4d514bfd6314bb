// Decides what a kernel that the host calls runs on: the CPU, as binaries of cards need TAPA itself.
#ifndef ALLO_SIM_TAPA_INVOKE_H
#define ALLO_SIM_TAPA_INVOKE_H

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace tapa {

/// The time that the kernel took, in ns.
template <class... Parameters, class... Arguments>
int64_t invoke(void (*kernel)(Parameters...), const std::string &binary, Arguments &&...arguments) {
  if (!binary.empty()) throw std::runtime_error("the headers of the simulation cannot run " + binary);
  const auto start = std::chrono::steady_clock::now();
  kernel(static_cast<Parameters>(arguments)...);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace tapa

#endif
