// A stand-in for XRT: a "binary" is a shared library with the kernel, a "device" is this process.
#pragma once
#include <dlfcn.h>
#include <memory>
#include <stdexcept>
#include <string>

namespace xrt {
class uuid {
public:
  std::string path;
};
class device {
public:
  explicit device(unsigned index) {
    if (index) { throw std::runtime_error("no device " + std::to_string(index)); }
  }
  uuid load_xclbin(const std::string &path) { return uuid{path}; }
};
} // namespace xrt
